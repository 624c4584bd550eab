//! Builds the folder: compiles the game, generates its JavaScript glue, copies page and scripts, compresses.

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use cargo_metadata::MetadataCommand;
use wasm_bindgen_cli_support::Bindgen;

use crate::BuildArgs;
use crate::compress::{COMPRESSED, Sizes, compress_all, files, with_extension_added};
use crate::still::{self, PICTURE};
use crate::toolchain::TARGET;

/// Root of the repository.
const GAME: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Source files of the page.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/page");

/// Temporary folder in the output folder. The page is built there.
const MADE: &str = ".cubewire-page";

/// Files that a browser loads before the game starts.
const AT_START: [&str; 7] =
    ["index.html", PICTURE, "style.css", "main.js", "page.js", "cubewire.js", "cubewire_bg.wasm"];

/// Placeholder in `index.html` for the uncompressed length of the program, which a compressed download does not have.
const BYTES: &str = "{{wasm-bytes}}";

/// Placeholder in `index.html` for the names of the scripts.
const SCRIPTS: &str = "{{scripts}}";

/// Placeholders in pages: the address of the folder, empty if it is not known; the picture; and the rows of the ladder.
const URL: &str = "{{url}}";
const IMAGE: &str = "{{picture}}";
const LADDER: &str = "{{ladder}}";

/// Builds the page and prints the sizes of its files.
///
/// # Errors
/// If the game does not compile, the page is too large, or a file cannot be written. An existing page is then
/// unchanged.
pub(crate) fn make(args: &BuildArgs) -> Result<()> {
    let target = MetadataCommand::new().current_dir(GAME).no_deps().exec()?;
    if !args.no_compile {
        args.toolchain.build(GAME)?;
    }
    let out = &args.out;
    let made = out.join(MADE);
    fs::create_dir_all(out).with_context(|| out.display().to_string())?;
    // Lock the folder until this run ends. Other runs with the same folder wait.
    let lock = File::open(out);
    let _lock = lock.ok().filter(|lock| lock.lock().is_ok());
    // A killed run may have left the temporary folder.
    if made.exists() {
        fs::remove_dir_all(&made).with_context(|| made.display().to_string())?;
    }
    let built = build(&target.target_directory.into_std_path_buf(), &made, args);
    let published = built.and_then(|()| publish(&made, out));
    let _ = fs::remove_dir_all(&made);
    published?;
    println!("wrote the page to {}", out.display());
    Ok(())
}

fn build(target: &Path, page: &Path, args: &BuildArgs) -> Result<()> {
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(target.join(TARGET).join("web/cubewire.wasm"))
        .typescript(false)
        .remove_name_section(!args.names)
        .remove_producers_section(true)
        .web(true)?
        .generate(page)
        .context("wasm-bindgen")?;
    copy_page(page, args.url.as_deref().unwrap_or_default())?;
    if !args.plain {
        let mb = print_sizes(&compress_all(page)?);
        let allowed = args.at_most.unwrap_or(f64::INFINITY);
        ensure!(
            mb <= allowed,
            "a browser loads {mb:.2} MB before the game starts: more than {allowed} MB"
        );
    }
    Ok(())
}

/// Copies the files of the page, its picture and the scripts. `url` is the address of the page, or empty.
fn copy_page(out: &Path, url: &str) -> Result<()> {
    let mut names = Vec::new();
    for path in files(&Path::new(GAME).join("assets/scripts"))? {
        let to = out.join("scripts").join(path.file_name().unwrap_or_default());
        fs::create_dir_all(out.join("scripts"))?;
        fs::copy(&path, &to).with_context(|| to.display().to_string())?;
        names.extend(path.file_stem().map(|name| name.display().to_string()));
    }
    let bytes = fs::metadata(out.join("cubewire_bg.wasm"))?.len().to_string();
    let picture = Path::new(GAME).join("assets/screenshots").join(PICTURE);
    fs::copy(&picture, out.join(PICTURE)).with_context(|| picture.display().to_string())?;
    let ladder = still::ladder(&fs::read_to_string(Path::new(GAME).join("README.md"))?)?;
    let names = names.join(" ");
    let filled =
        [(BYTES, &*bytes), (SCRIPTS, &*names), (URL, url), (IMAGE, PICTURE), (LADDER, &*ladder)];
    for path in files(Path::new(PAGE))? {
        let mut file = fs::read(&path).with_context(|| path.display().to_string())?;
        if path.extension().is_some_and(|extension| extension == "html") {
            let text = String::from_utf8(file)?;
            let fill = |text: String, (name, value): (&str, &str)| text.replace(name, value);
            file = filled.into_iter().fold(text, fill).into_bytes();
        }
        let to = out.join(path.file_name().unwrap_or_default());
        fs::write(&to, file).with_context(|| to.display().to_string())?;
    }
    Ok(())
}

