//! Notes a hash of each snapshot sent to a viewer or decoded by one, so that the outputs of both processes can be compared.

use std::fmt::Write;

use bevy::prelude::*;
use cubewire_codec::{Baseline, Snapshot};

use super::Replica;
use super::lane::Sender;
use super::meter::LaneMeter;
use super::receive::Decoded;
use super::remote::{RemoteViewer, ServerConnection};
use crate::simulation::{CubeWorld, state_hash};

/// CSV lines of `viewer,tick,hash` with a header, which grow while this resource exists. The hash covers all decoded cubes.
#[derive(Resource, Debug)]
pub struct Digest {
    lines: String,
    snapshot: Snapshot,
}

impl Default for Digest {
    fn default() -> Self {
        Self { lines: "viewer,tick,hash\n".to_owned(), snapshot: Snapshot::default() }
    }
}

impl Digest {
    pub const fn csv(&self) -> &str {
        self.lines.as_str()
    }

    fn add(&mut self, viewer: u64, tick: u64, baseline: &Baseline) {
        baseline.snapshot().dequantize(&mut self.snapshot);
        let hash = state_hash(0, &self.snapshot);
        let _ = writeln!(self.lines, "{viewer},{tick},{hash:016x}");
    }
}

pub(super) fn of_sent(
    world: Res<CubeWorld>,
    mut digest: ResMut<Digest>,
    lanes: Query<(&Sender, &LaneMeter, &RemoteViewer)>,
) {
    for (sender, meter, peer) in &lanes {
        let sample = meter.samples().back();
        let has_sent = sample.is_some_and(|sample| !sample.snapshots.is_empty());
        if has_sent && let Some(sent) = sender.0.get(world.tick()) {
            digest.add(peer.id, world.tick(), sent);
        }
    }
}

pub(super) fn of_decoded(
    server: Res<ServerConnection>,
    mut digest: ResMut<Digest>,
    lanes: Query<(&Replica, &Decoded)>,
) {
    for (replica, decoded) in &lanes {
        for decoded in &decoded.0 {
            if let (Some(baseline), Some(client)) = (replica.0.get(decoded.tick), server.id) {
                digest.add(client, decoded.tick, baseline);
            }
        }
    }
}
