//! The receiving half of a lane.

use bevy::prelude::*;
use cubewire_codec::{Baseline, Decoder, InitialStateError, Limits, Sequence, Snapshot};
use cubewire_protocol::{Ack, BaselineRing, RECEIVER_RING};

use super::transport::{CHANNEL, Connection};
use super::{LaneMeter, Replica};

/// What the receiver of one lane knows.
#[derive(Component, Debug)]
pub(super) struct Receiver {
    decoder: Decoder,
    pub(super) received: BaselineRing,
    /// Numbers of what was decoded in this tick.
    pub(super) decoded_now: Vec<Sequence>,
    /// Tick and number of the newest.
    newest: Option<(u64, Sequence)>,
    /// Where the next packet is decoded to.
    next: Baseline,
    /// Memory of snapshots that were played.
    spare: Vec<Snapshot>,
}

impl Receiver {
    pub(super) fn new(initial: Snapshot) -> Result<Self, InitialStateError> {
        Ok(Self {
            decoder: Decoder::new(initial, Limits::default())?,
            received: BaselineRing::new(RECEIVER_RING),
            decoded_now: Vec::new(),
            newest: None,
            next: Baseline::default(),
            spare: Vec::new(),
        })
    }
}

pub(super) fn receive(
    time: Res<Time>,
    mut lanes: Query<(&mut Connection, &mut Receiver, &mut Replica, &mut LaneMeter)>,
) {
    let now = time.elapsed();
    for (mut connection, mut receiver, mut replica, mut meter) in &mut lanes {
        let receiver = &mut *receiver;
        while let Some(played) = replica.buffer.discard_played(now) {
            receiver.spare.push(played);
        }
        receiver.decoded_now.clear();
        while let Some(message) = connection.client.receive_message(CHANNEL) {
            let result = receiver.decoder.decode(
                &message,
                |sequence| receiver.received.get(sequence),
                &mut receiver.next,
            );
            let sequence = match result {
                Ok(header) => header.sequence,
                Err(error) => {
                    meter.refuse(error);
                    continue;
                }
            };
            receiver.decoded_now.push(sequence);
            meter.received += 1;

            let tick = replica.buffer.tick(now, sequence);
            let mut snapshot = receiver.spare.pop().unwrap_or_default();
            receiver.next.snapshot().dequantize(&mut snapshot);
            receiver
                .spare
                .extend(replica.buffer.insert(now, tick, snapshot));
            let decoded = std::mem::take(&mut receiver.next);
            receiver.next = receiver.received.insert(decoded).unwrap_or_default();
            if receiver.newest.is_none_or(|(newest, _)| tick > newest) {
                receiver.newest = Some((tick, sequence));
            }
            if let Some((_, newest)) = receiver.newest {
                connection
                    .client
                    .send_message(CHANNEL, Ack { newest }.encode().to_vec());
            }
        }
    }
}
