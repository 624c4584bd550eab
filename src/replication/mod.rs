//! Lanes: each takes every snapshot from the simulation to a replica.
//!
//! One tick of a lane, in [`FixedUpdate`] after the simulation's:
//!
//! ```text
//! World ─ quantize ─ encode ─ renet server ─ link ─ renet client ─ decode ─ playout buffer
//!            against ▲                                               │
//!     newest acked baseline ◄─ renet server ◄─ link ◄─ renet client ◄┘ ack
//! ```
//!
//! A lane is an entity: [`LaneSettings`] say how it sends and can change at any tick,
//! [`LaneMeter`] holds what was measured, [`Replica`] what arrived.

mod check;
mod meter;
mod receive;
mod send;
mod shadow;
mod transport;

use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::{Snapshot, Stages, ladder};
use cubewire_link::Conditions;
use cubewire_protocol::PlayoutBuffer;
use cubewire_scene::TICKS_PER_SECOND;

use crate::simulation::{SimulationSystems, World as CubeWorld};

pub use check::LaneCheck;
pub use meter::{Accounting, LaneMeter, METER_TICKS, Sample, kbps};
pub use shadow::{ShadowLadder, ShadowRung};

/// Bytes of the IPv4 and UDP headers that each packet is charged with.
pub const HEADER_BYTES: usize = 28;

/// Time there and back on the usual link: "otherwise delta compression is too easy".
pub const ROUND_TRIP: Duration = Duration::from_millis(100);

/// At 60 snapshots a second: three send intervals, so that two packets in a row may be lost, and
/// two frames for jitter, as in the article.
pub const PLAYOUT_DELAY: Duration = Duration::from_millis(85);

/// When the lanes do what, in [`FixedUpdate`], after [`SimulationSystems::Capture`], in this order.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReplicationSystems {
    /// Acks that have arrived are taken in.
    Acks,
    /// The newest snapshot is encoded and handed to the link.
    Send,
    /// What has arrived is decoded and acknowledged.
    Receive,
    /// Lanes that have a [`LaneCheck`] or a [`ShadowLadder`] run it.
    Observe,
}

/// Runs the lanes that there are.
#[derive(Debug)]
pub struct ReplicationPlugin;

impl Plugin for ReplicationPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<transport::Server>()
            .configure_sets(
                FixedUpdate,
                (
                    ReplicationSystems::Acks,
                    ReplicationSystems::Send,
                    ReplicationSystems::Receive,
                    ReplicationSystems::Observe,
                )
                    .chain()
                    .after(SimulationSystems::Capture),
            )
            .add_systems(
                FixedUpdate,
                (
                    (transport::to_server, send::take_acks)
                        .chain()
                        .in_set(ReplicationSystems::Acks),
                    (send::send, transport::from_server)
                        .chain()
                        .in_set(ReplicationSystems::Send),
                    (
                        transport::to_client,
                        receive::receive,
                        transport::from_client,
                    )
                        .chain()
                        .in_set(ReplicationSystems::Receive),
                    (check::check, shadow::encode).in_set(ReplicationSystems::Observe),
                ),
            );
    }
}

/// How a lane sends. Write to it at any time; the next snapshot follows it.
#[derive(Component, Clone, Debug, PartialEq)]
pub struct LaneSettings {
    /// What the codec does. Illegal stages are refused: the lane keeps to the last legal ones.
    pub stages: Stages,
    /// The link, one way; the way back is the same.
    pub link: Conditions,
}

impl Default for LaneSettings {
    fn default() -> Self {
        Self {
            stages: ladder::CHANGED_FLAGS.stages,
            link: Conditions {
                latency: ROUND_TRIP / 2,
                ..Conditions::PERFECT
            },
        }
    }
}

/// What a lane's receiver has: snapshots to play back.
#[derive(Component, Debug)]
pub struct Replica {
    /// Decoded snapshots, by tick.
    pub buffer: PlayoutBuffer<Snapshot>,
}

/// Spawns a lane.
///
/// # Errors
/// If the codec refuses the initial state, or renet the connection.
pub fn spawn_lane(world: &mut World, settings: LaneSettings) -> Result<Entity> {
    let initial = world.resource::<CubeWorld>().current().clone();
    let connection = world
        .resource_mut::<transport::Server>()
        .connect(&settings.link);
    let sender = send::Sender::new(initial.clone(), settings.stages)?;
    let lane = world.spawn((
        settings,
        connection,
        sender,
        receive::Receiver::new(initial)?,
        Replica {
            buffer: PlayoutBuffer::new(TICKS_PER_SECOND, PLAYOUT_DELAY),
        },
        LaneMeter::default(),
    ));
    Ok(lane.id())
}
