//! The selected cube: its error, how it stands within the budget, and its last packets.

use bevy_egui::egui::{
    Align, Layout, Rect, Sense, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, vec2,
};
use cubewire_codec::BitKind;
use cubewire_protocol::{Standing, Wait};

use super::inspected::Inspected;
use super::share::{PACKETS, Share, shares};
use super::span::amount;
use crate::history::Selection;
use crate::panel::style::{BODY, BUTTON, GAP, LINE, Look, SMALL, page_left};
use crate::panel::terms;
use crate::panel::widgets::{At, Chart, Kind, Row, Scale, button, divider, list, note, text};
use crate::replication::{CubeError, millimetres};
use crate::theme::egui_color;

/// The height that it takes with four packets in the table.
pub(super) fn height(standing: Option<Standing>) -> f32 {
    let lines = 6 + usize::from(standing.is_some());
    DIVIDER + BUTTON + GAP + GRAPH_HEIGHT + lines as f32 * LINE
}

pub(super) fn draw(ui: &mut Ui, cube: usize, selection: &mut Selection, what: &Inspected<'_>) {
    divider(ui);
    title(ui, cube, what.errors.get(cube), selection);
    if let Some(standing) = what.standings.get(cube) {
        let now = what.meter.samples().back().map_or(0, |sample| sample.tick);
        note(ui, words(*standing, now)).on_hover_text(terms::STANDING);
    }
    ui.add_space(GAP);
    let shares = shares(ui, what, cube);
    graph(ui, &shares);
    let look = Look::of(ui);
    let head = Row::show(ui, LINE, "the last packets of the cube");
    let names = ["tick", "position", "orientation", "other", "bits", "forms"];
    for (name, at) in names.into_iter().zip(columns(head.rect)) {
        head.text(ui, at, name, SMALL, look.muted);
    }
    let rows = (page_left(ui) / LINE).floor().max(MIN_ROWS);
    let height = rows * LINE;
    list(
        ui,
        "packets of the cube",
        height,
        LINE,
        shares.len(),
        |ui, shown| {
            for share in &shares[shown] {
                let cells = [
                    share.tick.to_string(),
                    amount(share.of_kind(BitKind::Position)),
                    amount(share.of_kind(BitKind::Orientation)),
                    amount(share.others()),
                    amount(share.total()),
                    share.forms(),
                ];
                let row = Row::show(ui, LINE, &cells.join(", "));
                for (cell, at) in cells.iter().zip(columns(row.rect)) {
                    row.text(ui, at, cell, SMALL, look.ink);
                }
                row.response.on_hover_text(share.words());
            }
        },
    );
}

/// Where the columns of the table stand.
fn columns(row: Rect) -> [At; 6] {
    let right = |share: f32| At::Right(row.width() * (1.0 - share));
    [
        At::Left(0.0),
        right(0.26),
        right(0.47),
        right(0.59),
        right(0.69),
        At::Left(row.width() * 0.735),
    ]
}

/// Its number, its error, and what can be done with it.
fn title(ui: &mut Ui, cube: usize, error: Option<&CubeError>, selection: &mut Selection) {
    let look = Look::of(ui);
    let size = vec2(ui.available_width(), BUTTON);
    let layout = Layout::right_to_left(Align::Center);
    ui.allocate_ui_with_layout(size, layout, |ui| {
        ui.spacing_mut().item_spacing.x = GAP;
        let clear = button(ui, CLEAR, "Clear", "", Kind::Secondary);
        let kind = match selection.follows {
            true => Kind::Usual { is_on: true },
            false => Kind::Secondary,
        };
        let follow = button(ui, FOLLOW, "Follow", "", kind);
        let follow = follow.on_hover_text("The cameras follow this cube instead of the player's.");
        let left = vec2(ui.available_width(), BUTTON);
        let (rect, response) = ui.allocate_exact_size(left, Sense::hover());
        let name = format!("Cube {cube}");
        let off = error.map(|error| {
            let distance = millimetres(f64::from(error.metres));
            format!("off by {distance}, {:.2}°", error.degrees)
        });
        let said = off
            .iter()
            .fold(name.clone(), |name, off| format!("{name}, {off}"));
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &said));
        let painter = ui.painter();
        let square = Rect::from_min_size(rect.left_center() - vec2(0.0, 8.0), vec2(16.0, 16.0));
        let edge = Stroke::new(2.0, look.ink);
        painter.rect_stroke(square.shrink(1.0), 0.0, edge, StrokeKind::Middle);
        let name = text(painter, rect, At::Left(24.0), name, BODY, look.ink);
        if let Some(off) = off {
            let after = At::Left(name.right() - rect.left() + 12.0);
            text(painter, rect, after, off, SMALL, look.muted);
            response.on_hover_text("The displayed cube against the simulation.");
        }
        if follow.clicked() {
            selection.follows = !selection.follows;
        }
        if clear.clicked() {
            *selection = Selection::default();
        }
    });
}

