//! What a cube took in each of its last packets.

use std::array;
use std::sync::Arc;

use bevy_egui::egui::{Id, Ui};
use cubewire_codec::{BitKind, Form};

use super::identity;
use super::inspected::Inspected;
use super::span::{amount, short_form};
use crate::panel::terms;
use crate::replication::{PacketDetail, PacketRecord, demo_index};

/// Packets that are shown.
pub(super) const PACKETS: usize = 60;

/// What a cube took in a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Share {
    pub(super) tick: u64,
    /// Of the packet.
    identity: (u64, usize),
    /// By kind, in the order of [`BitKind::DEMO`].
    bits: [f64; BitKind::DEMO.len()],
    /// By kind, of fields that are sent in components: the bits of each component.
    components: [Option<[f64; 3]>; BitKind::DEMO.len()],
    /// How position and orientation are sent; the inner is none if they are not.
    forms: [Option<Option<Form>>; 2],
    baseline_age: Option<u16>,
}

/// The newest packets up to the moment, the newest first. Those that were there in the frame before are kept.
pub(super) fn shares(ui: &Ui, what: &Inspected<'_>, cube: usize) -> Arc<[Share]> {
    let samples = what.meter.back_from(what.moment);
    let packets = samples
        .flat_map(|sample| sample.snapshots.iter().map(|packet| (sample.tick, packet)))
        .filter_map(|(tick, packet)| Some((tick, packet, packet.detail.as_deref()?)));
    let mut packets = packets.take(PACKETS).peekable();
    let id = Id::new("shares of the cube");
    let before: Option<(usize, Arc<[Share]>)> = ui.data(|data| data.get_temp(id));
    let before = before.filter(|(of, _)| *of == cube);
    let before = before.map_or_else(Default::default, |(_, shares)| shares);
    let newest = packets.peek();
    let newest = newest.map(|&(tick, _, detail)| identity(tick, detail));
    if before.first().map(|share| share.identity) == newest {
        return before;
    }
    let shares = packets.map(|(tick, packet, detail)| {
        let identity = identity(tick, detail);
        let known = before.iter().find(|share| share.identity == identity);
        known
            .copied()
            .unwrap_or_else(|| Share::of(tick, packet, detail, cube))
    });
    let shares: Arc<[Share]> = shares.collect();
    ui.data_mut(|data| data.insert_temp(id, (cube, Arc::clone(&shares))));
    shares
}

impl Share {
    fn of(tick: u64, packet: &PacketRecord, detail: &PacketDetail, cube: usize) -> Self {
        let mut share = Self {
            tick,
            identity: identity(tick, detail),
            baseline_age: packet.reference_age_ticks(),
            ..Self::default()
        };
        for item in detail.items() {
            if item.body.map(usize::from) != Some(cube) {
                continue;
            }
            let kind = demo_index(item.kind);
            share.bits[kind] += item.bits;
            share.components[kind] = item.components;
            match item.kind {
                BitKind::Position => share.forms[0] = Some(item.form),
                BitKind::Orientation => share.forms[1] = Some(item.form),
                _ => {}
            }
        }
        share
    }

    pub(super) fn total(&self) -> f64 {
        self.bits.iter().sum()
    }

    pub(super) fn of_kind(&self, kind: BitKind) -> f64 {
        self.bits[demo_index(kind)]
    }

    /// Bits of everything but position and orientation.
    pub(super) fn others(&self) -> f64 {
        self.total() - self.of_kind(BitKind::Position) - self.of_kind(BitKind::Orientation)
    }

    /// The forms of position and orientation in short.
    pub(super) fn forms(&self) -> String {
        match self.forms {
            [None, None] => "not sent".to_owned(),
            forms => {
                let [position, orientation] = forms.map(|form| match form {
                    None => "–",
                    Some(form) => form.map_or("same", short_form),
                });
                format!("{position}, {orientation}")
            }
        }
    }

    /// How each field is sent, with the bits of each component, and against what, a line each.
    pub(super) fn words(&self) -> String {
        let fields = [BitKind::Position, BitKind::Orientation, BitKind::Velocity];
        let lines = fields.into_iter().enumerate().filter_map(|(index, kind)| {
            let form = self.forms.get(index).copied().flatten();
            let form = form.map(|form| form.map_or("unchanged", Form::name).to_owned());
            let components = kind
                .component_names()
                .zip(self.components[demo_index(kind)]);
            let components = components.map(|(names, bits)| {
                let each: [String; 3] =
                    array::from_fn(|at| format!("{} {}", names[at], amount(bits[at])));
                format!("{} bits", each.join(", "))
            });
            let words: Vec<_> = form.into_iter().chain(components).collect();
            (!words.is_empty()).then(|| format!("{kind}: {}", words.join(": ")))
        });
        let mut lines: Vec<_> = lines.collect();
        if lines.is_empty() {
            lines.push("No field of it is in this packet.".to_owned());
        }
        lines.extend(
            self.baseline_age
                .map(|age| format!("The baseline is {} older.", terms::ticks(age.into()))),
        );
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;

    use super::*;
    use crate::panel::tests::packet_of;

    #[test]
    fn the_shares_of_all_cubes_are_the_packet_without_what_they_share() {
        for rung in ladder::all() {
            let packet = packet_of(rung.stages);
            let detail = packet.detail.as_deref().unwrap();
            let cubes: f64 = (0..10)
                .map(|cube| Share::of(3, &packet, detail, cube).total())
                .sum();
            let shared: f64 = detail
                .items()
                .filter(|item| item.body.is_none())
                .map(|item| item.bits)
                .sum();
            let all = packet.payload_bytes as f64 * 8.0;
            assert!((cubes + shared - all).abs() < 0.01, "{}", rung.name);
        }
    }

    #[test]
    fn a_row_of_the_table_says_how_each_field_is_sent_and_what_its_components_take() {
        let words = |rung: ladder::Rung, cube| {
            let packet = packet_of(rung.stages);
            let detail = packet.detail.as_deref().unwrap();
            Share::of(3, &packet, detail, cube).words()
        };
        assert_eq!(
            words(ladder::SMALLEST_THREE, 1),
            "position: whole value: x 32, y 32, z 32 bits\n\
             orientation: whole value: a 9, b 9, c 9 bits\n\
             velocity: x 32, y 32, z 32 bits"
        );
        // Cube 1 moved far, and did not turn.
        assert_eq!(
            words(ladder::CHANGED_FLAGS, 1),
            "position: out of range: x 18, y 18, z 14 bits"
        );
        assert_eq!(
            words(ladder::CHANGED_FLAGS, 9),
            "No field of it is in this packet."
        );
    }
}
