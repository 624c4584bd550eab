//! What the programs of this workspace print alike: errors, and tables.

use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};
use std::process::ExitCode;

use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

/// Prints an error as clap does, and returns the exit code, 2.
#[must_use]
pub fn fail(error: impl Display) -> ExitCode {
    // If even that cannot be written, the exit code says enough.
    let _ = writeln!(io::stderr(), "error: {error}");
    ExitCode::from(2)
}

/// A table that is both readable in a terminal and valid Markdown: rows under a header, the first column aligned left,
/// all others right.
#[derive(Debug)]
pub struct Table {
    builder: Builder,
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new<'a>(header: impl IntoIterator<Item = &'a str>) -> Self {
        let mut builder = Builder::default();
        builder.push_record(header);
        Self { builder }
    }

    /// Appends a row, which has a cell for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.builder.push_record(cells);
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut table = self.builder.clone().build();
        table
            .with(Style::markdown())
            .modify(Columns::new(1..), Alignment::right());
        Display::fmt(&table, f)
    }
}
