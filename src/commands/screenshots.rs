//! `cubewire screenshots`: pictures of the window's tabs and views.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use bevy::math::UVec2;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::args::{check_folder, size};
use super::warning::say;
use crate::files::FileError;
use crate::game::Failure;
use crate::game::desktop::screenshots::{SHOTS, Shot};
use crate::recording::video::Format;
use crate::theme::Theme;

#[derive(Clone, Debug, Args)]
pub struct ScreenshotsArgs {
    /// Output folder, created if it does not exist. Replaces pictures with the same names
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Picture to take, can be repeated [default: every tab, every view, and every step of the tour]
    #[arg(long, value_name = "NAME", value_parser = shot())]
    only: Vec<Shot>,
    /// Size in pixels, can be repeated
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = size)]
    size: Vec<UVec2>,
    /// Theme, can be repeated
    #[arg(long, default_values = ["light", "dark"])]
    theme: Vec<Theme>,
}

fn shot() -> impl TypedValueParser<Value = Shot> {
    PossibleValuesParser::new(SHOTS.iter().map(|shot| shot.name)).map(|name| {
        let named = SHOTS.iter().find(|shot| shot.name == name);
        *named.expect("clap accepts only these names")
    })
}

impl ScreenshotsArgs {
    pub fn run(self, out: &mut impl Write) -> Result<(), Failure> {
        if self.out.exists() {
            check_folder(&self.out)?;
        }
        fs::create_dir_all(&self.out).map_err(FileError::at(&self.out))?;
        let there = fs::read_dir(&self.out).map_err(FileError::at(&self.out))?;
        let mut pictures = there.flatten().filter(|entry| Format::of(&entry.path()).is_some());
        if pictures.next().is_some() {
            let folder = self.out.display();
            say(format_args!("existing pictures in {folder} with the same names will be replaced"));
        }
        let shots = match &self.only[..] {
            [] => &SHOTS,
            only => only,
        };
        for size in &self.size {
            for shot in shots {
                shot.take(&self.theme, *size, &self.out, |path| {
                    writeln!(out, "{}", path.display())
                })?;
            }
        }
        Ok(())
    }
}
