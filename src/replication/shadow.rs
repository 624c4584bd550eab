//! The shadows of a lane: its cost on each rung, and the cost of its stages without each part.
//!
//! The ladder encodes all ticks in order. The costs are therefore the same as with encoding in the frame, but are
//! [a few ticks old](LiveLadder::age_ticks). The ablation runs only while [`WantsAblation`] is set, on a sample of the ticks.

pub(super) mod parts;

use std::sync::Arc;

use bevy::prelude::*;
use cubewire_bevy::shadow::{LiveLadder, Shadow, ShadowSnapshot};
use cubewire_codec::{Inputs, Origin, Plan, Snapshot, Stages};
use cubewire_protocol::record::PacketRecord;
use cubewire_scene::players;

use super::meter::LaneMeter;
use super::quantized::QuantizedWorld;
use super::spawn;
use crate::simulation::CubeWorld;
use parts::{Ablated, ablations};

/// Whether lanes with a ladder have an ablation, too.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WantsAblation(pub bool);

/// Costs of a lane's present stages (`None`), followed by the costs without each part in the order of [`ablations`].
pub type Ablation = Shadow<Option<Ablated>>;

/// `initial` is the scene's initial state.
pub(crate) fn ablation(present: Stages, initial: &Snapshot) -> Ablation {
    let ablated = ablations(present).into_iter().map(|ablated| (ablated.stages, Some(ablated)));
    Shadow::new(&plan(initial), initial.clone(), [(present, None)].into_iter().chain(ablated))
}

/// Returns the costs of every tick of a lane on each rung. After a move to another lane, the ladder continues with that lane's
/// packets.
pub fn lane_ladder(initial: &Snapshot) -> LiveLadder {
    LiveLadder::of_rungs(&plan(initial), initial.clone()).every_tick()
}

/// The plan of the scene with this initial state.
fn plan(initial: &Snapshot) -> Arc<Plan> {
    Arc::clone(spawn::contract(players(initial.bodies.len())).plan())
}

/// Returns a ladder that has counted this number of ticks, with `bytes` by index of the rung and tick.
#[cfg(test)]
pub(crate) fn counted_ladder(ticks: u64, bytes: impl Fn(usize, u64) -> usize) -> LiveLadder {
    lane_ladder(CubeWorld::default().current()).of_bytes(0..ticks, bytes)
}

/// Returns the newest snapshot for the shadows of a lane. `sent` is the lane's packet.
fn newest(
    world: &CubeWorld,
    quantized: &mut QuantizedWorld,
    sent: &PacketRecord,
) -> Result<Arc<ShadowSnapshot>> {
    let (current, precision) = (world.current(), sent.stages.precision());
    Ok(Arc::new(ShadowSnapshot {
        acked_ages_ticks: sent.acked_ages_ticks,
        quantized: quantized.get(world.tick(), current, precision)?,
        floats: Some(current.clone()),
        inputs: inputs(world, sent.acked_ages_ticks[0]),
    }))
}

/// Returns the simulation inputs of a receiver in sync: since the baseline, or since the scene's start without a baseline.
fn inputs(world: &CubeWorld, acked_age_ticks: Option<u16>) -> Option<Inputs> {
    let (tick, history) = (world.tick(), world.inputs());
    let age = match acked_age_ticks {
        Some(age) => age.into(),
        None => tick - history.started()?,
    };
    let age = u8::try_from(age).ok()?;
    let origin = match acked_age_ticks {
        Some(_) => Origin::Continued(age),
        None => Origin::FromSceneStart(age),
    };
    let mut inputs = Vec::new();
    history.since(tick - u64::from(age), &mut inputs);
    Inputs::new(origin, &inputs)
}

type ShadowedLane =
    (Entity, &'static mut LiveLadder, Option<&'static mut Ablation>, &'static LaneMeter);

/// Queues the newest tick of each lane with a ladder. Adds an ablation of the present stages if [`WantsAblation`] is set, and
/// removes any other.
pub(super) fn queue(
    world: Res<CubeWorld>,
    wants: Res<WantsAblation>,
    mut quantized: ResMut<QuantizedWorld>,
    mut lanes: Query<ShadowedLane>,
    mut commands: Commands,
) -> Result {
    for (lane, mut ladder, of_parts, meter) in &mut lanes {
        let Some(sample) = meter.samples().back() else { continue };
        let sent = sample.snapshots.first();
        let sent = sent.map(|sent| newest(&world, &mut quantized, sent)).transpose()?;
        ladder.poll()?;
        ladder.queue(world.tick(), sent.clone());
        match of_parts {
            Some(mut of_parts) if wants.0 && of_parts.rows()[0].stages == sample.stages => {
                of_parts.poll()?;
                of_parts.queue(world.tick(), sent);
            }
            _ if wants.0 => {
                let ablation = ablation(sample.stages, ladder.initial());
                commands.entity(lane).try_insert(ablation);
            }
            Some(_) => {
                commands.entity(lane).try_remove::<Ablation>();
            }
            None => {}
        }
    }
    Ok(())
}
