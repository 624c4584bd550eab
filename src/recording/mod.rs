//! Scripts and replays of play, and videos of it.
//!
//! - A [`Script`] says what is pressed, and shown, at which tick; [`ScriptPlugin`] plays it.
//! - A replay is a script that [`InputLogPlugin`] wrote down.
//! - [`OffScreen`] draws the game frame by frame, [`film`] makes videos of that, [`series`] a page
//!   full of them.
//! - [`LivePlugin`] records what is on the screen, and has the keys for both kinds of recording.

pub mod film;
mod live;
mod offscreen;
mod play;
mod record;
mod replay;
mod script;
pub mod series;
mod switch;
pub mod video;

pub use live::{LivePlugin, RecordingFolder};
pub use offscreen::{OffScreen, OffScreenError};
pub use play::{Playing, ScriptPlugin, begin};
pub use record::{RecordError, progress, record};
pub use replay::{Difference, InputLog, InputLogPlugin, Outcome, Recorded, ReplayCheck};
pub use script::{Key, Script, ScriptError, Step};
pub use switch::{Switch, SwitchError};
