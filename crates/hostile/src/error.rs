//! Reasons why a measurement failed, each with a one-line message.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub(crate) enum HostileError {
    #[error("cubewire {command} {what}; its log: {said}")]
    Program { command: String, what: &'static str, said: String },
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("sockets, the temporary folder or standard output: {0}")]
    Io(#[from] io::Error),
    #[error(
        "--seconds: these attacks need at least {least} s, not {given}; select fewer with --only"
    )]
    TooShort { given: u64, least: u64 },
    #[error("the honest viewer did not connect within {0} s, before any attack")]
    NoViewer(u64),
}

impl HostileError {
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}
