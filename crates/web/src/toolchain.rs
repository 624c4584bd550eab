//! The compiler: the one of rustup, or where it has no such target, Debian's, which compiles the standard
//! library as well.

use std::env;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

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
    /// Compiles the game in this folder with the profile and for the target of the page.
    ///
    /// # Errors
    /// If something is missing, or the game is not compiled: the compiler has said why.
    pub(crate) fn build(self, game: &str) -> Result<()> {
        let mut command = match self {
            // The cargo that runs this program.
            Self::Rustup => Command::new(env::var_os("CARGO").unwrap_or("cargo".into())),
            Self::Debian => debian()?,
        };
        command
            .args(["build", "--profile", "web", "--bin", "cubewire"])
            .args(["--target", TARGET])
            .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", FLAGS)
            .current_dir(game);
        if self == Self::Debian {
            command.args(["-Z", "build-std=std,panic_abort"]);
        }
        let status = command.status();
        let status = status.with_context(|| command.get_program().display().to_string())?;
        ensure!(status.success(), "the game was not compiled");
        Ok(())
    }
}

/// Debian's cargo with Debian's compiler and linker, which may use what only nightly compilers may, to build
/// the standard library.
fn debian() -> Result<Command> {
    let bin = Path::new("/usr/bin");
    let [rustc, rustdoc, cargo] = ["rustc", "rustdoc", "cargo"].map(|name| bin.join(name));
    // Debian gives it the version of LLVM as a suffix: the newest one is taken.
    let versions = (14..=40).rev().map(|version| format!("-{version}"));
    let suffixes = [String::new()].into_iter().chain(versions);
    let mut linkers = suffixes.map(|suffix| bin.join(format!("wasm-ld{suffix}")));
    let linker = linkers.find(|path| path.exists());
    let linker = linker.filter(|_| rustc.exists() && cargo.exists()).context(
        "Debian's compiler is missing: `apt-get install rustc-web cargo-web rust-web-src lld-22` installs it",
    )?;
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
