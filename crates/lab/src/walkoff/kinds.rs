//! Sizes by kind of content.

use std::collections::{BTreeMap, BTreeSet};

use cubewire_cli::{Table, number};
use cubewire_codec::schema::Schema;
use cubewire_codec::{BitKind, BitLedger};

use super::Outcome;

/// Returns the mean bytes per packet of each kind that occurs, by the kind's name in the scene.
pub(super) fn mean_bytes(
    ledger: &BitLedger,
    packets: usize,
    schema: &Schema,
) -> BTreeMap<String, f64> {
    let kinds = BitKind::ALL.into_iter().map(|kind| {
        let bytes = ledger.kind(kind) / 8.0 / packets as f64;
        (kind.name_in(schema).into_owned(), bytes)
    });
    kinds.filter(|&(_, bytes)| bytes > 0.0).collect()
}

/// Returns a table with a row per rung and a column per kind that occurs on any rung.
pub(super) fn table(outcomes: &[Outcome], schema: &Schema) -> Table {
    let bytes = |outcome: &Outcome, kind: &str| outcome.kinds.as_ref()?.get(kind).copied();
    let there = outcomes.iter().flat_map(|outcome| &outcome.kinds);
    let mut there: BTreeSet<&String> = there.flat_map(BTreeMap::keys).collect();
    let kinds = BitKind::ALL.map(|kind| kind.name_in(schema).into_owned());
    let kinds: Vec<_> = kinds.iter().filter(|kind| there.remove(kind)).collect();
    let header = ["bytes a packet"].into_iter();
    let mut table = Table::new(header.chain(kinds.iter().map(|kind| &***kind)));
    for outcome in outcomes {
        let cells = kinds.iter().map(|kind| {
            let bytes = bytes(outcome, kind).unwrap_or_default();
            number(bytes, 1)
        });
        table.row([outcome.codec.to_owned()].into_iter().chain(cells));
    }
    table
}