/// Prints a table of sizes. Returns the MB that a browser loads before the game starts, with brotli.
fn print_sizes(sizes: &[Sizes]) -> f64 {
    println!("{:30} {:>9} {:>9} {:>9}", "MB", "plain", "gzip", "brotli");
    let print = |name: &str, bytes: [usize; 3]| {
        let [plain, gzip, brotli] = bytes.map(|bytes| bytes as f64 / 1e6);
        println!("{name:30} {plain:9.3} {gzip:9.3} {brotli:9.3}");
        brotli
    };
    let mut at_start = [0; 3];
    for (name, bytes) in sizes {
        print(name, *bytes);
        if AT_START.contains(&&**name) {
            for (sum, bytes) in at_start.iter_mut().zip(bytes) {
                *sum += bytes;
            }
        }
    }
    print("loaded before the game starts", at_start)
}

/// Moves every file to `out` and keeps other files. Compressed files in `out` without a new version are outdated and
/// removed.
fn publish(page: &Path, out: &Path) -> Result<()> {
    for from in files(page)? {
        let to = out.join(from.strip_prefix(page).unwrap_or(&from));
        fs::create_dir_all(to.parent().unwrap_or(out))?;
        for extension in COMPRESSED {
            let [made, old] = [&from, &to].map(|file| with_extension_added(file, extension));
            if !made.exists() && old.exists() {
                fs::remove_file(&old).with_context(|| old.display().to_string())?;
            }
        }
        fs::rename(&from, &to).with_context(|| to.display().to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

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
            format!("{name} {}", fs::read_to_string(path).unwrap())
        });
        let wanted = [
            "main.js new",
            "main.js.gz new",
            "mine.js old",
            "mine.js.br old",
            "scripts/mix.ron new",
        ];
        assert_eq!(found.collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn the_pages_are_filled_in_with_the_picture_and_the_ladder() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("cubewire_bg.wasm"), "1234567").unwrap();
        copy_page(folder.path(), "https://a.b/c/").unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        for name in ["index.html", "tour.html", "embed.html"] {
            let page = read(name);
            assert!(!page.contains("{{"), "{name}");
        }
        assert!(folder.path().join(PICTURE).is_file());
        for name in ["index.html", "tour.html"] {
            let image = format!("<meta property=\"og:image\" content=\"https://a.b/c/{PICTURE}\">");
            let page = read(name);
            assert!(page.contains(&image), "{name}");
            for tag in ["og:title", "og:description", "twitter:card"] {
                assert_eq!(page.matches(tag).count(), 1, "{name}: {tag}");
            }
        }
        let page = read("index.html");
        assert!(page.contains("data-bytes=\"7\"") && page.contains(" katamari "));
        assert!(page.contains(&format!("<img src=\"{PICTURE}\"")));
        assert!(page.matches("<tr><th scope=\"row\">").count() > 15);
    }

    #[test]
    fn the_makers_wasm_bindgen_is_the_games() {
        let version = |manifest: &str, package: &str| {
            let text = fs::read_to_string(manifest).unwrap();
            let line = text.lines().find(|line| line.starts_with(package)).unwrap();
            line.split_once('=').unwrap().1.to_owned()
        };
        let own = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let own = version(own, "wasm-bindgen-cli-support");
        assert_eq!(own, version(&format!("{GAME}/Cargo.toml"), "wasm-bindgen"));
    }
}
