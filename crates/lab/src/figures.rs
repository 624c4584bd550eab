//! Generates the figures in the documents.
//!
//! `FIGURES.md` in this crate's folder has sections. Each has a heading, prose, one command in an `sh` block, and the
//! output of the command. A command marked `slow` takes too long to run after every change. The output of a command
//! marked `timed` differs from run to run. Another document quotes the output of a section between two comments:
//!
//! ```text
//! <!-- figures: HEADING -->
//! <!-- end of figures -->
//! ```
//!
//! The table of contents stands before the first section, between `<!-- contents -->` and `<!-- end of contents -->`.

use std::fs;
use std::io::Write;
use std::iter;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use cubewire_files::write_whole;

use crate::cli::FiguresArgs;
use crate::error::{Failure, cannot_be};

/// The document with all figures, relative to the root of the repository.
const FIGURES: &str = "crates/lab/FIGURES.md";

/// The document that quotes figures.
const QUOTING: &str = "crates/bevy/README.md";

const QUOTE: &str = "<!-- figures: ";
const END_OF_QUOTE: &str = "<!-- end of figures -->";

const CONTENTS: &str = "<!-- contents -->";
const END_OF_CONTENTS: &str = "<!-- end of contents -->";

/// Runs the commands, then writes the documents or reports the differences.
pub(crate) fn run(args: &FiguresArgs, out: &mut impl Write) -> Result<(), Failure> {
    let mut sections = sections(&read(FIGURES)?)?;
    let chosen = chosen(&sections, &args.sections)?;
    let mut differing = Vec::new();
    for (section, printed) in made(&sections, &chosen)? {
        let section = &mut sections[section];
        if printed == section.output {
            writeln!(out, "{}: the same", section.title)?;
            continue;
        }
        writeln!(out, "{}: different", section.title)?;
        write_difference(&section.output, &printed, out)?;
        differing.push(section.title.clone());
        section.output = printed;
    }

    sections[0].head = with_contents(&sections)?;
    let text: String = sections.iter().map(Section::text).collect();
    let quoting = quoted(&read(QUOTING)?, &sections)?;
    for (path, text) in [(FIGURES, format!("{}\n", text.trim_end())), (QUOTING, quoting)] {
        if read(path)? == text {
            continue;
        }
        if !args.check {
            write_whole(Path::new(path), |file| file.write_all(text.as_bytes()))
                .map_err(cannot_be("written", path))?;
            writeln!(out, "{path}: written")?;
        } else if path != FIGURES || differing.is_empty() {
            differing.push(path.to_owned());
        }
    }
    match args.check && !differing.is_empty() {
        true => Err(format!(
            "outdated figures: {}; update them with `cubewire-lab figures`",
            differing.join("; ")
        )
        .into()),
        false => Ok(()),
    }
}

/// Returns the indices of the sections that have one of the names in their heading. Without names, returns sections
/// without a mark.
fn chosen(sections: &[Section], names: &[String]) -> Result<Vec<usize>, Failure> {
    let has = |section: &Section, name: &String| section.title.contains(name);
    let is_missing = |name: &&String| !sections.iter().any(|section| has(section, name));
    if let Some(name) = names.iter().find(is_missing) {
        let heading = format!("heading contains `{name}`; its first lines list the headings");
        return Err(lacking(FIGURES, &heading));
    }
    let is_chosen = |section: &Section| match names {
        [] => section.mark.is_empty(),
        names => names.iter().any(|name| has(section, name)),
    };
    let chosen = sections.iter().enumerate();
    let chosen = chosen.filter(|(_, section)| !section.command.is_empty() && is_chosen(section));
    Ok(chosen.map(|(index, _)| index).collect())
}

/// Runs the commands of these sections and returns their output with the index of the section. Runs one command per
/// processor at a time, or one at all if a section is `timed`.
fn made(sections: &[Section], chosen: &[usize]) -> Result<Vec<(usize, String)>, Failure> {
    let threads = match chosen.iter().any(|&index| sections[index].mark == "timed") {
        true => 1,
        false => thread::available_parallelism().map_or(1, usize::from),
    };
    let next = Mutex::new(chosen.iter());
    let work = || -> Result<Vec<(usize, String)>, Failure> {
        let indices = iter::from_fn(|| next.lock().expect("no thread panics").next());
        indices.map(|&index| Ok((index, sections[index].run()?))).collect()
    };
    let made: Result<Vec<_>, _> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    let mut made = made?.concat();
    made.sort_unstable();
    Ok(made)
}

fn read(path: &str) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(cannot_be("read", path))
}

fn lacking(document: &str, what: &str) -> Failure {
    format!("{document}: no {what}").into()
}

