//! Packets of renet from mailboxes, and back: for transports.

#[cfg(test)]
pub(crate) mod tests;

use std::collections::VecDeque;
use std::time::Duration;

use cubewire_protocol::Pacer;
use cubewire_protocol::renet_guard::{
    MAX_RELIABLE_BYTES, MAX_UNRELIABLE_BYTES, RELIABLE_CHANNEL, RenetGuard, UNRELIABLE_CHANNEL,
    ack_of,
};
use renet::{ChannelConfig, ConnectionConfig, RenetClient, SendType};

use crate::mailbox::{CHANNEL_BYTES, Mailbox};
use crate::traffic::PacketKind;
use crate::wire::LoggedOnce;

/// One end of a connection: turns a [`Mailbox`] into packets of [renet](https://docs.rs/renet), and packets into mail. Time is an
/// argument.
///
/// Datagrams are messages of renet's channel 0, which is unreliable. Reliable messages are a stream, each after its length, that is
/// cut into messages of channel 1, which is reliable and ordered. How the packets look is in
/// [WIRE.md](https://docs.rs/crate/cubewire-codec/latest/source/WIRE.md), section 17.
///
/// renet sends a message again every 300 ms until it is acknowledged, and cannot be told to send less. So a message is passed to
/// renet only if the [allowance](Mailbox::reliable_allowance) covers it, and renet's clock stops at each instant at which messages are
/// due again, until the allowance has covered these. Each instant has messages of one flush, so that packets do not become larger.
///
/// renet also acknowledges acks and unreliable packets. Acks are discarded unless a reliable message has arrived since the last, and renet is told
/// that they have arrived, so that it does not repeat their contents.
#[derive(Debug)]
pub struct Pipe {
    renet: RenetClient,
    guard: RenetGuard,
    /// renet's clock.
    clock: Duration,
    /// Flushes of the last [`RESEND_TIME`] with reliable messages: the time by renet's clock, and the position in the stream of the
    /// first byte that they may contain.
    sent: VecDeque<(Duration, u64)>,
    flushed_at: Duration,
    /// Time of the last acknowledgement, or of the last flush before which all bytes were acknowledged.
    progress_at: Duration,
    /// Reliable messages, each after its length, that renet does not have yet.
    outgoing: VecDeque<u8>,
    /// Reliable packets of renet that wait for an allowance.
    held: VecDeque<Vec<u8>>,
    is_ack_due: bool,
    /// Reliable messages that have arrived, from the first incomplete one on.
    incoming: Vec<u8>,
    /// Number of bytes of the stream that were passed to renet.
    given: u64,
    /// Number of unreliable messages that have arrived since the last delivery.
    undelivered: usize,
    /// For the next measurement of the round trip: the number of bytes that have to be acknowledged, and when they were sent.
    probe: Option<(u64, Duration)>,
    round_trip: Option<Duration>,
    /// Unreliable packets that are sent in later ticks.
    pacer: Pacer,
    /// That something was too long to be sent.
    dropped: LoggedOnce,
}

/// Memory for unreliable messages of a client that are incomplete, in bytes.
pub const FROM_CLIENT_BYTES: usize = 2 << 20;

/// Memory for unreliable messages of a server that are incomplete, in bytes. Uncompressed snapshots of 900 bodies, all of them
/// incomplete, take 6.5 MB in the three seconds after which renet discards them.
pub const FROM_SERVER_BYTES: usize = 16 << 20;

/// Limit of the bytes that wait for a peer. Beyond it, the connection ends.
const MAX_BACKLOG_BYTES: usize = 8 << 20;

/// Bytes of the stream that may be unacknowledged at a time.
const WINDOW: usize = 80 << 10;

/// Bytes of the stream that may be sent from the first unacknowledged one on. renet ends the connection if more than
/// [`RELIABLE_MEMORY`] arrives after a byte that was lost.
const MAX_SPAN: usize = 256 << 10;
const RELIABLE_MEMORY: usize = 512 << 10;

/// Bytes of the stream in a message of renet: one that fills a packet, with its number and length.
const PIECE_BYTES: usize = 1190;

/// Smallest part of a longer stream that is sent in one message: fits into the smallest budget.
const MIN_PIECE_BYTES: usize = 60;

const RESEND_TIME: Duration = Duration::from_millis(300);
const INSTANT: Duration = Duration::from_nanos(1);

/// Silence after which messages are sent again less often.
const PATIENCE: Duration = Duration::from_millis(1200);

