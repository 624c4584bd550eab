//! Conversion between message buffers and packets of renet, shared by transports.

#[cfg(test)]
pub(crate) mod tests;

use std::collections::VecDeque;
use std::time::Duration;

use cubewire_protocol::Pacer;
use cubewire_protocol::renet_guard::{RELIABLE_CHANNEL, RenetGuard, UNRELIABLE_CHANNEL, ack_of};
use renet::{ChannelConfig, ConnectionConfig, RenetClient, SendType};

use crate::traffic::PacketKind;
use crate::transport::{CHANNEL_BYTES, MessageBuffer};
use crate::wire::LoggedOnce;

/// One end of a connection: converts the contents of a [`MessageBuffer`] into packets of [renet](https://docs.rs/renet), and
/// received packets into message buffer contents. Time is an argument.
///
/// Datagrams are messages of renet's channel 0, which is unreliable. Reliable messages form a byte stream, each
/// preceded by its length. The stream is cut into messages of channel 1, which is reliable and ordered. Section 17 of
/// [WIRE.md](https://docs.rs/crate/cubewire-codec/latest/source/WIRE.md) specifies the packets.
///
/// renet resends an unacknowledged message every 300 ms and has no setting to send less. To stay within the
/// [allowance](MessageBuffer::reliable_allowance), bytes are passed to renet only if the allowance covers them. When messages
/// are due to be resent, renet's clock stops at that instant until the allowance has covered them. Messages of different
/// flushes are kept due at different instants. Otherwise renet would merge them into packets larger than the original ones,
/// which the allowance may not cover.
///
/// renet also acknowledges acks and unreliable packets. An ack is therefore sent only if a reliable message has arrived
/// since the last one. Other acks are discarded, and renet is told that they have arrived, so that it does not repeat
/// their contents.
#[derive(Debug)]
pub struct RenetConnection {
    renet: RenetClient,
    guard: RenetGuard,
    /// renet's clock. It runs as fast as the caller's, slower after [`PATIENCE`] without acks, and stands still while
    /// packets are held.
    clock: Duration,
    /// Reliable packets that were sent in the last [`RESEND_TIME`] of renet's clock, oldest first.
    flights: VecDeque<Flight>,
    /// Time of the last flush, by the caller's clock.
    flushed_at: Duration,
    /// Time of the last progress in acks, or of the last flush with all bytes acknowledged.
    progress_at: Duration,
    /// Stream bytes that renet does not have yet.
    outgoing: VecDeque<u8>,
    /// Reliable packets from renet that wait for an allowance.
    held: VecDeque<Vec<u8>>,
    /// Whether a reliable packet has arrived since the last ack was sent.
    is_ack_due: bool,
    /// Received stream bytes, from the first incomplete message on.
    incoming: Vec<u8>,
    /// Stream position: number of bytes passed to renet so far.
    passed_bytes: u64,
    /// Number of unreliable messages received since the last delivery.
    undelivered: usize,
    /// Running measurement of the round-trip time: the stream position that must be acknowledged, and the time when it
    /// was sent.
    probe: Option<(u64, Duration)>,
    round_trip: Option<Duration>,
    pacer: Pacer,
    dropped: LoggedOnce,
}

/// The reliable packets that renet has made at one instant of its clock. It sends their unacknowledged messages again
/// after [`RESEND_TIME`].
#[derive(Clone, Copy, Debug)]
struct Flight {
    sent_at: Duration,
    /// Stream position of the first byte that the packets may contain.
    first_byte: u64,
}

impl Flight {
    fn due_at(&self) -> Duration {
        self.sent_at + RESEND_TIME
    }
}

/// Memory limit for a client's incomplete unreliable messages, in bytes.
pub const FROM_CLIENT_BYTES: usize = 2 << 20;

/// Memory limit for a server's incomplete unreliable messages, in bytes. Uncompressed snapshots of 900 bodies, if all
/// are incomplete, take 6.5 MB in the three seconds until renet discards them.
pub const FROM_SERVER_BYTES: usize = 16 << 20;

/// Limit of the bytes that wait for a peer. Above it, the connection ends.
const MAX_BACKLOG_BYTES: usize = 8 << 20;

/// Limit of the unacknowledged stream bytes.
const WINDOW: usize = 80 << 10;

/// Limit of the stream bytes sent after the first unacknowledged one, acknowledged or not. renet ends the connection if
/// more than [`RELIABLE_MEMORY`] arrives after a lost byte.
const MAX_SPAN: usize = 256 << 10;
const RELIABLE_MEMORY: usize = 512 << 10;

/// Stream bytes in a renet message that, with its id and length, fills a packet.
const PIECE_BYTES: usize = 1190;

/// A message with fewer stream bytes is sent only if it empties the queue, to limit the share of headers. The smallest
/// budget can cover this many.
const MIN_PIECE_BYTES: usize = 60;

