//! Markdown tables: names are aligned left, figures right.

use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

/// Lays out rows of cells, the first of which holds the titles. Columns from `first_figure` on are
/// aligned to the right.
pub(super) fn markdown<R>(rows: impl IntoIterator<Item = R>, first_figure: usize) -> String
where
    R: IntoIterator<Item = String>,
{
    let mut builder = Builder::default();
    for row in rows {
        builder.push_record(row);
    }
    let mut table = builder.build();
    table
        .with(Style::markdown())
        .modify(Columns::new(first_figure..), Alignment::right());
    table.to_string()
}
