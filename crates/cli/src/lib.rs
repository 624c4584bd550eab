//! What the programs of this workspace print alike: errors, and tables.

use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};
use std::process::{self, ExitCode};

use clap::Parser;
use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

/// Prints an error as clap does, and returns the exit code, 2. It may quote a file: see [`printable`]. The numbers of
/// the operating system's errors are left out: the words beside them say it.
#[must_use]
pub fn fail(error: impl Display) -> ExitCode {
    let text = printable(&without_codes(&error.to_string()));
    // If even that cannot be written, the exit code says enough.
    let _ = writeln!(io::stderr(), "error: {text}");
    ExitCode::from(2)
}

/// A text without what [`io::Error`] appends to the words for an error, as in "File exists (os error 17)".
#[must_use]
pub fn without_codes(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((code, rest)) if code.parse::<i32>().is_ok() => kept.push_str(rest),
            _ => {
                kept.push_str(" (os error ");
                kept.push_str(part);
            }
        }
    }
    kept
}

/// Reads the command line. A mistake in it ends the program as clap does; what it quotes is [`printable`].
#[must_use]
pub fn parse<C: Parser>() -> C {
    C::try_parse().unwrap_or_else(|error| {
        let text = error.render().to_string();
        let printable = printable(&text);
        if printable == text.trim_end() {
            error.exit();
        }
        let _ = writeln!(io::stderr(), "{printable}");
        process::exit(error.exit_code())
    })
}

/// A text of any origin as a terminal can show it. Control and formatting characters are escaped, and the middle of a
/// line of more than [`MAX_LINE`] characters is left out.
#[must_use]
pub fn printable(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(printable_line).collect();
    lines.join("\n")
}

/// Characters of a [`printable`] line, at most, before any are escaped.
pub const MAX_LINE: usize = 1_000;

fn printable_line(line: &str) -> String {
    let escape = |text: &str| -> String {
        let escaped = text.chars().map(|character| match character {
            // Zero width, or for text in the other direction.
            '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}' => character.escape_unicode().to_string(),
            _ if character.is_control() => character.escape_debug().to_string(),
            _ => character.to_string(),
        });
        escaped.collect()
    };
    let mut starts = line.char_indices().map(|(start, _)| start);
    if starts.clone().nth(MAX_LINE).is_none() {
        return escape(line);
    }
    let half = MAX_LINE / 2;
    let (head, tail) = (starts.nth(half), starts.nth_back(half - 1));
    let (head, tail) = (head.unwrap_or(0), tail.unwrap_or(line.len()));
    format!("{} … {}", escape(&line[..head]), escape(&line[tail..]))
}

/// A table that is both readable in a terminal and valid Markdown: rows under a header, the first column aligned left,
/// all others right.
#[derive(Debug)]
pub struct Table {
    /// The header first.
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new<'a>(header: impl IntoIterator<Item = &'a str>) -> Self {
        let header = header.into_iter().map(str::to_owned).collect();
        Self { rows: vec![header] }
    }

    /// Appends a row, which has a cell for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut table = Builder::from(self.rows.clone()).build();
        table
            .with(Style::markdown())
            .modify(Columns::new(1..), Alignment::right());
        Display::fmt(&table, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_sent_no_control_characters() {
        assert_eq!(printable("a\u{1b}[2J\r\tb"), "a\\u{1b}[2J\\r\\tb");
        assert_eq!(
            printable("\u{202e}gpj.exe\u{9b}"),
            "\\u{202e}gpj.exe\\u{9b}"
        );
        let usual = "`größe` is no key:\n  it's \"e\u{301}\" \\ x";
        assert_eq!(printable(usual), usual);
    }

    #[test]
    fn an_error_is_said_in_words_alone() {
        let error = io::Error::from_raw_os_error(2);
        let words = without_codes(&format!("a.ron: {error}: b"));
        assert_eq!(words, "a.ron: No such file or directory: b");
        let quoted = "a (os error b) (os error";
        assert_eq!(without_codes(quoted), quoted);
    }

    #[test]
    fn of_a_long_line_both_ends_are_left() {
        let whole = "é".repeat(MAX_LINE);
        assert_eq!(printable(&whole), whole);
        let long = format!("head{}tail", "é".repeat(5_000_000));
        let cut = printable(&format!("short\n{long}"));
        assert!(cut.starts_with("short\nheadé") && cut.ends_with("étail"));
        assert_eq!(
            cut.chars().count(),
            "short\n".len() + MAX_LINE + " … ".chars().count()
        );
    }
}