const RESEND_TIME: Duration = Duration::from_millis(300);

/// Smallest step of renet's clock, so that no two flushes are due for resending at the same instant.
const INSTANT: Duration = Duration::from_nanos(1);

/// Time without acks after which renet's clock slows down, so that resends become rarer.
const PATIENCE: Duration = Duration::from_millis(1200);

/// Limit of the unreliable messages between two deliveries. Packets with further ones are discarded.
const MAX_UNDELIVERED: usize = 4096;

/// A pending ack counts as this many backlog bytes, so that it gets an allowance.
const ACK_BYTES: usize = 16;

impl RenetConnection {
    /// Creates an end with this memory limit for incomplete unreliable messages: [`FROM_CLIENT_BYTES`] or
    /// [`FROM_SERVER_BYTES`].
    pub fn new(incoming_bytes: usize) -> Self {
        let ordered = SendType::ReliableOrdered { resend_time: RESEND_TIME };
        let channels = |unreliable| {
            [
                (UNRELIABLE_CHANNEL, unreliable, SendType::Unreliable),
                (RELIABLE_CHANNEL, RELIABLE_MEMORY, ordered.clone()),
            ]
            .map(|(channel_id, max_memory_usage_bytes, send_type)| ChannelConfig {
                channel_id,
                max_memory_usage_bytes,
                send_type,
            })
            .into()
        };
        let config = ConnectionConfig {
            // Unlimited, because renet would discard packets above this limit.
            available_bytes_per_tick: u64::MAX,
            // Both ends use a `RenetClient`, which sends on the client channels and receives on the server channels.
            client_channels_config: channels(usize::MAX),
            server_channels_config: channels(incoming_bytes),
        };
        let mut renet = RenetClient::new(config);
        // Uses up sequence 0 of renet. All unreliable packets are sent with sequence 0, so no reliable packet may have
        // it.
        renet.send_message(UNRELIABLE_CHANNEL, vec![0]);
        renet.get_packets_to_send();
        Self {
            renet,
            guard: RenetGuard::default(),
            clock: Duration::ZERO,
            flights: VecDeque::new(),
            flushed_at: Duration::ZERO,
            progress_at: Duration::ZERO,
            outgoing: VecDeque::new(),
            held: VecDeque::new(),
            is_ack_due: false,
            incoming: Vec::new(),
            passed_bytes: 0,
            undelivered: 0,
            probe: None,
            round_trip: None,
            pacer: Pacer::default(),
            dropped: LoggedOnce::default(),
        }
    }

    /// Processes a received packet.
    ///
    /// # Errors
    /// A sentence, if the packet cannot be from a [`RenetConnection`]. The connection must then be closed.
    pub fn receive(&mut self, now: Duration, packet: &[u8]) -> Result<(), String> {
        self.guard.check(packet).map_err(|refused| refused.to_string())?;
        let unreliable = unreliable_messages(packet);
        self.undelivered += unreliable;
        // Discards only unreliable messages. The guard has recorded the reliable ones as received, so renet must get
        // them.
        if unreliable > 0 && self.undelivered > MAX_UNDELIVERED {
            return Ok(());
        }
        let in_flight_before = self.in_flight();
        self.renet.process_packet(packet);
        if let Some(reason) = self.renet.disconnect_reason() {
            return Err(reason.to_string());
        }
        self.is_ack_due |= matches!(PacketKind::of(packet), PacketKind::Reliable);
        let in_flight = self.in_flight();
        if in_flight < in_flight_before {
            self.progress_at = now;
        }
        self.measure_round_trip(now, self.passed_bytes - in_flight as u64);
        Ok(())
    }

    /// Ends the running measurement if all of its bytes are acknowledged.
    fn measure_round_trip(&mut self, now: Duration, acknowledged: u64) {
        if let Some((_, sent_at)) = self.probe.take_if(|(bytes, _)| *bytes <= acknowledged) {
            let sample = now.saturating_sub(sent_at);
            let smoothed = self.round_trip.unwrap_or(sample);
            self.round_trip = Some((smoothed * 7 + sample) / 8);
        }
    }

    /// Moves received datagrams and messages into the message buffer. Returns whether there were any.
    pub fn deliver(&mut self, buffer: &mut MessageBuffer) -> bool {
        self.undelivered = 0;
        let incoming = &mut buffer.incoming;
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
        buffer.round_trip = self.round_trip;
        buffer.backlog_bytes = self.backlog_bytes();
        incoming.messages.len() + incoming.datagrams.len() > before
    }

