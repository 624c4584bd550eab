//! Builds the page that plays Cubewire in a browser, and serves it for testing.
//!
//! `cargo web build` writes a folder of static files. `cargo web serve` does the same and serves the folder.

mod compress;
mod make;
mod serve;
mod still;
mod toolchain;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};

use toolchain::Toolchain;

/// Build the page that plays Cubewire in a browser, and serve it.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Build the page as a folder of static files
    Build(BuildArgs),
    /// Build the page, and serve it to browsers on this machine
    Serve(ServeArgs),
}

#[derive(Clone, Debug, Args)]
struct BuildArgs {
    /// Folder to write to
    #[arg(long, value_name = "DIR", default_value = "target/page")]
    out: PathBuf,
    /// Compiler to use
    #[arg(long, value_enum, default_value_t)]
    toolchain: Toolchain,
    /// Address of the page, as in `https://HOST/cubewire/`. Without it, shared links have no picture
    #[arg(long, value_name = "URL", value_parser = folder_address)]
    url: Option<String>,
    /// Fail if a browser loads more than this before the game starts, in MB with brotli
    #[arg(long, value_name = "MB")]
    at_most: Option<f64>,
    /// Do not compress: builds faster, loads slower
    #[arg(long, conflicts_with = "at_most")]
    plain: bool,
    /// Keep the names of functions, for a profiler
    #[arg(long)]
    names: bool,
    /// Use the last compiled game, for changes of the page only
    #[arg(long)]
    no_compile: bool,
}

#[derive(Clone, Debug, Args)]
struct ServeArgs {
    #[command(flatten)]
    build: BuildArgs,
    /// Serve the folder without building it
    #[arg(long)]
    no_build: bool,
    /// Port on this machine
    #[arg(long, default_value_t = 8080)]
    port: u16,
}

/// Checks the address of a folder and ends it with a slash.
fn folder_address(text: &str) -> std::result::Result<String, String> {
    let is_odd = |c: char| c.is_whitespace() || "\"<>&?#".contains(c);
    let is_web = ["http://", "https://"].iter().any(|start| text.starts_with(start));
    if !is_web || text.contains(is_odd) {
        return Err("not the address of a folder, for example https://HOST/cubewire/".to_owned());
    }
    Ok(format!("{}/", text.trim_end_matches('/')))
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Build(args) => make::make(&args),
        Command::Serve(args) => build_and_serve(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn build_and_serve(args: &ServeArgs) -> Result<()> {
    if !args.no_build {
        make::make(&args.build)?;
    }
    serve::serve(&args.build.out, args.port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_the_page_is_that_of_a_folder() {
        for text in ["https://a.b/c", "https://a.b/c/"] {
            assert_eq!(folder_address(text).unwrap(), "https://a.b/c/");
        }
        for text in ["a.b/c", "ftp://a.b", "https://a.b/?c", "https://a.b/\"c"] {
            assert!(folder_address(text).is_err(), "{text}");
        }
    }
}
