//! The compiler: the one of rustup, or where it has no such target, Debian's, which compiles the standard
//! library as well.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;

use crate::error::WebError;

/// What the game is compiled for.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// Vectors of four floats. With them, sums are formed in the order in which they are on x86-64, so that the
/// physics is the same to the last bit.
const FLAGS: &str = "-C target-feature=+simd128";

/// Whose compiler is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Toolchain {
    /// That of the running cargo, with the target installed by rustup.
    #[default]
    Rustup,
    /// Debian's packages rustc-web, cargo-web and rust-web-src.
    Debian,
}

impl Toolchain {
    /// `cargo build` with the profile and the target of the page.
    ///
    /// # Errors
    /// If something is missing.
    pub(crate) fn build(self) -> Result<Command, WebError> {
        let mut command = match self {
            Self::Rustup => {
                let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
                check_target(&rustc)?;
                Command::new(cargo())
            }
            Self::Debian => debian()?,
        };
        command
            .args([
                "build",
                "--profile",
                "web",
                "--bin",
                "cubewire",
                "--target",
                TARGET,
            ])
            .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", FLAGS);
        if self == Self::Debian {
            command.args(["-Z", "build-std=std,panic_abort"]);
        }
        Ok(command)
    }
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> String {
    env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

fn check_target(rustc: &str) -> Result<(), WebError> {
    let output = Command::new(rustc).args(["--print", "sysroot"]).output();
    let output = output.map_err(|source| WebError::Program {
        program: rustc.to_owned(),
        source,
    })?;
    let sysroot = String::from_utf8_lossy(&output.stdout);
    let library = Path::new(sysroot.trim()).join("lib/rustlib").join(TARGET);
    if library.join("lib").is_dir() {
        return Ok(());
    }
    Err(WebError::NoTarget {
        rustc: rustc.to_owned(),
        target: TARGET,
    })
}

/// Debian's cargo with Debian's compiler and linker, which may use what only nightly compilers may, to build
/// the standard library.
fn debian() -> Result<Command, WebError> {
    let [rustc, rustdoc, cargo] =
        ["rustc", "rustdoc", "cargo"].map(|name| Path::new("/usr/bin").join(name));
    for program in [&rustc, &cargo] {
        if !program.exists() {
            let missing = program.display().to_string();
            return Err(WebError::NoDebian { missing });
        }
    }
    let linker = linker().ok_or_else(|| WebError::NoDebian {
        missing: "wasm-ld".to_owned(),
    })?;
    let mut command = Command::new(cargo);
    command
        .env("RUSTC", rustc)
        .env("RUSTDOC", rustdoc)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker)
        // The outer cargo's.
        .env_remove("RUSTUP_TOOLCHAIN");
    Ok(command)
}

/// The newest `wasm-ld`: Debian gives it the version of LLVM as a suffix.
fn linker() -> Option<PathBuf> {
    let versions = (14..=40).rev().map(|version| format!("-{version}"));
    let mut names = [String::new()].into_iter().chain(versions);
    names.find_map(|version| {
        let path = PathBuf::from(format!("/usr/bin/wasm-ld{version}"));
        path.exists().then_some(path)
    })
}
