//! The web page of the tour has the texts of the program's tour.

use std::env;
use std::fs;

use cubewire::panel::{STEPS, TourStep};

use crate::common::root;

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

fn section((number, step): (usize, &TourStep)) -> String {
    let [title, text, difference] = [step.title, step.text, step.difference].map(escaped);
    let article = step.article_line();
    let article = article.map_or_else(String::new, |line| escaped(&line) + " ");
    let address = step.address;
    format!(
        "<section data-step=\"{number}\">\n<h2>{number}. {title}</h2>\n<p>{text}</p>\n\
         <p class=\"article\">{article}{difference} <a href=\"{address}\">Read the article</a></p>\n</section>\n"
    )
}

#[test]
fn the_page_of_the_tour_says_what_its_steps_say() {
    let path = root().join("crates/web/page/tour.html");
    let page = fs::read_to_string(&path).unwrap();
    let start = page.find("<section").unwrap();
    let end = page.find("</article>").unwrap();
    let sections: String = (1..).zip(&STEPS).map(section).collect();
    let wanted = format!("{}{sections}{}", &page[..start], &page[end..]);
    if env::var_os("CUBEWIRE_WRITE").is_some() {
        return fs::write(path, wanted).unwrap();
    }
    let again = "CUBEWIRE_WRITE=1 cargo test --workspace tour_page";
    assert!(page == wanted, "`{again}` writes {} again", path.display());
}
