//! Scripts, replays, videos of the screen, and exports.
//!
//! - A [`Script`] lists the held keys and the contents of the halves by tick. [`ScriptPlugin`] plays it.
//! - [`KeyboardPlugin`] reads the keyboard while no script is played.
//! - A replay is a script recorded by [`InputLogPlugin`].
//! - [`LivePlugin`] handles the keys that start and stop replays and videos.
//! - `video` encodes frames. It does not exist in a browser.
//! - [`export`] saves measurements, and pictures of the window.
//! - A [`Clip`] is a copy of the last seconds, to be filmed.

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
