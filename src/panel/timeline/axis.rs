//! What is shown of the last minute, and where each tick lies.

use std::ops::RangeInclusive;

use bevy_egui::egui::{self, Key, Rect, Response, Ui};

use crate::panel::settings::TickRange;
use crate::panel::zoom::Zoom;
use crate::replication::METER_TICKS;

/// The ticks that are shown, and where they lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct TickAxis {
    /// May lie between two ticks.
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) left: f32,
    pub(super) right: f32,
}

impl TickAxis {
    /// Where a tick begins.
    pub(super) fn x_of(&self, tick: u64) -> f32 {
        self.x_at(tick as f64)
    }

    pub(super) fn middle_of(&self, tick: u64) -> f32 {
        self.x_at(tick as f64 + 0.5)
    }

    pub(super) fn x_at(&self, tick: f64) -> f32 {
        let fraction = (tick - self.from) / (self.to - self.from);
        egui::lerp(self.left..=self.right, fraction as f32)
    }

    /// The ticks in sight, of those that are known.
    pub(super) fn range(&self, known: RangeInclusive<u64>) -> TickRange {
        let first = self.tick_at(self.left).max(*known.start());
        let last = self.tick_at(self.right - 0.01).min(*known.end());
        TickRange::between(first, last)
    }

    pub(super) fn is_zoomed(&self) -> bool {
        self.to - self.from < METER_TICKS as f64
    }

    pub(super) fn tick_at(&self, x: f32) -> u64 {
        let fraction = egui::remap_clamp(x, self.left..=self.right, 0.0..=1.0);
        // What lies before the first tick is the first.
        egui::lerp(self.from..=self.to, f64::from(fraction)).floor() as u64
    }
}

/// What is shown of the last minute, after wheel and double click, or F, which fits the range. It follows the
/// moment, and is all of the minute again when the game resumes.
pub(super) fn shown(
    ui: &Ui,
    response: &Response,
    graph: Rect,
    newest: u64,
    moment: Option<u64>,
    range: Option<TickRange>,
) -> TickAxis {
    // Negative in the first minute, so that the newest tick is always at the right.
    let oldest = newest as f64 + 1.0 - METER_TICKS as f64;
    let fraction = |tick: u64| (tick as f64 - oldest) / METER_TICKS as f64;
    let zoom = Zoom::new("time of the timeline", MIN_PART, false);
    let mut part = zoom.shown(ui, response, graph);
    let id = response.id.with("moment in sight");
    let before = ui.data(|data| data.get_temp::<Option<u64>>(id)).flatten();
    if moment != before {
        ui.data_mut(|data| data.insert_temp(id, moment));
        let width = part.end - part.start;
        part = match moment {
            None => zoom.show(ui, 0.0..1.0),
            Some(tick) if fraction(tick) < part.start => {
                zoom.show(ui, fraction(tick)..fraction(tick) + width)
            }
            Some(tick) if fraction(tick + 1) > part.end => {
                zoom.show(ui, fraction(tick + 1) - width..fraction(tick + 1))
            }
            Some(_) => part,
        };
    }
    let wants_keys = ui.ctx().egui_wants_keyboard_input();
    let is_fitted = !wants_keys && ui.input(|input| input.key_pressed(Key::F));
    if let Some(range) = range.filter(|_| is_fitted) {
        part = zoom.show(ui, fraction(range.first)..fraction(range.last + 1));
    }
    let tick = |fraction: f64| oldest + fraction * METER_TICKS as f64;
    TickAxis {
        from: tick(part.start),
        to: tick(part.end),
        left: graph.left(),
        right: graph.right(),
    }
}

/// Half a second.
const MIN_PART: f64 = 30.0 / METER_TICKS as f64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_column_is_its_tick() {
        let axis = TickAxis {
            from: 1790.5,
            to: 1820.5,
            left: 100.0,
            right: 700.0,
        };
        for tick in [1791, 1801, 1819] {
            let half = axis.middle_of(tick) - axis.x_of(tick);
            assert!((half - 10.0).abs() < 1e-3, "{half}");
            for part in [0.1, 5.0, 10.0, 15.0, 19.9] {
                assert_eq!(axis.tick_at(axis.x_of(tick) + part), tick, "{part}");
            }
        }
    }
}
