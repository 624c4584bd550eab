//! What the two ends of a lane simulate, on the rung [`simulated`](cubewire_codec::ladder::SIMULATED), and a way to make
//! them disagree for a while.

use std::collections::VecDeque;
use std::time::Duration;

use bevy::math::{Quat, Vec3};
use bevy::prelude::*;
use cubewire_codec::stages::Delta;
use cubewire_codec::{BitKind, Origin, QuantizedSnapshot, SimulationCounts};
use cubewire_protocol::{AgreementStatus, SnapshotReceiver, Worlds};
use cubewire_scene::TICKS_PER_SECOND;

use super::mean::{Mean, MeanTime};
use super::receive::Decoded;
use super::send::Sender;
use super::{LaneMeter, LocalLane};
use crate::simulation::CubeWorld;

/// Ticks whose mispredictions are kept, for pictures that show them: longer than playout is delayed.
const KEPT_TICKS: usize = 2 * TICKS_PER_SECOND as usize;

/// The two ends of a local lane lose the world that they agree about. For some ticks the receiver simulates
/// [corrected worlds](Worlds::Corrected), which start from a snapshot and part from the sender's. Then it is sent a
/// state, and agrees again.
#[derive(EntityEvent, Clone, Copy, Debug)]
pub struct NudgeLane {
    /// The lane.
    pub entity: Entity,
    /// Ticks until it is sent a state.
    pub ticks: u64,
}

/// What the two ends of a lane simulate, as far as they are in this process. All figures stay as they are while the lane
/// is on another rung.
#[derive(Component, Clone, Debug, Default)]
pub struct LaneSimulation {
    /// The newest tick that this says something about: the sender's, or of the newest packet that was decoded.
    pub tick: u64,
    /// Whether the two ends agree. A receiving half without its sender knows what the packets said.
    pub agreement: AgreementStatus,
    /// How often the receiver has reported that it simulates something else.
    pub disagreements: u64,
    /// How many pieces of a state have arrived, of how many, while the sender sends one.
    pub state_progress: Option<(usize, usize)>,
    /// What the packets carried of states since the lane exists; at a receiving half alone, those that arrived.
    pub state_kilobits: f64,
    /// What the sender's engine has done. It simulates only [`Worlds::Corrected`].
    pub sender: SimulationCounts,
    /// What the receiver's engine has done.
    pub receiver: SimulationCounts,
    /// Cubes that the newest packet corrected.
    pub corrected_cubes: u64,
    mean_corrected: Mean,
    mean_steps: Mean,
    mean_time: MeanTime,
    /// The first tick after the nudge.
    nudged_until: u64,
    /// By tick, in the order of arrival.
    mispredictions: VecDeque<(u64, Vec<Misprediction>)>,
}

/// A cube that the receiver's engine predicted wrongly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Misprediction {
    /// Which.
    pub cube: usize,
    /// From where it is to where it was predicted, metres.
    pub offset: Vec3,
    /// The rotation, in world axes, from its orientation to the predicted one.
    pub turn: Quat,
}

impl LaneSimulation {
    /// Which worlds the receiver simulates in a tick, where those were chosen.
    #[must_use]
    pub const fn worlds(&self, chosen: Worlds, tick: u64) -> Worlds {
        match tick < self.nudged_until {
            true => Worlds::Corrected,
            false => chosen,
        }
    }

    /// How long the two ends have agreed; none if they do not.
    #[must_use]
    pub const fn agreed_ticks(&self) -> Option<u64> {
        match self.agreement {
            AgreementStatus::Exact { since } => Some(self.tick.saturating_sub(since)),
            AgreementStatus::None | AgreementStatus::Corrected => None,
        }
    }

    /// How long a nudge still lasts; 0 without one.
    #[must_use]
    pub const fn nudged_ticks(&self) -> u64 {
        self.nudged_until.saturating_sub(self.tick)
    }

    /// Cubes that a packet corrects, smoothed.
    #[must_use]
    pub fn mean_corrected_cubes(&self) -> f64 {
        self.mean_corrected.get()
    }

    /// Ticks that the receiver simulates for a packet, smoothed.
    #[must_use]
    pub fn mean_steps(&self) -> f64 {
        self.mean_steps.get()
    }

    /// How long a packet takes the receiver, smoothed.
    #[must_use]
    pub fn mean_time(&self) -> Duration {
        self.mean_time.get()
    }

    /// The cubes of a tick whose prediction was wrong, by index, if they are still kept.
    #[must_use]
    pub fn mispredictions(&self, tick: u64) -> &[Misprediction] {
        let mut kept = self.mispredictions.iter();
        let found = kept.find(|(other, _)| *other == tick);
        found.map_or(&[], |(_, cubes)| cubes)
    }

