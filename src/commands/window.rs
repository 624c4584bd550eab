//! `cubewire`: the game in a window.

use std::io::Write;
use std::path::PathBuf;

use bevy::math::UVec2;
use clap::Args;
use directories::ProjectDirs;

use super::args::{LaneArgs, QualityArg, RUNGS, check_folder, load_script, size};
use super::ladder;
use super::warning::{say, warn};
use crate::display;
use crate::game::window::{self, WindowSettings};
use crate::game::{Failure, halves, right_lane};
use crate::recording::length_of_play;
use crate::replication::LaneSettings;
use crate::theme::Theme;
use crate::view::PaneContent;

#[derive(Clone, Debug, Args)]
#[command(mut_arg("rung", |arg| arg.help(format!(
    "Rung of the ladder to start with: {RUNGS} [default: uncompressed if the game may play by itself, otherwise changed-flags]"
))))]
pub struct WindowArgs {
    #[command(flatten)]
    pub(super) lane: LaneArgs,
    /// Content of the left half: `simulation`, or a lane to compare with
    #[arg(long, value_name = "simulation|LANE")]
    pub(super) left: Option<PaneContent>,
    /// Lane in the right half, for example `rung:delta,link:4g,interpolation:hermite,rate:10`, or with `stages:…`
    /// instead of `rung:…`
    #[arg(
        long,
        value_name = "LANE",
        value_parser = right_lane,
        conflicts_with_all = ["rung", "network", "trace", "rate", "interpolation"]
    )]
    pub(super) right: Option<LaneSettings>,
    /// Script of key presses (RON) to play instead of the keyboard
    #[arg(long, value_name = "FILE")]
    pub(super) script: Option<PathBuf>,
    /// Do not play by itself at the first start or while waiting for a key press. The options for lanes and scripts have the
    /// same effect
    #[arg(long)]
    pub(super) calm: bool,
    #[command(flatten)]
    pub(super) frame: FrameArgs,
}

#[derive(Clone, Debug, Args)]
pub struct FrameArgs {
    /// Folder for replays (F9), films (F11), pictures (F12) and exports
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) recordings: PathBuf,
    /// Stop after this many seconds
    #[arg(long, allow_hyphen_values = true, value_parser = length_of_play)]
    pub(super) seconds: Option<f64>,
    /// Size of the window, limited to the screen
    #[arg(long, value_name = "WxH", default_value = "1440x900", value_parser = size)]
    pub(super) size: UVec2,
    /// Colours of panel and scene [default: as in the last window, dark at first]
    #[arg(long, value_name = "THEME")]
    pub(super) theme: Option<Theme>,
    #[command(flatten)]
    pub(super) quality: QualityArg,
}

impl WindowArgs {
    /// Opens the window. Without a display, prints the reason and the ladder.
    pub fn run(self, out: &mut impl Write) -> Result<(), Failure> {
        let settings = self.settings()?;
        let Some(missing) = display::missing() else { return window::run(settings) };
        if self.sets_lanes() {
            say("lane options have no effect without a window, because the table has every rung");
        }
        writeln!(
            out,
            "Cubewire cannot open a window, because {missing}. The table shows the bandwidth of each rung in a few \
             seconds of play.\n"
        )?;
        ladder::print_demo(settings.script, settings.seconds, out)
    }

    fn sets_lanes(&self) -> bool {
        !self.lane.is_empty() || self.left.is_some() || self.right.is_some()
    }

    pub fn settings(&self) -> Result<WindowSettings, Failure> {
        let script = load_script(self.script.as_deref())?;
        let (left, mut right) = halves(self.left.clone(), self.right.clone(), script.as_ref());
        self.lane.apply(&mut right)?;
        warn(&left, &right, script.as_ref(), &[]);
        Ok(WindowSettings {
            left,
            right,
            script,
            calm: self.calm || self.sets_lanes(),
            ..self.frame.settings()?
        })
    }
}

impl FrameArgs {
    pub fn settings(&self) -> Result<WindowSettings, Failure> {
        check_folder(&self.recordings)?;
        // Without a home directory, the panel has no file.
        let directories = ProjectDirs::from("", "", "cubewire");
        Ok(WindowSettings {
            left: PaneContent::Simulation,
            right: LaneSettings::default(),
            script: None,
            calm: false,
            recordings: self.recordings.clone(),
            seconds: self.seconds,
            size: self.size,
            quality: self.quality.quality,
            theme: self.theme,
            panel: directories.map(|it| it.config_dir().join("panel.ron")),
            tour: None,
        })
    }
}

/// Whether to open a window. Prints the reason if a display is missing.
pub fn opens_window(headless: bool, out: &mut impl Write) -> Result<bool, Failure> {
    if headless {
        return Ok(false);
    }
    let missing = display::missing();
    if let Some(missing) = missing {
        writeln!(out, "Cubewire cannot open a window, because {missing}.")?;
    }
    Ok(missing.is_none())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        window: WindowArgs,
    }

    #[test]
    fn the_game_waits_if_an_option_sets_what_is_shown() {
        for (options, waits) in [
            ("", false),
            ("--theme light --quality low --seconds 9", false),
            ("--calm", true),
            ("--rung delta", true),
            ("--network 4g", true),
            ("--left rung:delta", true),
            ("--right rung:delta", true),
        ] {
            let options = ["cubewire"].into_iter().chain(options.split_whitespace());
            let settings = Cli::parse_from(options.clone()).window.settings();
            let options: Vec<_> = options.collect();
            assert_eq!(settings.unwrap().calm, waits, "{options:?}");
        }
    }
}
