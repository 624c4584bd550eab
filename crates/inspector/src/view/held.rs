//! Holding a packet and stepping through the last packets.

use cubewire_codec::QuantizedSnapshot;
use cubewire_protocol::record::PacketRecord;

use super::View;
use crate::packet::HELD;
use crate::prelude::*;

/// The last packets of a connection and the bodies in the slots, as they were when a packet was held.
#[derive(Debug)]
pub(crate) struct Held {
    /// Oldest first, never empty.
    packets: Vec<PacketRecord>,
    pub(super) bodies: Option<QuantizedSnapshot>,
    /// Number of packets after the shown one.
    newer: usize,
}

impl Held {
    /// Copies the last packets. Returns `None` if there is no packet yet.
    fn new(view: &View<'_>) -> Option<Self> {
        let packets = view.measure.record.packets().rev().take(HELD);
        let packets = packets.filter(|packet| packet.detail.is_some());
        let mut packets: Vec<_> = packets.cloned().collect();
        packets.reverse();
        (!packets.is_empty()).then(|| Self { packets, bodies: view.bodies.cloned(), newer: 0 })
    }

    pub(super) fn shown(&self) -> Option<&PacketRecord> {
        self.packets.get(self.oldest() - self.newer)
    }

    fn oldest(&self) -> usize {
        self.packets.len().saturating_sub(1)
    }
}

/// Draws the buttons that hold a packet and step through the previous ones. The arrow keys work as well, but only while
/// the pointer is over this page: otherwise they belong to the game.
pub(super) fn controls(ui: &mut Ui, view: &View<'_>, held: &mut Option<Held>) {
    let is_here = ui.rect_contains_pointer(ui.clip_rect());
    let [mut is_older, mut is_newer] = [Key::ArrowLeft, Key::ArrowRight]
        .map(|key| is_here && ui.input_mut(|input| input.consume_key(Modifiers::NONE, key)));
    let mut is_hold = false;
    let size = vec2(ui.available_width(), CONTROL);
    ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
        is_hold = chip(ui, CONTROL, 4, "Hold", held.is_some()).clicked();
        is_older |= chip(ui, CONTROL, 4, "Older", false).clicked();
        is_newer |= chip(ui, CONTROL, 4, "Newer", false).clicked();
        let said = match held {
            None => format!("the last {HELD}, with arrow keys, too"),
            Some(Held { newer: 0, .. }) => "held".to_owned(),
            Some(Held { newer, .. }) => format!("held, {newer} before it"),
        };
        line(ui, said, Look::of(ui).muted);
    });
    match &mut *held {
        None if is_hold || is_older => *held = Held::new(view),
        Some(held) if is_older => held.newer = (held.newer + 1).min(held.oldest()),
        Some(held) if is_newer && held.newer > 0 => held.newer -= 1,
        Some(_) if is_hold || is_newer => *held = None,
        _ => {}
    }
}
