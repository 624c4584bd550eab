//! Saves replays.

use std::io;
use std::path::{Path, PathBuf};

use crate::display;
use crate::files::{claim, release};
use crate::recording::{InputLog, Script};

/// Ends the recording and saves it. Returns a sentence about the result.
pub(super) fn end(log: &mut InputLog, folder: &Path) -> String {
    let Some(script) = log.replay() else {
        log.end();
        return "no replay: no tick was played".to_owned();
    };
    match save(&script, folder) {
        Ok(path) => {
            log.end();
            {
                let how = match display::address() {
                    Some(_) => "drop it on the page to play it",
                    None => "play it with `cubewire play`",
                };
                format!("{}: {how}", path.display())
            }
        }
        // The recording continues, so nothing is lost.
        Err(error) => format!("{}: {error}; F9 tries again", folder.display()),
    }
}

fn save(script: &Script, folder: &Path) -> io::Result<PathBuf> {
    let path = claim(folder, "ron")?;
    match script.save(&path) {
        Ok(()) => Ok(path),
        Err(error) => {
            release(&path);
            Err(error)
        }
    }
}
