//! Saves replays.

use std::path::Path;

use crate::display;
use crate::files::{FileError, NewFile};
use crate::recording::replay::InputLog;

/// Ends the recording and saves it. Returns a sentence about the result.
pub(super) fn end(log: &mut InputLog, folder: &Path) -> String {
    let Some(script) = log.replay() else {
        log.end();
        return "No replay: no tick was played".to_owned();
    };
    let file = NewFile::create_numbered(folder, "ron");
    match file.and_then(|file| script.write(file)) {
        Ok(path) => {
            log.end();
            let how = match display::address() {
                Some(_) => "drop it on the page to play it",
                None => "cubewire play plays it back",
            };
            format!("{}: {how}", path.display())
        }
        // The recording continues, so no tick is lost.
        Err(error) => format!("{}; F9 tries again", FileError::at(folder)(error)),
    }
}
