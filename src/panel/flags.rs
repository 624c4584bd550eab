//! Flags above a plot that mark changes of stages. A flag shows the number of the new rung. Its tooltip describes
//! the change.

use super::pages::ladder::index_of;
use crate::panel::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Switch {
    pub(super) x: f32,
    /// Age relative to the newest tick of the lane, seconds.
    ago: f64,
    from: Stages,
    to: Stages,
}

/// Finds the changes in each lane's stages, which have one entry per tick. Returns them oldest first. `x_of` maps an age in
/// seconds to an x coordinate.
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
                switches.push(Switch { x: x_of(ago), ago, from: pair[0], to: pair[1] });
            }
        }
    }
    switches.sort_by(|a, b| b.ago.total_cmp(&a.ago));
    switches
}

/// Draws a flag for each group of `switches` in `row`, and a line through the plot. `switches` are sorted oldest first.
/// Omits flags in the range `occupied`. Returns the x coordinates of the flags and the description of the hovered flag.
pub(super) fn flags(
    ui: &Ui,
    row: Rect,
    chart: &Chart,
    switches: &[Switch],
    occupied: Rangef,
) -> (Vec<f32>, Option<String>) {
    let look = Look::of(ui);
    let (mut marks, mut told) = (Vec::new(), None);
    for (index, group) in grouped(switches).into_iter().enumerate() {
        let newest = &group[group.len() - 1];
        if occupied.contains(newest.x) {
            continue;
        }
        let number = numbers(group);
        let size = vec2(flag_width(&number), NARROW);
        let half = size.x / 2.0;
        let center = within(newest.x, row.left() + half, row.right() - half);
        let flag = Rect::from_center_size(pos2(center, row.center().y), size);
        let id = ui.id().with(("flag", row.top().to_bits(), index));
        let response = ui.interact(flag.expand(2.0), id, Sense::click());
        let (ago, to) = (newest.ago, rung_name(newest.to));
        let said = match group {
            [one] => format!("{ago:.1} s ago: {} to {to}", rung_name(one.from)),
            _ => format!("{ago:.1} s ago: {} switches, to {to}", group.len()),
        };
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &said));
        if response.hovered() || response.has_focus() {
            ui.painter().rect_stroke(flag, 3.0, Stroke::new(3.0, look.half), StrokeKind::Outside);
            told = Some(said);
        }
        paint(ui, flag, &number);
        chart.painter.vline(newest.x, chart.rect.y_range(), Stroke::new(1.0, look.quiet));
        marks.push(newest.x);
    }
    (marks, told)
}

/// Returns the text of the flag of a group, with rungs counted from 1:
///
/// - `4` for one switch, or the name of stages that are not a rung
/// - `2–4` for consecutive rungs of one lane
/// - `4, 6` for one switch in each of two lanes
/// - `…4` for any other group that ends at rung 4
fn numbers(group: &[Switch]) -> String {
    let rungs: Vec<_> = group.iter().map(|switch| index_of(switch.to)).collect();
    let number = |switch: &Switch| match index_of(switch.to) {
        Some(rung) => (rung + 1).to_string(),
        None => rung_name(switch.to).to_owned(),
    };
    let is_of_one = group.windows(2).all(|pair| pair[1].from == pair[0].to);
    let is_step = |pair: &[Option<usize>]| pair[0].is_some_and(|rung| pair[1] == Some(rung + 1));
    match group {
        [] => String::new(),
        [to] => number(to),
        [one, other] if !is_of_one => format!("{}, {}", number(one), number(other)),
        [first, .., last] if is_of_one && rungs.windows(2).all(is_step) => {
            format!("{}–{}", number(first), number(last))
        }
        [.., last] => format!("…{}", number(last)),
    }
}

pub(super) fn paint(ui: &Ui, flag: Rect, number: &str) {
    let look = Look::of(ui);
    ui.painter().rect_filled(flag, 3.0, look.ink);
    text(ui.painter(), flag, At::Center(flag.width() / 2.0), number, SMALL, look.ground);
}

