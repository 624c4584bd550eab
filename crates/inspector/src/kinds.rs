//! Bits by kind: a stacked bar and a table.

use cubewire_codec::{BitKind, BitLedger};

use crate::prelude::*;

#[derive(Clone, Copy, Debug)]
pub struct Bits<'a> {
    pub ledger: &'a BitLedger,
    pub packets: usize,
    pub kinds: &'a [BitKind],
    pub names: Names<'a>,
}

impl Bits<'_> {
    fn per_packet(&self, bits: f64) -> f64 {
        bits / self.packets.max(1) as f64
    }

    fn percent(&self, kind: BitKind) -> f64 {
        100.0 * self.ledger.kind(kind) / self.ledger.total().max(f64::MIN_POSITIVE)
    }
}

/// Draws a title with the bits per packet, and a bar divided by kind. Returns the bar's response and the kind under the
/// pointer.
pub fn bar(ui: &mut Ui, title: &str, bits: Bits<'_>) -> (Response, Option<BitKind>) {
    let look = Look::of(ui);
    let all = grouped(bits.per_packet(bits.ledger.total()));
    heading(ui, title, format!("{all} bits a packet"));
    ui.add_space(GAP);
    let parts = bits.kinds.iter();
    let parts: Vec<_> = parts.map(|&kind| (bits.ledger.kind(kind), look.kind(kind))).collect();
    let (response, hovered) = stack(ui, CONTROL, &parts);
    ui.add_space(GAP);
    (response, hovered.map(|index| bits.kinds[index]))
}

/// Draws a row for each kind, muted if it has no bits. Unused kinds keep their rows, so that the controls below stay in
/// place. `below` is the height of these controls; `about` describes a kind.
pub fn table(ui: &mut Ui, bits: Bits<'_>, below: f32, about: impl Fn(BitKind) -> &'static str) {
    let look = Look::of(ui);
    let head = Row::show(ui, LINE, "bits by kind");
    head.text(ui, At::Left(0.0), "kind", SMALL, look.muted);
    head.text(ui, At::Right(SHARE), "share", SMALL, look.muted);
    head.text(ui, At::Right(0.0), "bits a packet", SMALL, look.muted);
    let left = page_left(ui) - below;
    let height = (left / bits.kinds.len() as f32).clamp(LINE, ROW + 2.0);
    for &kind in bits.kinds {
        let has_bits = bits.ledger.kind(kind) > 0.0;
        let (name, share) = (bits.names.kind(kind), format!("{:.1} %", bits.percent(kind)));
        let number = rounded(bits.per_packet(bits.ledger.kind(kind)));
        let (ink, figures, said) = match has_bits {
            true => (look.ink, [&*share, &*number], format!("{share}, {number} bits a packet")),
            false => (look.muted, ["–"; 2], "not used here".to_owned()),
        };
        let row = Row::show(ui, height, &format!("{name}: {said}"));
        swatch(ui.painter(), row.rect, 0.0, look.kind(kind));
        row.text(ui, At::Left(18.0), name, BODY, ink);
        row.text(ui, At::Right(SHARE), figures[0], SMALL, look.muted);
        row.text(ui, At::Right(0.0), figures[1], SMALL, ink);
        row.response.on_hover_text(about(kind));
    }
}

/// Distance of the share column from the right edge, in logical points.
const SHARE: f32 = 96.0;
