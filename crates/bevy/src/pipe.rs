//! Between a mailbox and datagrams: what the transports of this crate have in common.

use std::time::Duration;

use bevy_ecs::prelude::*;
use cubewire_protocol::{ChannelError, MessageChannel};

use crate::body::refuse;
use crate::mailbox::Mailbox;

/// One end of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pipe(MessageChannel);

/// What waits for a peer, at most: one that acks nothing for so long is given up.
const MAX_BACKLOG_BYTES: usize = 8 << 20;

impl Pipe {
    /// Takes a datagram that has arrived.
    pub(crate) fn receive(
        &mut self,
        now: Duration,
        datagram: &[u8],
        mailbox: &mut Mailbox,
    ) -> Result<(), ChannelError> {
        self.0.on_datagram(now, datagram)?;
        mailbox
            .incoming
            .messages
            .extend(std::iter::from_fn(|| self.0.poll_reliable()));
        mailbox
            .incoming
            .datagrams
            .extend(std::iter::from_fn(|| self.0.poll_unreliable()));
        Ok(())
    }

    /// The datagrams of a connection to send now, which count as sent. If it is to be given up, there are none, and it is
    /// [refused](refuse).
    pub(crate) fn flush(
        &mut self,
        now: Duration,
        connection: Entity,
        mailbox: &mut Mailbox,
        commands: &mut Commands<'_, '_>,
    ) -> Vec<Vec<u8>> {
        self.datagrams(now, mailbox).unwrap_or_else(|reason| {
            commands.queue(move |world: &mut World| refuse(world, connection, reason));
            Vec::new()
        })
    }

    fn datagrams(
        &mut self,
        now: Duration,
        mailbox: &mut Mailbox,
    ) -> Result<Vec<Vec<u8>>, &'static str> {
        for message in mailbox.outgoing.messages.drain(..) {
            let sent = self.0.send_reliable(&message);
            sent.map_err(|_| "a message is too long to be sent")?;
        }
        for datagram in mailbox.outgoing.datagrams.drain(..) {
            // Of one that is too long, nothing arrives.
            let _ = self.0.send_unreliable(datagram);
        }
        let allowance = mailbox.reliable_allowance.unwrap_or(usize::MAX);
        let datagrams = self.0.flush(now, allowance, mailbox.overhead_bytes);
        let bytes = datagrams
            .iter()
            .map(|datagram| datagram.len() + mailbox.overhead_bytes);
        mailbox.wire_bytes += bytes.sum::<usize>() as u64;
        mailbox.backlog_bytes = self.0.backlog_bytes();
        match mailbox.backlog_bytes <= MAX_BACKLOG_BYTES {
            true => Ok(datagrams),
            false => Err("too much waits for the other end to acknowledge it"),
        }
    }
}
