//! Replays without a window, as fast as they go.

use std::io::Write;
use std::path::Path;

use cubewire_scene::TICKS_PER_SECOND;

use super::{HeadlessGame, progress};
use crate::cli::CommandError;
use crate::recording::{InputLog, InputLogPlugin, Outcome, Playing, ReplayCheck, Script, begin};
use crate::replication::LaneSettings;

/// What came of a script that was played once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// Hash over every state.
    pub hash: u64,
    /// Whether these were the states that were recorded; none if nobody recorded any.
    pub outcome: Option<Outcome>,
}

/// Plays so many ticks of a script, from the first.
///
/// # Errors
/// If the game cannot be set up.
pub fn play(script: Script, ticks: u64) -> Result<Played, CommandError> {
    let mut game = HeadlessGame::with_plugins(None, LaneSettings::default(), InputLogPlugin)?;
    // A script's resets are part of it as well.
    game.app.insert_resource(InputLog::that_keeps_resets());
    begin(game.app.world_mut(), Playing::new(script).once());
    let progress = progress(ticks as usize, "ticks");
    for _ in 0..ticks {
        game.step();
        progress.inc(1);
    }
    progress.finish_and_clear();
    let world = game.app.world();
    let check = world.get_resource::<ReplayCheck>();
    Ok(Played {
        hash: world.resource::<InputLog>().hash(),
        outcome: check.map(|check| check.outcome().clone()),
    })
}

/// `cubewire play --headless`
///
/// # Errors
/// See [`CommandError`]; also if a replay did not go through the states that were recorded.
pub(crate) fn run(
    path: &Path,
    script: Script,
    seconds: Option<f64>,
    out: &mut impl Write,
) -> Result<(), CommandError> {
    let most = seconds.map(|seconds| (seconds * f64::from(TICKS_PER_SECOND)).round() as u64);
    let ticks = script.ticks.min(most.unwrap_or(u64::MAX));
    let played = play(script, ticks)?;
    let name = path.display();
    writeln!(
        out,
        "{name}: {ticks} ticks, hash of every state: {:016x}",
        played.hash
    )?;
    match played.outcome {
        None => writeln!(
            out,
            "This is a script: there is nothing recorded to compare with."
        )?,
        Some(Outcome::Same) => writeln!(out, "Every state was as recorded, bit for bit.")?,
        Some(Outcome::Unfinished) => writeln!(
            out,
            "Every state was as recorded so far; this is not the end of the replay."
        )?,
        Some(Outcome::Different(difference)) => return Err(difference.into()),
    }
    Ok(())
}
