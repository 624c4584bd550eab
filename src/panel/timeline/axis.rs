//! The visible part of the recorded ticks.

use std::ops::RangeInclusive;

use bevy_egui::egui::{Key, Rect, Response, Ui};

use crate::panel::zoom::Zoom;
use crate::replication::METER_TICKS;

/// Returns the visible part of the [whole] time span. The wheel zooms, a double click zooms out, and F zooms to `range`. The
/// part follows `moment`, and is the whole again when the game resumes. The ends may be between two ticks. The first tick is
/// negative until the whole is full, so that the newest tick is always at the right.
pub(super) fn shown(
    ui: &Ui,
    response: &Response,
    graph: Rect,
    recorded: RangeInclusive<u64>,
    moment: Option<u64>,
    range: Option<[u64; 2]>,
) -> RangeInclusive<f64> {
    let (first, newest) = recorded.into_inner();
    let whole = whole(newest - first + 1) as f64;
    let oldest = newest as f64 + 1.0 - whole;
    let fraction = |tick: u64| (tick as f64 - oldest) / whole;
    let zoom = Zoom::new("time of the timeline", MIN_TICKS / whole, false);
    let mut part = zoom.shown(ui, response, graph);
    let id = response.id.with("moment in sight, and the whole");
    let before = ui.data(|data| data.get_temp::<(Option<u64>, f64)>(id));
    let (before, whole_before) = before.unwrap_or((None, whole));
    ui.data_mut(|data| data.insert_temp(id, (moment, whole)));
    if whole != whole_before && part != (0.0..1.0) {
        let kept = |end: f64| 1.0 - (1.0 - end) * whole_before / whole;
        part = zoom.show(ui, kept(part.start)..kept(part.end));
    }
    if moment != before {
        let width = part.end - part.start;
        let [from, to] = moment.map_or([0.0, 1.0], |tick| [fraction(tick), fraction(tick + 1)]);
        if moment.is_none() {
            part = zoom.show(ui, 0.0..1.0);
        } else if from < part.start {
            part = zoom.show(ui, from..from + width);
        } else if to > part.end {
            part = zoom.show(ui, to - width..to);
        }
    }
    let wants_keys = ui.ctx().egui_wants_keyboard_input();
    let is_fitted = !wants_keys && ui.input(|input| input.key_pressed(Key::F));
    if let Some([first, last]) = range.filter(|_| is_fitted) {
        part = zoom.show(ui, fraction(first)..fraction(last + 1));
    }
    let tick = |fraction: f64| oldest + fraction * whole;
    tick(part.start)..=tick(part.end)
}

/// Returns the time span in ticks: an eighth, a quarter or half of a minute while the recorded ticks fit, then a minute.
fn whole(recorded: u64) -> u64 {
    let parts = [8, 4, 2].map(|part| METER_TICKS as u64 / part);
    let roomy = parts.into_iter().find(|ticks| recorded <= *ticks);
    roomy.unwrap_or(METER_TICKS as u64)
}

/// Shortest visible time span: half a second.
const MIN_TICKS: f64 = 30.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeline_has_room_for_twice_as_much_whenever_it_is_full() {
        let minute = METER_TICKS as u64;
        let mut spans: Vec<u64> = (1..2 * minute).map(whole).collect();
        for (recorded, span) in (1..).zip(&spans) {
            assert!(recorded.min(minute) <= *span, "{recorded} in {span}");
        }
        spans.dedup();
        assert_eq!(spans, [450, 900, 1_800, 3_600]);
    }
}
