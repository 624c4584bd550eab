//! `cubewire tour`: the window, with a guided tour through the article.

use std::io::Write;

use clap::Args;

use super::error::CommandError;
use super::window::FrameArgs;
use crate::display;
use crate::game::window::{self, WindowSettings};
use crate::panel::STEPS;

/// `cubewire tour`
#[derive(Clone, Debug, Args)]
pub struct TourArgs {
    /// Settings of the window.
    #[command(flatten)]
    pub frame: FrameArgs,
}

impl TourArgs {
    /// Opens the window with the first step; without a display, says so and prints what the steps say.
    ///
    /// # Errors
    /// See [`CommandError`].
    pub fn run(self, out: &mut impl Write) -> Result<(), CommandError> {
        let settings = self.settings()?;
        let Some(missing) = display::missing() else {
            return Ok(window::run(settings)?);
        };
        writeln!(
            out,
            "Cubewire opens no window, because {missing}. This is what the tour says."
        )?;
        Ok(print(out)?)
    }

    /// The settings of the window.
    ///
    /// # Errors
    /// If there is no such folder.
    pub fn settings(&self) -> Result<WindowSettings, CommandError> {
        Ok(WindowSettings {
            // The tour plays its own scripts.
            calm: true,
            tour: true,
            ..self.frame.settings()?
        })
    }
}

/// Prints every step.
fn print(out: &mut impl Write) -> std::io::Result<()> {
    for (number, step) in (1..).zip(&STEPS) {
        writeln!(out, "\n{number}. {}\n{}", step.title, step.text)?;
        if let Some(article) = step.article {
            writeln!(out, "{}: the article: {article}", step.watch.name())?;
        }
        if let Some(address) = step.address {
            writeln!(out, "{address}")?;
        }
        writeln!(out, "--left {} --right {}", step.left, step.right)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_display_the_tour_is_a_text() {
        let mut out = Vec::new();
        print(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        for step in &STEPS {
            assert!(text.contains(step.title) && text.contains(step.text));
        }
    }
}
