//! The tables of the documents match the output of the commands beside them.

use std::collections::HashMap;
use std::fs;

use crate::{output, recording, repository, shared_output};

const RECORDINGS: [&str; 3] = ["dev-mix", "dev-push", "dev-pull"];

fn figures() -> String {
    fs::read_to_string(repository("crates/lab/FIGURES.md")).unwrap()
}

fn cells(row: &str) -> Vec<&str> {
    row.trim_matches('|').split('|').map(str::trim).collect()
}

/// Sizes by rung from the rows of a table, the first numbers after the name: bytes a packet, without
/// header, kbps. Times differ from run to run and are not compared.
pub(crate) fn sizes(text: &str) -> HashMap<String, [String; 3]> {
    text.lines()
        .filter_map(|line| {
            let cells = cells(line);
            let rung = cubewire_codec::ladder::rung(cells[0])?;
            let sizes = [cells.get(1)?, cells.get(2)?, cells.get(3)?];
            Some((rung.name.to_owned(), sizes.map(|&cell| cell.to_owned())))
        })
        .collect()
}

/// The sizes that `walkoff` prints for a recording.
fn walkoff(name: &str) -> HashMap<String, [String; 3]> {
    sizes(&shared_output(&["walkoff", &recording(name)]))
}

/// The part of a document from a line on, up to the next heading.
fn section<'a>(document: &'a str, start: &str) -> &'a str {
    let start = document
        .find(start)
        .unwrap_or_else(|| panic!("nothing starts with {start}"));
    let rest = &document[start..];
    let end = rest[1..].find("\n## ").map_or(rest.len(), |end| end + 1);
    &rest[..end]
}

#[test]
fn the_readmes_ladder_is_what_walkoff_prints() {
    let readme = fs::read_to_string(repository("README.md")).unwrap();
    let documented = sizes(section(&readme, "## The ladder"));
    assert_eq!(documented.len(), 16);
    assert_eq!(documented, walkoff("dev-mix"));
}

#[test]
fn the_figures_are_what_the_commands_print() {
    let figures = figures();
    // In reverse, so that this test and the comparisons below do not wait for the same shared output.
    for name in RECORDINGS.into_iter().rev() {
        let documented = section(&figures, &format!("## Sizes: {name}"));
        let printed = walkoff(name);
        assert!(printed.len() >= 14, "{name}: {printed:?}");
        assert_eq!(sizes(documented), printed, "{name}");
        let stats = output(&["stats", &recording(name)]);
        assert!(stats.lines().count() > 30, "{stats}");
        let documented = section(&figures, &format!("## Statistics: {name}"));
        for line in stats.lines() {
            assert!(documented.contains(line), "{name}: {line}");
        }
    }
}

#[test]
fn the_cross_check_is_what_search_prints() {
    let figures = figures();
    let documented = section(&figures, "## Ranges");
    for held_out in RECORDINGS {
        let [first, second] = RECORDINGS
            .into_iter()
            .filter(|name| *name != held_out)
            .map(recording)
            .collect::<Vec<_>>()
            .try_into()
            .unwrap();
        for field in ["position", "orientation"] {
            let held_out_file = recording(held_out);
            let printed = output(&[
                "search",
                &first,
                &second,
                "--field",
                field,
                "--measure",
                &held_out_file,
            ]);
            let on_held_out = |row: &str| {
                let line = printed.lines().rfind(|line| line.starts_with(row)).unwrap();
                cells(line)[2].to_owned()
            };
            let row = format!(
                "| {held_out} | {field} | {} | {} |",
                on_held_out("| current"),
                on_held_out("| best found")
            );
            assert!(documented.contains(&row), "missing: {row}");
        }
    }
}

/// What `walkoff` prints for a rung on dev-mix over a link with loss.
pub(crate) struct LinkedRow {
    bytes: String,
    pub(crate) body_bytes: String,
    kbps: String,
    delivered: String,
    decoded: String,
}

/// A row with the same fraction lost and reordered.
pub(crate) fn linked_row(codec: &str, fraction: &str) -> LinkedRow {
    let mix = recording("dev-mix");
    let conditions = ["--loss", fraction, "--reorder", fraction, "--seed", "1"];
    let args = [&["walkoff", &mix, "--codec", codec][..], &conditions].concat();
    let printed = shared_output(&args);
    let line = printed.lines().last().unwrap();
    let [_, bytes, body_bytes, kbps, .., delivered, decoded] = cells(line)[..] else {
        panic!("{line}");
    };
    LinkedRow {
        bytes: bytes.to_owned(),
        body_bytes: body_bytes.to_owned(),
        kbps: kbps.to_owned(),
        delivered: delivered.to_owned(),
        decoded: decoded.to_owned(),
    }
}

#[test]
fn the_figures_under_loss_are_what_walkoff_prints() {
    let figures = figures();
    let documented = section(&figures, "## Loss");
    for codec in [
        "changed-flags",
        "predicted-position",
        "arithmetic",
        "predicted",
    ] {
        for fraction in ["0", "0.05", "0.3"] {
            let row = linked_row(codec, fraction);
            let row = format!(
                "| {codec} | {fraction} | {fraction} | {} | {} | {} | {} |",
                row.bytes, row.kbps, row.delivered, row.decoded
            );
            assert!(documented.contains(&row), "missing: {row}");
        }
    }
}

/// The cells of the row that starts with a recording's name, after the name.
fn row<'a>(section: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!("| {name} |");
    let row = section.lines().find(|line| line.starts_with(&start));
    let row = row.unwrap_or_else(|| panic!("no row {name}"));
    cells(row).split_off(1)
}

#[test]
fn the_comparisons_quote_the_sizes_that_walkoff_prints() {
    let figures = figures();
    for name in RECORDINGS {
        let printed = walkoff(name);
        let layouts = section(&figures, "## Against the article's layouts");
        let rungs = [
            "delta",
            "index",
            "relative-index",
            "relative-position",
            "relative-orientation",
            "changed-flags",
        ];
        let quoted = row(layouts, name);
        assert_eq!(quoted.len(), rungs.len());
        for (cell, rung) in quoted.into_iter().zip(rungs) {
            let [bytes, _, _] = &printed[rung];
            assert!(
                cell.starts_with(&format!("{bytes} (")),
                "{name}, {rung}: {cell}"
            );
        }
        let contest = row(section(&figures, "## Against the contest"), name);
        let [_, body, _] = &printed["predicted-position"];
        assert_eq!(contest[1], body);
        let ratio = body.parse::<f64>().unwrap() / contest[0].parse::<f64>().unwrap();
        assert_eq!(contest[2], format!("{ratio:.3}"));
    }
}
