//! What is shown of the last minute.

use std::ops::RangeInclusive;

use bevy_egui::egui::{Key, Rect, Response, Ui};

use crate::panel::zoom::Zoom;
use crate::replication::METER_TICKS;

/// The ticks that are shown of the last minute, after wheel and double click, or F, which fits the range. It follows
/// the moment, and is all of the minute again when the game resumes. The ends may lie between two ticks, and the first
/// is negative in the first minute, so that the newest tick is always at the right.
pub(super) fn shown(
    ui: &Ui,
    response: &Response,
    graph: Rect,
    newest: u64,
    moment: Option<u64>,
    range: Option<[u64; 2]>,
) -> RangeInclusive<f64> {
    let oldest = newest as f64 + 1.0 - METER_TICKS as f64;
    let fraction = |tick: u64| (tick as f64 - oldest) / METER_TICKS as f64;
    let zoom = Zoom::new("time of the timeline", MIN_PART, false);
    let mut part = zoom.shown(ui, response, graph);
    let id = response.id.with("moment in sight");
    let before = ui.data(|data| data.get_temp::<Option<u64>>(id)).flatten();
    if moment != before {
        ui.data_mut(|data| data.insert_temp(id, moment));
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
    let tick = |fraction: f64| oldest + fraction * METER_TICKS as f64;
    tick(part.start)..=tick(part.end)
}

/// Half a second.
const MIN_PART: f64 = 30.0 / METER_TICKS as f64;