/// Number of unreliable messages that may arrive between two deliveries. Packets with further ones are discarded.
const MAX_UNDELIVERED: usize = 4096;

/// Bytes that an ack counts as in the backlog, so that it gets an allowance.
const ACK_BYTES: usize = 16;

impl Pipe {
    /// An end with this much memory for incomplete unreliable messages: [`FROM_CLIENT_BYTES`] or [`FROM_SERVER_BYTES`].
    #[must_use]
    pub fn new(incoming_bytes: usize) -> Self {
        let channels = |unreliable| {
            let channel = |channel_id, max_memory_usage_bytes, send_type| ChannelConfig {
                channel_id,
                max_memory_usage_bytes,
                send_type,
            };
            let resend_time = RESEND_TIME;
            let ordered = SendType::ReliableOrdered { resend_time };
            vec![
                channel(UNRELIABLE_CHANNEL, unreliable, SendType::Unreliable),
                channel(RELIABLE_CHANNEL, RELIABLE_MEMORY, ordered),
            ]
        };
        let config = ConnectionConfig {
            // renet would discard further packets.
            available_bytes_per_tick: u64::MAX,
            client_channels_config: channels(usize::MAX),
            server_channels_config: channels(incoming_bytes),
        };
        let mut renet = RenetClient::new(config);
        // Uses up the sequence 0, which all unreliable packets have, so that no reliable packet has it.
        renet.send_message(UNRELIABLE_CHANNEL, vec![0]);
        renet.get_packets_to_send();
        Self {
            renet,
            guard: RenetGuard::default(),
            clock: Duration::ZERO,
            sent: VecDeque::new(),
            flushed_at: Duration::ZERO,
            progress_at: Duration::ZERO,
            outgoing: VecDeque::new(),
            held: VecDeque::new(),
            is_ack_due: false,
            incoming: Vec::new(),
            given: 0,
            undelivered: 0,
            probe: None,
            round_trip: None,
            pacer: Pacer::default(),
            dropped: LoggedOnce::default(),
        }
    }

    /// Takes a packet that has arrived.
    ///
    /// # Errors
    /// A sentence, if no [`Pipe`] sends such a packet: the connection is to be ended.
    pub fn receive(&mut self, now: Duration, packet: &[u8]) -> Result<(), String> {
        self.guard
            .check(packet)
            .map_err(|refused| refused.to_string())?;
        let unreliable = unreliable_messages(packet);
        self.undelivered += unreliable;
        // Only unreliable ones: the guard has noted the reliable ones as received.
        if unreliable > 0 && self.undelivered > MAX_UNDELIVERED {
            return Ok(());
        }
        let before = self.in_flight();
        self.renet.process_packet(packet);
        if let Some(reason) = self.renet.disconnect_reason() {
            return Err(reason.to_string());
        }
        self.is_ack_due |= matches!(PacketKind::of(packet), PacketKind::Reliable);
        let in_flight = self.in_flight();
        if in_flight < before {
            self.progress_at = now;
        }
        let acknowledged = self.given - in_flight as u64;
        if let Some((_, at)) = self.probe.take_if(|(bytes, _)| *bytes <= acknowledged) {
            let sample = now.saturating_sub(at);
            let smoothed = self.round_trip.unwrap_or(sample);
            self.round_trip = Some((smoothed * 7 + sample) / 8);
        }
        Ok(())
    }

    /// Puts mail that has arrived into the mailbox. Returns whether there was any.
    pub fn deliver(&mut self, mailbox: &mut Mailbox) -> bool {
        self.undelivered = 0;
        let incoming = &mut mailbox.incoming;
        let before = incoming.messages.len() + incoming.datagrams.len();
        while let Some(datagram) = self.renet.receive_message(UNRELIABLE_CHANNEL) {
            incoming.datagrams.push(datagram.into());
        }
        while let Some(piece) = self.renet.receive_message(RELIABLE_CHANNEL) {
            self.incoming.extend(piece);
        }
        let mut taken = 0;
        while let Some((length, rest)) = self.incoming[taken..].split_first_chunk()
            && let Some(message) = rest.get(..u16::from_be_bytes(*length).into())
        {
            incoming.messages.push(message.to_vec());
            taken += 2 + message.len();
        }
        self.incoming.drain(..taken);
        mailbox.round_trip = self.round_trip;
        mailbox.backlog_bytes = self.backlog_bytes();
        incoming.messages.len() + incoming.datagrams.len() > before
    }

