//! The tables of the documents are what the commands beside them print.

use std::collections::HashMap;
use std::fs;

use crate::{output, recording, repository};

/// Sizes by rung from the rows of a table, the first numbers after the name: bytes a packet,
/// without header, kbps. Times differ from run to run and are not compared.
fn sizes(text: &str) -> HashMap<String, [String; 3]> {
    text.lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let rung = cubewire_codec::ladder::rung(cells[0])?;
            let sizes = [cells.get(1)?, cells.get(2)?, cells.get(3)?];
            Some((rung.name.to_owned(), sizes.map(|&cell| cell.to_owned())))
        })
        .collect()
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
    let printed = output(&["walkoff", &recording("dev-mix"), "--codec", "all"]);
    let documented = sizes(section(&readme, "## The ladder"));
    assert_eq!(documented.len(), 16);
    assert_eq!(documented, sizes(&printed));
}

#[test]
fn the_figures_are_what_the_commands_print() {
    let figures = fs::read_to_string(repository("crates/lab/FIGURES.md")).unwrap();
    for name in ["dev-mix", "dev-push", "dev-pull"] {
        let documented = section(&figures, &format!("## Sizes: {name}"));
        let printed = output(&["walkoff", &recording(name), "--codec", "all"]);
        assert_eq!(sizes(documented), sizes(&printed), "{name}");
        let stats = output(&["stats", &recording(name)]);
        let documented = section(&figures, &format!("## Statistics: {name}"));
        for line in stats.lines() {
            assert!(documented.contains(line), "{name}: {line}");
        }
    }
}

#[test]
fn the_cross_check_is_what_search_prints() {
    let figures = fs::read_to_string(repository("crates/lab/FIGURES.md")).unwrap();
    let documented = section(&figures, "## Ranges");
    let names = ["dev-mix", "dev-push", "dev-pull"];
    for held_out in names {
        let [first, second] = names
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
                line.split('|').nth(3).unwrap().trim().to_owned()
            };
            let row = format!(
                "| {held_out} | {field} | {} | {} |",
                on_held_out("| today"),
                on_held_out("| best found")
            );
            assert!(documented.contains(&row), "missing: {row}");
        }
    }
}

#[test]
fn the_figures_under_loss_are_what_walkoff_prints() {
    let figures = fs::read_to_string(repository("crates/lab/FIGURES.md")).unwrap();
    let documented = section(&figures, "## Loss");
    let mix = recording("dev-mix");
    for codec in [
        "changed-flags",
        "predicted-position",
        "arithmetic",
        "predicted",
    ] {
        for fraction in ["0", "0.05", "0.3"] {
            let conditions = ["--loss", fraction, "--reorder", fraction, "--seed", "1"];
            let args = [&["walkoff", &mix, "--codec", codec][..], &conditions].concat();
            let printed = output(&args);
            let line = printed.lines().last().unwrap().trim_matches('|');
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let [_, bytes, _, kbps, .., delivered, decoded] = cells[..] else {
                panic!("{line}");
            };
            let row = format!(
                "| {codec} | {fraction} | {fraction} | {bytes} | {kbps} | {delivered} | {decoded} |"
            );
            assert!(documented.contains(&row), "missing: {row}");
        }
    }
}

/// Rows that start with a recording's name, its cells after that.
fn rows<'a>(section: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!("| {name} |");
    let row = section.lines().find(|line| line.starts_with(&start));
    let row = row.unwrap_or_else(|| panic!("no row {name}"));
    row.trim_matches('|')
        .split('|')
        .map(str::trim)
        .skip(1)
        .collect()
}

#[test]
fn the_comparisons_quote_the_sizes_that_walkoff_prints() {
    let figures = fs::read_to_string(repository("crates/lab/FIGURES.md")).unwrap();
    for name in ["dev-mix", "dev-push", "dev-pull"] {
        let printed = sizes(&output(&["walkoff", &recording(name)]));
        let layouts = section(&figures, "## Against the article's layouts");
        let rungs = [
            "delta",
            "index",
            "relative-index",
            "relative-position",
            "relative-orientation",
            "changed-flags",
        ];
        for (cell, rung) in rows(layouts, name).into_iter().zip(rungs) {
            let [bytes, _, _] = &printed[rung];
            assert!(
                cell.starts_with(&format!("{bytes} (")),
                "{name}, {rung}: {cell}"
            );
        }
        let contest = rows(section(&figures, "## Against the contest"), name);
        let [_, body, _] = &printed["predicted-position"];
        assert_eq!(contest[1], body);
        let ratio = body.parse::<f64>().unwrap() / contest[0].parse::<f64>().unwrap();
        assert_eq!(contest[2], format!("{ratio:.3}"));
    }
}
