//! Flags above a plot, one for each switch of stages: numbered, and said in words under the pointer.

use std::ops::Range;

use bevy_egui::egui::{Rect, Sense, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, pos2, vec2};

use super::{At, text, within};
use crate::panel::style::{Look, SMALL};

/// A switch of stages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::panel) struct Switch {
    /// Where it is in the plot.
    pub(in crate::panel) x: f32,
    /// Its number, if it is not that of the switch, counted from the oldest.
    pub(in crate::panel) number: Option<usize>,
    /// How long ago, seconds.
    pub(in crate::panel) ago: f64,
    /// The names of the rungs before and after.
    pub(in crate::panel) from: &'static str,
    pub(in crate::panel) to: &'static str,
}

/// What was drawn.
#[derive(Clone, Debug, Default)]
pub(in crate::panel) struct Flags {
    /// Where flags stand.
    pub(in crate::panel) at: Vec<f32>,
    /// The flag under the pointer, or with the focus: its number, and what it says.
    pub(in crate::panel) said: Option<(String, String)>,
}

/// Draws a flag for each switch, or one for several whose flags would touch; the oldest comes first.
pub(in crate::panel) fn flags(ui: &Ui, row: Rect, switches: &[Switch]) -> Flags {
    let look = Look::of(ui);
    let mut flags = Flags::default();
    for (index, group) in grouped(switches).into_iter().enumerate() {
        let newest = switches[group.end - 1];
        let number = match newest.number {
            Some(number) => number.to_string(),
            None if group.len() == 1 => group.end.to_string(),
            None => format!("{}–{}", group.start + 1, group.end),
        };
        let half = width(&number) / 2.0;
        let center = within(newest.x, row.left() + half, row.right() - half);
        let flag = Rect::from_center_size(pos2(center, row.center().y), vec2(2.0 * half, NARROW));
        let id = ui.id().with(("flag", row.top().to_bits(), index));
        let response = ui.interact(flag.expand(2.0), id, Sense::click());
        let said = format!(
            "{} to {}, {:.1} s ago",
            switches[group.start].from, newest.to, newest.ago
        );
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &said));
        if response.hovered() || response.has_focus() {
            let ring = Stroke::new(3.0, look.half);
            ui.painter()
                .rect_stroke(flag, 3.0, ring, StrokeKind::Outside);
            flags.said = Some((number.clone(), said));
        }
        paint(ui, flag, &number);
        flags.at.push(newest.x);
    }
    flags
}

/// Says what the flag under the pointer means, in a row of text.
pub(in crate::panel) fn say_flag(ui: &Ui, row: Rect, (number, said): &(String, String)) {
    let look = Look::of(ui);
    let width = width(number);
    let center = pos2(row.left() + width / 2.0, row.center().y);
    paint(
        ui,
        Rect::from_center_size(center, vec2(width, NARROW)),
        number,
    );
    text(
        ui.painter(),
        row,
        At::Left(width + 8.0),
        said,
        SMALL,
        look.ink,
    );
}

/// Paints a flag with a number, or another short text.
pub(in crate::panel) fn paint(ui: &Ui, flag: Rect, number: &str) {
    let look = Look::of(ui);
    ui.painter().rect_filled(flag, 3.0, look.ink);
    let middle = At::Center(flag.width() / 2.0);
    text(ui.painter(), flag, middle, number, SMALL, look.ground);
}

fn width(number: &str) -> f32 {
    if number.chars().count() > 1 {
        WIDE
    } else {
        NARROW
    }
}

/// Groups of switches whose flags would touch. A flag stands at the last of its group.
fn grouped(switches: &[Switch]) -> Vec<Range<usize>> {
    let right = |group: &Range<usize>| switches[group.end - 1].x;
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
        let at = |x: f32| Switch {
            x,
            number: None,
            ago: 1.0,
            from: "delta",
            to: "index",
        };
        let switches = [10.0, 12.0, 14.0, 150.0, 300.0].map(at);
        assert_eq!(grouped(&switches), [0..3, 3..4, 4..5]);
        assert!(grouped(&[]).is_empty());
    }
}