/// Groups the switches with overlapping flags. The flag of a group is at its last switch.
fn grouped(switches: &[Switch]) -> Vec<&[Switch]> {
    let touch = |before: &[Switch], after: &[Switch]| {
        let widths = [before, after].map(|group| flag_width(&numbers(group)));
        let [from, to] = [before, after].map(|group| &group[group.len() - 1]);
        apart(from, to) < widths.iter().sum::<f32>() / 2.0 + 2.0
    };
    let mut groups: Vec<&[Switch]> = Vec::new();
    for index in 0..switches.len() {
        let mut start = index;
        while let Some(before) = groups.pop_if(|it| touch(it, &switches[start..=index])) {
            start -= before.len();
        }
        groups.push(&switches[start..=index]);
    }
    groups
}

/// Returns the distance of two switches that decides whether they share a flag. It is the distance in the bandwidth graph at
/// its initial span, so that all plots have the same groups. It is at most the distance in this plot, and at least an eighth
/// of it, so that zooming in separates the flags.
fn apart(before: &Switch, after: &Switch) -> f32 {
    let own = after.x - before.x;
    let in_graph = (before.ago - after.ago) as f32 * SECOND;
    own.min(in_graph.max(own / ZOOMED))
}

fn flag_width(number: &str) -> f32 {
    NARROW + 8.0 * number.chars().count().saturating_sub(1) as f32
}

/// Sizes and distances, logical points.
const NARROW: f32 = 16.0;

/// Width of a second in the graph at its initial span, logical points; and the largest ratio to it without zooming in.
const SECOND: f32 = 16.8;
const ZOOMED: f32 = 8.0;

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn close_switches_share_the_flag_of_the_last() {
        let [first, delta, index] = [ladder::UNCOMPRESSED, ladder::DELTA, ladder::INDEX];
        let said = |scale: f64, switches: &[(Rung, f64)]| -> Vec<String> {
            let mut before = delta.stages;
            let switches = switches.iter().map(|&(rung, ago)| Switch {
                x: (-scale * ago) as f32,
                ago,
                from: std::mem::replace(&mut before, rung.stages),
                to: rung.stages,
            });
            let switches: Vec<_> = switches.collect();
            grouped(&switches).into_iter().map(numbers).collect()
        };
        let climbed = [(delta, 20.0), (index, 19.9), (ladder::RELATIVE_INDEX, 19.8)];
        let jumped = [(first, 12.0), (delta, 11.5), (index, 11.0)];
        let (affine, simulated) = (ladder::AFFINE, ladder::SIMULATED);
        let apart = [(first, 8.0), (affine, 5.0), (simulated, 2.0)];
        let all = [climbed, jumped, apart].concat();
        let wanted = ["7–9", "…8", "1", "affine", "16"];
        // The scale of the graph, and the timeline at half and an eighth of a minute.
        for scale in [16.8, 29.0, 115.0] {
            assert_eq!(said(scale, &all), wanted, "{scale}");
        }
        assert_eq!(said(400.0, &jumped), ["1", "7", "8"], "zoomed in");
        // More than the plot has room for.
        assert_eq!(said(4.0, &apart), ["…16"]);
        assert!(grouped(&[]).is_empty());
        let mut options = *delta.stages;
        options.orientation = cubewire_codec::stages::Orientation::Full;
        let custom = Switch { x: 0.0, ago: 1.0, from: delta.stages, to: options.check().unwrap() };
        assert_eq!(numbers(&[custom]), "custom");
        // Two lanes with consecutive rungs.
        let of_two = [(first, index), (delta, ladder::RELATIVE_INDEX)];
        let of_two =
            of_two.map(|(from, to)| Switch { x: 0.0, ago: 1.0, from: from.stages, to: to.stages });
        assert_eq!(numbers(&of_two), "8, 9");
    }

    #[test]
    fn switch_is_where_stages_differ_between_ticks() {
        let [delta, index] = [ladder::DELTA.stages, ladder::INDEX.stages];
        let lanes = [[delta, delta, index, index], [index, delta, delta, delta]];
        let found = switches(lanes, |ago| (60.0 * ago) as f32);
        let found: Vec<_> = found.iter().map(|at| (at.x, at.from, at.to)).collect();
        assert_eq!(found, [(2.0, index, delta), (1.0, delta, index)]);
    }
}
