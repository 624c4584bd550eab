//! The flags above the graph, one for each switch of stages: numbered, and said in words under the pointer.

use std::ops::Range;

use bevy_egui::egui::{Rect, Sense, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, pos2, vec2};

use super::lines::Switch;
use crate::panel::style::{Look, SMALL};
use crate::panel::widgets::{At, Chart, text};

/// What was drawn.
#[derive(Clone, Debug, Default)]
pub(super) struct Flags {
    /// Where flags are.
    pub(super) occupied: Vec<f32>,
    /// The flag under the pointer, or with the focus: its number, and what it says.
    pub(super) said: Option<(String, String)>,
}

/// Draws a flag for each switch, or one for several that are closer than it is wide. `tour` is the number of its step,
/// with which the last switch is marked.
pub(super) fn draw(
    ui: &Ui,
    row: Rect,
    chart: &Chart,
    switches: &[Switch],
    tour: Option<usize>,
) -> Flags {
    let look = Look::of(ui);
    let mut flags = Flags::default();
    for (index, group) in grouped(switches, |switch| chart.x_of(switch.seconds))
        .into_iter()
        .enumerate()
    {
        let (first, last) = (group.start + 1, group.end);
        let is_last = last == switches.len();
        let number = match (tour.filter(|_| is_last), first == last) {
            (Some(step), _) => step.to_string(),
            (None, true) => first.to_string(),
            (None, false) => format!("{first}–{last}"),
        };
        let x = chart.x_of(switches[group.end - 1].seconds);
        chart.upright(
            switches[group.end - 1].seconds,
            Stroke::new(1.0, look.quiet),
        );
        let width = if number.chars().count() > 1 {
            WIDE
        } else {
            NARROW
        };
        let center = x.clamp(row.left() + width / 2.0, row.right() - width / 2.0);
        let flag = Rect::from_center_size(pos2(center, row.center().y), vec2(width, NARROW));
        let response = ui.interact(
            flag.expand(2.0),
            ui.id().with(("flag", index)),
            Sense::click(),
        );
        let (from, to) = (switches[group.start].from, switches[group.end - 1].to);
        let ago = -switches[group.end - 1].seconds;
        let said = format!("{from} to {to}, {ago:.1} s ago");
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &said));
        if response.hovered() || response.has_focus() {
            let ring = Stroke::new(3.0, look.half);
            ui.painter()
                .rect_stroke(flag, 3.0, ring, StrokeKind::Outside);
            flags.said = Some((number.clone(), said));
        }
        paint(ui, flag, &number);
        flags.occupied.push(center);
    }
    flags
}

/// Says what the flag under the pointer means, in the row of the legend.
pub(super) fn say(ui: &Ui, row: Rect, (number, said): &(String, String)) {
    let look = Look::of(ui);
    let width = if number.chars().count() > 1 {
        WIDE
    } else {
        NARROW
    };
    let flag = Rect::from_center_size(
        pos2(row.left() + width / 2.0, row.center().y),
        vec2(width, NARROW),
    );
    paint(ui, flag, number);
    text(
        ui.painter(),
        row,
        At::Left(width + 8.0),
        said,
        SMALL,
        look.ink,
    );
}

fn paint(ui: &Ui, flag: Rect, number: &str) {
    let look = Look::of(ui);
    ui.painter().rect_filled(flag, 3.0, look.ink);
    let middle = At::Center(flag.width() / 2.0);
    text(ui.painter(), flag, middle, number, SMALL, look.ground);
}

/// Groups of switches whose flags would touch. A flag stands at the last of its group.
fn grouped(switches: &[Switch], x_of: impl Fn(&Switch) -> f32) -> Vec<Range<usize>> {
    let right = |group: &Range<usize>| x_of(&switches[group.end - 1]);
    let width = |group: &Range<usize>| if group.len() > 1 { WIDE } else { NARROW };
    let mut groups: Vec<Range<usize>> = Vec::new();
    for index in 0..switches.len() {
        let mut group = index..index + 1;
        while let Some(before) = groups.pop_if(|before| {
            right(&group) - right(before) < (width(before) + width(&group)) / 2.0 + BETWEEN
        }) {
            group.start = before.start;
        }
        groups.push(group);
    }
    groups
}

/// Logical points.
const NARROW: f32 = 16.0;
const WIDE: f32 = 28.0;
const BETWEEN: f32 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_that_are_close_share_a_flag() {
        let at = |seconds: f64| Switch {
            seconds,
            from: "delta",
            to: "index",
        };
        let switches = [-19.0, -18.9, -18.8, -10.0, -1.0].map(at);
        let groups = grouped(&switches, |switch| 17.0 * switch.seconds as f32);
        assert_eq!(groups, [0..3, 3..4, 4..5]);
        assert!(grouped(&[], |_| 0.0).is_empty());
    }
}
