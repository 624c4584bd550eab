//! Makes the folder: compiles the game, makes its glue, copies the page and the scripts, compresses.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use wasm_bindgen_cli_support::Bindgen;

use crate::BuildArgs;
use crate::compress::{Sizes, compress_all};
use crate::error::WebError;
use crate::toolchain::{TARGET, cargo};

/// The game's folder.
const GAME: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The page's own files.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/page");

/// What a browser loads before the game starts.
const AT_START: [&str; 6] = [
    "index.html",
    "style.css",
    "main.js",
    "page.js",
    "cubewire.js",
    "cubewire_bg.wasm",
];

/// In `index.html`: the length of the program, which a compressed download does not tell.
const BYTES: &str = "{{wasm-bytes}}";

/// In `index.html`: the names of the scripts.
const SCRIPTS: &str = "{{scripts}}";

/// Makes the page, and prints the sizes of its parts.
///
/// # Errors
/// [`WebError`]
pub(crate) fn make(args: &BuildArgs) -> Result<(), WebError> {
    check_bindgen()?;
    let target = target_folder()?;
    if !args.no_compile {
        compile(args)?;
    }
    let out = &args.out;
    match fs::remove_dir_all(out) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(WebError::file(out)(error));
        }
        _ => fs::create_dir_all(out).map_err(WebError::file(out))?,
    }
    make_glue(&target.join(TARGET).join("web/cubewire.wasm"), out)?;
    copy_page(out)?;
    if args.plain {
        println!("{} is the page, not compressed", out.display());
        return Ok(());
    }
    let sizes = compress_all(out)?;
    let at_start = print_sizes(&sizes);
    println!("{} is the page", out.display());
    match args.at_most {
        Some(allowed) if at_start > allowed => Err(WebError::TooLarge {
            mb: at_start,
            allowed,
        }),
        _ => Ok(()),
    }
}

fn compile(args: &BuildArgs) -> Result<(), WebError> {
    let mut build = args.toolchain.build()?;
    let status = build.current_dir(GAME).status();
    let status = status.map_err(|source| WebError::Program {
        program: build.get_program().display().to_string(),
        source,
    })?;
    match status.success() {
        true => Ok(()),
        false => Err(WebError::NotCompiled),
    }
}

/// Removes the names of functions, which nobody reads, and writes the glue.
fn make_glue(wasm: &Path, out: &Path) -> Result<(), WebError> {
    let failed = |error| WebError::Bindgen(format!("{error:#}"));
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(wasm)
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true);
    let bindgen = bindgen.web(true).map_err(failed)?;
    bindgen.generate(out).map_err(failed)
}

/// Copies the page's files and the scripts.
fn copy_page(out: &Path) -> Result<(), WebError> {
    let scripts = out.join("scripts");
    fs::create_dir_all(&scripts).map_err(WebError::file(&scripts))?;
    let mut names = Vec::new();
    for path in entries(&Path::new(GAME).join("assets/scripts"))? {
        let name = path.file_name().unwrap_or_default();
        let to = scripts.join(name);
        fs::copy(&path, &to).map_err(WebError::file(&to))?;
        names.extend(path.file_stem().map(|name| name.display().to_string()));
    }
    for path in entries(Path::new(PAGE))? {
        let to = out.join(path.file_name().unwrap_or_default());
        if to.extension().is_some_and(|extension| extension == "html") {
            let text = fs::read_to_string(&path).map_err(WebError::file(&path))?;
            let wasm = out.join("cubewire_bg.wasm");
            let length = fs::metadata(&wasm).map_err(WebError::file(&wasm))?.len();
            let text = text.replace(BYTES, &length.to_string());
            let text = text.replace(SCRIPTS, &names.join(" "));
            fs::write(&to, text).map_err(WebError::file(&to))?;
        } else {
            fs::copy(&path, &to).map_err(WebError::file(&to))?;
        }
    }
    Ok(())
}

/// What is in a folder, sorted.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, WebError> {
    let entries = fs::read_dir(folder).map_err(WebError::file(folder))?;
    let paths: Result<Vec<_>, _> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect();
    let mut paths = paths.map_err(WebError::file(folder))?;
    paths.sort();
    Ok(paths)
}

/// Prints a table, and returns the MB that a browser loads before the game starts.
fn print_sizes(sizes: &[Sizes]) -> f64 {
    let mb = |bytes: u64| bytes as f64 / 1e6;
    println!("{:24} {:>9} {:>9} {:>9}", "MB", "plain", "gzip", "brotli");
    let mut at_start = 0;
    for part in sizes {
        let [plain, gzip, brotli] = [part.plain, part.gzip, part.brotli].map(mb);
        println!("{:24} {plain:9.3} {gzip:9.3} {brotli:9.3}", part.name);
        if AT_START.contains(&part.name.as_str()) {
            at_start += part.brotli;
        }
    }
    let at_start = mb(at_start);
    println!("{:44} {at_start:9.3}", "loaded before the game starts");
    at_start
}

/// Where cargo puts what it builds of the game.
fn target_folder() -> Result<PathBuf, WebError> {
    let program = cargo();
    let mut metadata = Command::new(&program);
    metadata
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(GAME)
        .stderr(Stdio::inherit());
    let output = metadata.output();
    let output = output.map_err(|source| WebError::Program { program, source })?;
    let json: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| WebError::Metadata(error.to_string()))?;
    let folder = json["target_directory"].as_str();
    let folder = folder.ok_or_else(|| WebError::Metadata("no target directory".to_owned()))?;
    Ok(folder.into())
}

/// The glue's maker and what it reads have to be of the same version.
fn check_bindgen() -> Result<(), WebError> {
    let own = locked(
        Path::new(env!("CARGO_MANIFEST_DIR")),
        "wasm-bindgen-cli-support",
    )?;
    let game = locked(Path::new(GAME), "wasm-bindgen")?;
    match own == game {
        true => Ok(()),
        false => Err(WebError::OtherBindgen { game, own }),
    }
}

/// The version of a package in a lock file.
fn locked(folder: &Path, package: &str) -> Result<String, WebError> {
    let path = folder.join("Cargo.lock");
    let text = fs::read_to_string(&path).map_err(WebError::file(&path))?;
    let after = text.split_once(&format!("name = \"{package}\"\nversion = \""));
    let version = after.and_then(|(_, rest)| rest.split_once('"'));
    let version = version.map(|(version, _)| version.to_owned());
    version.ok_or_else(|| WebError::Metadata(format!("{} has no {package}", path.display())))
}
