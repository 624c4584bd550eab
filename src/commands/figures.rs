//! Figures of a run: a table for people, or JSON for programs.

use std::io::{self, Write};

use cubewire_cli::Table;
use serde::Serialize;

/// Prints figures as JSON, or as these rows.
///
/// # Errors
/// If writing to `out` fails.
pub(super) fn print(
    figures: &impl Serialize,
    rows: impl IntoIterator<Item = (&'static str, String)>,
    json: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    if json {
        let json = serde_json::to_string_pretty(figures).expect("figures are plain data");
        return writeln!(out, "{json}");
    }
    let mut table = Table::new(["figure", "value"]);
    for (name, value) in rows {
        table.row([name.to_owned(), value]);
    }
    writeln!(out, "{table}")
}
