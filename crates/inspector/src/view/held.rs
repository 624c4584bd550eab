//! Holding a packet and stepping through the last packets.

use bevy_egui::egui::{Align, Key, Layout, Modifiers, Ui, vec2};
use cubewire_codec::QuantizedSnapshot;
use cubewire_protocol::record::PacketRecord;

use super::View;
use crate::packet::HELD;
use crate::style::{CONTROL, Look};
use crate::widgets::{chip, line};

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
        let packets = view.record().packets().rev().take(HELD);
        let packets = packets.filter(|packet| packet.detail.is_some());
        let mut packets: Vec<_> = packets.cloned().collect();
        packets.reverse();
        (!packets.is_empty()).then(|| Self { packets, bodies: view.bodies.cloned(), newer: 0 })
    }

    pub(super) fn shown(&self) -> Option<&PacketRecord> {
        self.packets.get(self.oldest() - self.newer)
    }

    /// Returns the value of [`newer`](Self::newer) for the oldest packet.
    fn oldest(&self) -> usize {
        self.packets.len().saturating_sub(1)
    }
}

/// Action of a button or key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Older,
    Newer,
    Hold,
}

/// Draws the buttons that hold a packet and step through the previous ones. The arrow keys work as well, but only while
/// the pointer is over this page: otherwise they belong to the game.
pub(super) fn controls(ui: &mut Ui, view: &View<'_>, held: &mut Option<Held>) {
    let pressed = [(Key::ArrowLeft, Step::Older), (Key::ArrowRight, Step::Newer)];
    let is_here = ui.rect_contains_pointer(ui.clip_rect());
    let mut pressed = pressed.into_iter().filter(|&(key, _)| {
        is_here && ui.input_mut(|input| input.consume_key(Modifiers::NONE, key))
    });
    let mut step = pressed.next().map(|(_, step)| step);
    let size = vec2(ui.available_width(), CONTROL);
    let layout = Layout::left_to_right(Align::Center);
    ui.allocate_ui_with_layout(size, layout, |ui| {
        for (name, of_press) in
            [("Hold", Step::Hold), ("Older", Step::Older), ("Newer", Step::Newer)]
        {
            let is_on = of_press == Step::Hold && held.is_some();
            if chip(ui, CONTROL, 4, name, is_on).clicked() {
                step = Some(of_press);
            }
        }
        let said = match held {
            None => format!("the last {HELD}, with arrow keys, too"),
            Some(Held { newer: 0, .. }) => "held".to_owned(),
            Some(Held { newer, .. }) => format!("held, {newer} before it"),
        };
        line(ui, said, Look::of(ui).muted);
    });
    match (step, &mut *held) {
        (None, _) | (Some(Step::Newer), None) => {}
        (Some(Step::Hold | Step::Older), None) => *held = Held::new(view),
        (Some(Step::Older), Some(held)) => held.newer = (held.newer + 1).min(held.oldest()),
        (Some(Step::Newer), Some(held)) if held.newer > 0 => held.newer -= 1,
        (Some(Step::Hold | Step::Newer), Some(_)) => *held = None,
    }
}
