//! Replays without a window, as fast as they go.

use std::io::Write;
use std::path::Path;

use super::{HeadlessGame, progress};
use crate::cli::CommandError;
use crate::recording::{Difference, InputLog, InputLogPlugin, Playing, ReplayCheck, Script};
use crate::replication::LaneSettings;

/// What came of a script that was played once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// Hash over every state.
    pub hash: u64,
    /// Whether these were the states that were recorded; none if nobody recorded any.
    pub outcome: Option<Result<(), Difference>>,
}

/// Plays a script once, from the first tick to the last.
///
/// # Errors
/// If the game cannot be set up.
pub fn play(script: Script) -> Result<Played, CommandError> {
    let ticks = script.ticks;
    let mut game = HeadlessGame::with_plugins(None, LaneSettings::default(), InputLogPlugin)?;
    game.app.insert_resource(InputLog::that_keeps_resets());
    if let Some(check) = ReplayCheck::new(&script) {
        game.app.insert_resource(check);
    }
    game.app.insert_resource(Playing::new(script).once());
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
        outcome: check.and_then(|check| check.outcome().cloned()),
    })
}

/// `cubewire play --headless`
///
/// # Errors
/// See [`CommandError`]; also if a replay did not go through the states that were recorded.
pub(crate) fn run(path: &Path, script: Script, out: &mut impl Write) -> Result<(), CommandError> {
    let ticks = script.ticks;
    let played = play(script)?;
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
        Some(Ok(())) => writeln!(out, "Every state was as recorded, bit for bit.")?,
        Some(Err(difference)) => return Err(difference.into()),
    }
    Ok(())
}
