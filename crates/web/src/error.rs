//! What can go wrong, each in a sentence.

use std::io;
use std::path::{Path, PathBuf};

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WebError {
    /// A program cannot be run.
    #[error("{program}: {source}")]
    Program { program: String, source: io::Error },
    /// There is no standard library for the target.
    #[error(
        "{rustc} has no standard library for {target}: `rustup target add {target}` installs it. On Debian, \
         `--toolchain debian` takes the packages rustc-web, cargo-web and rust-web-src instead"
    )]
    NoTarget { rustc: String, target: &'static str },
    /// A program that `--toolchain debian` needs is not there.
    #[error(
        "{missing} is missing: `apt-get install rustc-web cargo-web rust-web-src lld-22` installs it"
    )]
    NoDebian { missing: String },
    /// The compiler said why.
    #[error("the game was not compiled")]
    NotCompiled,
    /// The lock file names another wasm-bindgen.
    #[error(
        "the game is locked to wasm-bindgen {game} and this program to {own}: make them the same in Cargo.toml \
         and crates/web/Cargo.toml"
    )]
    OtherBindgen { game: String, own: String },
    /// The glue cannot be made.
    #[error("wasm-bindgen: {0}")]
    Bindgen(String),
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// What cargo says about the game is not understood.
    #[error("cargo metadata: {0}")]
    Metadata(String),
    /// More than was allowed.
    #[error("a browser loads {mb:.2} MB before the game starts: more than {allowed} MB")]
    TooLarge { mb: f64, allowed: f64 },
    /// The folder has no page.
    #[error("{}: there is no page in this folder: `cargo web build` makes one", .0.display())]
    NoPage(PathBuf),
    /// The port cannot be served.
    #[error("127.0.0.1:{port}: {source}")]
    Port { port: u16, source: io::Error },
}

impl WebError {
    /// For a file or a folder.
    pub(crate) fn file(path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::File {
            path: path.to_owned(),
            source,
        }
    }
}
