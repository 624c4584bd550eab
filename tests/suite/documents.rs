//! The Markdown documents of the repository.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{files, root};

fn documents() -> Vec<PathBuf> {
    files(root(), "md")
}

/// Removes fenced code blocks.
fn outside_blocks(text: &str) -> String {
    let mut in_block = false;
    let mut outside = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            outside.push_str(line);
            outside.push('\n');
        }
    }
    outside
}

/// Returns the targets of a document's links and pictures that are inside the repository.
fn links(text: &str) -> Vec<String> {
    let outside = outside_blocks(text);
    // Text between backticks is code.
    let prose: String = outside.split('`').step_by(2).collect();
    let ends = prose.split("](").skip(1);
    let links = ends.map(|rest| rest.split(')').next().unwrap().to_owned());
    links.filter(|link| !link.contains("://")).collect()
}

/// Returns the anchors of a document's headings, in GitHub's form. Headings are distinct.
fn anchors(text: &str) -> Vec<String> {
    let outside = outside_blocks(text);
    let headings = outside.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let title = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

/// Returns the file that a link leads to, and the fragment, which may be empty.
fn target<'a>(document: &Path, link: &'a str) -> (PathBuf, &'a str) {
    let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
    let file = match file {
        "" => document.to_owned(),
        file => document.parent().unwrap().join(file),
    };
    (file, fragment)
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut broken = Vec::new();
    let mut checked = 0;
    for document in documents() {
        for link in links(&fs::read_to_string(&document).unwrap()) {
            let (file, fragment) = target(&document, &link);
            let leads = file.exists()
                && (fragment.is_empty()
                    || anchors(&fs::read_to_string(&file).unwrap()).contains(&fragment.to_owned()));
            checked += 1;
            if !leads {
                let document = document.strip_prefix(root()).unwrap();
                broken.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(checked > 100, "{checked} links");
    assert!(broken.is_empty(), "lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn every_document_can_be_reached_from_the_readme() {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![root().join("README.md")];
    while let Some(document) = waiting.pop() {
        let document = document.canonicalize().unwrap();
        if reached.contains(&document) {
            continue;
        }
        for link in links(&fs::read_to_string(&document).unwrap()) {
            let (file, _) = target(&document, &link);
            if file.extension().is_some_and(|extension| extension == "md") && file.exists() {
                waiting.push(file);
            }
        }
        reached.insert(document);
    }
    for document in documents() {
        let document = document.canonicalize().unwrap();
        assert!(reached.contains(&document), "{}", document.display());
    }
}

#[test]
fn every_picture_is_shown_and_there_are_few() {
    let folder = root().join("assets/screenshots");
    let shown: BTreeSet<PathBuf> = documents()
        .iter()
        .flat_map(|document| {
            let links = links(&fs::read_to_string(document).unwrap());
            links.into_iter().map(|link| target(document, &link).0)
        })
        .filter_map(|file| file.canonicalize().ok())
        .collect();
    let pictures = fs::read_dir(folder).unwrap();
    let pictures = pictures.map(|entry| entry.unwrap().path().canonicalize().unwrap());
    let pictures: Vec<_> =
        pictures.filter(|path| path.extension() != Some("md".as_ref())).collect();
    assert!(pictures.len() <= 10, "{pictures:?}");
    for picture in pictures {
        assert!(shown.contains(&picture), "{}", picture.display());
    }
}

#[test]
fn the_tests_that_hold_a_promise_exist() {
    let security = fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let quoted = security.split('`').skip(1).step_by(2);
    let is_test = |name: &&str| {
        name.contains('_') && name.chars().all(|c| c == '_' || c.is_ascii_lowercase())
    };
    // Names in renet and renetcode.
    let theirs = [
        "global_sequence",
        "memory_usage_bytes",
        "num_slices",
        "server_to_client_key",
        "slice_index",
    ];
    let names: Vec<_> = quoted.filter(is_test).filter(|name| !theirs.contains(name)).collect();
    assert!(names.len() > 25, "{names:?}");
    let folders = ["src", "tests", "crates"];
    let files = folders.iter().flat_map(|folder| files(&root().join(folder), "rs"));
    let sources: Vec<_> = files.map(|file| fs::read_to_string(file).unwrap()).collect();
    for name in names {
        let start = format!("fn {name}(");
        let mut lines = sources.iter().flat_map(|text| text.lines());
        assert!(lines.any(|line| line.trim_start().starts_with(&start)), "{name}");
    }
}