    /// The packets to send now, once in a tick. Messages that are too long are dropped, with a warning.
    ///
    /// # Errors
    /// A sentence, if the connection is to be given up: too much is not acknowledged, or renet has ended it.
    pub fn flush(
        &mut self,
        now: Duration,
        mailbox: &mut Mailbox,
    ) -> Result<Vec<Vec<u8>>, &'static str> {
        self.queue(mailbox);
        if self.in_flight() == 0 {
            self.held.clear();
            self.sent.clear();
            self.progress_at = now;
        }
        let mut turn = Turn {
            left: mailbox.reliable_allowance.unwrap_or(usize::MAX),
            overhead: mailbox.overhead_bytes,
            reliable: Vec::new(),
            unreliable: Vec::new(),
        };
        let until = match self.held.is_empty() {
            true => self.clock + self.passed(now),
            false => self.clock,
        };
        self.flushed_at = now;
        self.send(Duration::ZERO, self.first(), &mut turn);
        while self.held.is_empty()
            && let Some((sent, mut first)) = self.pop_due(until)
        {
            let mut due = sent + RESEND_TIME;
            if mailbox.reliable_allowance.is_none() {
                due = until;
                while let Some((_, other)) = self.pop_due(until) {
                    first = first.min(other);
                }
            }
            self.send(due.saturating_sub(self.clock), first, &mut turn);
        }
        if self.held.is_empty() {
            let step = until.saturating_sub(self.clock);
            let first = self.given;
            match self.give(now, &turn) {
                true => self.send(step.max(INSTANT), first, &mut turn),
                false => self.advance(step),
            }
        }
        let Turn {
            reliable: mut packets,
            unreliable,
            ..
        } = turn;
        self.pacer.put(unreliable, mailbox.spread_ticks.max(1));
        packets.extend(self.pacer.take());
        mailbox.backlog_bytes = self.backlog_bytes();
        let stalled = self.held.front();
        mailbox.stalled_bytes = stalled.map_or(0, |packet| packet.len() + mailbox.overhead_bytes);
        if self.renet.is_disconnected() {
            return Err("renet has ended the connection");
        }
        match mailbox.backlog_bytes <= MAX_BACKLOG_BYTES {
            true => Ok(packets),
            false => Err("too much waits for the other end to acknowledge it"),
        }
    }

    /// Returns how far renet's clock advances. It is slower than real time after more than [`PATIENCE`] without an
    /// acknowledgement, so that the time until messages are sent again grows with the silence, and never jumps.
    fn passed(&self, now: Duration) -> Duration {
        let passed = now.saturating_sub(self.flushed_at).min(RESEND_TIME);
        let silence = now.saturating_sub(self.progress_at);
        passed.div_f64(silence.div_duration_f64(PATIENCE).max(1.0))
    }

    /// Removes and returns the oldest flush, if its messages are due again at this time of renet's clock.
    fn pop_due(&mut self, until: Duration) -> Option<(Duration, u64)> {
        let is_due = |(sent, _): &mut (Duration, u64)| *sent + RESEND_TIME <= until;
        self.sent.pop_front_if(is_due)
    }

    /// Moves the mail out of the mailbox.
    fn queue(&mut self, mailbox: &mut Mailbox) {
        for message in mailbox.outgoing.messages.drain(..) {
            match u16::try_from(message.len()) {
                Ok(length) => {
                    self.outgoing.extend(length.to_be_bytes());
                    self.outgoing.extend(message);
                }
                Err(_) => self.too_long("reliable message", message.len(), MAX_RELIABLE_BYTES),
            }
        }
        for datagram in mailbox.outgoing.datagrams.drain(..) {
            match datagram.len() {
                // An empty datagram has no contents.
                0 => {}
                1..=MAX_UNRELIABLE_BYTES => self.renet.send_message(UNRELIABLE_CHANNEL, datagram),
                bytes => self.too_long("datagram", bytes, MAX_UNRELIABLE_BYTES),
            }
        }
    }

    fn too_long(&self, what: &str, bytes: usize, most: usize) {
        let line = format_args!("{what} too long: {bytes} bytes, limit {most}");
        self.dropped.warn(line);
    }

    /// Passes renet the part of the stream that can be sent now. Returns whether there was any.
    fn give(&mut self, now: Duration, turn: &Turn) -> bool {
        let (before, mut left) = (self.given, turn.left);
        let span = self.given - self.first();
        let mut window = WINDOW.saturating_sub(self.in_flight());
        window = window.min(MAX_SPAN.saturating_sub(span as usize));
        while !self.outgoing.is_empty() {
            let around = turn.overhead + CHANNEL_BYTES;
            let room = left.saturating_sub(around).min(window).min(PIECE_BYTES);
            let bytes = self.outgoing.len().min(room);
            if bytes < self.outgoing.len().min(MIN_PIECE_BYTES) {
                break;
            }
            let piece: Vec<u8> = self.outgoing.drain(..bytes).collect();
            self.renet.send_message(RELIABLE_CHANNEL, piece);
            self.given += bytes as u64;
            left -= around + bytes;
            window -= bytes;
        }
        let is_given = self.given > before;
        if is_given {
            self.probe.get_or_insert((self.given, now));
        }
        is_given
    }

    /// Advances renet's clock, and sends the packets that the allowance covers. `first` is the position in the stream of the first
    /// byte that the reliable ones may contain.
    fn send(&mut self, later: Duration, first: u64, turn: &mut Turn) {
        self.advance(later);
        let held = self.held.len();
        for packet in self.renet.get_packets_to_send() {
            match PacketKind::of(&packet) {
                PacketKind::Reliable => self.held.push_back(packet),
                // Held packets come first: they need a larger allowance than an ack.
                PacketKind::Ack
                    if self.is_ack_due && self.held.is_empty() && turn.covers(&packet) =>
                {
                    turn.take(packet);
                    self.is_ack_due = false;
                }
                PacketKind::Ack if self.is_ack_due => {}
                PacketKind::Ack => {
                    let arrived = ack_of(&packet);
                    arrived
                        .iter()
                        .for_each(|ack| self.renet.process_packet(ack));
                }
                PacketKind::Unreliable => turn.unreliable.extend(without_sequence(&packet)),
            }
        }
        if self.held.len() > held {
            self.sent.push_back((self.clock, first));
        }
        while let Some(packet) = self.held.pop_front_if(|packet| turn.covers(packet)) {
            turn.take(packet);
        }
    }

    fn advance(&mut self, later: Duration) {
        self.clock += later;
        self.renet.update(later);
    }

    /// Position in the stream of the first byte that may be unacknowledged.
    fn first(&self) -> u64 {
        let firsts = self.sent.iter().map(|(_, first)| *first);
        firsts.min().unwrap_or(self.given)
    }

    /// Bytes that renet holds until they are acknowledged.
    fn in_flight(&self) -> usize {
        RELIABLE_MEMORY - self.renet.channel_available_memory(RELIABLE_CHANNEL)
    }

    fn backlog_bytes(&self) -> usize {
        let ack = if self.is_ack_due { ACK_BYTES } else { 0 };
        self.outgoing.len() + self.in_flight() + ack
    }
}

