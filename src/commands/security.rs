//! Arguments for the connection key.

use std::env;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use cubewire_bevy::udp::Key;

use crate::files;
use crate::game::Failure;

/// Arguments that decide who may connect.
#[derive(Clone, Debug, Args)]
pub(super) struct SecurityArgs {
    /// File with a key of `cubewire key --out FILE` that only you can read [default: the environment variable
    /// `CUBEWIRE_KEY`]
    #[arg(long, value_name = "FILE")]
    pub(super) key_file: Option<PathBuf>,
    /// Use no key. Accepts all programs on this machine, and only those
    #[arg(long, conflicts_with = "key_file")]
    pub(super) insecure: bool,
}

const KEY_VARIABLE: &str = "CUBEWIRE_KEY";

impl SecurityArgs {
    pub(super) fn key(&self) -> Result<Key, Failure> {
        if self.insecure {
            return Ok(Key::LOOPBACK);
        }
        let (origin, text) = match &self.key_file {
            Some(path) => (path.display().to_string(), read_key(path)?),
            None => {
                let text = env::var(KEY_VARIABLE).map_err(|_| {
                    format!(
                        "a key is required: pass its file with --key-file or set {KEY_VARIABLE} (`cubewire key \
                         --out FILE` creates a key). On a single machine, --insecure works without a key"
                    )
                })?;
                (KEY_VARIABLE.to_owned(), text)
            }
        };
        let key = text
            .parse()
            .map_err(|error| format!("{origin}: {error}; `cubewire key` creates a key"));
        Ok(key?)
    }
}

/// Limit for the key file, longer than any key with surrounding white space.
const MAX_KEY_BYTES: u64 = 1 << 10;

fn read_key(path: &Path) -> Result<String, Failure> {
    let name = path.display();
    let unreadable = |error: io::Error| format!("--key-file: {name}: {error}");
    let file = File::open(path).map_err(unreadable)?;
    // Use the metadata of the open file, because the path may lead to another file by now.
    let metadata = file.metadata().map_err(unreadable)?;
    if files::is_for_others(&metadata) {
        let why = format!("other users can read this file: run `chmod 600 {name}`");
        return Err(format!("--key-file: {name}: {why}").into());
    }
    Ok(files::read_open(file, MAX_KEY_BYTES).map_err(unreadable)?)
}
