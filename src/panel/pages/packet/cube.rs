//! The selected cube: its error, its state within the budget, and its last packets.

use cubewire_inspector::packet::{Span, amount, fields, short_form};
use cubewire_protocol::SendState;

use super::identity;
use crate::panel::prelude::*;
use crate::replication::{CubeError, millimetres};

/// Returns the height with three packets in the table, logical points.
pub(super) fn height(send_state: Option<SendState>) -> f32 {
    let lines = 5 + usize::from(send_state.is_some());
    // A divider takes 9 points.
    9.0 + BUTTON + GAP + GRAPH_HEIGHT + lines as f32 * LINE
}

pub(super) fn draw(ui: &mut Ui, cube: usize, lane: &mut LaneView<'_>) {
    divider(ui);
    title(ui, cube, lane.errors.get(cube), lane.selection);
    if let Some(send_state) = lane.send_state(cube) {
        note(ui, words(send_state, lane.now())).on_hover_text(terms::SEND_STATE);
    }
    ui.add_space(GAP);
    let shares = shares(ui, lane, cube);
    graph(ui, &shares);
    let look = Look::of(ui);
    let head = ["tick", "position", "orientation", "other", "bits", "forms"];
    row(ui, "the last packets of the cube", &head, look.muted);
    let (id, height) = ("packets of the cube", (page_left(ui) / LINE).floor().max(3.0) * LINE);
    list(ui, id, height, LINE, shares.len(), |ui, shown| {
        for share in &shares[shown] {
            let cells = [
                grouped(share.tick as f64),
                amount(share.of_kind(BitKind::Position)),
                amount(share.of_kind(BitKind::Orientation)),
                amount(share.others()),
                amount(share.total()),
                share.forms(),
            ];
            row(ui, &cells.join(", "), &cells, look.ink).response.on_hover_text(share.words());
        }
    });
}

fn row(ui: &mut Ui, name: &str, cells: &[impl ToString; 6], color: Color32) -> Row {
    let row = Row::show(ui, LINE, name);
    let right = |share: f32| At::Right(row.rect.width() * (1.0 - share));
    let columns = [
        At::Left(0.0),
        right(0.26),
        right(0.47),
        right(0.59),
        right(0.69),
        At::Left(row.rect.width() * 0.735),
    ];
    for (cell, at) in cells.iter().zip(columns) {
        row.text(ui, at, cell.to_string(), SMALL, color);
    }
    row
}

fn title(ui: &mut Ui, cube: usize, error: Option<&CubeError>, selection: &mut Selection) {
    let look = Look::of(ui);
    // Draws the longest text that fits next to the buttons.
    let off = error.map_or([const { String::new() }; 2], |error| {
        let distance = millimetres(f64::from(error.metres));
        [format!("off by {distance}, {:.2}°", error.degrees), distance]
    });
    let name = format!("Cube {cube}");
    let row = Row::show(ui, BUTTON, &format!("{name} {}", off[0]));
    // The same outline as in the halves.
    let square = row.rect.left_center() - vec2(0.0, 7.0);
    let square = Rect::from_min_size(square + vec2(1.0, 0.0), vec2(14.0, 14.0));
    ui.painter().rect_stroke(square, 0.0, Stroke::new(2.0, look.ink), StrokeKind::Middle);
    let after = row.text(ui, At::Left(24.0), name, BODY, look.ink).right() + 12.0;
    let room = row.rect.right() - CLEAR - FOLLOW - 2.0 * GAP - after;
    if let Some(off) = off.iter().find(|off| width(ui, off, SMALL) <= room) {
        row.text(ui, At::Left(after - row.rect.left()), off, SMALL, look.muted);
    }
    row.controls(ui, |ui| {
        let clear = button(ui, CLEAR, "Clear", "", Kind::Secondary);
        let kind = if selection.follows { Kind::On } else { Kind::Secondary };
        let follow = button(ui, FOLLOW, "Follow", "", kind);
        if follow.on_hover_text("The cameras follow this cube instead of the player's.").clicked() {
            selection.follows = !selection.follows;
        }
        if clear.clicked() {
            *selection = Selection::default();
        }
    });
    if error.is_some() {
        row.response.on_hover_text("The displayed cube against the simulation.");
    }
}

fn words(send_state: SendState, now: u64) -> String {
    let ticks = |since: u64| ticks(now.saturating_sub(since));
    let ago = |since: u64| match now.saturating_sub(since) {
        0 => "in this tick".to_owned(),
        _ => format!("{} ago", ticks(since)),
    };
    match send_state {
        SendState::UpToDate { sent: None } => "Up to date: not moved since the start.".to_owned(),
        SendState::UpToDate { sent: Some(sent) } => format!("Up to date: sent {}.", ago(sent)),
        SendState::InFlight { sent } => format!("In flight: sent {}.", ago(sent)),
        SendState::Withheld { since } => format!("Withheld for {}.", ticks(since)),
        SendState::Waiting(wait) => {
            let others = match wait.more_urgent {
                0 => "next".to_owned(),
                others => format!("{others} more urgent"),
            };
            let (moved, priority) = (millimetres(wait.error.into()), wait.priority);
            let waits = match now.saturating_sub(wait.since) {
                0 => "Waits since this tick".to_owned(),
                _ => format!("Waits for {}", ticks(wait.since)),
            };
            format!("{waits}: moved {moved}, priority {priority:.1}, {others}.")
        }
    }
}

