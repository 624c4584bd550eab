//! Makes the folder: compiles the game, makes its glue, copies the page and the scripts, compresses.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use wasm_bindgen_cli_support::Bindgen;

use crate::BuildArgs;
use crate::compress::{COMPRESSED, Sizes, beside, compress_all, files};
use crate::error::WebError;
use crate::toolchain::{TARGET, cargo};

/// The game's folder.
const GAME: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The page's own files.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/page");

/// The start of the name of the folder in which the page is made. Six letters and digits follow.
const MADE: &str = ".cubewire-";

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
    fs::create_dir_all(out).map_err(WebError::file(out))?;
    remove_leftovers(out)?;
    let made = tempfile::Builder::new().prefix(MADE).tempdir_in(out);
    let made = made.map_err(WebError::file(out))?;
    let page = made.path();
    // Until this run ends, however it ends.
    let _lock = lock(page);
    make_glue(
        &target.join(TARGET).join("web/cubewire.wasm"),
        page,
        args.names,
    )?;
    copy_page(page)?;
    if !args.plain {
        let at_start = print_sizes(&compress_all(page)?);
        if let Some(allowed) = args.at_most.filter(|allowed| at_start > *allowed) {
            let mb = at_start;
            return Err(WebError::TooLarge { mb, allowed });
        }
    }
    publish(page, out)?;
    println!("{} is the page", out.display());
    Ok(())
}

/// Locks a folder, where the system can do that and nobody else has.
fn lock(folder: &Path) -> Option<File> {
    let folder = File::open(folder).ok()?;
    folder.try_lock().is_ok().then_some(folder)
}

/// Removes what killed runs have left in `out`: folders that nobody has locked.
fn remove_leftovers(out: &Path) -> Result<(), WebError> {
    for path in entries(out)? {
        let name = path.file_name().and_then(|name| name.to_str());
        let random = name.and_then(|name| name.strip_prefix(MADE));
        let is_ours = random.is_some_and(|random| {
            random.len() == 6 && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        if is_ours && path.is_dir() && !path.is_symlink() && lock(&path).is_some() {
            fs::remove_dir_all(&path).map_err(WebError::file(&path))?;
        }
    }
    Ok(())
}

/// Moves every file to its place in `out`, where other files are left alone. A compressed file without its
/// successor would be older than what it is made of: it goes.
fn publish(page: &Path, out: &Path) -> Result<(), WebError> {
    for from in files(page)? {
        let to = out.join(from.strip_prefix(page).unwrap_or(&from));
        let folder = to.parent().unwrap_or(out);
        fs::create_dir_all(folder).map_err(WebError::file(folder))?;
        for extension in COMPRESSED {
            let [made, old] = [&from, &to].map(|file| beside(file, extension));
            if !made.exists() && old.exists() {
                fs::remove_file(&old).map_err(WebError::file(&old))?;
            }
        }
        fs::rename(&from, &to).map_err(WebError::file(&to))?;
    }
    Ok(())
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

/// Writes the glue, and the program with or without the names of its functions.
fn make_glue(wasm: &Path, out: &Path, names: bool) -> Result<(), WebError> {
    let failed = |error| WebError::Bindgen(format!("{error:#}"));
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(wasm)
        .typescript(false)
        .remove_name_section(!names)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn what_a_killed_run_has_left_is_removed() {
        let out = tempfile::tempdir().unwrap();
        let names = [
            ".cubewire-abcdef",
            ".cubewire-Ab1234",
            ".cubewire-mine",
            "scripts",
        ];
        let folders = names.map(|name| out.path().join(name));
        for folder in &folders {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("main.js"), "").unwrap();
        }
        fs::write(out.path().join(".cubewire-a_file"), "").unwrap();
        fs::write(out.path().join(".cubewire-afiles"), "").unwrap();
        let held = lock(&folders[0]).unwrap();
        remove_leftovers(out.path()).unwrap();
        assert_eq!(
            folders.each_ref().map(|folder| folder.exists()),
            [true, false, true, true]
        );
        drop(held);
        remove_leftovers(out.path()).unwrap();
        assert!(!folders[0].exists());
        assert_eq!(entries(out.path()).unwrap().len(), 4);
    }

    #[test]
    fn a_page_replaces_the_one_before_and_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let [page, out] = ["page", "out"].map(|name| folder.path().join(name));
        let write = |path: PathBuf, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for name in ["main.js", "main.js.br", "mine.js", "mine.js.br"] {
            write(out.join(name), "old");
        }
        for name in ["main.js", "main.js.gz", "scripts/mix.ron"] {
            write(page.join(name), "new");
        }
        publish(&page, &out).unwrap();
        let found = files(&out).unwrap().into_iter().map(|path| {
            let name = path.strip_prefix(&out).unwrap().display().to_string();
            (name, fs::read_to_string(path).unwrap())
        });
        let found: Vec<_> = found.collect();
        let wanted = [
            ("main.js", "new"),
            ("main.js.gz", "new"),
            ("mine.js", "old"),
            ("mine.js.br", "old"),
            ("scripts/mix.ron", "new"),
        ];
        assert_eq!(
            found,
            wanted.map(|(name, text)| (name.to_owned(), text.to_owned()))
        );
    }
}
