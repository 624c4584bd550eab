//! The tour as a page: it says what the program's tour says.

use std::env;
use std::fs;
use std::path::Path;

use cubewire::panel::{STEPS, TourStep};

/// As HTML; what is between backticks is code.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(index, part)| match index % 2 {
        0 => part.to_owned(),
        _ => format!("<code>{part}</code>"),
    });
    parts.collect()
}

fn section((number, step): (usize, &TourStep)) -> String {
    let [title, text] = [step.title, step.text].map(escaped);
    let article = step.article.map_or_else(String::new, |figure| {
        let [watch, figure] = [step.watch.name(), figure].map(escaped);
        format!("<p class=\"article\">{watch}, in the article: {figure}</p>\n")
    });
    let source = step.address.map_or_else(String::new, |address| {
        format!("<p class=\"article\"><a href=\"{address}\">{address}</a></p>\n")
    });
    format!(
        "<section data-step=\"{number}\">\n<h2>{number}. {title}</h2>\n<p>{text}</p>\n{article}{source}</section>\n"
    )
}

#[test]
fn the_page_of_the_tour_says_what_its_steps_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/web/page/tour.html");
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
