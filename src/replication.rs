//! Lanes: each lane carries snapshots from the simulation to a replica.
//!
//! In each tick, after the simulation's step in [`FixedUpdate`], a lane runs:
//!
//! ```text
//! CubeWorld ─ quantize ─ encode ─ transport ─ decode ─ jitter buffer
//!               against ▲                       │
//!        newest acked baseline ◄─ transport ◄─ ack
//! ```
//!
//! A [`Lane`] is an entity. Its settings can change at any tick. [`LaneMeter`] holds its measurements, [`Replica`] the received
//! snapshots. Transports are separate plugins that move messages between the two ends of a lane: see [`transport`].
//!
//! In a single process, one entity has both halves of a lane. With separate processes, the server has the sending half (run by
//! [`ReplicationPlugin`]), the viewer the receiving half (run by [`ViewerPlugin`]).

mod deltas;
mod digest;
mod displayed;
mod inputs;
mod lane;
mod meter;
mod prediction;
mod quantized;
mod rebuilds;
mod receive;
mod remote;
mod replica_error;
mod rung_costs;
mod seats;
mod send;
mod serve;
mod settings;
mod shadow;
mod spawn;
mod states;
mod sync;
mod text;
pub mod transport;
mod viewer;

use bevy::prelude::*;
use cubewire_bevy::shadow::go_on;
pub use cubewire_bevy::shadow::{LiveLadder, StageCosts};
use cubewire_codec::ladder::Rung;
use cubewire_physics::ReceiverWorld;
use cubewire_protocol::{ClientConnection, Engine, SnapshotReceiver};

use crate::simulation::{self, OwnPlayer, SimulationSystems};

use transport::{End, TransportSystems};

pub use cubewire_protocol::record::{
    Accounting, ArrivalCounts, Fate, HEADER_BYTES, PacketArrival, PacketDetail, PacketRecord,
    Record, ReplicaError, Sample, Totals, TransportBytes,
};

pub use deltas::{DELTA_BITS, DeltaCounts};
pub use digest::Digest;
pub use displayed::{Compared, CubeError, CubeErrors, DisplayedState};
pub(crate) use displayed::{between, shown_cube};
pub(crate) use lane::end;
pub use lane::{Lane, LaneSync, LocalLane, SendStates};
pub use meter::{Detailed, LaneMeter, METER_TICKS, Mean, TARGET_KBPS, kbps, millimetres};
#[cfg(test)]
pub(crate) use meter::{itemized, sample};
pub use prediction::Prediction;
pub use rebuilds::{Rebuilds, RebuildsAsRecorded};
pub use receive::LaneCheck;
pub use remote::{ConnectionStatus, Reconnect, RemoteViewer, ServerLink, Serving};
pub(crate) use replica_error::RecentStates;
pub use rung_costs::RungCosts;
pub use seats::{Seat, Seats};
pub use serve::{Admitted, ServePlugin};
pub use settings::{
    LaneSettings, LaneSettingsQuery, LaneSettingsQueryItem, LinkSettings, PlayAt, PlayoutDelay,
    PlayoutSettings, Predict, SEND_INTERVALS, SenderSettings, rung, rung_or_stages,
};
pub use shadow::parts::{Ablated, NINE_BITS, Part, Repair, ablations, repaired, usual};
pub use shadow::{Ablation, WantsAblation, lane_ladder};
#[cfg(test)]
pub(crate) use shadow::{ablation, counted_ladder};
#[cfg(test)]
pub(crate) use spawn::change as change_lane;
#[cfg(not(target_family = "wasm"))]
pub(crate) use spawn::contract;
pub use spawn::{ChangeLane, spawn_lane, spawn_receiving_lane};
pub use states::States;
pub use sync::ForceDesync;
pub use text::{LaneChange, fallback, fallback_of_viewer, network_names, rung_name, setting};
#[cfg(not(target_family = "wasm"))]
pub(crate) use viewer::account as account_of_viewer;
pub use viewer::{Joining, ViewerPlugin};

/// The phases of a lane's tick, in this order, in [`FixedUpdate`] after [`SimulationSystems::Step`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReplicationSystems {
    Acks,
    /// Encodes the newest snapshot and passes it to the transport.
    Send,
    /// Decodes and acknowledges the received snapshots.
    Receive,
    /// Samples the playout, and updates [`LaneCheck`] and the replica error of [`Compared`] lanes.
    Observe,
    /// Queues each sent snapshot for the [`LiveLadder`]. A background task starts to encode it in [`Last`], after the frame.
    Shadow,
}

/// Runs the sending halves and the local lanes. Needs a transport plugin.
pub struct ReplicationPlugin;

impl Plugin for ReplicationPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<RecentStates>()
            .init_resource::<quantized::QuantizedWorld>()
            .init_resource::<WantsAblation>()
            .init_resource::<Rebuilds>()
            .init_resource::<OwnPlayer>()
            .add_observer(spawn::change)
            .add_observer(sync::force_desync)
            .configure_sets(
                FixedUpdate,
                (
                    TransportSystems::Receive(End::Server),
                    ReplicationSystems::Acks,
                    ReplicationSystems::Send,
                    TransportSystems::Flush(End::Server),
                    TransportSystems::Receive(End::Client),
                    ReplicationSystems::Receive,
                    TransportSystems::Flush(End::Client),
                    ReplicationSystems::Observe,
                    ReplicationSystems::Shadow,
                )
                    .chain()
                    .after(SimulationSystems::Step),
            )
            .add_systems(
                FixedUpdate,
                (
                    (send::receive_acks, send::apply_settings)
                        .chain()
                        .in_set(ReplicationSystems::Acks),
                    (
                        rebuilds::plan,
                        send::send,
                        rebuilds::request,
                        deltas::count,
                        digest::of_sent.run_if(resource_exists::<Digest>),
                    )
                        .chain()
                        .in_set(ReplicationSystems::Send),
                    (receive::receive, receive::record_arrivals, displayed::advance)
                        .chain()
                        .in_set(ReplicationSystems::Receive),
                    (
                        receive::check,
                        sync::observe,
                        displayed::sample,
                        prediction::predict,
                        replica_error::remember,
                        replica_error::compare,
                    )
                        .chain()
                        .in_set(ReplicationSystems::Observe),
                    shadow::queue.in_set(ReplicationSystems::Shadow),
                ),
            )
            .add_systems(
                FixedUpdate,
                inputs::take.in_set(SimulationSystems::Keys).after(simulation::hold),
            )
            .add_systems(
                Last,
                (go_on::<Rung>, go_on::<Option<Ablated>>)
                    .chain()
                    .in_set(ReplicationSystems::Shadow),
            );
    }
}

/// The client's end of a lane, after the welcome: the receiver, with its buffered snapshots.
#[derive(Component, Debug)]
#[require(Prediction)]
pub struct Replica(pub(crate) ClientConnection);

impl Replica {
    /// Creates the engine that runs the simulation at the receiver.
    fn engine() -> Box<dyn Engine> {
        Box::new(ReceiverWorld::default())
    }

    pub fn players(&self) -> usize {
        self.receiver().decoder().plan().schema().seats.into()
    }

    pub fn receiver(&self) -> &SnapshotReceiver {
        self.0.receiver().expect(WELCOMED)
    }

    pub(crate) fn receiver_mut(&mut self) -> &mut SnapshotReceiver {
        self.0.receiver_mut().expect(WELCOMED)
    }
}

const WELCOMED: &str = "a connection becomes a replica with the welcome";
