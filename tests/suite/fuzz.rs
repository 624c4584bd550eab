//! Every reader of untrusted bytes has a fuzz target. The fuzzer itself refuses a target without seeds.

use std::collections::BTreeSet;
use std::fs;

use crate::common::{files, root};
use crate::layers::name;

/// Public functions that take bytes, text or a reader but need no fuzz target.
const OTHERS: [&str; 5] = [
    // Writes the sample table of a film.
    ".insert",
    // Reads state that the sender itself stored.
    ".offer_state",
    // Reads part of a packet that the codec passes to it.
    "BinDecoder::new",
    // Takes 64 digits. The tests of the game cover damaged keys.
    "parse::<Key>",
    // Takes numbers of bits.
    "Stages::every_legal",
];

/// Returns the start of each call that reads untrusted bytes or text, as it would appear in a caller.
fn readers(source: &str) -> BTreeSet<String> {
    let mut readers = BTreeSet::new();
    let mut of = "";
    for (start, _) in source.match_indices('\n') {
        let line = &source[start + 1..];
        if line.starts_with("mod tests") {
            break;
        } else if let Some(parsed) = line.strip_prefix("impl FromStr for ") {
            readers.insert(format!("parse::<{}>(", name(parsed)));
        } else if let Some(implemented) = line.strip_prefix("impl") {
            let implemented = implemented.trim_start_matches(|mark| mark != ' ');
            of = name(implemented.trim_start());
        } else if line.starts_with("pub fn") {
            of = "";
        }
        let Some((_, function)) =
            line.split_once("pub fn ").filter(|(before, _)| before.trim().is_empty())
        else {
            continue;
        };
        let arguments = function.split('{').next().unwrap();
        let arguments = arguments.split("->").next().unwrap();
        if arguments.contains("[u8]") || arguments.contains("Read") {
            let function = name(function);
            readers.insert(match of {
                "" => format!("{function}("),
                _ if arguments.contains("self") => format!(".{function}("),
                _ => format!("{of}::{function}("),
            });
        }
    }
    readers
}

#[test]
fn every_reader_of_foreign_bytes_has_a_fuzz_target() {
    let targets = files(&root().join("crates/fuzz/src/bin"), "rs");
    let targets: String = targets.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    // The search does not find these two: one is in a crate without a `lib.rs`, and the other takes text.
    let others = ["Recording::from_reader(", "Trace::from_csv("];
    let mut found = BTreeSet::from(others.map(str::to_owned));
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let is_tool = ["fuzz", "hostile"].iter().any(|tool| folder.ends_with(tool));
        let sources = folder.join("src");
        if sources.join("lib.rs").exists() && !is_tool {
            for file in files(&sources, "rs") {
                found.extend(readers(&fs::read_to_string(file).unwrap()));
            }
        }
    }
    found.retain(|call| !OTHERS.contains(&call.trim_end_matches('(')));
    // Check that the search finds known readers.
    for call in
        [".decode(", ".on_packet(", "ClientMessage::decode(", "decode_initial(", "parse::<Stages>("]
    {
        assert!(found.contains(call), "{call} is not among {found:?}");
    }
    let without: Vec<_> = found.iter().filter(|call| !targets.contains(*call)).collect();
    assert!(without.is_empty(), "in no file of crates/fuzz/src/bin: {without:?}");
}
