//! Keys on the command line.

use std::env;
use std::fs::File;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::files;
use crate::transport::udp::{Key, KeyError, Security};

/// Who may connect.
#[derive(Clone, Debug, Args)]
pub struct SecurityArgs {
    /// File with a key of `cubewire key --out FILE`, which only you can read [default: the environment variable `CUBEWIRE_KEY`]
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// Use no key, which works within this machine alone, for all of its programs
    #[arg(long, conflicts_with = "key_file")]
    pub insecure: bool,
}

/// There is no key to connect with.
#[derive(Debug, thiserror::Error)]
pub enum NoKey {
    /// None was given.
    #[error(
        "a key is needed: name its file with --key-file or put it into {KEY_VARIABLE} (`cubewire \
         key --out FILE` makes one); or use --insecure, which works on this machine alone"
    )]
    Missing,
    /// The file cannot be read.
    #[error("--key-file: {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Other users can read the file.
    #[error("--key-file: {path}: others can read it, so that it is no secret: `chmod 600 {path}`", path = path.display())]
    NotPrivate {
        /// The file.
        path: PathBuf,
    },
    /// The text is not a key.
    #[error("{origin}: {source}")]
    NotAKey {
        /// Where it came from.
        origin: String,
        /// Why.
        source: KeyError,
    },
}

/// Environment variable with the key, used if no file is given.
const KEY_VARIABLE: &str = "CUBEWIRE_KEY";

impl SecurityArgs {
    /// Reads the key.
    ///
    /// # Errors
    /// [`NoKey`]
    pub fn security(&self) -> Result<Security, NoKey> {
        if self.insecure {
            return Ok(Security::Insecure);
        }
        let (origin, text) = match &self.key_file {
            Some(path) => (path.display().to_string(), read_key(path)?),
            None => {
                let text = env::var(KEY_VARIABLE).map_err(|_| NoKey::Missing)?;
                (KEY_VARIABLE.to_owned(), text)
            }
        };
        let key: Key = text
            .parse()
            .map_err(|source| NoKey::NotAKey { origin, source })?;
        Ok(Security::Key(key))
    }
}

/// More than any key is long, with space around it.
const MAX_KEY_BYTES: u64 = 1 << 10;

fn read_key(path: &Path) -> Result<String, NoKey> {
    let unreadable = |source| NoKey::Unreadable {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(unreadable)?;
    // The metadata of the open file, as the path may lead elsewhere by now.
    let metadata = file.metadata().map_err(unreadable)?;
    if files::is_for_others(&metadata) {
        return Err(NoKey::NotPrivate {
            path: path.to_owned(),
        });
    }
    files::read_open(file, MAX_KEY_BYTES).map_err(unreadable)
}
