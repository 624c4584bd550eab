//! What a player at the client of a lane feels: the time from a key to its effect, and the corrections of the own cube.

use std::time::Duration;

use cubewire_scene::{TICKS_PER_SECOND, seat};
use serde_json::{Value, json};

use crate::replication::Sample;
use crate::simulation::CubeWorld;

/// Figures of a run with keys at the client, tick by tick.
#[derive(Debug, Default)]
pub(super) struct PlayingTotals {
    ticks: u64,
    /// Ticks since a small cube moved.
    still_ticks: u32,
    delays: Vec<Delay>,
    /// Corrections of the own cube in centimetres, 0 for a tick without: while no small cube moves, and otherwise.
    free_cm: Vec<f64>,
    pushing_cm: Vec<f64>,
    corrections: u32,
    corrected_ticks: u32,
    /// Time of the ticks that were simulated again.
    again: Vec<Duration>,
}

/// In milliseconds.
#[derive(Clone, Copy, Debug)]
struct Delay {
    whole: f64,
    queue: f64,
    playout: f64,
}

/// A small cube that moved this recently may have touched the own cube in a predicted tick.
const MOVED_TICKS: u32 = 30;

/// The scene was reset if a correction is larger, metres.
const RESET_M: f32 = 2.0;

impl PlayingTotals {
    pub(super) fn add(&mut self, sample: &Sample, world: &CubeWorld) {
        self.ticks += 1;
        let cubes = world.previous().bodies.iter().zip(&world.current().bodies).enumerate();
        let mut small = cubes.filter(|(cube, _)| seat(*cube).is_none());
        let moves = small.any(|(_, (before, now))| before.position != now.position);
        self.still_ticks = if moves { 0 } else { self.still_ticks + 1 };
        if let Some((age, queue)) = sample.input_age.zip(sample.queued_inputs) {
            self.delays.push(Delay {
                whole: 1000.0 * age.as_secs_f64(),
                queue: f64::from(queue) * 1000.0 / f64::from(TICKS_PER_SECOND),
                playout: 1000.0 * sample.playout_delay.as_secs_f64(),
            });
        }
        let metres = sample.correction_m.unwrap_or_default();
        if metres <= RESET_M {
            let of = if self.still_ticks > MOVED_TICKS {
                &mut self.free_cm
            } else {
                &mut self.pushing_cm
            };
            of.push(100.0 * f64::from(metres));
            self.corrections += u32::from(metres > 0.0);
        }
        self.corrected_ticks += sample.corrected_ticks;
        if sample.corrected_ticks > 0 {
            self.again.push(sample.predicting);
        }
    }

    /// `None` if nobody plays at the client.
    pub(super) fn summary(mut self) -> Option<Value> {
        let mean = |of: fn(&Delay) -> f64| {
            self.delays.iter().map(of).sum::<f64>() / self.delays.len() as f64
        };
        let [whole, queue, playout] =
            [mean(|it| it.whole), mean(|it| it.queue), mean(|it| it.playout)];
        let seconds = self.ticks as f64 / f64::from(TICKS_PER_SECOND);
        let again = self.again.iter().map(|time| 1000.0 * time.as_secs_f64());
        let mut again: Vec<_> = again.collect();
        (!self.delays.is_empty()).then(|| {
            json!({
                // From a key to its effect in the replica, milliseconds, and of these the wait at the simulation and the playout
                // delay of what is not predicted.
                "delay_ms": whole,
                "queue_ms": queue,
                "playout_ms": playout,
                // Corrections of the own cube in centimetres, median and 99th percentile of all ticks. Null without such ticks.
                "free_cm": percentiles(&mut self.free_cm),
                "pushing_cm": percentiles(&mut self.pushing_cm),
                "corrections_a_second": f64::from(self.corrections) / seconds,
                "corrections": self.corrections,
                "ticks_again_a_second": f64::from(self.corrected_ticks) / seconds,
                // Processor time of such a tick, milliseconds.
                "again_ms": percentiles(&mut again),
            })
        })
    }
}

/// The median and the 99th percentile.
fn percentiles(values: &mut [f64]) -> Option<[f64; 2]> {
    values.sort_by(f64::total_cmp);
    let at = |percent: usize| (values.len() * percent).div_ceil(100).max(1) - 1;
    (!values.is_empty()).then(|| [values[at(50)], values[at(99)]])
}
