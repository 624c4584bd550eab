//! The selected cube: its last packets field by field, its baseline, its error, and how it stands within the budget.

use bevy_egui::egui::{self, Rect, RichText, ScrollArea, Sense, TextStyle, vec2};
use cubewire_codec::BitKind;
use cubewire_palette::bit_kind;
use cubewire_protocol::{Standing, Wait};

use super::packet::inspected::Inspected;
use crate::history::Selection;
use crate::panel::{style, terms};
use crate::replication::{PacketRecord, demo_index};
use crate::theme::{Theme, egui_color};

/// Packets in the table.
const PACKETS: usize = 60;

/// What a cube took in a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Share {
    tick: u64,
    /// By kind, in the order of [`BitKind::DEMO`].
    bits: [f64; BitKind::DEMO.len()],
    /// By kind, of fields that are sent in components: the bits of each component.
    components: [Option<[f64; 3]>; BitKind::DEMO.len()],
    /// Names of the forms of position and orientation.
    forms: [&'static str; 2],
    baseline_age: Option<u16>,
}

impl Share {
    fn of(tick: u64, packet: &PacketRecord, cube: usize) -> Option<Self> {
        let detail = packet.detail.as_deref()?;
        let mut share = Self {
            tick,
            forms: ["–"; 2],
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
            let form = item.form.map_or("unchanged", |form| form.name());
            match item.kind {
                BitKind::Position => share.forms[0] = form,
                BitKind::Orientation => share.forms[1] = form,
                _ => {}
            }
        }
        Some(share)
    }

    fn total(&self) -> f64 {
        self.bits.iter().sum()
    }

    fn of_kind(&self, kind: BitKind) -> f64 {
        self.bits[demo_index(kind)]
    }

    /// The bits of each component, a line for each kind that has some.
    fn words(&self) -> String {
        let kinds = BitKind::DEMO.into_iter().zip(self.components);
        let lines = kinds.filter_map(|(kind, components)| {
            let ([a, b, c], [first, second, third]) = kind.component_names().zip(components)?;
            Some(format!(
                "{kind}: {a} {first:.1}, {b} {second:.1}, {c} {third:.1} bits"
            ))
        });
        let lines: Vec<_> = lines.collect();
        match lines.is_empty() {
            true => "No component of a field is in this packet.".to_owned(),
            false => lines.join("\n"),
        }
    }

    /// Bits of everything but position and orientation.
    fn others(&self) -> f64 {
        self.total() - self.of_kind(BitKind::Position) - self.of_kind(BitKind::Orientation)
    }
}

pub(super) fn draw(
    ui: &mut egui::Ui,
    theme: Theme,
    cube: usize,
    selection: &mut Selection,
    what: &Inspected<'_>,
) {
    ui.horizontal(|ui| {
        ui.strong(format!("Cube {cube}"));
        if let Some(error) = what.errors.get(cube) {
            ui.monospace(format!(
                "{:.1} mm, {:.2}° off",
                error.metres * 1000.0,
                error.degrees
            ))
            .on_hover_text("The displayed cube against the simulation.");
        }
        ui.toggle_value(&mut selection.follows, "follow")
            .on_hover_text("The cameras follow this cube instead of the player's.");
        if ui.button("clear").clicked() {
            *selection = Selection::default();
        }
    });
    if let Some(standing) = what.standings.get(cube) {
        let now = what.meter.samples().back().map_or(0, |sample| sample.tick);
        ui.label(RichText::new(words(*standing, now)).small())
            .on_hover_text(terms::STANDING);
    }
    let shares = shares(what, cube);
    graph(ui, theme, &shares);
    let row = ui.text_style_height(&TextStyle::Monospace);
    ui.label(
        RichText::new("  tick base    pos  orient   other  total  forms")
            .monospace()
            .small(),
    );
    ScrollArea::vertical()
        .id_salt("packets of the cube")
        .max_height(style::page_left(ui).max(MIN_HEIGHT))
        .auto_shrink([false, true])
        .show_rows(ui, row, shares.len(), |ui, shown| {
            for share in &shares[shown] {
                let age = share
                    .baseline_age
                    .map_or_else(|| "–".to_owned(), |age| format!("-{age}"));
                let text = format!(
                    "{:6} {age:>4} {:6.1} {:7.1} {:7.1} {:6.1}  {}, {}",
                    share.tick,
                    share.of_kind(BitKind::Position),
                    share.of_kind(BitKind::Orientation),
                    share.others(),
                    share.total(),
                    share.forms[0],
                    share.forms[1],
                );
                ui.add(egui::Label::new(RichText::new(text).monospace().small()).truncate())
                    .on_hover_text(share.words());
            }
        });
}

