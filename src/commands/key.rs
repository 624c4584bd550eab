//! `cubewire key`

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use cubewire_bevy::udp::Key;

use crate::files::{self, FileError};
use crate::game::Failure;

#[derive(Clone, Debug, Args)]
pub struct KeyArgs {
    /// Write the key to a new file that only its owner can read, instead of printing it. Never replaces an existing
    /// file, which may contain a key in use
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

impl KeyArgs {
    pub fn run(self, out: &mut impl Write) -> Result<(), Failure> {
        let line = format!("{}\n", Key::random().to_hex());
        if let Some(path) = &self.out {
            let written = files::write_private(path, line.as_bytes());
            return Ok(written.map_err(|error| {
                let why = match error.kind() {
                    io::ErrorKind::AlreadyExists => IN_USE.to_owned(),
                    _ => error.to_string(),
                };
                FileError::at(path)(why)
            })?);
        }
        out.write_all(line.as_bytes())?;
        if is_file_for_others() {
            // The key is written, so ignore a failure to print the warning.
            let _ = writeln!(
                io::stderr(),
                "warning: other users can read the file with this key; `cubewire key --out FILE` writes a file that \
                 only you can read"
            );
        }
        Ok(())
    }
}

const IN_USE: &str =
    "the file exists and may contain a key in use: choose another name, or delete it first";

#[cfg(unix)]
fn is_file_for_others() -> bool {
    use std::fs::File;
    use std::os::fd::AsFd;

    let output = io::stdout().as_fd().try_clone_to_owned().map(File::from);
    let metadata = output.and_then(|file| file.metadata());
    metadata.is_ok_and(|metadata| files::is_for_others(&metadata))
}

#[cfg(not(unix))]
fn is_file_for_others() -> bool {
    false
}