/// How the cube stands within the budget, as a sentence.
fn words(standing: Standing, now: u64) -> String {
    let ticks = |since: u64| terms::ticks(now.saturating_sub(since));
    match standing {
        Standing::UpToDate { sent: None } => "Up to date: not moved since the start.".to_owned(),
        Standing::UpToDate { sent: Some(sent) } => format!("Up to date: sent {} ago.", ticks(sent)),
        Standing::InFlight { sent } => format!("In flight: sent {} ago.", ticks(sent)),
        Standing::Withheld { since } => {
            format!("Hidden by a visibility filter for {}.", ticks(since))
        }
        Standing::Waits(wait) => {
            let Wait {
                since,
                error,
                priority,
                more_urgent,
            } = wait;
            let others = match more_urgent {
                0 => "next".to_owned(),
                others => format!("{others} more urgent"),
            };
            let moved = millimetres(error.into());
            format!(
                "Waits for {}: moved {moved}, priority {priority:.1}, {others}.",
                ticks(since)
            )
        }
    }
}

/// A bar for each packet, the newest at the right: bits by kind, on a scale that fits the largest.
fn graph(ui: &mut Ui, shares: &[Share]) {
    let size = vec2(ui.available_width(), GRAPH_HEIGHT + LINE);
    let (area, response) = ui.allocate_exact_size(size, Sense::hover());
    let plot = area.with_max_y(area.top() + GRAPH_HEIGHT);
    let largest = shares.iter().map(Share::total).fold(1.0, f64::max);
    let packets = 0.0..=PACKETS as f64;
    let chart = Chart::new(ui, plot, packets, 0.0..=largest, Scale::Linear);
    let colors = Look::of(ui).theme.colors();
    for (age, share) in shares.iter().enumerate() {
        let right = chart.x_of((PACKETS - age) as f64);
        let left = chart.x_of((PACKETS - age - 1) as f64) + 1.0;
        let mut below = 0.0;
        for kind in BitKind::DEMO {
            let bits = share.of_kind(kind);
            let top = chart.y_of(below + bits);
            let mut bottom = chart.y_of(below);
            below += bits;
            // A point of ground between the kinds.
            if bottom - top > 2.0 && bottom < plot.bottom() {
                bottom -= 1.0;
            }
            let bar = Rect::from_x_y_ranges(left..=right, top..=bottom);
            let color = egui_color(colors.bit_kind(kind));
            chart.painter().rect_filled(bar, 0.0, color);
        }
    }
    chart.times(ui, [&format!("{PACKETS} packets ago"), "", "this one"]);
    response.on_hover_text(format!(
        "Bits of this cube in its last {PACKETS} packets, by kind; the highest bar is {} bits.",
        amount(largest)
    ));
}

/// Logical points.
const DIVIDER: f32 = 9.0;
const GRAPH_HEIGHT: f32 = 40.0;
const FOLLOW: f32 = 62.0;
const CLEAR: f32 = 54.0;

/// Rows of the table at least.
const MIN_ROWS: f32 = 3.0;

#[cfg(test)]
mod tests {
    use super::*;

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
            "Waits for 7 ticks: moved 3.0 mm, priority 7.4, 212 more urgent."
        );
        assert!(words(Standing::Waits(wait(0)), 100).ends_with("priority 7.4, next."));
    }
}