/// How the cube stands within the budget, as a sentence.
fn words(standing: Standing, now: u64) -> String {
    let ticks = |since: u64| match now.saturating_sub(since) {
        1 => "1 tick".to_owned(),
        ticks => format!("{ticks} ticks"),
    };
    match standing {
        Standing::UpToDate { sent: None } => "Up to date: not moved since the start.".to_owned(),
        Standing::UpToDate { sent: Some(sent) } => format!("Up to date: sent {} ago.", ticks(sent)),
        Standing::InFlight { sent } => format!("In flight: sent {} ago.", ticks(sent)),
        Standing::Withheld { since } => format!("Withheld for {}.", ticks(since)),
        Standing::Waits(wait) => {
            let Wait {
                since,
                error,
                priority,
                more_urgent,
            } = wait;
            let others = match more_urgent {
                0 => "next".to_owned(),
                1 => "1 cube is more urgent".to_owned(),
                others => format!("{others} cubes are more urgent"),
            };
            let mm = 1000.0 * error;
            format!(
                "Waits for {}: moved {mm:.1} mm, priority {priority:.1}, {others}.",
                ticks(since)
            )
        }
    }
}

/// The newest packets up to the moment, the newest first.
fn shares(what: &Inspected<'_>, cube: usize) -> Vec<Share> {
    let samples = what.meter.back_from(what.moment);
    samples
        .flat_map(|sample| sample.snapshots.iter().map(|packet| (sample.tick, packet)))
        .filter_map(|(tick, packet)| Share::of(tick, packet, cube))
        .take(PACKETS)
        .collect()
}

/// A bar for each packet, the newest at the right: bits by kind, on a scale that fits the largest.
fn graph(ui: &mut egui::Ui, theme: Theme, shares: &[Share]) {
    let size = vec2(ui.available_width(), GRAPH_HEIGHT);
    let (area, response) = ui.allocate_exact_size(size, Sense::hover());
    let painter = ui.painter_at(area);
    let colors = theme.colors();
    painter.rect_filled(area, 0.0, style::tint(colors, colors.ink, 0.06));
    let largest = shares.iter().map(Share::total).fold(1.0, f64::max);
    let width = area.width() / PACKETS as f32;
    for (age, share) in shares.iter().enumerate() {
        let right = area.right() - age as f32 * width;
        let mut bottom = area.bottom();
        for kind in BitKind::DEMO {
            let height = (share.of_kind(kind) / largest) as f32 * area.height();
            let bar = Rect::from_x_y_ranges(right - width + 0.5..=right, bottom - height..=bottom);
            painter.rect_filled(bar, 0.0, egui_color(bit_kind(kind)));
            bottom -= height;
        }
    }
    response.on_hover_text(format!(
        "Bits of this cube in its last {PACKETS} packets, by kind; the highest bar is {largest:.1} bits."
    ));
}

/// Logical points.
const MIN_HEIGHT: f32 = 60.0;
const GRAPH_HEIGHT: f32 = 36.0;

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;

    use super::*;
    use crate::panel::tests::packet_of;

    #[test]
    fn the_shares_of_all_cubes_are_the_packet_without_what_they_share() {
        for rung in ladder::all() {
            let packet = packet_of(rung.stages);
            let cubes: f64 = (0..10)
                .filter_map(|cube| Share::of(3, &packet, cube))
                .map(|share| share.total())
                .sum();
            let items = packet.detail.as_deref().unwrap().items();
            let shared: f64 = items
                .filter(|item| item.body.is_none())
                .map(|item| item.bits)
                .sum();
            let all = packet.payload_bytes as f64 * 8.0;
            assert!((cubes + shared - all).abs() < 0.01, "{}", rung.name);
        }
    }

    #[test]
    fn a_standing_is_a_sentence() {
        assert_eq!(
            words(Standing::InFlight { sent: 98 }, 100),
            "In flight: sent 2 ticks ago."
        );
        assert_eq!(
            words(Standing::UpToDate { sent: Some(99) }, 100),
            "Up to date: sent 1 tick ago."
        );
        let wait = |more_urgent| Wait {
            since: 93,
            error: 0.003,
            priority: 7.42,
            more_urgent,
        };
        assert_eq!(
            words(Standing::Waits(wait(212)), 100),
            "Waits for 7 ticks: moved 3.0 mm, priority 7.4, 212 cubes are more urgent."
        );
        assert!(words(Standing::Waits(wait(0)), 100).ends_with("priority 7.4, next."));
    }

    #[test]
    fn a_row_of_the_table_says_what_each_component_takes() {
        let words = |rung: ladder::Rung, cube| {
            let packet = packet_of(rung.stages);
            Share::of(3, &packet, cube).unwrap().words()
        };
        assert_eq!(
            words(ladder::SMALLEST_THREE, 1),
            "position: x 32.0, y 32.0, z 32.0 bits\n\
             orientation: a 9.0, b 9.0, c 9.0 bits\n\
             velocity: x 32.0, y 32.0, z 32.0 bits"
        );
        // Cube 1 moved far, and did not turn.
        assert_eq!(
            words(ladder::CHANGED_FLAGS, 1),
            "position: x 18.0, y 18.0, z 14.0 bits"
        );
        assert_eq!(
            words(ladder::CHANGED_FLAGS, 9),
            "No component of a field is in this packet."
        );
    }
}
