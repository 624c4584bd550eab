//! Imports point down: between the rooms of `src/`, and between the crates.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms of `src/`, from the ground up. A room may import itself, and those in the rows above its
/// own.
const ROOMS: &[&[&str]] = &[
    &["named", "page"],
    &["files", "display", "plot", "theme"],
    &["simulation"],
    &["replication"],
    &["transport"],
    &["controls"],
    &["history"],
    &["view"],
    &["panel"],
    &["recording"],
    &["game"],
    &["commands", "web"],
    &[LIB],
    &["main"],
];

/// `src/lib.rs`: what is imported from the root, and is no room.
const LIB: &str = "lib";

/// Our crates, and which of our crates each may depend on.
const CRATES: &[(&str, &str, &[&str])] = &[
    ("cubewire-cli", "crates/cli", &[]),
    ("cubewire-codec", "crates/codec", &["cubewire-text"]),
    ("cubewire-files", "crates/files", &[]),
    ("cubewire-link", "crates/link", &["cubewire-text"]),
    ("cubewire-scene", "crates/scene", &[]),
    ("cubewire-text", "crates/text", &[]),
    ("cubewire-palette", "crates/palette", &["cubewire-codec"]),
    (
        "cubewire-physics",
        "crates/physics",
        &["cubewire-codec", "cubewire-scene"],
    ),
    ("cubewire-protocol", "crates/protocol", &["cubewire-codec"]),
    (
        "cubewire-lab",
        "crates/lab",
        &[
            "cubewire-cli",
            "cubewire-codec",
            "cubewire-files",
            "cubewire-link",
            "cubewire-palette",
            "cubewire-physics",
            "cubewire-protocol",
            "cubewire-scene",
        ],
    ),
    (
        "cubewire-fuzz",
        "crates/fuzz",
        &[
            "cubewire-codec",
            "cubewire-link",
            "cubewire-physics",
            "cubewire-protocol",
        ],
    ),
    (
        "cubewire-hostile",
        "crates/hostile",
        &[
            "cubewire-cli",
            "cubewire-codec",
            "cubewire-files",
            "cubewire-protocol",
        ],
    ),
    ("cubewire-web", "crates/web", &["cubewire-cli"]),
    (
        "cubewire",
        ".",
        &[
            "cubewire-cli",
            "cubewire-codec",
            "cubewire-files",
            "cubewire-link",
            "cubewire-palette",
            "cubewire-physics",
            "cubewire-protocol",
            "cubewire-scene",
            "cubewire-text",
        ],
    ),
];

/// Everything that the codec may depend on.
const CODEC_DEPENDENCIES: &[&str] = &["bitstream-io", "glam", "thiserror", "wide"];

/// An import that does not point down.
#[derive(Debug, PartialEq)]
struct Upward {
    file: String,
    line: usize,
    from: String,
    to: String,
}

impl fmt::Display for Upward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            from,
            to,
        } = self;
        write!(f, "{file}:{line}: {from} → {to}")
    }
}

/// Rust without comments and literals; lines stay where they are.
fn code(mut text: &str) -> String {
    let mut code = String::new();
    while let Some(c) = text.chars().next() {
        let follows_word = code.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let skipped = match c {
            '/' if text.starts_with("//") => text.find('\n').unwrap_or(text.len()),
            '/' if text.starts_with("/*") => text.find("*/").map_or(text.len(), |end| end + 2),
            '"' => string_length(text),
            'r' if !follows_word => raw_string_length(text).unwrap_or(0),
            // Not a lifetime.
            '\'' if text[1..].starts_with('\\') || text[1..].chars().nth(1) == Some('\'') => {
                let escaped = 1 + usize::from(text[1..].starts_with('\\'));
                let after = escaped + text[escaped..].chars().next().map_or(0, char::len_utf8);
                text[after..]
                    .find('\'')
                    .map_or(text.len(), |end| after + end + 1)
            }
            _ => 0,
        };
        if skipped == 0 {
            code.push(c);
            text = &text[c.len_utf8()..];
        } else {
            code.push(' ');
            code.extend(text[..skipped].chars().filter(|&c| c == '\n'));
            text = &text[skipped..];
        }
    }
    code
}

/// Bytes of the string literal at the start, with its quotes.
fn string_length(text: &str) -> usize {
    let mut is_escaped = true;
    for (place, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return place + 1,
            _ => {}
        }
    }
    text.len()
}

/// Bytes of the raw string literal at the start; none if it is a word.
fn raw_string_length(text: &str) -> Option<usize> {
    let body = text[1..].trim_start_matches('#');
    let hashes = text.len() - 1 - body.len();
    let body = body.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(2 + hashes + length)
}

