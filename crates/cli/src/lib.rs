//! What the command lines of Cubewire's programs have in common: an error is one line on standard error, and exit
//! code 2.

use std::error::Error;
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Reads the command line. For help and the version, prints them and exits.
///
/// # Errors
/// The exit code, if the command line is wrong; the error has been printed.
pub fn parse<P: Parser>() -> Result<P, ExitCode> {
    P::try_parse().map_err(|error| {
        if !error.use_stderr() {
            error.exit();
        }
        fail(describe(&error))
    })
}

/// Prints an error, and returns the exit code.
#[must_use]
pub fn fail(error: impl Display) -> ExitCode {
    // If even that cannot be written, the exit code says enough.
    let _ = writeln!(io::stderr(), "error: {error}");
    ExitCode::from(2)
}

/// What is wrong with the command line, in one line.
fn describe(error: &clap::Error) -> String {
    describe_bad_value(error).unwrap_or_else(|| {
        // A paragraph that says what is wrong, perhaps tips, and how the command is used.
        let text = error.to_string();
        let mut paragraphs = text.split("\n\n");
        let words = |paragraph: &str| paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        let what = words(paragraphs.next().unwrap_or_default());
        let what = what.strip_prefix("error: ").unwrap_or(&what).to_owned();
        let tip = paragraphs.find_map(|paragraph| paragraph.trim().strip_prefix("tip: "));
        match tip {
            Some(tip) => format!("{what} ({})", words(tip)),
            None => what,
        }
    })
}

/// An argument that cannot be parsed: `--rung: unknown rung …`. None for other errors.
fn describe_bad_value(error: &clap::Error) -> Option<String> {
    let (ErrorKind::ValueValidation, Some(reason)) = (error.kind(), error.source()) else {
        return None;
    };
    let ContextValue::String(argument) = error.get(ContextKind::InvalidArg)? else {
        return None;
    };
    // `--rung <NAME>`
    let name = argument.split_whitespace().next()?;
    Some(format!("{name}: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Parser)]
    #[command(name = "p")]
    struct Cli {
        #[arg(long, value_name = "N")]
        count: u8,
        #[arg(long, value_name = "WHAT", value_parser = ["fast", "small"])]
        goal: Option<String>,
    }

    fn said(arguments: &[&str]) -> String {
        describe(&Cli::try_parse_from([&["p"], arguments].concat()).unwrap_err())
    }

    #[test]
    fn every_error_is_one_line() {
        assert_eq!(
            said(&[]),
            "the following required arguments were not provided: --count <N>"
        );
        assert_eq!(said(&["--count", "300"]), "--count: 300 is not in 0..=255");
        assert_eq!(
            said(&["--cout", "3"]),
            "unexpected argument '--cout' found (a similar argument exists: '--count')"
        );
        assert_eq!(
            said(&["--count", "3", "--goal", "smal"]),
            "invalid value 'smal' for '--goal <WHAT>' [possible values: fast, small] (a similar value exists: \
             'small')"
        );
    }
}
