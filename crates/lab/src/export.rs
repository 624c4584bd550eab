//! Fields as text, for tools that are not ours.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use cubewire_codec::ladder;
use cubewire_codec::quantize::SmallestThree;

use crate::cli::ExportField;
use crate::error::LabError;
use crate::pairs;
use crate::recording::Recording;

/// Writes the field of every cube in which it changed, with that of the baseline, a line each.
pub(crate) fn run(
    recording: &Recording,
    field: ExportField,
    path: Option<&Path>,
    out: &mut impl Write,
) -> Result<(), LabError> {
    let Some(path) = path else {
        return Ok(write(recording, field, BufWriter::new(out))?);
    };
    let written = File::create(path).and_then(|file| write(recording, field, BufWriter::new(file)));
    written.map_err(|source| LabError::Unwritable {
        path: path.to_owned(),
        source,
    })
}

fn write(recording: &Recording, field: ExportField, mut out: impl Write) -> io::Result<()> {
    let mut outcome = Ok(());
    pairs::for_each(
        recording,
        ladder::POSITION.stages,
        |_, current, baseline| {
            let before = baseline.snapshot();
            for cube in 0..current.len() {
                if outcome.is_err() {
                    return;
                }
                outcome = match field {
                    ExportField::Position => {
                        let (now, then) = (current.positions()[cube], before.positions()[cube]);
                        write_changed(&mut out, &now, &then)
                    }
                    ExportField::Orientation => {
                        let (now, then) =
                            (current.smallest_three(cube), before.smallest_three(cube));
                        let numbers = |q: SmallestThree| {
                            let [a, b, c] = q.components.map(i32::from);
                            [i32::from(q.largest), a, b, c]
                        };
                        write_changed(&mut out, &numbers(now), &numbers(then))
                    }
                };
            }
        },
    );
    outcome?;
    out.flush()
}

fn write_changed(out: &mut impl Write, now: &[i32], then: &[i32]) -> io::Result<()> {
    if now == then {
        return Ok(());
    }
    let numbers: Vec<String> = now.iter().chain(then).map(i32::to_string).collect();
    writeln!(out, "{}", numbers.join(","))
}
