//! A line for every snapshot that was sent to a viewer, or decoded by one: what either side had can
//! be compared afterwards, wherever the two ran.

use std::fmt::Write;

use bevy::prelude::*;
use cubewire_codec::{Baseline, Snapshot};

use super::receive::Decoded;
use super::send::Sender;
use super::transport::udp::{RemoteViewer, UdpViewer};
use super::{LaneMeter, Replica};
use crate::simulation::{World as CubeWorld, state_hash};

/// Lines of `viewer,tick,hash`; where this resource is, snapshots are written down. The hash is of
/// every cube as the receiver gets it.
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
    /// What was written down so far, as CSV with a header.
    #[must_use]
    pub fn csv(&self) -> &str {
        &self.lines
    }

    fn add(&mut self, viewer: u64, tick: u64, kept: &Baseline) {
        kept.snapshot().dequantize(&mut self.snapshot);
        let hash = state_hash(0, &self.snapshot);
        writeln!(self.lines, "{viewer},{tick},{hash:016x}").expect("a string has room");
    }
}

pub(super) fn of_sent(
    world: Res<CubeWorld>,
    mut digest: ResMut<Digest>,
    lanes: Query<(&Sender, &LaneMeter, &RemoteViewer)>,
) {
    for (sender, meter, viewer) in &lanes {
        let has_sent = meter.samples().back().is_some_and(|now| now.snapshots > 0);
        if has_sent && let Some(sent) = sender.protocol.get(world.tick()) {
            digest.add(viewer.client, world.tick(), sent);
        }
    }
}

pub(super) fn of_decoded(
    viewer: Res<UdpViewer>,
    mut digest: ResMut<Digest>,
    lanes: Query<(&Replica, &Decoded)>,
) {
    for (replica, decoded) in &lanes {
        for decoded in &decoded.0 {
            if let (Some(kept), Some(client)) = (replica.0.get(decoded.tick), viewer.client()) {
                digest.add(client, decoded.tick, kept);
            }
        }
    }
}
