//! An ack protocol for codecs without one. The client acks every packet, and each packet is relative to
//! the newest acked snapshot.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::engine::Engine;
use crate::scene::{Frame, Grid, Scene};
use crate::wire::{OneWayLink, RawMessage};

/// A codec that encodes a snapshot, complete or relative to another one.
pub trait Codec {
    type Snapshot;

    fn snapshot(&self, tick: u16, frame: &Frame, grid: &Grid) -> Self::Snapshot;

    fn encode(&mut self, baseline: Option<&Self::Snapshot>, now: &Self::Snapshot) -> Vec<u8>;

    fn decode(&self, tick: u16, baseline: Option<&Self::Snapshot>, bytes: &[u8]) -> Self::Snapshot;

    fn show(&self, snapshot: &Self::Snapshot, grid: &Grid, frame: &mut Frame);
}

pub struct Acked<C: Codec> {
    codec: C,
    grid: Grid,
    /// Sent and received snapshots by tick, from 1.
    sent: BTreeMap<u16, C::Snapshot>,
    received: BTreeMap<u16, C::Snapshot>,
    /// Newest acked tick, or 0 before the first ack.
    acked: u16,
}

impl<C: Codec> Acked<C> {
    pub fn new(codec: C, scene: &Scene) -> Self {
        Self {
            codec,
            grid: scene.grid.clone(),
            sent: BTreeMap::new(),
            received: BTreeMap::new(),
            acked: 0,
        }
    }
}

const fn datagram(bytes: Vec<u8>) -> RawMessage {
    RawMessage { is_reliable: false, channel: 0, bytes }
}

impl<C: Codec> Engine for Acked<C> {
    fn step(
        &mut self,
        now: u64,
        frame: &Frame,
        down: &mut OneWayLink,
        up: &mut OneWayLink,
    ) -> Duration {
        let number = |bytes: &[u8]| u16::from_le_bytes([bytes[0], bytes[1]]);
        for message in up.receive(now) {
            self.acked = self.acked.max(number(&message.bytes));
            self.sent = self.sent.split_off(&self.acked);
        }
        let tick = u16::try_from(now + 1).expect("recordings are short");
        let start = Instant::now();
        let snapshot = self.codec.snapshot(tick, frame, &self.grid);
        let bytes = self.codec.encode(self.sent.get(&self.acked), &snapshot);
        let time = start.elapsed();
        self.sent.insert(tick, snapshot);
        let header = [tick.to_le_bytes(), self.acked.to_le_bytes()];
        down.send(now, datagram([header.as_flattened(), &bytes].concat()));
        for message in down.receive(now) {
            let (header, bytes) = message.bytes.split_at(4);
            let (tick, baseline) = (number(header), number(&header[2..]));
            let snapshot = self.codec.decode(tick, self.received.get(&baseline), bytes);
            self.received = self.received.split_off(&baseline);
            self.received.insert(tick, snapshot);
            up.send(now, datagram(tick.to_le_bytes().to_vec()));
        }
        time
    }

    fn shown(&mut self, frame: &mut Frame) {
        if let Some((_, newest)) = self.received.last_key_value() {
            self.codec.show(newest, &self.grid, frame);
        }
    }
}
