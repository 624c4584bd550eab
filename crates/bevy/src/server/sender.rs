//! A server's state of one client.

use std::sync::Arc;
use std::time::Duration;

use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use cubewire_codec::{Life, QuantizedSnapshot};
use cubewire_protocol::{ServerConnection, Settings, SnapshotSender, Visibility};

use super::outbox::Outbox;
use super::settings::{ByteBudget, ConnectionSettings};
use crate::transport::MessageBuffer;

/// A server's end of the connection to a client, on the entity of the connection.
#[derive(Component, Debug)]
#[component(clone_behavior = Ignore)]
#[require(ConnectionSettings)]
pub struct ReplicationSender {
    pub(super) connection: ServerConnection,
    pub(super) view: ClientView,
}

/// The bodies that a client sees, and the game's settings for it.
#[derive(Debug, Default)]
pub(super) struct ClientView {
    pub(super) settings: ConnectionSettings,
    pub(super) judged: Option<Judged>,
    /// The budget that the client requested.
    pub(super) asked: Option<ByteBudget>,
    /// The lower of `asked` and the game's budget.
    pub(super) limit: Option<ByteBudget>,
    /// The client's view in the last tick. `None` if no filter freezes bodies.
    pub(super) last: Option<Arc<QuantizedSnapshot>>,
    pub(super) visibility: Vec<Visibility>,
    pub(super) slots: Vec<SlotView>,
    /// Reliable components that wait for room.
    pub(super) outbox: Outbox,
    pub(super) center: Option<Vec3>,
    /// By slot: factor of the body's priority.
    pub(super) gains: Vec<f32>,
    /// Bytes sent on the wire up to the newest tick.
    pub(super) sent_bytes: u64,
    /// The body that the client controls, encoded. Empty without one.
    pub(super) own: Vec<u8>,
}

/// The last settings that were checked, and the result.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) wanted: ConnectionSettings,
    pub(super) limit: Option<ByteBudget>,
    pub(super) refusal: Option<String>,
}

/// State of a slot, as sent to a client.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SlotView {
    /// The body that was visible in the last tick.
    pub(super) seen: Option<Life>,
    /// The last body that had reliable components queued for the client.
    pub(super) told: Option<Life>,
    /// Whether reliable components have changed while the body was frozen.
    pub(super) is_stale: bool,
    /// Whether the body is near enough. False without an [`Interest`](super::Interest).
    pub(super) is_near: bool,
}

/// Limit of the bytes of reliable messages that a transport may hold: about as much as a transport of this crate has in
/// flight.
const MAX_WAITING_BYTES: usize = 80 << 10;

/// Assumed round-trip time before the first measurement.
const FIRST_ROUND_TRIP: Duration = Duration::from_millis(150);

/// Added to the round-trip time, because an ack waits for the next packet.
const RESERVE: Duration = Duration::from_millis(60);

impl ReplicationSender {
    /// Returns the connection.
    pub const fn connection(&self) -> &ServerConnection {
        &self.connection
    }

    /// Returns the sender of snapshots. `None` until the client is [`Connected`](crate::transport::Connected).
    pub fn sender(&self) -> Option<&SnapshotSender> {
        self.connection.sender()
    }

    /// Returns the settings in use: the stages of the packets, and the interval, the baselines and the budget that the limits of
    /// time and rate allow. `None` until the client is [`Connected`](crate::transport::Connected).
    pub fn settings(&self) -> Option<Settings> {
        self.connection.settings()
    }

    /// Returns the reason why the [`ConnectionSettings`] are not in use. `None` if they are in use.
    pub fn refusal(&self) -> Option<&str> {
        self.view.judged.as_ref()?.refusal.as_deref()
    }

    /// Returns the reason why the client is sent no arithmetic coding, if the fingerprints differ.
    pub fn fallback(&self) -> Option<cubewire_protocol::FallbackReason> {
        self.connection.fallback()
    }

    /// Returns the number of bytes of reliable messages that the transport can take now. It holds a round trip's worth and a few
    /// ticks more, so that it always has something to send and components in its queue do not become old.
    pub(super) fn reliable_room(&self, buffer: &MessageBuffer) -> usize {
        let kbps = self.settings().and_then(|settings| settings.budget_kbps);
        let most = kbps.map_or(MAX_WAITING_BYTES, |kbps| {
            let round_trip = buffer.round_trip.unwrap_or(FIRST_ROUND_TRIP);
            let bytes = f64::from(kbps) * 125.0 * (round_trip + RESERVE).as_secs_f64();
            MAX_WAITING_BYTES.min(bytes as usize)
        });
        let messages = buffer.outgoing.messages.iter().map(Vec::len);
        most.saturating_sub(buffer.backlog_bytes + messages.sum::<usize>())
    }
}
