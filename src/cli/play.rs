//! `cubewire play`: its command line.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::{CommandError, check_folder, check_seconds, halves, size};
use crate::headless;
use crate::panel::PanelPlugin;
use crate::recording::Script;
use crate::window::{self, Role, WindowSettings};

/// `cubewire play`
#[derive(Clone, Debug, Args)]
pub struct PlayReplayArgs {
    /// Replay that F9 wrote, or a script
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Open no window, and play as fast as it goes
    #[arg(long)]
    headless: bool,
    /// Stop after so many seconds
    #[arg(long)]
    seconds: Option<f64>,
    /// Size of the window
    #[arg(long, value_name = "WxH", default_value = "1440x900")]
    size: String,
    /// Folder for what F9 and F10 record
    #[arg(long, value_name = "DIR", default_value = ".")]
    recordings: PathBuf,
}

impl PlayReplayArgs {
    /// Plays, in a window if there is anything to open one on.
    pub(super) fn run(self, out: &mut impl Write) -> Result<(), CommandError> {
        let script = Script::load(&self.file)?;
        let seconds = check_seconds(self.seconds)?;
        let size = size(&self.size)?;
        check_folder(&self.recordings)?;
        if !super::serve::opens_window(self.headless, out)? {
            return headless::replay::run(&self.file, script, seconds, out);
        }
        let (left, right) = halves(None, None, Some(&script))?;
        window::run(WindowSettings {
            role: Role::Play,
            left,
            right,
            script: Some(script),
            recordings: self.recordings,
            seconds,
            size,
            report: None,
            panel: PanelPlugin::default_settings_path(),
        })
    }
}
