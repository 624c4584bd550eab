//! Moves messages between the two ends of a lane: in one process by memory, over a link that can be
//! made bad; between processes by UDP.
//!
//! Either way renet cuts messages into packets and puts them together again. What arrives has passed
//! a [`guard::Guard`] before renet sees it.

mod guard;
pub(super) mod memory;
pub(super) mod udp;

use std::collections::VecDeque;
use std::time::Duration;

use bevy::prelude::*;
use cubewire_scene::TICKS_PER_SECOND;
use renet::{Bytes, ChannelConfig, ConnectionConfig, SendType};

/// Snapshots go down it, acks up.
pub(super) const SNAPSHOTS: u8 = 0;

/// The welcome, reliably, down.
const WELCOME: u8 = 1;

/// Requests go up it, grants down.
const REQUESTS: u8 = 2;

/// renet cuts a message that is longer into slices of so many bytes, each a packet.
pub(super) const SLICE_BYTES: usize = 1200;

/// Room for the pieces of uncompressed snapshots, which renet holds for 3 s when one is lost.
const CHANNEL_BYTES: usize = 16 << 20;

/// renet drops what goes beyond this in one flush: as much as a slow frame of many ticks needs.
const BYTES_PER_FLUSH: u64 = CHANNEL_BYTES as u64;

/// How long renet waits before it sends a piece of the welcome again. A viewer counts as connected
/// with netcode's first keep-alive; if that is lost, the next comes when nothing else was sent for
/// 250 ms, and the welcome must not prevent it.
const RESEND_TIME: Duration = Duration::from_millis(300);

/// One tick, as renet counts time.
const TICK: Duration = Duration::from_nanos(1_000_000_000 / TICKS_PER_SECOND as u64);

fn config() -> ConnectionConfig {
    let channel = |channel_id, send_type| ChannelConfig {
        channel_id,
        max_memory_usage_bytes: CHANNEL_BYTES,
        send_type,
    };
    let welcome = SendType::ReliableOrdered {
        resend_time: RESEND_TIME,
    };
    let up = vec![
        channel(SNAPSHOTS, SendType::Unreliable),
        channel(REQUESTS, SendType::Unreliable),
    ];
    let mut down = up.clone();
    down.push(channel(WELCOME, welcome));
    ConnectionConfig {
        available_bytes_per_tick: BYTES_PER_FLUSH,
        server_channels_config: down,
        client_channels_config: up,
    }
}

/// Messages between one end of a lane and its transport.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    pub(super) outgoing: Vec<Bytes>,
    incoming: VecDeque<Bytes>,
}

impl Mailbox {
    /// Puts in a message that has arrived. If nobody takes them out, the oldest go.
    pub(super) fn deliver(&mut self, message: Bytes) {
        if self.incoming.len() == MAX_INCOMING {
            self.incoming.pop_front();
        }
        self.incoming.push_back(message);
    }

    /// Takes a message out, oldest first.
    pub(super) fn take(&mut self) -> Option<Bytes> {
        self.incoming.pop_front()
    }
}

/// Messages that wait to be taken in: several seconds of them.
const MAX_INCOMING: usize = 1024;

/// The sender's mailbox.
#[derive(Component, Debug, Default)]
pub(super) struct SenderMail(pub(super) Mailbox);

/// The receiver's mailbox.
#[derive(Component, Debug, Default)]
pub(super) struct ReceiverMail(pub(super) Mailbox);

/// What a packet of renet's is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A snapshot on its way down, our ack on its way up, or a piece of one.
    Snapshots,
    /// renet's own acks.
    RenetAck,
    /// The welcome, requests and grants.
    Control,
}

impl Purpose {
    /// By the first bytes of a packet that renet made.
    fn of(packet: &[u8]) -> Self {
        match guard::kind_and_channel(packet) {
            Some((guard::ACK, _)) => Self::RenetAck,
            Some((_, Some(SNAPSHOTS))) => Self::Snapshots,
            _ => Self::Control,
        }
    }
}