    /// The receiver has decoded the packet of `tick`, in that time; `before` is what its engine had done before.
    pub(super) fn decoded(
        &mut self,
        receiver: &SnapshotReceiver,
        tick: u64,
        before: SimulationCounts,
        took: Duration,
    ) {
        let held = receiver.get(tick);
        let Some(held) = held.filter(|held| held.stages().delta == Delta::ArithmeticSimulated)
        else {
            return;
        };
        let engine = receiver.simulation();
        self.receiver = engine.counts();
        self.corrected_cubes = self.receiver.corrected_cubes - before.corrected_cubes;
        self.mean_corrected.add(self.corrected_cubes as f64);
        let steps = self.receiver.steps - before.steps;
        self.mean_steps.add(steps as f64);
        self.mean_time.add(took);
        if let Some(prediction) = engine.prediction()
            && self.corrected_cubes > 0
        {
            if self.mispredictions.len() == KEPT_TICKS {
                self.mispredictions.pop_front();
            }
            let cubes = differences(prediction, held.snapshot());
            self.mispredictions.push_back((tick, cubes));
        }
    }

    /// What a packet said, where the sender is in another process.
    fn heard(&mut self, tick: u64, origin: Option<Origin>) {
        self.tick = self.tick.max(tick);
        self.agreement = match (origin, self.agreement) {
            (None, _) => AgreementStatus::None,
            (Some(origin), _) if !origin.is_exact() => AgreementStatus::Corrected,
            (Some(_), AgreementStatus::Exact { since }) => AgreementStatus::Exact { since },
            (Some(_), _) => AgreementStatus::Exact { since: tick },
        };
    }
}

/// The cubes that differ.
fn differences(prediction: &QuantizedSnapshot, actual: &QuantizedSnapshot) -> Vec<Misprediction> {
    let mut differs = Vec::new();
    actual.compare(prediction, &mut differs);
    let cubes = (0..actual.len()).filter(|&cube| differs[cube]);
    cubes
        .map(|cube| {
            let (predicted, actual) = (prediction.cube(cube), actual.cube(cube));
            Misprediction {
                cube,
                offset: predicted.position - actual.position,
                turn: predicted.orientation * actual.orientation.inverse(),
            }
        })
        .collect()
}

pub(super) fn nudge(
    nudge: On<NudgeLane>,
    world: Res<CubeWorld>,
    mut lanes: Query<(&mut LaneSimulation, &mut Sender), With<LocalLane>>,
) {
    if let Ok((mut lane, mut sender)) = lanes.get_mut(nudge.entity) {
        lane.nudged_until = world.tick() + 1 + nudge.ticks;
        sender.protocol.reset_agreement();
    }
}

type ObservedLane<'a> = (
    &'a LaneMeter,
    Option<&'a Sender>,
    Option<&'a Decoded>,
    &'a mut LaneSimulation,
);

/// Updates what is known of every lane in this tick.
pub(super) fn observe(mut lanes: Query<ObservedLane<'_>>) {
    for (meter, sender, decoded, mut simulation) in &mut lanes {
        if let Some((Sender { protocol, .. }, sample)) = sender.zip(meter.samples().back()) {
            let sent = sample.snapshots.iter();
            let state_bits: f64 = sent.map(|sent| sent.ledger.kind(BitKind::State)).sum();
            simulation.state_kilobits += state_bits / 1000.0;
            simulation.tick = sample.tick;
            simulation.agreement = protocol.agreement();
            simulation.disagreements = protocol.disagreements();
            simulation.state_progress = protocol.state_progress();
            simulation.sender = protocol.simulation().counts();
        } else if let Some(Decoded(decoded)) = decoded {
            for packet in decoded {
                // The ledger of a packet with more than one reference is not known here.
                let state_bits = 8 * packet.simulated.attachment.len();
                simulation.state_kilobits += state_bits as f64 / 1000.0;
                simulation.heard(packet.tick, packet.simulated.origin);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_viewer_learns_from_the_packets_whether_it_agrees() {
        let mut simulation = LaneSimulation::default();
        for (tick, origin, agreed_ticks) in [
            (10, None, None),
            (11, Some(Origin::Restored(9)), Some(0)),
            (15, Some(Origin::Continued(7)), Some(4)),
            // Too late.
            (14, Some(Origin::Continued(7)), Some(4)),
            (16, None, None),
            (17, Some(Origin::Continued(7)), Some(0)),
            (18, Some(Origin::Cold), None),
        ] {
            simulation.heard(tick, origin);
            assert_eq!(simulation.agreed_ticks(), agreed_ticks, "tick {tick}");
        }
        assert_eq!(simulation.agreement, AgreementStatus::Corrected);
    }

    #[test]
    fn a_nudge_overrides_what_was_chosen_until_it_ends() {
        let simulation = LaneSimulation {
            nudged_until: 100,
            ..LaneSimulation::default()
        };
        assert_eq!(simulation.worlds(Worlds::Exact, 99), Worlds::Corrected);
        assert_eq!(simulation.worlds(Worlds::Exact, 100), Worlds::Exact);
        assert_eq!(simulation.worlds(Worlds::Corrected, 100), Worlds::Corrected);
    }
}
