//! The compiler: rustup's, or Debian's if rustup lacks the target. Debian's also compiles the standard library.

use std::env;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

/// Compilation target of the game.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// Enables vectors of four floats. With them, sums have the same order as on x86-64, so that the physics is
/// bit-identical.
const FLAGS: &str = "-C target-feature=+simd128";

/// Compiler to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Toolchain {
    /// The compiler of the running cargo, with the target installed by rustup.
    #[default]
    Rustup,
    /// Debian's packages rustc-web, cargo-web and rust-web-src.
    Debian,
}

impl Toolchain {
    /// Compiles the game in folder `game`, with the profile and target of the page.
    ///
    /// # Errors
    /// If a tool is missing, or the compilation fails. The compiler prints the reason.
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

/// Returns a command for Debian's cargo, with Debian's compiler and linker. `RUSTC_BOOTSTRAP` allows the unstable
/// features that building the standard library needs.
fn debian() -> Result<Command> {
    let bin = Path::new("/usr/bin");
    let [rustc, rustdoc, cargo] = ["rustc", "rustdoc", "cargo"].map(|name| bin.join(name));
    // Debian appends the version of LLVM to the name. Use the newest one.
    let versions = (14..=40).rev().map(|version| format!("-{version}"));
    let suffixes = [String::new()].into_iter().chain(versions);
    let mut linkers = suffixes.map(|suffix| bin.join(format!("wasm-ld{suffix}")));
    let linker = linkers.find(|path| path.exists());
    let linker = linker.filter(|_| rustc.exists() && cargo.exists()).context(
        "Debian's compiler is missing: run `apt-get install rustc-web cargo-web rust-web-src lld-22`",
    )?;
    let mut command = Command::new(cargo);
    command
        .env("RUSTC", rustc)
        .env("RUSTDOC", rustdoc)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker)
        // Set by the outer cargo.
        .env_remove("RUSTUP_TOOLCHAIN");
    Ok(command)
}
