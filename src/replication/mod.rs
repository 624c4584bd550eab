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
//! With a [`UdpServer`], viewers in other processes have lanes as well, whose receiving half is there:
//! [`ServingPlugin`] here and [`ReceptionPlugin`] there put sockets in the place of the link.
//!
//! A lane is an entity: [`LaneSettings`] say how it sends and can change at any tick,
//! [`LaneMeter`] holds what was measured, [`Replica`] what arrived.

mod check;
mod digest;
mod error;
mod meter;
mod playout;
mod receive;
mod reception;
mod send;
mod serving;
mod shadow;
mod text;
mod transport;

use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::stages::Velocity;
use cubewire_codec::{Limits, Stages, ladder};
use cubewire_link::Conditions;
use cubewire_protocol::{BaselineChoice, Interpolation, SnapshotReceiver, Welcome, playout_delay};
use cubewire_scene::TICKS_PER_SECOND;

use crate::simulation::{SimulationSystems, World as CubeWorld};

use transport::{ReceiverMail, SenderMail, memory};

pub use check::LaneCheck;
pub use digest::Digest;
pub(crate) use error::History;
pub use error::PictureError;
pub use meter::{Accounting, LaneMeter, METER_TICKS, Sample, kbps};
pub(crate) use playout::{is_jump, shown_cube};
pub use reception::{ReceptionPlugin, spawn_reception};
pub use serving::{ServingPlugin, ServingSystems};
pub use shadow::{ShadowLadder, ShadowRung};
pub use text::{Half, LaneTextError, rung};
pub use transport::udp::{
    Key, KeyError, RemoteViewer, Security, ServeError, ServerSettings, Traffic, UdpServer,
    UdpViewer, ViewError, ViewerSettings, ViewerStatus,
};

/// Bytes of the IPv4 and UDP headers that each packet is charged with.
pub const HEADER_BYTES: usize = 28;

/// Time there and back on the usual link: "otherwise delta compression is too easy".
pub const ROUND_TRIP: Duration = Duration::from_millis(100);

/// Ticks from one snapshot to the next that can be chosen: 60, 30, 20 and 10 a second.
pub const SEND_INTERVALS: [u32; 4] = [1, 2, 3, 6];

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
        app.add_observer(memory::disconnect)
            .init_resource::<memory::Server>()
            .init_resource::<History>()
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
                    (memory::to_server, send::take_feedback)
                        .chain()
                        .in_set(ReplicationSystems::Acks),
                    (send::send, memory::from_server)
                        .chain()
                        .in_set(ReplicationSystems::Send),
                    (
                        memory::to_client,
                        receive::receive,
                        memory::from_client,
                        playout::advance,
                    )
                        .chain()
                        .in_set(ReplicationSystems::Receive),
                    (
                        check::check,
                        shadow::encode,
                        playout::note,
                        error::remember,
                        error::compare,
                    )
                        .chain()
                        .in_set(ReplicationSystems::Observe),
                ),
            );
    }
}

/// How a lane sends and plays back. Write to it at any time; the next snapshot follows it.
#[derive(Component, Clone, Debug, PartialEq)]
pub struct LaneSettings {
    /// What the codec does. Illegal stages are refused: the lane keeps to the last legal ones.
    pub stages: Stages,
    /// Which of the snapshots that the receiver holds the packets are relative to.
    pub baseline: BaselineChoice,
    /// Ticks from one snapshot to the next, one of [`SEND_INTERVALS`] as a rule.
    pub send_interval_ticks: u32,
    /// The link, one way; the way back is the same.
    pub link: Conditions,
    /// Seed of the link's accidents, used when the lane is spawned: lanes of one seed suffer the same,
    /// packet by packet.
    pub link_seed: u64,
    /// How the picture between two snapshots is made.
    pub interpolation: Interpolation,
    /// How long snapshots wait to be shown.
    pub playout: PlayoutChoice,
}

/// How a lane's playout delay comes about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlayoutChoice {
    /// By the send rate: see [`playout_delay`].
    #[default]
    Rule,
    /// As given.
    Fixed(Duration),
    /// As much as the packets of the last few seconds needed.
    Adaptive,
}

impl Default for LaneSettings {
    fn default() -> Self {
        Self {
            stages: ladder::CHANGED_FLAGS.stages,
            baseline: BaselineChoice::default(),
            send_interval_ticks: 1,
            link: Conditions {
                latency: ROUND_TRIP / 2,
                ..Conditions::default()
            },
            link_seed: 0,
            interpolation: Interpolation::default(),
            playout: PlayoutChoice::default(),
        }
    }
}

impl LaneSettings {
    /// Snapshots a second, at most as many as ticks.
    #[must_use]
    pub const fn snapshots_per_second(&self) -> u32 {
        match self.send_interval_ticks {
            0 => TICKS_PER_SECOND,
            ticks => match TICKS_PER_SECOND / ticks {
                0 => 1,
                rate => rate,
            },
        }
    }

    /// The delay of [`PlayoutChoice::Rule`]: none where nothing waits to be shown.
    #[must_use]
    pub fn ruled_delay(&self) -> Duration {
        if self.shown_interpolation().waits() {
            playout_delay(self.snapshots_per_second())
        } else {
            Duration::ZERO
        }
    }

    /// What the interpolation comes to with these stages.
    #[must_use]
    pub fn shown_interpolation(&self) -> Interpolation {
        let has_velocity = self.stages.velocity != Velocity::Omitted;
        self.interpolation.effective(has_velocity)
    }

    /// Whether a snapshot is sent in this tick.
    #[must_use]
    pub const fn sends_at(&self, tick: u64) -> bool {
        match self.send_interval_ticks {
            0 => true,
            ticks => tick.is_multiple_of(ticks as u64),
        }
    }
}

/// A half of the screen. A lane that has one is shown there; where no lane is, the simulation is.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// Usually the simulation's.
    Left,
    /// Always a lane's.
    Right,
}

impl Side {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Left, Self::Right];

    /// Its name on the screen.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
        }
    }
}

/// The lane that the panel and the keys are about: one of those that are shown.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Selected;

/// What a lane's receiver has: snapshots to play back.
#[derive(Component, Debug)]
pub struct Replica(pub(crate) SnapshotReceiver);

impl Replica {
    /// The receiver.
    #[must_use]
    pub const fn receiver(&self) -> &SnapshotReceiver {
        &self.0
    }
}

/// Spawns a lane.
///
/// # Errors
/// If the codec refuses the initial state, or renet the connection.
pub fn spawn_lane(world: &mut World, settings: LaneSettings) -> Result<Entity> {
    let now = world.resource::<Time<Fixed>>().elapsed();
    let cubes = world.resource::<CubeWorld>();
    let welcome = Welcome {
        ticks_per_second: TICKS_PER_SECOND as u16,
        tick: cubes.tick(),
        initial: cubes.current().clone(),
    };
    let connection = world
        .resource_mut::<memory::Server>()
        .connect(&settings.link, settings.link_seed);
    let sender = send::Sender::new(welcome.initial.clone(), settings.stages)?;
    let delay = settings.ruled_delay();
    let receiver = SnapshotReceiver::new(welcome, Limits::default(), delay, now)?;
    let lane = world.spawn((
        settings,
        connection,
        sender,
        SenderMail::default(),
        ReceiverMail::default(),
        Replica(receiver),
        reception::Receiving::new(delay),
        LaneMeter::default(),
    ));
    Ok(lane.id())
}
