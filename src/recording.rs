//! Scripts, replays, films and exports.

mod clip;
mod course;
pub mod export;
mod keyboard;
pub(crate) mod picture;
mod play;
mod recorder;
mod replay;
mod script;
mod switch;
#[cfg(not(target_family = "wasm"))]
pub mod video;

pub use crate::files::FileError;
pub use clip::{Clip, ClipPlugin};
pub use course::{Turn, course, describe_change};
pub use keyboard::{HeldKeysPlugin, KeyboardPlugin};
#[cfg(not(target_family = "wasm"))]
pub(crate) use play::set_players;
pub use play::{ScriptPlayback, ScriptPlugin, begin};
pub use recorder::{RecorderPlugin, RecorderSystems, RecordingFolder};
pub use replay::{Difference, InputLog, InputLogPlugin, Outcome, ReplayCheck};
pub use script::{Key, Recorded, Script, ScriptError, Step};
pub(crate) use switch::LENGTH_OF_PLAY;
pub use switch::{MAX_SECONDS, Place, Switch, length_of_play};
