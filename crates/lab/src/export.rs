//! Writes fields as text for other tools.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use cubewire_codec::ladder;
use cubewire_codec::quantize::SmallestThree;
use cubewire_files::write_whole;

use crate::cli::{ExportArgs, ExportField};
use crate::error::LabError;
use crate::pairs;
use crate::recording::Recording;

/// Writes a line for every change of the field: its value in the frame and in the baseline.
pub(crate) fn run(
    recording: &Recording,
    args: &ExportArgs,
    out: &mut impl Write,
) -> Result<(), LabError> {
    let Some(path) = &args.out else {
        return Ok(write(recording, args.field, BufWriter::new(out))?);
    };
    write_file(recording, args, path).map_err(|source| LabError::Unwritable {
        path: path.clone(),
        source,
    })
}

fn write_file(recording: &Recording, args: &ExportArgs, path: &Path) -> io::Result<()> {
    if fs::canonicalize(path).is_ok_and(|out| fs::canonicalize(&args.file).is_ok_and(|f| f == out))
    {
        return Err(io::Error::other("it is the recording that is being read"));
    }
    write_whole(path, |file| write(recording, args.field, file))
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
                        let (now, then) = (current.position(cube), before.position(cube));
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