    /// Returns the packets to send. Call it once per tick. Drops messages that are too long, with a warning.
    ///
    /// # Errors
    /// A sentence, if too many bytes are unacknowledged or renet has ended the connection. The connection must then be
    /// closed.
    pub fn flush(
        &mut self,
        now: Duration,
        buffer: &mut MessageBuffer,
    ) -> Result<Vec<Vec<u8>>, &'static str> {
        self.take_outgoing(buffer);
        // Everything is acknowledged, so held packets are superfluous resends.
        if self.in_flight() == 0 {
            self.held.clear();
            self.flights.clear();
            self.progress_at = now;
        }
        let clock_end = self.clock + self.clock_step(now);
        self.flushed_at = now;
        let mut flush = Flush {
            allowance: buffer.reliable_allowance.unwrap_or(usize::MAX),
            overhead: buffer.overhead_bytes,
            reliable: Vec::new(),
            unreliable: Vec::new(),
        };
        // Held packets, datagrams and acks do not need a step of the clock.
        self.step_and_send(Duration::ZERO, self.first_unacknowledged(), &mut flush);
        self.resend(clock_end, buffer.reliable_allowance.is_some(), &mut flush);
        // New stream bytes follow only after all resends.
        if self.held.is_empty() {
            self.send_new(now, clock_end, &mut flush);
        }
        let mut packets = flush.reliable;
        self.pacer.put(flush.unreliable, buffer.spread_ticks.max(1));
        packets.extend(self.pacer.take());
        buffer.backlog_bytes = self.backlog_bytes();
        let stalled = self.held.front();
        buffer.stalled_bytes = stalled.map_or(0, |packet| packet.len() + buffer.overhead_bytes);
        if self.renet.is_disconnected() {
            return Err("renet has ended the connection");
        }
        match buffer.backlog_bytes <= MAX_BACKLOG_BYTES {
            true => Ok(packets),
            false => Err("too many unacknowledged bytes"),
        }
    }

    /// Returns how far renet's clock advances in this flush: not at all while packets are held, because renet would
    /// send them again. After more than [`PATIENCE`] without progress in acks it runs slower than real time, so that
    /// the resend interval grows with the silence, without jumps.
    fn clock_step(&self, now: Duration) -> Duration {
        if !self.held.is_empty() {
            return Duration::ZERO;
        }
        let passed = now.saturating_sub(self.flushed_at).min(RESEND_TIME);
        let silence = now.saturating_sub(self.progress_at);
        passed.div_f64(silence.div_duration_f64(PATIENCE).max(1.0))
    }

    /// Moves the message buffer's messages into the stream, and its datagrams into renet.
    fn take_outgoing(&mut self, buffer: &mut MessageBuffer) {
        buffer.outgoing.drop_unsendable(&self.dropped);
        for message in buffer.outgoing.messages.drain(..) {
            self.outgoing.extend((message.len() as u16).to_be_bytes());
            self.outgoing.extend(message);
        }
        for datagram in buffer.outgoing.datagrams.drain(..) {
            self.renet.send_message(UNRELIABLE_CHANNEL, datagram);
        }
    }

    /// Advances renet's clock to each instant up to `clock_end` with due messages. Stops there if the allowance does not
    /// cover them.
    fn resend(&mut self, clock_end: Duration, is_limited: bool, flush: &mut Flush) {
        while self.held.is_empty()
            && let Some(flight) = self.pop_due(clock_end)
        {
            let (mut step_end, mut first_byte) = (flight.due_at(), flight.first_byte);
            // Without a limit, one step resends everything that is due, in fewer packets.
            if !is_limited {
                step_end = clock_end;
                while let Some(other) = self.pop_due(clock_end) {
                    first_byte = first_byte.min(other.first_byte);
                }
            }
            self.step_and_send(step_end.saturating_sub(self.clock), first_byte, flush);
        }
    }

    /// Removes and returns the oldest flight if it is due for resending at this time of renet's clock.
    fn pop_due(&mut self, clock: Duration) -> Option<Flight> {
        self.flights.pop_front_if(|flight| flight.due_at() <= clock)
    }

    /// Advances renet's clock to `clock_end`, and sends new stream bytes. They get an instant of the clock to
    /// themselves, so that later resends do not merge them with older messages.
    fn send_new(&mut self, now: Duration, clock_end: Duration, flush: &mut Flush) {
        let step = clock_end.saturating_sub(self.clock);
        let first_byte = self.passed_bytes;
        self.pass_new_bytes(flush);
        if self.passed_bytes > first_byte {
            self.probe.get_or_insert((self.passed_bytes, now));
            self.step_and_send(step.max(INSTANT), first_byte, flush);
        } else {
            self.step(step);
        }
    }

    /// Passes the stream bytes to renet that the allowance, the window and the span permit.
    fn pass_new_bytes(&mut self, flush: &Flush) {
        let span = self.passed_bytes - self.first_unacknowledged();
        let mut window = WINDOW.saturating_sub(self.in_flight());
        window = window.min(MAX_SPAN.saturating_sub(span as usize));
        let overhead = flush.overhead + CHANNEL_BYTES;
        let mut allowance = flush.allowance;
        while !self.outgoing.is_empty() {
            let room = allowance.saturating_sub(overhead).min(window).min(PIECE_BYTES);
            let bytes = self.outgoing.len().min(room);
            if bytes < self.outgoing.len().min(MIN_PIECE_BYTES) {
                break;
            }
            let piece: Vec<u8> = self.outgoing.drain(..bytes).collect();
            self.renet.send_message(RELIABLE_CHANNEL, piece);
            self.passed_bytes += bytes as u64;
            allowance -= overhead + bytes;
            window -= bytes;
        }
    }

    /// Advances renet's clock by `step`, and sends the packets that the allowance covers. `first_byte` is the stream
    /// position of the first byte that new reliable packets may contain.
    fn step_and_send(&mut self, step: Duration, first_byte: u64, flush: &mut Flush) {
        self.step(step);
        let held_before = self.held.len();
        for packet in self.renet.get_packets_to_send() {
            match PacketKind::of(&packet) {
                PacketKind::Reliable => self.held.push_back(packet),
                PacketKind::Unreliable => flush.unreliable.extend(without_sequence(&packet)),
                PacketKind::Ack => self.send_ack(packet, flush),
            }
        }
        if self.held.len() > held_before {
            self.flights.push_back(Flight { sent_at: self.clock, first_byte });
        }
        while let Some(packet) = self.held.pop_front_if(|packet| flush.covers(packet)) {
            flush.send(packet);
        }
    }

    /// Sends an ack if it is due and the allowance covers it.
    fn send_ack(&mut self, packet: Vec<u8>, flush: &mut Flush) {
        if !self.is_ack_due {
            // No reliable packet has arrived since the last ack. renet is told that this one has arrived, so that it does
            // not repeat the contents.
            ack_of(&packet).iter().for_each(|ack| self.renet.process_packet(ack));
        } else if self.held.is_empty() && flush.covers(&packet) {
            // Held packets come first: they need a larger allowance than an ack, and acks would use it up. An ack that
            // is not sent is dropped, because renet repeats its contents in the next one.
            flush.send(packet);
            self.is_ack_due = false;
        }
    }

    fn step(&mut self, step: Duration) {
        self.clock += step;
        self.renet.update(step);
    }

    /// Returns the stream position of the first byte that may be unacknowledged.
    fn first_unacknowledged(&self) -> u64 {
        let first = self.flights.iter().map(|flight| flight.first_byte).min();
        first.unwrap_or(self.passed_bytes)
    }

    /// Returns the bytes that renet holds until they are acknowledged.
    fn in_flight(&self) -> usize {
        RELIABLE_MEMORY - self.renet.channel_available_memory(RELIABLE_CHANNEL)
    }

    fn backlog_bytes(&self) -> usize {
        let ack = if self.is_ack_due { ACK_BYTES } else { 0 };
        self.outgoing.len() + self.in_flight() + ack
    }
}

