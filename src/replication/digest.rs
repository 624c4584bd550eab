//! Writes one line with a hash per snapshot sent to a viewer or decoded by one, so that the outputs of both processes can be
//! compared.

use std::io::{self, Write};
use std::path::Path;

use bevy::prelude::*;
use cubewire_codec::{Baseline, Snapshot};

use super::Replica;
use super::lane::Sender;
use super::meter::LaneMeter;
use super::receive::Decoded;
use super::remote::{RemoteViewer, ServerConnection};
use crate::files::NewFile;
use crate::simulation::{CubeWorld, state_hash};

/// CSV lines of `viewer,tick,hash` with a header. Recording is active while this resource exists. The hash covers all
/// decoded cubes.
#[derive(Resource, Debug)]
pub struct Digest {
    out: Out,
    snapshot: Snapshot,
}

/// Destination of the lines.
#[derive(Debug)]
enum Out {
    Memory(String),
    File {
        file: NewFile,
        /// The first write error.
        error: Option<io::Error>,
    },
}

const HEADER: &str = "viewer,tick,hash\n";

impl Default for Digest {
    /// Writes to memory, which grows with every line.
    fn default() -> Self {
        Self::new(Out::Memory(HEADER.to_owned()))
    }
}

impl Digest {
    const fn new(out: Out) -> Self {
        Self { out, snapshot: Snapshot { bodies: Vec::new() } }
    }

    /// Writes to a file, which appears at its path only after [`finish`](Self::finish).
    ///
    /// # Errors
    /// If the file cannot be created or written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut file = NewFile::create(path)?;
        file.write_all(HEADER.as_bytes())?;
        Ok(Self::new(Out::File { file, error: None }))
    }

    /// The lines in memory, with the header. Empty when writing to a file.
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
    /// The first error of writing a line, or the error of completing the file.
    pub fn finish(self) -> io::Result<()> {
        match self.out {
            Out::Memory(_) => Ok(()),
            Out::File { error: Some(error), .. } => Err(error),
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
                    // Flush each line, so that the file can be followed while the program runs.
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
