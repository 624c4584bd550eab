//! Writes a line with a hash for every snapshot that was sent to a viewer, or decoded by one, so that the
//! files of both processes can be compared afterwards.

use std::io::{self, Write};
use std::path::Path;

use bevy::prelude::*;
use cubewire_codec::{Baseline, Snapshot};

use super::Replica;
use super::lane::Sender;
use super::meter::LaneMeter;
use super::peer::{Peer, ServerConnection};
use super::receive::Decoded;
use crate::files::NewFile;
use crate::simulation::{CubeWorld, state_hash};

/// Lines of `viewer,tick,hash`, CSV with a header. Snapshots are recorded while this resource exists. The hash covers
/// every cube as decoded.
#[derive(Resource, Debug)]
pub struct Digest {
    out: Out,
    snapshot: Snapshot,
}

/// Where the lines go.
#[derive(Debug)]
enum Out {
    Memory(String),
    File {
        file: NewFile,
        /// Why a line could not be written.
        error: Option<io::Error>,
    },
}

const HEADER: &str = "viewer,tick,hash\n";

impl Default for Digest {
    /// In memory, which grows with every line.
    fn default() -> Self {
        Self::new(Out::Memory(HEADER.to_owned()))
    }
}

impl Digest {
    const fn new(out: Out) -> Self {
        Self {
            out,
            snapshot: Snapshot { bodies: Vec::new() },
        }
    }

    /// To a file, which appears with [`finish`](Self::finish).
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut file = NewFile::create(path)?;
        file.write_all(HEADER.as_bytes())?;
        Ok(Self::new(Out::File { file, error: None }))
    }

    /// The lines so far; nothing of what goes to a file.
    #[must_use]
    pub const fn csv(&self) -> &str {
        match &self.out {
            Out::Memory(lines) => lines.as_str(),
            Out::File { .. } => "",
        }
    }

    /// Completes the file, if there is one.
    ///
    /// # Errors
    /// If any line could not be written.
    pub fn finish(self) -> io::Result<()> {
        match self.out {
            Out::Memory(_) => Ok(()),
            Out::File {
                error: Some(error), ..
            } => Err(error),
            Out::File { file, .. } => file.finish().map(drop),
        }
    }

    fn add(&mut self, viewer: u64, tick: u64, baseline: &Baseline) {
        baseline.snapshot().dequantize(&mut self.snapshot);
        let hash = state_hash(0, &self.snapshot);
        let line = format!("{viewer},{tick},{hash:016x}\n");
        match &mut self.out {
            Out::Memory(lines) => lines.push_str(&line),
            Out::File { file, error } => {
                if error.is_none() {
                    // Each line at once, so that the file can be followed.
                    let written = file.write_all(line.as_bytes());
                    *error = written.and_then(|()| file.flush()).err();
                }
            }
        }
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
