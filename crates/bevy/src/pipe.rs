//! Between a mailbox and packets: what the transports of this crate have in common.

mod pacer;

use std::time::Duration;

use cubewire_protocol::{ChannelError, MessageChannel, TooLong};

use self::pacer::Pacer;
use crate::mailbox::Mailbox;
use crate::wire::LoggedOnce;

/// One end of a connection.
#[derive(Debug, Default)]
pub(crate) struct Pipe {
    channel: MessageChannel,
    /// Packets that wait for the tick in which they are due.
    pacer: Pacer,
    /// That something was too long to be sent.
    dropped: LoggedOnce,
}

/// What waits for a peer, at most: one that acks nothing for so long is given up.
const MAX_BACKLOG_BYTES: usize = 8 << 20;

impl Pipe {
    /// Takes a packet that has arrived.
    pub(crate) fn receive(&mut self, now: Duration, packet: &[u8]) -> Result<(), ChannelError> {
        self.channel.on_datagram(now, packet)
    }

    /// Puts what has arrived into the mailbox, and says whether there was anything.
    pub(crate) fn deliver(&mut self, mailbox: &mut Mailbox) -> bool {
        let incoming = &mut mailbox.incoming;
        let before = incoming.messages.len() + incoming.datagrams.len();
        let messages = std::iter::from_fn(|| self.channel.poll_reliable());
        incoming.messages.extend(messages);
        let datagrams = std::iter::from_fn(|| self.channel.poll_unreliable());
        incoming.datagrams.extend(datagrams);
        mailbox.round_trip = self.channel.round_trip();
        incoming.messages.len() + incoming.datagrams.len() > before
    }

    /// The packets to send now, once in a tick, or why the connection is to be given up. What is too long is dropped.
    pub(crate) fn flush(
        &mut self,
        now: Duration,
        mailbox: &mut Mailbox,
    ) -> Result<Vec<Vec<u8>>, &'static str> {
        for message in mailbox.outgoing.messages.drain(..) {
            if let Err(TooLong { bytes, most }) = self.channel.send_reliable(&message) {
                let line = format_args!("reliable message too long: {bytes} bytes, limit {most}");
                self.dropped.warn(line);
            }
        }
        let mut allowance = mailbox.reliable_allowance.unwrap_or(usize::MAX);
        let overhead = mailbox.overhead_bytes;
        let spread = mailbox.spread_ticks.max(1);
        let mut packets = Vec::new();
        if spread > 1 || self.pacer.is_waiting() {
            // First of all, so that messages do not wait for their turn in a large snapshot.
            packets = self.channel.flush(now, allowance, overhead);
            allowance = 0;
        }
        for datagram in mailbox.outgoing.datagrams.drain(..) {
            if let Err(TooLong { bytes, most }) = self.channel.send_unreliable(datagram) {
                let line = format_args!("datagram too long: {bytes} bytes, limit {most}");
                self.dropped.warn(line);
            }
        }
        self.pacer
            .put(self.channel.flush(now, allowance, overhead), spread);
        packets.extend(self.pacer.take());
        mailbox.backlog_bytes = self.channel.backlog_bytes();
        match mailbox.backlog_bytes <= MAX_BACKLOG_BYTES {
            true => Ok(packets),
            false => Err("too much waits for the other end to acknowledge it"),
        }
    }
}
