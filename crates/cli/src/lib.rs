//! Command-line functions of all programs in this workspace: arguments, errors, and tables.

use std::env;
use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::process::{self, ExitCode};
use std::str::FromStr;

use clap::{Command, Parser};
use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

/// Prints an error as clap does, and returns exit code 2. The text is made [`printable`], because it may quote a file.
/// Error numbers of the operating system are removed, because the error's text is enough.
pub fn fail(error: impl Display) -> ExitCode {
    let text = printable(&without_codes(&error.to_string()));
    // Ignore a closed standard error. The exit code still reports the failure.
    let _ = writeln!(io::stderr(), "error: {text}");
    ExitCode::from(2)
}

/// Removes the numbers that [`io::Error`] appends, as in "File exists (os error 17)".
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

/// Parses the command line. An error ends the program as in clap, with [`printable`] quotations.
pub fn parse<C: Parser>() -> C {
    let mut program = with_negative_numbers(C::command());
    let matches = program.try_get_matches_from_mut(env::args_os());
    let parsed = matches.and_then(|mut matches| {
        let parsed = C::from_arg_matches_mut(&mut matches);
        parsed.map_err(|error| error.format(&mut program))
    });
    parsed.unwrap_or_else(|error| {
        let text = error.render().to_string();
        let printable = printable(&text);
        if printable == text.trim_end() {
            error.exit();
        }
        let _ = writeln!(io::stderr(), "{printable}");
        process::exit(error.exit_code())
    })
}

/// Lets all arguments take `-5` as a value and not as a flag, so that errors are about the value.
fn with_negative_numbers(program: Command) -> Command {
    let program = program.mut_args(|arg| match arg.get_action().takes_values() {
        true => arg.allow_negative_numbers(true),
        false => arg,
    });
    program.mut_subcommands(with_negative_numbers)
}

/// Returns a parser of whole numbers in a range.
pub fn whole_number<N: FromStr + PartialOrd + Display + Clone>(
    legal: RangeInclusive<N>,
) -> impl Fn(&str) -> Result<N, String> + Clone {
    move |text| {
        let number = text.parse().ok();
        let number = number.filter(|number| legal.contains(number));
        number.ok_or_else(|| {
            let (from, to) = (legal.start(), legal.end());
            format!("{text} is not a whole number from {from} to {to}")
        })
    }
}

/// Formats a number with `decimals` decimals, a minus sign, and thin spaces between thousands.
pub fn number(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let is_negative = value < 0.0 && text.contains(|digit: char| !"0.".contains(digit));
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut number = String::from(if is_negative { "\u{2212}" } else { "" });
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            number.push('\u{2009}');
        }
        number.push(digit);
    }
    number + rest
}

/// Makes a text from any source safe for a terminal. Escapes control and formatting characters, and shortens lines of
/// more than [`MAX_LINE`] characters in the middle.
pub fn printable(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(printable_line).collect();
    lines.join("\n")
}

/// Maximum number of characters in a [`printable`] line before escaping.
pub const MAX_LINE: usize = 1_000;

fn printable_line(line: &str) -> String {
    let escape = |text: &str| -> String {
        let escaped = text.chars().map(|character| match character {
            // Zero-width characters, and marks of text direction.
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

/// A table that is readable in a terminal and valid Markdown. The first column is aligned left, all others right.
#[derive(Debug, Default)]
pub struct Table(Builder);

impl Table {
    /// Creates a table with only a header.
    pub fn new<'a>(header: impl IntoIterator<Item = &'a str>) -> Self {
        let mut table = Self::default();
        table.0.push_record(header);
        table
    }

    /// Appends a row with one cell per column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.0.push_record(cells);
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut table = self.0.clone().build();
        table.with(Style::markdown()).modify(Columns::new(1..), Alignment::right());
        Display::fmt(&table, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_sent_no_control_characters() {
        assert_eq!(printable("a\u{1b}[2J\r\tb"), "a\\u{1b}[2J\\r\\tb");
        assert_eq!(printable("\u{202e}gpj.exe\u{9b}"), "\\u{202e}gpj.exe\\u{9b}");
        let usual = "`größe` is no key:\n  it's \"e\u{301}\" \\ x";
        assert_eq!(printable(usual), usual);
    }

    #[test]
    fn numbers_are_readable() {
        for (value, decimals, wanted) in [
            (17_368.84, 1, "17\u{2009}368.8"),
            (999.96, 1, "1\u{2009}000.0"),
            (-1_234_567.0, 0, "\u{2212}1\u{2009}234\u{2009}567"),
            (-0.01, 1, "0.0"),
        ] {
            assert_eq!(number(value, decimals), wanted);
        }
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
        assert_eq!(cut.chars().count(), "short\n".len() + MAX_LINE + " … ".chars().count());
    }
}
