//! Tables that are both readable in a terminal and valid Markdown.

use std::io::{self, Write};

use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

/// Rows under a header. The first column is aligned left, all others right.
#[derive(Debug)]
pub(crate) struct Table {
    builder: Builder,
}

impl Table {
    pub(crate) fn new<'a>(header: impl IntoIterator<Item = &'a str>) -> Self {
        let mut builder = Builder::default();
        builder.push_record(header);
        Self { builder }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.builder.push_record(cells);
    }

    pub(crate) fn print(self, out: &mut impl Write) -> io::Result<()> {
        let mut table = self.builder.build();
        table
            .with(Style::markdown())
            .modify(Columns::new(1..), Alignment::right());
        writeln!(out, "{table}")
    }
}