/// Prints the lines that only one text has, marked with `-` (old) or `+` (new).
fn write_difference(old: &str, new: &str, out: &mut impl Write) -> Result<(), Failure> {
    for (mark, these, others) in [('-', old, new), ('+', new, old)] {
        for line in these.lines().filter(|line| !others.lines().any(|other| other == *line)) {
            writeln!(out, "  {mark} {line}")?;
        }
    }
    Ok(())
}

/// A section of the document, or the text before the first section.
#[derive(Debug)]
struct Section {
    title: String,
    /// Text up to the end of the command's block.
    head: String,
    /// Empty if the section has no command.
    command: String,
    /// `slow`, `timed` or empty.
    mark: String,
    /// Empty if the section has no command.
    output: String,
}

/// Splits the document into sections.
fn sections(document: &str) -> Result<Vec<Section>, Failure> {
    let starts = document.match_indices("\n## ").map(|(index, _)| index + 1);
    let starts: Vec<usize> = [0].into_iter().chain(starts).collect();
    let ends = starts[1..].iter().copied().chain([document.len()]);
    let texts = starts.iter().zip(ends).map(|(&start, end)| &document[start..end]);
    texts.map(Section::parse).collect()
}

impl Section {
    fn parse(text: &str) -> Result<Self, Failure> {
        let first = text.lines().next().unwrap_or_default();
        let title = first.trim_start_matches(['#', ' ']).to_owned();
        let Some((_, block)) = text.split_once("\n```sh") else {
            return Ok(Self {
                title,
                head: text.to_owned(),
                command: String::new(),
                mark: String::new(),
                output: String::new(),
            });
        };
        let parts = block.split_once('\n');
        let parts = parts.and_then(|(mark, rest)| Some((mark, rest.split_once("\n```\n")?)));
        let (mark, (command, output)) =
            parts.ok_or_else(|| lacking(FIGURES, "end of a command"))?;
        Ok(Self {
            title,
            head: text[..text.len() - output.len()].to_owned(),
            command: command.to_owned(),
            mark: mark.trim().to_owned(),
            output: output.trim().to_owned(),
        })
    }

    fn text(&self) -> String {
        match (self.command.is_empty(), self.output.is_empty()) {
            (true, _) => self.head.clone(),
            (false, true) => format!("{}\n", self.head),
            (false, false) => format!("{}\n{}\n\n", self.head, self.output),
        }
    }

    /// Runs the command with the programs in this program's folder. Returns its output, which is put in a `text`
    /// block if it has no table.
    fn run(&self) -> Result<String, Failure> {
        let programs = std::env::current_exe()?;
        let programs = programs.parent().unwrap_or(Path::new("."));
        let path = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("bash")
            .args(["-euo", "pipefail", "-c", &self.command])
            .env("PATH", format!("{}:{path}", programs.display()))
            .stdin(Stdio::null())
            .output()?;
        if !output.status.success() {
            let (title, status) = (&self.title, output.status);
            let reason = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{title}: the command failed ({status}): {}", reason.trim()).into());
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<&str> = text.trim_matches('\n').lines().map(str::trim_end).collect();
        let text = lines.join("\n");
        Ok(match text.lines().any(|line| line.starts_with('|')) {
            true => text,
            false => format!("```text\n{text}\n```"),
        })
    }
}

/// Returns the text before the first section with an updated table of contents.
fn with_contents(sections: &[Section]) -> Result<String, Failure> {
    let links = sections[1..].iter().map(|section| {
        let anchor = section.title.to_lowercase().replace(' ', "-");
        let anchor = anchor.replace(|c: char| !c.is_alphanumeric() && c != '-', "");
        format!("- [{}](#{anchor})", section.title)
    });
    let links: Vec<_> = links.collect();
    filled(FIGURES, &sections[0].head, CONTENTS, END_OF_CONTENTS, &links.join("\n"))
}

/// Returns the quoting document with an updated quote.
fn quoted(document: &str, sections: &[Section]) -> Result<String, Failure> {
    let title = document.split_once(QUOTE).and_then(|(_, rest)| rest.split_once(" -->"));
    let (title, _) = title.ok_or_else(|| lacking(QUOTING, QUOTE))?;
    let section = sections.iter().find(|section| section.title == title);
    let section = section.ok_or_else(|| lacking(QUOTING, title))?;
    filled(QUOTING, document, &format!("{QUOTE}{title} -->"), END_OF_QUOTE, &section.output)
}

/// Returns a text of the document `path` with other content between two comments.
fn filled(path: &str, text: &str, start: &str, end: &str, new: &str) -> Result<String, Failure> {
    let parts = text.split_once(start);
    let parts = parts.and_then(|(before, rest)| Some((before, rest.split_once(end)?)));
    let (before, (_, after)) = parts.ok_or_else(|| lacking(path, end))?;
    Ok(format!("{before}{start}\n\n{new}\n\n{end}{after}"))
}
