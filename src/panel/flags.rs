//! Flags above a plot, one for each switch of stages, with the number of the rung, and said in words under the pointer.

use std::ops::Range;

use bevy_egui::egui::{Rect, Sense, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, pos2, vec2};
use cubewire_codec::Stages;
use cubewire_codec::ladder::LADDER;
use cubewire_scene::TICKS_PER_SECOND;

use super::style::{Look, SMALL};
use super::widgets::{At, Chart, text, within};
use crate::replication::rung_name;

/// A switch of stages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Switch {
    /// Where it is in the plot.
    pub(super) x: f32,
    /// How long before the newest tick of its lane, seconds.
    ago: f64,
    /// The stages before and after.
    from: Stages,
    to: Stages,
}

/// The switches in the stages of consecutive ticks, lane by lane; those of all lanes, oldest first. `x_of` takes the
/// seconds before the newest tick.
pub(super) fn switches(
    lanes: impl IntoIterator<Item: IntoIterator<Item = Stages>>,
    x_of: impl Fn(f64) -> f32,
) -> Vec<Switch> {
    let mut switches = Vec::new();
    for lane in lanes {
        let stages: Vec<Stages> = lane.into_iter().collect();
        for (index, pair) in stages.windows(2).enumerate() {
            if pair[0] != pair[1] {
                let ago = (stages.len() - 2 - index) as f64 / f64::from(TICKS_PER_SECOND);
                switches.push(Switch {
                    x: x_of(ago),
                    ago,
                    from: pair[0],
                    to: pair[1],
                });
            }
        }
    }
    switches.sort_by(|a, b| b.ago.total_cmp(&a.ago));
    switches
}

/// Draws a flag in a row above a plot for each switch, or one for several whose flags would touch, and a line through the
/// plot; the oldest comes first. Returns where they stand, and what is told about the one that is pointed at.
pub(super) fn flags(
    ui: &Ui,
    row: Rect,
    chart: &Chart,
    switches: &[Switch],
) -> (Vec<f32>, Option<String>) {
    let look = Look::of(ui);
    let mut told = None;
    let flag = |(index, group): (usize, Range<usize>)| {
        let newest = switches[group.end - 1];
        let number = numbers(&switches[group.clone()]);
        let size = vec2(flag_width(&number), NARROW);
        let half = size.x / 2.0;
        let center = within(newest.x, row.left() + half, row.right() - half);
        let flag = Rect::from_center_size(pos2(center, row.center().y), size);
        let id = ui.id().with(("flag", row.top().to_bits(), index));
        let response = ui.interact(flag.expand(2.0), id, Sense::click());
        let [from, to] = [switches[group.start].from, newest.to].map(rung_name);
        let said = format!("{from} to {to}, {:.1} s ago", newest.ago);
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &said));
        if response.hovered() || response.has_focus() {
            let ring = Stroke::new(3.0, look.half);
            let painter = ui.painter();
            painter.rect_stroke(flag, 3.0, ring, StrokeKind::Outside);
            told = Some(said);
        }
        paint(ui, flag, &number);
        let line = Stroke::new(1.0, look.quiet);
        let painter = chart.painter();
        painter.vline(newest.x, chart.rect.y_range(), line);
        newest.x
    };
    let marks = grouped(switches).into_iter().enumerate().map(flag);
    (marks.collect(), told)
}

/// The numbers of the rungs that a group of switches leads through: `2–4`.
fn numbers(group: &[Switch]) -> String {
    let numbers = [group.first(), group.last()].map(|switch| switch.map(|it| number(it.to)));
    match numbers {
        [Some(first), Some(last)] if first != last => format!("{first}–{last}"),
        [first, _] => first.unwrap_or_default(),
    }
}

/// The number of a rung on the ladder, counted from 1: a flag means the same wherever it stands.
fn number(stages: Stages) -> String {
    let rung = LADDER.iter().position(|rung| rung.stages == stages);
    rung.map_or_else(|| "own".to_owned(), |index| (index + 1).to_string())
}

/// Paints a flag with a number, or another short text.
pub(super) fn paint(ui: &Ui, flag: Rect, number: &str) {
    let look = Look::of(ui);
    ui.painter().rect_filled(flag, 3.0, look.ink);
    let middle = At::Center(flag.width() / 2.0);
    text(ui.painter(), flag, middle, number, SMALL, look.ground);
}

/// Groups of switches whose flags would touch. A flag stands at the last of its group, whose rung it names.
fn grouped(switches: &[Switch]) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for index in 0..switches.len() {
        let mut start = index;
        while let Some(before) =
            groups.pop_if(|before| touch(&switches[before.clone()], &switches[start..=index]))
        {
            start = before.start;
        }
        groups.push(start..index + 1);
    }
    groups
}

/// Whether the flag of a group of switches would touch that of the one after it.
fn touch(before: &[Switch], after: &[Switch]) -> bool {
    let [from, to] = [before, after].map(|group| group.last().map_or(0.0, |it| it.x));
    let widths = [before, after].map(|group| flag_width(&numbers(group)));
    to - from < widths.iter().sum::<f32>() / 2.0 + BETWEEN
}

fn flag_width(number: &str) -> f32 {
    let more = number.chars().count().saturating_sub(1);
    NARROW + DIGIT * more as f32
}

/// Logical points.
const NARROW: f32 = 16.0;
const DIGIT: f32 = 8.0;
const BETWEEN: f32 = 2.0;

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;

    use super::*;

    #[test]
    fn a_flag_has_the_number_of_its_rung() {
        assert_eq!(number(ladder::UNCOMPRESSED.stages), "1");
        assert_eq!(number(ladder::SIMULATED.stages), "16");
        assert_eq!(number(ladder::AFFINE.stages), "own");
    }

    #[test]
    fn switches_that_are_close_share_a_flag() {
        let at = |x: f32| Switch {
            x,
            ago: 1.0,
            from: ladder::DELTA.stages,
            to: ladder::INDEX.stages,
        };
        let switches = [10.0, 12.0, 14.0, 150.0, 300.0].map(at);
        assert_eq!(grouped(&switches), [0..3, 3..4, 4..5]);
        assert!(grouped(&[]).is_empty());
        let climbed = [ladder::DELTA, ladder::INDEX, ladder::PREDICTED].map(|rung| Switch {
            to: rung.stages,
            ..at(10.0)
        });
        let said = [1, 2, 3].map(|count| numbers(&climbed[..count]));
        assert_eq!(said, ["7", "7–8", "7–15"]);
    }

    #[test]
    fn a_switch_is_where_the_stages_differ_from_those_of_the_tick_before() {
        let [delta, index] = [ladder::DELTA.stages, ladder::INDEX.stages];
        let lanes = [[delta, delta, index, index], [index, delta, delta, delta]];
        let found = switches(lanes, |ago| (60.0 * ago) as f32);
        let found: Vec<_> = found.iter().map(|at| (at.x, at.from, at.to)).collect();
        assert_eq!(found, [(2.0, index, delta), (1.0, delta, index)]);
    }
}
