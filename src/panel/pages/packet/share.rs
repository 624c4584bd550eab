//! What a cube took in each of its last packets.

use std::sync::Arc;

use bevy_egui::egui::{Id, Ui};
use cubewire_codec::{BitKind, Plan};
use cubewire_inspector::names::Names;
use cubewire_inspector::packet::{Span, fields, short_form};

use super::identity;
use crate::panel::kept::kept;
use crate::panel::lane::LaneView;
use crate::panel::terms;

/// Packets that are shown.
pub(super) const PACKETS: usize = 60;

/// What a cube took in a packet.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub(super) tick: u64,
    fields: Vec<Span>,
    baseline_age: Option<u16>,
}

/// The newest packets up to the moment, the newest first.
pub(super) fn shares(ui: &Ui, lane: &LaneView<'_>, cube: usize) -> Arc<[Share]> {
    let samples = lane.meter.back_from(lane.past.moment);
    let packets = samples
        .flat_map(|sample| sample.snapshots.iter().map(|packet| (sample.tick, packet)))
        .filter_map(|(tick, packet)| Some((tick, packet, packet.detail.as_deref()?)));
    let mut packets = packets.take(PACKETS).peekable();
    let newest = packets.peek();
    let newest = newest.map(|&(tick, _, detail)| identity(tick, detail));
    let id = Id::new("shares of the cube");
    kept(ui, id, (cube, newest), || {
        let shares = packets.map(|(tick, packet, detail)| Share {
            tick,
            fields: fields(detail.items())
                .filter(|field| field.body == Some(cube))
                .collect(),
            baseline_age: packet.reference_age_ticks(),
        });
        shares.collect()
    })
}

impl Share {
    pub(super) fn total(&self) -> f64 {
        self.fields.iter().map(|field| field.bits).sum()
    }

    pub(super) fn of_kind(&self, kind: BitKind) -> f64 {
        let of_kind = self.fields.iter().filter(|field| field.kind == Some(kind));
        of_kind.map(|field| field.bits).sum()
    }

    /// Bits of everything but position and orientation.
    pub(super) fn others(&self) -> f64 {
        self.total() - self.of_kind(BitKind::Position) - self.of_kind(BitKind::Orientation)
    }

    /// The forms of position and orientation in short.
    pub(super) fn forms(&self) -> String {
        let forms = [BitKind::Position, BitKind::Orientation].map(|kind| {
            let field = self.fields.iter().find(|field| field.kind == Some(kind));
            field.map(|field| field.form.map_or("same", short_form))
        });
        match forms {
            [None, None] => "not sent".to_owned(),
            forms => forms.map(|form| form.unwrap_or("–")).join(", "),
        }
    }

    /// Each of its fields, and against what they are sent, a line each.
    pub(super) fn words(&self) -> String {
        let plan = Plan::cubes();
        let names = Names::of_cubes(&plan);
        let fields = self.fields.iter();
        let mut lines: Vec<_> = fields.map(|field| field.words(names)[1].clone()).collect();
        if lines.is_empty() {
            lines.push("No field of it is in this packet.".to_owned());
        }
        if let Some(age) = self.baseline_age {
            lines.push(format!(
                "The baseline is {} older.",
                terms::ticks(age.into())
            ));
        }
        lines.join("\n")
    }
}
