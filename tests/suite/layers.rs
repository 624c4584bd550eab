//! Imports point down. Modules and crates may only use those in lower rows of the map in `src/lib.rs`. Anything that
//! is not in the map is below it.

use std::fs;

use crate::common::{files, root};

/// All dependencies that the codec may have.
const CODEC_DEPENDENCIES: [&str; 6] =
    ["bitstream-io", "glam", "postcard", "serde", "thiserror", "wide"];

/// Returns the first column of the map from the lowest row up: `crates/…` and modules.
fn map() -> Vec<String> {
    let text = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | "));
    let names = rows.filter_map(|row| row.split('`').nth(1));
    names.map(str::to_owned).collect()
}

/// Returns the row of a module or crate, from 1 for the lowest, or 0 if it is not in the map.
fn level(map: &[String], name: &str) -> usize {
    map.iter().position(|row| row == name).map_or(0, |row| row + 1)
}

/// Returns the identifier at the start of a text.
pub(crate) fn name(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    &text[..end.unwrap_or(text.len())]
}

/// Returns the modules or root items that follow `crate::`. A list in braces gives an empty name, which is refused.
fn imported(code: &str) -> Vec<&str> {
    code.split("crate::").skip(1).map(name).collect()
}

/// Whether a line leaves the module of its file through `super`. `depth` is the file's depth; an inline module is one
/// deeper.
fn climbs_out(line: &str, depth: usize) -> bool {
    let is_inline = line.starts_with(' ');
    let climbs = line.split(|c: char| c != ':' && !c.is_alphanumeric() && c != '_');
    let climbs = climbs.map(|path| path.matches("super::").count()).max();
    climbs.unwrap_or(0) >= depth + usize::from(is_inline)
}

/// Removes lines that are only a comment.
fn without_comments(text: &str) -> Vec<&str> {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    text.lines().filter(is_code).collect()
}

/// Returns the imports of a file in `src` that are not from a lower row.
fn upward(map: &[String], file: &str, text: &str) -> Vec<String> {
    let names: Vec<_> = file.trim_end_matches(".rs").split('/').collect();
    let own = level(map, names[0]);
    let code = without_comments(text);
    let out = code.iter().filter(|line| climbs_out(line, names.len()));
    let out = out.map(|line| format!("{file}: {line}"));
    let joined = code.join("\n");
    let named = imported(&joined).into_iter();
    // An item of the root may use any module, so importing it counts as upward.
    let is_module = |name: &str| root().join("src").join(name).with_extension("rs").exists();
    let named =
        named.filter(|to| *to != names[0] && (!is_module(to) || level(map, to) >= own.max(1)));
    out.chain(named.map(|to| format!("{file}: crate::{to}"))).collect()
}

/// Returns the dependencies of a crate without `dev-dependencies`.
fn dependencies(manifest: &str) -> Vec<&str> {
    let mut is_wanted = false;
    let lines = manifest.lines().filter(|line| {
        if line.starts_with('[') {
            is_wanted = line.ends_with("dependencies]") && !line.contains("dev-");
        }
        is_wanted && line.starts_with(char::is_alphabetic)
    });
    lines.map(name).collect()
}

/// Returns the dependencies of a crate that are not from a lower row.
fn upward_dependencies<'a>(map: &[String], of: &str, manifest: &'a str) -> Vec<&'a str> {
    let is_up = |other: &&str| match other.strip_prefix("cubewire-") {
        Some(ours) => level(map, &format!("crates/{ours}")) >= level(map, of),
        None => of == "crates/codec" && !CODEC_DEPENDENCIES.contains(other),
    };
    dependencies(manifest).into_iter().filter(is_up).collect()
}

#[test]
fn modules_import_only_those_below_them() {
    let map = map();
    let source = root().join("src");
    let files = files(&source, "rs");
    assert!(files.len() > 50, "{} files", files.len());
    let mut found = Vec::new();
    for path in files {
        let file = path.strip_prefix(&source).unwrap().to_str().unwrap();
        if file != "lib.rs" && file != "main.rs" {
            found.extend(upward(&map, file, &fs::read_to_string(&path).unwrap()));
        }
    }
    assert!(found.is_empty(), "these point up:\n{}", found.join("\n"));
}

#[test]
fn crates_depend_only_on_those_below_them() {
    let map = map();
    for row in map.iter().filter(|row| row.starts_with("crates/")) {
        assert!(root().join(row).exists(), "{row} is no crate");
    }
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let of = format!("crates/{}", folder.file_name().unwrap().display());
        assert!(level(&map, &of) > 0, "src/lib.rs has no row of {of}");
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let found = upward_dependencies(&map, &of, &manifest);
        assert!(found.is_empty(), "{of} depends on {found:?}");
    }
}

/// `cargo machete` checks that dependencies are used.
#[test]
fn the_named_packages_are_dependencies_of_the_linked_files() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    for package in ["bevy", "bevy_rapier3d", "bevy_egui", "renet", "bitstream-io"] {
        let row = readme.lines().find_map(|line| line.strip_prefix(&format!("| {package} | ")));
        let row = row.unwrap_or_else(|| panic!("README.md has no row of {package}"));
        let (_, link) = row.rsplit_once("](").unwrap();
        let file = root().join(link.split(')').next().unwrap());
        let mut manifests = file.ancestors().map(|folder| folder.join("Cargo.toml"));
        let manifest = manifests.find(|manifest| manifest.exists()).unwrap();
        let text = fs::read_to_string(&manifest).unwrap();
        assert!(dependencies(&text).contains(&package), "{}: {package}", manifest.display());
    }
}

#[test]
fn what_points_up_is_found_in_every_form() {
    let map = ["view", "panel", "game"].map(str::to_owned);
    for code in [
        "use crate::panel::Tab;",
        "pub(crate) use crate::game;",
        "use crate::{controls::Action, view::PaneContent};",
        "fn f() -> crate::game::Film {}",
        "    use crate::panel::*;",
        "use crate::GamePlugin;",
        "use super::super::panel;",
        "    use super::super::super::panel;",
    ] {
        assert_eq!(upward(&map, "view/cubes.rs", code).len(), 1, "{code}");
    }
    for code in [
        "// crate::game",
        "use crate::controls::{panel, Action};",
        "pub(in crate::view) use super::Side;",
        "    use super::super::panel;",
    ] {
        assert_eq!(upward(&map, "view/cubes.rs", code), [""; 0], "{code}");
    }
    let map = ["crates/codec", "crates/link"].map(str::to_owned);
    let manifest = "[dependencies]\nglam = \"1\"\nrand = \"1\"\ncubewire-link.workspace = true\n\
                    [dev-dependencies]\nproptest = \"1\"\n";
    let found = upward_dependencies(&map, "crates/codec", manifest);
    assert_eq!(found, ["rand", "cubewire-link"]);
    assert_eq!(upward_dependencies(&map, "crates/link", manifest), ["cubewire-link"]);
}
