//! Static content of the page, shown before the game runs or if it cannot run: text, a picture, and the ladder as a
//! table.

use anyhow::{Context, Result};

/// Picture of the page and of links to it, in `assets/screenshots`.
pub(crate) const PICTURE: &str = "ladder-1280x720-dark.png";

/// Text before and after the table of the ladder in the README.
const BLOCK: [&str; 2] = ["\n## The ladder\n", "\n## "];

/// Converts the table of the ladder in the README to HTML rows.
///
/// # Errors
/// If the README has no such table.
pub(crate) fn ladder(readme: &str) -> Result<String> {
    let [begin, end] = BLOCK;
    let block = readme.split_once(begin).and_then(|(_, rest)| rest.split_once(end));
    let (block, _) =
        block.with_context(|| format!("README.md has no table after `{}`", begin.trim()))?;
    let lines = block.lines().filter(|line| line.starts_with('|'));
    let is_rule = |line: &&str| line.chars().all(|c| "|-:".contains(c));
    let rows = lines.filter(|line| !is_rule(line)).enumerate();
    Ok(rows.map(|(index, line)| row(line, index == 0)).collect())
}

/// Converts a Markdown row to HTML. The first cell is the row's heading.
fn row(line: &str, is_header: bool) -> String {
    let cells = line.trim_matches('|').split('|').enumerate();
    let cells = cells.map(|(column, cell)| {
        let text = cell.trim().replace('&', "&amp;").replace('<', "&lt;");
        match (is_header, column) {
            (true, _) => format!("<th scope=\"col\">{text}</th>"),
            (false, 0) => format!("<th scope=\"row\">{text}</th>"),
            (false, _) => format!("<td>{text}</td>"),
        }
    });
    format!("<tr>{}</tr>\n", cells.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_readme_becomes_rows_of_html() {
        let [begin, end] = BLOCK;
        let readme =
            format!("| a |\n{begin}\n| rung | kbps |\n|---|--:|\n| a<b |  1.5 |\n\n{end}\n| b |");
        let wanted = "<tr><th scope=\"col\">rung</th><th scope=\"col\">kbps</th></tr>\n\
                      <tr><th scope=\"row\">a&lt;b</th><td>1.5</td></tr>\n";
        assert_eq!(ladder(&readme).unwrap(), wanted);
        let error = ladder("no table").unwrap_err().to_string();
        assert!(error.contains("The ladder"), "{error}");
    }
}