/// Words, `::`, and single marks, each with its line.
fn tokens(code: &str) -> Vec<(&str, usize)> {
    let mut tokens = Vec::new();
    for (line, text) in (1..).zip(code.lines()) {
        let mut rest = text.trim_start();
        while let Some(c) = rest.chars().next() {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let length = match c {
                _ if is_part(c) => rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
                ':' if rest.starts_with("::") => 2,
                _ => c.len_utf8(),
            };
            tokens.push((&rest[..length], line));
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

/// What a module names by way of `crate`, `self` or `super`: paths from the root, each with its line.
fn imports(text: &str, module: &[&str]) -> Vec<(Vec<String>, usize)> {
    let code = code(text);
    let tokens = tokens(&code);
    let word = |place: usize| tokens.get(place).map_or("", |(token, _)| *token);
    let mut module: Vec<String> = module.iter().map(|&name| name.to_owned()).collect();
    // Depths of braces at which inline modules began.
    let mut inline = Vec::new();
    let mut depth = 0;
    let mut found = Vec::new();
    let mut place = 0;
    while place < tokens.len() {
        let previous = if place == 0 { "" } else { word(place - 1) };
        match word(place) {
            "mod" if word(place + 2) == "{" => {
                module.push(word(place + 1).to_owned());
                inline.push(depth);
                place += 1;
            }
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                if inline.last() == Some(&depth) {
                    inline.pop();
                    module.pop();
                }
            }
            "crate" | "self" | "super" if word(place + 1) == "::" && previous != "::" => {
                let mut tree = Vec::new();
                place = path(&tokens, place, module.clone(), &mut tree);
                // `pub(in super::super)`
                let is_visibility = previous == "in" && word(place) == ")";
                if !is_visibility {
                    found.extend(tree);
                }
                continue;
            }
            _ => {}
        }
        place += 1;
    }
    found
}

/// Resolves the path, or the tree of paths, at `place`; gives the place after it.
fn path(
    tokens: &[(&str, usize)],
    mut place: usize,
    mut prefix: Vec<String>,
    found: &mut Vec<(Vec<String>, usize)>,
) -> usize {
    while let Some(&(token, line)) = tokens.get(place) {
        match token {
            "crate" => prefix.clear(),
            "self" => {}
            "super" => drop(prefix.pop()),
            "{" => {
                place += 1;
                while tokens.get(place).is_some_and(|(token, _)| *token != "}") {
                    place = match tokens[place].0 {
                        "," => place + 1,
                        "as" => place + 2,
                        _ => path(tokens, place, prefix.clone(), found),
                    };
                }
                return place + 1;
            }
            _ if token.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                prefix.push(token.to_owned());
            }
            // `*`, or the `<` of a turbofish.
            _ => {
                found.push((prefix, line));
                return place + 1;
            }
        }
        if tokens
            .get(place + 1)
            .is_none_or(|(token, _)| *token != "::")
        {
            found.push((prefix, line));
            return place + 1;
        }
        place += 2;
    }
    place
}

fn level(room: &str) -> Option<usize> {
    ROOMS.iter().position(|row| row.contains(&room))
}

/// Imports of a file in `src/` that do not point down.
fn upward_imports(file: &str, text: &str) -> Vec<Upward> {
    let name = file.strip_prefix("src/").unwrap_or(file);
    let name = name.strip_suffix(".rs").unwrap_or(name);
    let name = name.strip_suffix("/mod").unwrap_or(name);
    let names: Vec<&str> = name.split('/').collect();
    let from = names[0];
    let from_level = level(from);
    let from_level = from_level.unwrap_or_else(|| panic!("{file} is in none of the rooms"));
    let is_root = from == LIB || from == "main";
    let module = if is_root { &[] } else { &names[..] };
    let mut upward = Vec::new();
    for (path, line) in imports(text, module) {
        let to = path.first().map_or(LIB, |name| name);
        let (to, to_level) = level(to).map_or((LIB, level(LIB)), |level| (to, Some(level)));
        if from != to && to_level >= Some(from_level) {
            upward.push(Upward {
                file: file.to_owned(),
                line,
                from: from.to_owned(),
                to: to.to_owned(),
            });
        }
    }
    upward
}

/// What a manifest's package is built from, each with its line: not what its tests need besides.
fn dependencies(manifest: &str) -> Vec<(&str, usize)> {
    let mut dependencies = Vec::new();
    let mut is_section = false;
    for (line, text) in (1..).zip(manifest.lines()) {
        let text = text.trim();
        if let Some(section) = text.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            let name = |kind: &str| section.split_once(kind).map(|(_, name)| name);
            is_section = section == "dependencies" || section.ends_with(".dependencies");
            is_section &= !section.starts_with("workspace");
            // `[dependencies.glam]`
            if let Some(name) = name("dependencies.")
                && !section.starts_with("dev-")
            {
                dependencies.push((name, line));
            }
            continue;
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        let name = text.split(|c| !is_name(c)).next().unwrap_or_default();
        // Lines that continue a list begin with a quote or a bracket.
        if is_section && !name.is_empty() {
            dependencies.push((name, line));
        }
    }
    dependencies
}

/// Dependencies of one of our crates that do not point down.
fn upward_dependencies(file: &str, manifest: &str, from: &str, below: &[&str]) -> Vec<Upward> {
    let is_ours = |name: &str| name.starts_with("cubewire");
    let is_refused = |name: &str| {
        (is_ours(name) && !below.contains(&name))
            || (from == "cubewire-codec" && !CODEC_DEPENDENCIES.contains(&name))
    };
    let refused = dependencies(manifest).into_iter();
    refused
        .filter(|(name, _)| is_refused(name))
        .map(|(name, line)| Upward {
            file: file.to_owned(),
            line,
            from: from.to_owned(),
            to: name.to_owned(),
        })
        .collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn assert_none(upward: &[Upward]) {
    let lines: Vec<_> = upward.iter().map(ToString::to_string).collect();
    assert!(
        lines.is_empty(),
        "these imports do not point down:\n{}",
        lines.join("\n")
    );
}

#[test]
fn imports_between_the_rooms_point_down() {
    let mut upward = Vec::new();
    let files = rust_files(&root().join("src"));
    assert!(files.len() > 50, "{} files", files.len());
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let file = path.strip_prefix(root()).unwrap().to_str().unwrap();
        upward.extend(upward_imports(&file.replace('\\', "/"), &text));
    }
    assert_none(&upward);
}

#[test]
fn the_map_of_the_library_lists_its_rooms_from_the_ground_up() {
    let text = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let rows = text
        .lines()
        .filter_map(|line| line.strip_prefix("//! | [`"));
    let listed: Vec<_> = rows.filter_map(|row| row.split('`').next()).collect();
    let modules = text
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod "));
    let mut modules: Vec<_> = modules.map(|line| line.trim_end_matches(';')).collect();
    modules.sort_by_key(|module| level(module));
    assert_eq!(listed, modules);
}

#[test]
fn crates_depend_on_those_below_them() {
    let mut upward = Vec::new();
    for (name, folder, below) in CRATES {
        let file = Path::new(folder).join("Cargo.toml");
        let manifest = fs::read_to_string(root().join(&file)).unwrap();
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        assert!(!dependencies(&manifest).is_empty(), "{name}");
        let file = file.to_str().unwrap();
        upward.extend(upward_dependencies(file, &manifest, name, below));
    }
    assert_none(&upward);
    let folders = fs::read_dir(root().join("crates")).unwrap().count();
    assert_eq!(folders + 1, CRATES.len(), "every crate is checked");
}

#[test]
fn an_import_that_points_up_is_found_in_every_form() {
    let text = r##"//! crate::game::in_a_comment
use std::fmt;
use super::Mailbox; // crate::game
use crate::{files, recording::{Script, self as scripts}, simulation::CubeWorld};
use super::super::panel;
/* crate::game */ const A: &str = "crate::game \" crate::game";
const B: &str = r#"" crate::game"#;
fn f<'a>(c: char) -> crate::view::Side<'a> {
    let quote = '"';
    self::super::super::game::film::<u8>(quote, '\'', '\u{1F980}')
}
pub(in super::super) use crate::replication::*;
mod tests {
    use super::super::*;
    use super::super::super::commands;
    pub(crate) use crate::GamePlugins;
}
use crate::*;
"##;
    let found = upward_imports("src/replication/transport.rs", text);
    let found: Vec<_> = found.iter().map(ToString::to_string).collect();
    let wanted = [
        "4: replication → recording",
        "4: replication → recording",
        "5: replication → panel",
        "8: replication → view",
        "10: replication → game",
        "15: replication → commands",
        "16: replication → lib",
        "18: replication → lib",
    ];
    assert_eq!(
        found,
        wanted.map(|line| format!("src/replication/transport.rs:{line}"))
    );
    // Neighbours, and the way down.
    let text = "use crate::display::missing;";
    assert_eq!(upward_imports("src/files.rs", text).len(), 1);
    assert_eq!(upward_imports("src/game/window.rs", text), []);
    assert_eq!(upward_imports("src/view.rs", "use crate::panel;").len(), 1);
    assert_eq!(upward_imports("src/panel.rs", "use crate::view;"), []);
}

#[test]
fn a_dependency_that_points_up_is_found() {
    let manifest = r#"[package]
name = "cubewire-codec"

[dependencies]
glam.workspace = true
cubewire-link = { path = "../link", features = [
    "cubewire-lab",
] }
rand = "0.10"

[dependencies.cubewire-lab]
path = "../lab"

[dev-dependencies]
cubewire-scene.workspace = true

[target.'cfg(unix)'.dependencies]
cubewire.workspace = true
"#;
    let check = |from: &str, below: &[&str]| {
        let found = upward_dependencies("Cargo.toml", manifest, from, below);
        let lines = found.iter().map(ToString::to_string);
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(
        check("cubewire-codec", &[]),
        "Cargo.toml:6: cubewire-codec → cubewire-link\n\
         Cargo.toml:9: cubewire-codec → rand\n\
         Cargo.toml:11: cubewire-codec → cubewire-lab\n\
         Cargo.toml:18: cubewire-codec → cubewire"
    );
    assert_eq!(
        check("cubewire-protocol", &["cubewire-link", "cubewire-lab"]),
        "Cargo.toml:18: cubewire-protocol → cubewire"
    );
}
