//! Conversion between message buffers and packets of renet, shared by transports.

mod stream;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use cubewire_protocol::Pacer;
use cubewire_protocol::renet_guard::{
    RELIABLE_CHANNEL, RenetGuard, UNRELIABLE_CHANNEL, acked, sequence,
};
use renet::{ChannelConfig, ConnectionConfig, RenetClient, SendType};

use self::stream::{IncomingStream, OutgoingStream};
use crate::traffic::PacketKind;
use crate::transport::{CHANNEL_BYTES, MAX_BACKLOG_BYTES, MessageBuffer, TOO_MANY_WAITING};
use crate::wire::LoggedOnce;

/// One end of a connection: converts the contents of a [`MessageBuffer`] into packets of [renet](https://docs.rs/renet), and
/// received packets into message buffer contents. Time is an argument.
///
/// Each end has two `RenetClient`s, one for datagrams and one for reliable messages. Section 17 of
/// [WIRE.md](https://docs.rs/crate/cubewire-codec/latest/source/WIRE.md) specifies the packets.
///
/// **Datagrams** are messages of channel 0, which is unreliable. Their acks are not sent, and their packets all have sequence
/// 0, because no receiver needs it.
///
/// **Reliable messages** form a byte stream, each preceded by its length. The stream is cut into messages of channel 1, which
/// is reliable and ordered. renet acknowledges every packet, acks too, so two ends that send all acks at once never fall
/// silent. An end therefore asks renet for packets only if it has new bytes, if a message is due to be resent, or if a
/// reliable packet has arrived. It sends the packets that renet returns, acks among them: each packet that is not sent leaves
/// a gap in the other end's list of received packets, which is sent with each ack.
///
/// renet resends an unacknowledged message every 300 ms and has no setting to send less. To stay within the
/// [allowance](MessageBuffer::reliable_allowance), bytes are passed to renet only if the allowance covers them, and packets
/// that it does not cover are held. Meanwhile, renet's clock stands still, so that it does not resend their messages.
#[derive(Debug)]
pub struct RenetConnection {
    guard: RenetGuard,
    datagrams: RenetClient,
    reliable: RenetClient,
    /// Clock of `reliable`. It runs as fast as the caller's, slower after [`PATIENCE`] without acks, and stands still
    /// while packets are held.
    clock: Duration,
    /// Packets of reliable messages of the last [`MAX_ACK_TIME`] of `clock` that are not acknowledged, by sequence.
    unacked: BTreeMap<u64, Unacked>,
    /// Sequence of the first packet that has not been due to be resent.
    not_due: u64,
    /// Time of the last flush, by the caller's clock.
    flushed_at: Duration,
    /// Time of the last progress in acks, or of the last flush with all bytes acknowledged.
    progress_at: Duration,
    outgoing: OutgoingStream,
    /// Packets of `reliable` that wait for an allowance.
    held: VecDeque<Vec<u8>>,
    /// Number of flushes since new bytes began to wait for a larger allowance.
    waited: u32,
    /// Whether a reliable packet has arrived since the last ack.
    is_ack_due: bool,
    /// Number of acks received since the last ack.
    received_acks: u32,
    incoming: IncomingStream,
    /// Stream position: number of bytes passed to renet so far.
    passed_bytes: u64,
    /// Number of unreliable messages received since the last delivery.
    undelivered: usize,
    round_trip: Option<Duration>,
    pacer: Pacer,
    dropped: LoggedOnce,
}

/// A packet of reliable messages. renet resends an unacknowledged message after [`RESEND_TIME`].
#[derive(Clone, Copy, Debug)]
struct Unacked {
    /// Time by the caller's clock.
    sent_at: Duration,
    /// Time by renet's clock.
    clock: Duration,
    /// Stream position of the first byte that it may contain.
    first_byte: u64,
}

/// Memory limit for a client's incomplete unreliable messages, in bytes.
pub const FROM_CLIENT_BYTES: usize = 2 << 20;

/// Memory limit for a server's incomplete unreliable messages, in bytes. Uncompressed snapshots of 900 bodies, if all
/// are incomplete, take 6.5 MB in the three seconds until renet discards them.
pub const FROM_SERVER_BYTES: usize = 16 << 20;

/// Limit of the unacknowledged stream bytes.
const WINDOW: usize = 80 << 10;

/// Limit of the stream bytes sent after the first unacknowledged one, acknowledged or not. renet ends the connection if
/// more than [`RELIABLE_MEMORY`] arrives after a lost byte.
const MAX_SPAN: usize = 256 << 10;
const RELIABLE_MEMORY: usize = 512 << 10;

