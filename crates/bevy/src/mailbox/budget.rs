//! How much may be put into a mailbox in a tick.

use std::time::Duration;

use cubewire_protocol::{ByteBudget, Within};

use super::Mailbox;

/// Most bytes that renet puts around a datagram, a slice of one, or a part of the reliable messages, while packet numbers are
/// below 2³⁰: for 69 days at three packets a tick and 60 ticks a second.
pub const CHANNEL_BYTES: usize = 14;

/// Most bytes of a datagram in one packet. Longer ones are cut into slices of this length.
pub const SLICE_BYTES: usize = 1200;

/// Keeps all that goes through a mailbox, with headers and what is sent again, within a number of bytes in any second: for
/// replication of one's own. [`ServerPlugin`](crate::ServerPlugin) has one for each client with a budget.
#[derive(Clone, Debug, Default)]
pub struct SendBudget(Option<Spending>);

#[derive(Clone, Debug)]
struct Spending {
    bucket: ByteBudget,
    /// When the last packet was sent, by the clock of the transport.
    at: Duration,
    /// Bytes on the wire up to then.
    counted: u64,
}

impl SendBudget {
    /// What a snapshot may take in a tick, after messages were put into the mailbox; with `None` as the bytes a second, anything.
    /// Sets how much of the rest reliable messages may take. `now` is the clock of the transport, of whose instants one may
    /// have several ticks.
    pub fn within(
        &mut self,
        now: Duration,
        ticks_per_second: u16,
        bytes_per_second: Option<u32>,
        mailbox: &mut Mailbox,
    ) -> Option<Within<'static>> {
        let Some(bytes_per_second) = bytes_per_second else {
            self.0 = None;
            mailbox.reliable_allowance = None;
            return None;
        };
        let bytes = mailbox.traffic.sent.bytes();
        let Spending {
            bucket,
            at,
            counted,
        } = self.0.get_or_insert_with(|| Spending {
            bucket: ByteBudget::new(bytes_per_second, ticks_per_second),
            at: now,
            counted: bytes,
        });
        let counted = std::mem::replace(counted, bytes);
        bucket.spend(std::mem::replace(at, now), (bytes - counted) as usize);
        bucket.set_bytes_per_second(bytes_per_second);
        let available = bucket.available(now);
        let overhead = mailbox.overhead_bytes + CHANNEL_BYTES;
        let mut within = bucket.within(now, SLICE_BYTES, overhead);
        let is_waiting = mailbox.backlog_bytes > 0 || !mailbox.outgoing.messages.is_empty();
        let stalled = bucket.available_for(now, mailbox.stalled_bytes);
        let allowance = if is_waiting {
            stalled.max(available / 2)
        } else {
            0
        };
        mailbox.reliable_allowance = Some(allowance);
        within.bytes = within.bytes.saturating_sub(allowance);
        Some(within)
    }
}
