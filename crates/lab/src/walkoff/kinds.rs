//! What packets consist of.

use std::collections::BTreeMap;

use cubewire_cli::Table;
use cubewire_codec::{BitKind, BitLedger};

use super::Outcome;

/// Mean bytes a packet by kind, of those that are there.
pub(super) fn mean_bytes(ledger: &BitLedger, packets: usize) -> BTreeMap<&'static str, f64> {
    let kinds = BitKind::ALL.into_iter().map(|kind| {
        let bytes = ledger.kind(kind) / 8.0 / packets as f64;
        (kind.name(), bytes)
    });
    kinds.filter(|&(_, bytes)| bytes > 0.0).collect()
}

/// A table with a row for each rung and a column for each kind that some of them has.
pub(super) fn table(outcomes: &[Outcome]) -> Table {
    let bytes = |outcome: &Outcome, kind: BitKind| {
        let kinds = outcome.kinds.as_ref()?;
        kinds.get(kind.name()).copied()
    };
    let is_there = |kind: &BitKind| {
        let mut outcomes = outcomes.iter();
        outcomes.any(|outcome| bytes(outcome, *kind).is_some())
    };
    let kinds: Vec<_> = BitKind::ALL.into_iter().filter(is_there).collect();
    let header = ["bytes a packet"].into_iter();
    let mut table = Table::new(header.chain(kinds.iter().map(|kind| kind.name())));
    for outcome in outcomes {
        let cells = kinds.iter().map(|&kind| {
            let bytes = bytes(outcome, kind).unwrap_or_default();
            format!("{bytes:.1}")
        });
        table.row([outcome.codec.to_owned()].into_iter().chain(cells));
    }
    table
}