/// Stream bytes in a renet message that, with its id and length, fills a packet.
const PIECE_BYTES: usize = 1190;

/// A message with fewer stream bytes is sent only if it empties the queue, to limit the share of headers and acks.
const MIN_PIECE_BYTES: usize = 300;

/// Number of flushes without an allowance for such a message, after which [`SendBudget`](cubewire_protocol::SendBudget) saves
/// up for it.
const MAX_WAITED: u32 = 8;

const RESEND_TIME: Duration = Duration::from_millis(300);

/// renet ignores later acks.
const MAX_ACK_TIME: Duration = Duration::from_secs(3);

/// Time without acks after which renet's clock slows down, so that resends become rarer.
const PATIENCE: Duration = Duration::from_millis(1200);

/// Limit of the unreliable messages between two deliveries. Packets with further ones are discarded.
const MAX_UNDELIVERED: usize = 4096;

/// An ack that is due or held counts as this many backlog bytes, so that it gets an allowance.
const ACK_BYTES: usize = 16;

/// After this number of received acks, an ack is sent.
const MAX_RECEIVED_ACKS: u32 = 64;

impl RenetConnection {
    /// Creates an end with this memory limit for incomplete unreliable messages: [`FROM_CLIENT_BYTES`] or
    /// [`FROM_SERVER_BYTES`].
    pub fn new(incoming_bytes: usize) -> Self {
        let ordered = SendType::ReliableOrdered { resend_time: RESEND_TIME };
        Self {
            guard: RenetGuard::default(),
            datagrams: client(UNRELIABLE_CHANNEL, SendType::Unreliable, usize::MAX, incoming_bytes),
            reliable: client(RELIABLE_CHANNEL, ordered, RELIABLE_MEMORY, RELIABLE_MEMORY),
            clock: Duration::ZERO,
            unacked: BTreeMap::new(),
            not_due: 0,
            flushed_at: Duration::ZERO,
            progress_at: Duration::ZERO,
            outgoing: OutgoingStream::default(),
            held: VecDeque::new(),
            waited: 0,
            is_ack_due: false,
            received_acks: 0,
            incoming: IncomingStream::default(),
            passed_bytes: 0,
            undelivered: 0,
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
        match PacketKind::of(packet) {
            PacketKind::Unreliable => self.receive_datagrams(packet),
            PacketKind::Ack => {
                self.note_acks(now, packet);
                // renet's list of received packets is limited only when an ack is sent.
                self.received_acks += 1;
                self.is_ack_due |= self.received_acks >= MAX_RECEIVED_ACKS;
                self.receive_reliable(packet)
            }
            PacketKind::Reliable => {
                self.is_ack_due = true;
                self.receive_reliable(packet)
            }
        }
    }

    fn receive_datagrams(&mut self, packet: &[u8]) -> Result<(), String> {
        // renet keeps a list of the sequences that it has received.
        if packet[1] != 0 {
            return Err("unreliable packet with a sequence".to_owned());
        }
        self.undelivered += unreliable_messages(packet);
        if self.undelivered <= MAX_UNDELIVERED {
            self.datagrams.process_packet(packet);
        }
        self.datagrams.disconnect_reason().map_or(Ok(()), |reason| Err(reason.to_string()))
    }

    fn receive_reliable(&mut self, packet: &[u8]) -> Result<(), String> {
        self.reliable.process_packet(packet);
        self.reliable.disconnect_reason().map_or(Ok(()), |reason| Err(reason.to_string()))
    }

    /// Removes acknowledged packets, and measures the round-trip time with the newest one.
    fn note_acks(&mut self, now: Duration, packet: &[u8]) {
        let mut newest = None;
        for range in acked(packet) {
            while let Some((&sequence, packet)) = self.unacked.range(range.clone()).next_back() {
                newest.get_or_insert(packet.sent_at);
                self.unacked.remove(&sequence);
            }
        }
        if let Some(sent_at) = newest {
            self.progress_at = now;
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
        while let Some(datagram) = self.datagrams.receive_message(UNRELIABLE_CHANNEL) {
            incoming.datagrams.push(datagram.into());
        }
        while let Some(piece) = self.reliable.receive_message(RELIABLE_CHANNEL) {
            self.incoming.push(&piece, &mut incoming.messages);
        }
        buffer.round_trip = self.round_trip;
        buffer.backlog_bytes = self.backlog_bytes();
        incoming.messages.len() + incoming.datagrams.len() > before
    }

    /// Returns the packets to send. Call it once per tick. Drops messages that are too long, with a warning.
    ///
    /// # Errors
    /// A sentence, if more than [`MAX_BACKLOG_BYTES`] wait for the other end or renet has ended the connection. The
    /// connection must then be closed. Messages that renet does not have are dropped, so that the reason can be sent as
    /// the last message.
    pub fn flush(
        &mut self,
        now: Duration,
        buffer: &mut MessageBuffer,
    ) -> Result<Vec<Vec<u8>>, &'static str> {
        buffer.outgoing.drop_unsendable(&self.dropped);
        buffer.outgoing.messages.drain(..).for_each(|message| self.outgoing.push(&message));
        let mut flush = Flush {
            allowance: buffer.reliable_allowance.unwrap_or(usize::MAX),
            overhead: buffer.overhead_bytes,
            packets: Vec::new(),
        };
        let passed = now.saturating_sub(self.flushed_at);
        self.flushed_at = now;
        self.flush_reliable(now, passed, &mut flush);
        self.flush_datagrams(passed, buffer);
        flush.packets.extend(self.pacer.take());
        buffer.backlog_bytes = self.backlog_bytes();
        let stalled = self.held.front().map_or_else(|| self.waiting_bytes(), Vec::len);
        buffer.stalled_bytes = if stalled > 0 { stalled + buffer.overhead_bytes } else { 0 };
        if self.reliable.is_disconnected() {
            return Err("renet has ended the connection");
        }
        if buffer.backlog_bytes > MAX_BACKLOG_BYTES {
            self.outgoing.drop_unsent();
            return Err(TOO_MANY_WAITING);
        }
        Ok(flush.packets)
    }

    /// Sends held packets, and then due acks, resends and new stream bytes.
    fn flush_reliable(&mut self, now: Duration, passed: Duration, flush: &mut Flush) {
        let is_limited = flush.allowance < usize::MAX;
        if self.in_flight() == 0 {
            // Held messages are superfluous resends. To the other end, they are packets that were lost.
            self.held.retain(|packet| PacketKind::of(packet) != PacketKind::Reliable);
            self.unacked.clear();
            self.progress_at = now;
        }
        flush.send_covered(&mut self.held);
        if !self.held.is_empty() {
            return;
        }
        let step = self.clock_step(now, passed);
        self.clock += step;
        self.reliable.update(step);
        let mut resent_from = self.take_due();
        // Together with new bytes, renet would merge them into packets that are larger than the allowance covers.
        if is_limited && let Some(first_byte) = resent_from.take() {
            self.send_packets(now, first_byte, flush);
            if !self.held.is_empty() {
                return;
            }
        }
        let new_from = self.passed_bytes;
        self.pass_new_bytes(flush);
        if resent_from.is_some() || self.passed_bytes > new_from || self.is_ack_due {
            self.send_packets(now, resent_from.unwrap_or(new_from), flush);
        }
    }

    /// Takes packets from renet. Sends them as far as the allowance covers them, and holds the others. `first_byte` is the
    /// stream position of the first byte that they may contain.
    fn send_packets(&mut self, now: Duration, first_byte: u64, flush: &mut Flush) {
        self.is_ack_due = false;
        self.received_acks = 0;
        let packets = self.reliable.get_packets_to_send();
        let is_reliable = |packet: &&Vec<u8>| PacketKind::of(packet) == PacketKind::Reliable;
        for packet in packets.iter().filter(is_reliable) {
            let packet_sequence = sequence(packet).expect("renet writes a sequence");
            let packet = Unacked { sent_at: now, clock: self.clock, first_byte };
            self.unacked.insert(packet_sequence, packet);
        }
        self.held.extend(packets);
        flush.send_covered(&mut self.held);
    }

    /// Passes the message buffer's datagrams to renet, and its packets to the pacer.
    fn flush_datagrams(&mut self, passed: Duration, buffer: &mut MessageBuffer) {
        self.datagrams.update(passed);
        if buffer.outgoing.datagrams.is_empty() {
            return;
        }
        for datagram in buffer.outgoing.datagrams.drain(..) {
            self.datagrams.send_message(UNRELIABLE_CHANNEL, datagram);
        }
        let packets = self.datagrams.get_packets_to_send();
        // renet also returns an ack.
        let is_datagram = |packet: &&Vec<u8>| PacketKind::of(packet) == PacketKind::Unreliable;
        let packets = packets.iter().filter(is_datagram);
        let packets = packets.filter_map(|packet| without_sequence(packet)).collect();
        self.pacer.put(packets, buffer.spread_ticks.max(1));
    }

    /// Returns how far renet's clock advances in a flush. After more than [`PATIENCE`] without progress in acks it runs
    /// slower than real time, so that the resend interval grows with the silence, without jumps.
    fn clock_step(&self, now: Duration, passed: Duration) -> Duration {
        let silence = now.saturating_sub(self.progress_at);
        passed.div_f64(silence.div_duration_f64(PATIENCE).max(1.0)).min(RESEND_TIME)
    }

    /// Returns the first stream position that a due packet may contain. `None` if no packet has become due.
    fn take_due(&mut self) -> Option<u64> {
        let clock = self.clock;
        self.unacked.retain(|_, packet| clock < packet.clock + MAX_ACK_TIME);
        let packets = self.unacked.range(self.not_due..);
        let due = packets.take_while(|(_, packet)| packet.clock + RESEND_TIME <= clock);
        let mut first_byte: Option<u64> = None;
        for (sequence, packet) in due {
            self.not_due = sequence + 1;
            first_byte = Some(first_byte.unwrap_or(packet.first_byte).min(packet.first_byte));
        }
        first_byte
    }

    /// Passes the stream bytes to renet that the allowance, the window and the span permit.
    fn pass_new_bytes(&mut self, flush: &Flush) {
        let span = self.passed_bytes - self.first_unacknowledged();
        let mut window = WINDOW.saturating_sub(self.in_flight());
        window = window.min(MAX_SPAN.saturating_sub(span as usize));
        let overhead = flush.overhead + CHANNEL_BYTES;
        let mut allowance = flush.allowance;
        while self.outgoing.len() > 0 {
            let covered = allowance.saturating_sub(overhead);
            let bytes = self.outgoing.len().min(covered).min(window).min(PIECE_BYTES);
            if bytes < self.outgoing.len().min(MIN_PIECE_BYTES) {
                self.waited += u32::from(covered < window);
                break;
            }
            self.waited = 0;
            self.reliable.send_message(RELIABLE_CHANNEL, self.outgoing.take(bytes));
            self.passed_bytes += bytes as u64;
            allowance -= overhead + bytes;
            window -= bytes;
        }
    }

    /// Returns the size of the smallest packet with new bytes, if they have waited for too long, or 0.
    fn waiting_bytes(&self) -> usize {
        let is_waiting = self.waited > MAX_WAITED && self.outgoing.len() > 0;
        if is_waiting { self.outgoing.len().min(MIN_PIECE_BYTES) + CHANNEL_BYTES } else { 0 }
    }

    /// Returns the stream position of the first byte that may be unacknowledged.
    fn first_unacknowledged(&self) -> u64 {
        let packets = self.unacked.range(self.not_due..);
        packets.map(|(_, packet)| packet.first_byte).min().unwrap_or(self.passed_bytes)
    }

    /// Returns the bytes that renet holds until they are acknowledged.
    fn in_flight(&self) -> usize {
        RELIABLE_MEMORY - self.reliable.channel_available_memory(RELIABLE_CHANNEL)
    }

    fn backlog_bytes(&self) -> usize {
        let ack = if self.is_ack_due || !self.held.is_empty() { ACK_BYTES } else { 0 };
        self.outgoing.len() + self.in_flight() + ack
    }
}

/// Creates a `RenetClient` with one channel in both directions.
fn client(channel_id: u8, send_type: SendType, outgoing: usize, incoming: usize) -> RenetClient {
    let channel = |max_memory_usage_bytes| {
        let send_type = send_type.clone();
        vec![ChannelConfig { channel_id, max_memory_usage_bytes, send_type }]
    };
    RenetClient::new(ConnectionConfig {
        // Unlimited, because renet would discard packets above this limit.
        available_bytes_per_tick: u64::MAX,
        // Both ends use a `RenetClient`, which sends on the client channels and receives on the server channels.
        client_channels_config: channel(outgoing),
        server_channels_config: channel(incoming),
    })
}

/// Packets and remaining allowance of a flush.
#[derive(Debug)]
struct Flush {
    /// Remaining allowance of packets of reliable messages and acks, in bytes on the wire.
    allowance: usize,
    /// Bytes of headers per packet.
    overhead: usize,
    packets: Vec<Vec<u8>>,
}

impl Flush {
    /// Sends held packets until the allowance does not cover the next one.
    fn send_covered(&mut self, held: &mut VecDeque<Vec<u8>>) {
        while let Some(packet) =
            held.pop_front_if(|packet| packet.len() + self.overhead <= self.allowance)
        {
            self.allowance -= packet.len() + self.overhead;
            self.packets.push(packet);
        }
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
