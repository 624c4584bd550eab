//! Writes a line with a hash for every snapshot that was sent to a viewer, or decoded by one, so that the
//! files of both processes can be compared afterwards.

use std::fmt::Write;

use bevy::prelude::*;
use cubewire_codec::{Baseline, Snapshot};

use super::receive::Decoded;
use super::send::Sender;
use super::{LaneMeter, Peer, Replica, ServerConnection};
use crate::simulation::{CubeWorld, state_hash};

/// Lines of `viewer,tick,hash`. Snapshots are recorded while this resource exists. The hash covers every
/// cube as decoded.
#[derive(Resource, Clone, Debug)]
pub struct Digest {
    lines: String,
    snapshot: Snapshot,
}

impl Default for Digest {
    fn default() -> Self {
        Self {
            lines: "viewer,tick,hash\n".to_owned(),
            snapshot: Snapshot::default(),
        }
    }
}

impl Digest {
    /// The lines so far, as CSV with a header.
    #[must_use]
    pub fn csv(&self) -> &str {
        &self.lines
    }

    fn add(&mut self, viewer: u64, tick: u64, kept: &Baseline) {
        kept.snapshot().dequantize(&mut self.snapshot);
        let hash = state_hash(0, &self.snapshot);
        writeln!(self.lines, "{viewer},{tick},{hash:016x}")
            .expect("writing to a string cannot fail");
    }
}

pub(super) fn of_sent(
    world: Res<CubeWorld>,
    mut digest: ResMut<Digest>,
    lanes: Query<(&Sender, &LaneMeter, &Peer)>,
) {
    for (sender, meter, peer) in &lanes {
        let sample = meter.samples().back();
        let has_sent = sample.is_some_and(|sample| !sample.snapshots.is_empty());
        if has_sent && let Some(sent) = sender.protocol.get(world.tick()) {
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
            if let (Some(kept), Some(client)) = (replica.0.get(decoded.tick), server.id) {
                digest.add(client, decoded.tick, kept);
            }
        }
    }
}
