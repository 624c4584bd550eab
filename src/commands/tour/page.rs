//! The tour as a page of HTML: text on the left, the game on the right.

use std::fmt::Write;

use crate::panel::STEPS;

const HEAD: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Cubewire: a tour through Snapshot Compression</title>
<link rel="icon" href="icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="article.css">
</head>
<body class="tour">
<!-- `cargo run -- tour --page` prints this page. -->
<article>
<h1>From 17 Mbps to less than 150 kbps</h1>
<p>A tour through <em>Snapshot Compression</em> (Glenn Fiedler, gafferongames.com, 2015), in the game. Scroll to a
step, or click it, to change the settings of the game beside it. To use the game's keys, click the game first.</p>
"#;

const FOOT: &str = r#"</article>
<div class="stage">
<iframe src="index.html?tour&amp;panel=slim&amp;report" title="Cubewire" allow="fullscreen; clipboard-write"></iframe>
</div>
<script type="module" src="tour.js"></script>
</body>
</html>
"#;

/// The whole page.
pub(super) fn html() -> String {
    let mut page = HEAD.to_owned();
    for (number, step) in (1..).zip(&STEPS) {
        page += &format!(
            "<section data-step=\"{number}\">\n<h2>{number}. {}</h2>\n<p>{}</p>\n",
            escaped(step.title),
            escaped(step.text)
        );
        if let Some(article) = step.article {
            let watch = escaped(step.watch.name());
            let _ = writeln!(
                page,
                "<p class=\"article\">{watch}, in the article: {}</p>",
                escaped(article)
            );
        }
        page += "</section>\n";
    }
    page + FOOT
}

/// As HTML; what is between backticks is code.
fn escaped(text: &str) -> String {
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let mut html = String::new();
    for (place, part) in text.split('`').enumerate() {
        match place % 2 {
            0 => html += part,
            _ => html += &format!("<code>{part}</code>"),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_in_the_web_folder_is_up_to_date() {
        let page = include_str!("../../../crates/web/page/tour.html");
        assert_eq!(
            page,
            html(),
            "cargo run -- tour --page > crates/web/page/tour.html"
        );
    }
}
