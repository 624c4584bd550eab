//! `cubewire screenshots`: pictures of the window's tabs and views.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use bevy::math::UVec2;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use cubewire_scene::TICKS_PER_SECOND;

use super::CommandError;
use super::args::{Seconds, Size, load_script, named};
use crate::game::desktop::screenshots::{Pictures, Shot, shots, usual_shots};
use crate::game::katamari;
use crate::recording::video::Colours;
use crate::theme::Theme;

/// `cubewire screenshots`
#[derive(Clone, Debug, Args)]
pub struct ScreenshotsArgs {
    /// Folder to write to; created if it does not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Picture to take; may be repeated [default: every tab, every view, and the tour's first step]
    #[arg(long, value_name = "NAME", value_parser = shot())]
    only: Vec<Shot>,
    /// Size in pixels; may be repeated [default: 1280x720, 1920x1080 and 3840x2160]
    #[arg(long, value_name = "WxH")]
    size: Vec<Size>,
    /// Theme; may be repeated [default: both]
    #[arg(long, value_parser = named::<Theme>())]
    theme: Vec<Theme>,
    /// Write pictures of at most 255 colours, in about a third of the bytes
    #[arg(long)]
    palette: bool,
    /// Script of key presses (RON) to play [default: katamari]
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Seconds of the script that are played before
    #[arg(long, value_name = "SECONDS", default_value = "8")]
    skip: Seconds,
}

fn shot() -> impl TypedValueParser<Value = Shot> {
    PossibleValuesParser::new(shots().iter().map(|shot| shot.name)).map(|name| {
        let named = shots().into_iter().find(|shot| shot.name == name);
        named.expect("clap admits only these names")
    })
}

impl ScreenshotsArgs {
    /// Takes the pictures and prints their paths.
    ///
    /// # Errors
    /// See [`CommandError`].
    pub fn run(self, out: &mut impl Write) -> Result<(), CommandError> {
        fs::create_dir_all(&self.out).map_err(CommandError::unwritable(&self.out))?;
        let script = load_script(self.script.as_deref())?.unwrap_or_else(katamari);
        let ticks = (self.skip.0 * f64::from(TICKS_PER_SECOND)).round() as u64;
        let or_all = |chosen: Vec<Shot>| match chosen.is_empty() {
            true => usual_shots(),
            false => chosen,
        };
        let chosen = or_all(self.only);
        let mut sizes: Vec<_> = self.size.iter().map(|size| size.0).collect();
        if sizes.is_empty() {
            sizes.extend(SIZES);
        }
        let mut themes = self.theme;
        if themes.is_empty() {
            themes.extend([Theme::Light, Theme::Dark]);
        }
        let colours = match self.palette {
            true => Colours::Palette,
            false => Colours::All,
        };
        for size in sizes {
            let pictures = Pictures {
                shots: &chosen,
                themes: &themes,
                size,
                script: &script,
                skipped_ticks: ticks,
                folder: &self.out,
                colours,
            };
            let mut printed = Ok(());
            pictures.take(|path| {
                if printed.is_ok() {
                    printed = writeln!(out, "{}", path.display());
                }
            })?;
            printed?;
        }
        Ok(())
    }
}

const SIZES: [UVec2; 3] = [
    UVec2::new(1280, 720),
    UVec2::new(1920, 1080),
    UVec2::new(3840, 2160),
];
