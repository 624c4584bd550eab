//! Notes a hash of each snapshot sent to a viewer or decoded by one, so that the outputs of both processes can be compared.

use std::io::{self, Write};
use std::path::Path;

use bevy::prelude::*;
use cubewire_codec::{Baseline, Snapshot};

use super::Replica;
use super::lane::Sender;
use super::meter::LaneMeter;
use super::receive::Decoded;
use super::remote::{RemoteViewer, ServerLink};
use crate::files::NewFile;
use crate::simulation::{CubeWorld, state_hash};

/// CSV lines of `viewer,tick,hash` with a header, added while this resource exists. The hash covers all decoded cubes.
#[derive(Resource, Debug)]
pub struct Digest {
    /// The lines, unless there is a file.
    lines: String,
    file: Option<NewFile>,
    /// The first error of writing to the file. Nothing is written after it.
    error: Option<io::Error>,
    snapshot: Snapshot,
}

const HEADER: &str = "viewer,tick,hash\n";

impl Default for Digest {
    fn default() -> Self {
        Self { lines: HEADER.to_owned(), file: None, error: None, snapshot: Snapshot::default() }
    }
}

impl Digest {
    /// Writes each line to a file at once, as a run may take hours. The file gets its name in [`finish`](Self::finish).
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut file = NewFile::create(path)?;
        file.write_all(HEADER.as_bytes())?;
        Ok(Self { file: Some(file), ..Self::default() })
    }

    pub const fn csv(&self) -> &str {
        self.lines.as_str()
    }

    pub fn finish(self) -> io::Result<()> {
        self.error.map_or(Ok(()), Err)?;
        self.file.map(NewFile::finish).transpose().map(drop)
    }

    fn add(&mut self, viewer: u64, tick: u64, baseline: &Baseline) {
        baseline.snapshot().dequantize(&mut self.snapshot);
        let hash = state_hash(0, &self.snapshot);
        let line = format!("{viewer},{tick},{hash:016x}\n");
        match &mut self.file {
            Some(_) if self.error.is_some() => {}
            Some(file) => self.error = file.write_all(line.as_bytes()).err(),
            None => self.lines += &line,
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
        if has_sent
            && let Some(sent) = sender.snapshots().and_then(|sender| sender.get(world.tick()))
        {
            digest.add(peer.id, world.tick(), sent);
        }
    }
}

pub(super) fn of_decoded(
    server: Res<ServerLink>,
    mut digest: ResMut<Digest>,
    lanes: Query<(&Replica, &Decoded)>,
) {
    for (replica, decoded) in &lanes {
        for decoded in &decoded.0 {
            if let (Some(baseline), Some(client)) =
                (replica.receiver().get(decoded.tick), server.id)
            {
                digest.add(client, decoded.tick, baseline);
            }
        }
    }
}