/// Draws a stacked bar of bits by kind for each packet, the newest at the right, scaled to the largest.
fn graph(ui: &mut Ui, shares: &[Share]) {
    let size = vec2(ui.available_width(), GRAPH_HEIGHT + LINE);
    let (area, response) = ui.allocate_exact_size(size, Sense::hover());
    let plot = area.with_max_y(area.top() + GRAPH_HEIGHT);
    let largest = shares.iter().map(Share::total).fold(1.0, f64::max);
    let packets = 0.0..=PACKETS as f64;
    let chart = Chart::new(ui, plot, packets, 0.0..=largest, Scale::Linear);
    let look = Look::of(ui);
    for (age, share) in shares.iter().enumerate() {
        let right = (PACKETS - age) as f64;
        let x = chart.x_of(right - 1.0) + 1.0..=chart.x_of(right);
        let mut below = 0.0;
        for kind in BitKind::DEMO {
            let mut bottom = chart.y_of(below);
            below += share.of_kind(kind);
            let top = chart.y_of(below);
            // A gap of one point between the kinds.
            if bottom - top > 2.0 && bottom < plot.bottom() {
                bottom -= 1.0;
            }
            let bar = Rect::from_x_y_ranges(x.clone(), top..=bottom);
            chart.painter.rect_filled(bar, 0.0, look.kind(kind));
        }
    }
    chart.times(ui, [&format!("{PACKETS} packets ago"), "", "this one"]);
    response.on_hover_text(format!(
        "Bits of this cube in its last {PACKETS} packets, by kind; the highest bar is {} bits.",
        amount(largest)
    ));
}

#[derive(Clone, Debug)]
struct Share {
    tick: u64,
    fields: Vec<Span>,
    baseline_age: Option<u16>,
}

/// Returns the shares of the cube in the last packets before the displayed tick, the newest first.
fn shares(ui: &Ui, lane: &LaneView<'_>, cube: usize) -> Arc<[Share]> {
    let samples = lane.meter.back_from(lane.past.moment);
    let packets = samples
        .flat_map(|sample| sample.snapshots.iter().map(|packet| (sample.tick, packet)))
        .filter_map(|(tick, packet)| Some((tick, packet, packet.detail.as_deref()?)));
    let mut packets = packets.take(PACKETS).peekable();
    let newest = packets.peek().map(|&(tick, _, detail)| identity(tick, detail));
    kept(ui, Id::new("shares of the cube"), (cube, newest), || {
        let shares = packets.map(|(tick, packet, detail)| Share {
            tick,
            fields: fields(detail.items()).filter(|field| field.body == Some(cube)).collect(),
            baseline_age: packet.reference_age_ticks(),
        });
        shares.collect()
    })
}

impl Share {
    fn total(&self) -> f64 {
        self.fields.iter().map(|field| field.bits).sum()
    }

    fn of_kind(&self, kind: BitKind) -> f64 {
        self.fields.iter().filter(|field| field.kind == Some(kind)).map(|field| field.bits).sum()
    }

    fn others(&self) -> f64 {
        self.total() - self.of_kind(BitKind::Position) - self.of_kind(BitKind::Orientation)
    }

    fn forms(&self) -> String {
        let forms = [BitKind::Position, BitKind::Orientation].map(|kind| {
            let field = self.fields.iter().find(|field| field.kind == Some(kind));
            field.map(|field| field.form.map_or("same", short_form))
        });
        match forms {
            [None, None] => "not sent".to_owned(),
            forms => forms.map(|form| form.unwrap_or("–")).join(", "),
        }
    }

    fn words(&self) -> String {
        let fields = self.fields.iter();
        let mut lines: Vec<_> =
            fields.map(|field| field.words(terms::names())[1].clone()).collect();
        if lines.is_empty() {
            lines.push("Not in this packet.".to_owned());
        }
        if let Some(age) = self.baseline_age {
            lines.push(format!("The baseline is {} older.", ticks(age.into())));
        }
        lines.join("\n")
    }
}

const PACKETS: usize = 60;

/// Sizes and distances, logical points.
const GRAPH_HEIGHT: f32 = 40.0;
const FOLLOW: f32 = 62.0;
const CLEAR: f32 = 54.0;

#[cfg(test)]
mod tests {
    use cubewire_protocol::Wait;

    use super::*;

    #[test]
    fn a_standing_is_a_sentence() {
        let wait = |since, more_urgent| {
            SendState::Waiting(Wait { since, error: 0.003, priority: 7.42, more_urgent })
        };
        let said = [
            SendState::InFlight { sent: 98 },
            SendState::InFlight { sent: 100 },
            SendState::UpToDate { sent: Some(99) },
            wait(93, 212),
            wait(93, 0),
            wait(100, 0),
        ];
        assert_eq!(
            said.map(|send_state| words(send_state, 100)),
            [
                "In flight: sent 2 ticks ago.",
                "In flight: sent in this tick.",
                "Up to date: sent 1 tick ago.",
                "Waits for 7 ticks: moved 3.0 mm, priority 7.4, 212 more urgent.",
                "Waits for 7 ticks: moved 3.0 mm, priority 7.4, next.",
                "Waits since this tick: moved 3.0 mm, priority 7.4, next.",
            ]
        );
    }
}
