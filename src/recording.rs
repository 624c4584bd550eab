//! Scripts, replays, and videos of the screen.
//!
//! - A [`Script`] lists the held keys and what the halves show, by tick; [`ScriptPlugin`] plays it.
//! - [`KeyboardPlugin`] reads the keyboard where no script is played.
//! - A replay is a script that [`InputLogPlugin`] recorded.
//! - [`video`] encodes frames. [`LivePlugin`] records the screen, and handles the keys that start and stop
//!   replays and videos.
//! - [`export`] saves what is measured, and pictures of the window.

pub mod export;
mod keyboard;
mod live;
mod play;
mod replay;
mod script;
mod switch;
pub mod video;

pub use keyboard::KeyboardPlugin;
pub use live::{LivePlugin, LiveSystems, RecordingFolder};
pub use play::{ScriptPlayback, ScriptPlugin, begin};
pub use replay::{Difference, InputLog, InputLogPlugin, Outcome, ReplayCheck};
pub use script::{Key, Recorded, Script, ScriptError, Step};
pub use switch::{MAX_SECONDS, Switch, SwitchError};
