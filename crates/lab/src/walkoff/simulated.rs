//! What a sender simulates of a recording, whose keys nobody knows.
//!
//! It simulates from its baseline with the keys that it assumed last. Where the player comes out elsewhere than in the
//! recording, it tries each key in its other position, too, and takes what brings the player nearest.

use cubewire_codec::{Baseline, Origin, QuantizedSnapshot, Sequence, Simulated, Simulation};
use cubewire_physics::SimulatedWorlds;
use cubewire_protocol::MAX_CORRECTED_TICKS;
use cubewire_scene::PLAYER;

/// The worlds of the sender, and the keys that it assumes.
#[derive(Debug, Default)]
pub(super) struct AssumedKeys {
    worlds: SimulatedWorlds,
    input: u8,
    inputs: Vec<u8>,
}

/// Keys of an input: those of the player.
const KEYS: u8 = 6;

/// How far the player may come out from where it is, in 1/512 m, before other keys are tried.
const NEAR: i64 = 3;

impl AssumedKeys {
    /// Simulates the snapshot of `sequence`.
    pub(super) fn simulate(
        &mut self,
        sequence: Sequence,
        current: &QuantizedSnapshot,
        baseline: Option<&Baseline>,
    ) -> Simulated<'_> {
        let ticks = baseline.map(|baseline| sequence.ticks_since(baseline.sequence()));
        let Some(ticks) = ticks.filter(|ticks| (1..=MAX_CORRECTED_TICKS).contains(ticks)) else {
            return Simulated::default();
        };
        let origin = match baseline.and_then(Baseline::origin) {
            Some(_) => Origin::Corrected,
            None => Origin::Cold,
        };
        let mut miss = |input: u8| {
            self.inputs.clear();
            self.inputs.resize(ticks.into(), input);
            let predicted = self
                .worlds
                .predict(sequence, origin, baseline, &self.inputs)?;
            let axes = predicted.position(PLAYER).into_iter();
            let differences = axes.zip(current.position(PLAYER));
            Some(
                differences
                    .map(|(a, b)| i64::from(a - b).abs())
                    .sum::<i64>(),
            )
        };
        let Some(usual) = miss(self.input) else {
            return Simulated::default();
        };
        if usual > NEAR {
            let others = (0..KEYS).map(|key| self.input ^ 1 << key);
            let misses = others.filter_map(|input| Some((miss(input)?, input)));
            let (best, input) = misses.min().unwrap_or((usual, self.input));
            if best < usual {
                self.input = input;
            }
            miss(self.input);
        }
        Simulated {
            origin: Some(origin),
            inputs: &self.inputs,
            prediction: self.worlds.prediction(),
            attachment: &[],
        }
    }

    /// The baseline that the receiver will have.
    pub(super) fn sent(&mut self, kept: &Baseline) {
        if kept.origin().is_some() {
            self.worlds.correct(kept);
        }
    }
}