/// Packets and remaining allowance of a flush.
#[derive(Debug)]
struct Flush {
    /// Remaining allowance of reliable packets and acks, in bytes on the wire.
    allowance: usize,
    /// Bytes of headers per packet.
    overhead: usize,
    reliable: Vec<Vec<u8>>,
    unreliable: Vec<Vec<u8>>,
}

impl Flush {
    const fn covers(&self, packet: &[u8]) -> bool {
        packet.len() + self.overhead <= self.allowance
    }

    fn send(&mut self, packet: Vec<u8>) {
        self.allowance -= packet.len() + self.overhead;
        self.reliable.push(packet);
    }
}

/// Returns the number of unreliable messages in a packet that the guard has accepted. A slice counts as one message.
fn unreliable_messages(packet: &[u8]) -> usize {
    match (packet.first(), after_sequence(packet)) {
        (Some(1), Some([_, high, low, ..])) => u16::from_be_bytes([*high, *low]).into(),
        (Some(3), _) => 1,
        _ => 0,
    }
}

/// Returns the part of a packet after its kind and its sequence, beginning with the channel.
fn after_sequence(packet: &[u8]) -> Option<&[u8]> {
    let (_, rest) = packet.split_first()?;
    // The upper two bits of a QUIC variable-length integer are the base-2 logarithm of its length in bytes.
    rest.get(1 << (rest.first()? >> 6)..)
}

/// Replaces the sequence of an unreliable packet, up to 8 bytes that no receiver needs, by 0. Returns `None` for a
/// packet without messages, which renet sends before a message of 1199 or 1200 bytes.
fn without_sequence(packet: &[u8]) -> Option<Vec<u8>> {
    let after = after_sequence(packet)?;
    let is_empty = after == [UNRELIABLE_CHANNEL, 0, 0];
    (!is_empty).then(|| [&[packet[0], 0], after].concat())
}