/// Packets of a flush.
#[derive(Debug)]
struct Turn {
    /// Rest of the allowance, in bytes on the wire.
    left: usize,
    /// Bytes around each packet.
    overhead: usize,
    reliable: Vec<Vec<u8>>,
    unreliable: Vec<Vec<u8>>,
}

impl Turn {
    const fn covers(&self, packet: &[u8]) -> bool {
        packet.len() + self.overhead <= self.left
    }

    fn take(&mut self, packet: Vec<u8>) {
        self.left -= packet.len() + self.overhead;
        self.reliable.push(packet);
    }
}

/// Returns the number of unreliable messages in a packet that the guard has accepted. A slice counts as a message.
fn unreliable_messages(packet: &[u8]) -> usize {
    match (packet.first(), after_sequence(packet)) {
        (Some(1), Some([_, high, low, ..])) => u16::from_be_bytes([*high, *low]).into(),
        (Some(3), _) => 1,
        _ => 0,
    }
}

/// Returns the bytes of a packet after its kind and its sequence, from the channel on.
fn after_sequence(packet: &[u8]) -> Option<&[u8]> {
    let (_, rest) = packet.split_first()?;
    // In QUIC's integers, the upper two bits of the first byte are the logarithm of the length.
    rest.get(1 << (rest.first()? >> 6)..)
}

/// An unreliable packet with the sequence 0, which is of no use there and has up to 8 bytes. `None` if it has no message: renet sends
/// such a packet before a message of 1199 or 1200 bytes.
fn without_sequence(packet: &[u8]) -> Option<Vec<u8>> {
    let after = after_sequence(packet)?;
    let is_empty = after == [UNRELIABLE_CHANNEL, 0, 0];
    (!is_empty).then(|| [&[packet[0], 0], after].concat())
}
