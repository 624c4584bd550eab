//! Scripts, replays, videos of the screen, and exports.

mod clip;
mod course;
pub mod export;
mod keyboard;
mod live;
pub(crate) mod picture;
mod play;
mod replay;
mod script;
mod switch;
#[cfg(not(target_family = "wasm"))]
pub mod video;

pub use crate::files::FileError;
pub use clip::{Clip, ClipPlugin};
pub use course::{Turn, course, describe_change};
pub use keyboard::KeyboardPlugin;
pub use live::{LivePlugin, LiveSystems, RecordingFolder};
pub use play::{ScriptPlayback, ScriptPlugin, begin};
pub use replay::{Difference, InputLog, InputLogPlugin, Outcome, ReplayCheck};
pub use script::{Key, Recorded, Script, ScriptError, Step};
pub(crate) use switch::LENGTH_OF_PLAY;
pub use switch::{MAX_SECONDS, Place, Switch, length_of_play};
