//! `cubewire tour`: the game in a window, with a guided tour through the article.

use std::io::Write;

use clap::Args;

use super::window::FrameArgs;
use crate::display;
use crate::game::Failure;
use crate::game::window::{self, WindowSettings};
use crate::panel::STEPS;

#[derive(Clone, Debug, Args)]
pub struct TourArgs {
    #[arg(default_value_t = 1, value_parser = step, help = format!(
        "First step, 1 to {}", STEPS.len()
    ))]
    pub(super) step: usize,
    #[command(flatten)]
    pub(super) frame: FrameArgs,
}

fn step(text: &str) -> Result<usize, String> {
    let step = text.parse().ok();
    let step = step.filter(|step| (1..=STEPS.len()).contains(step));
    step.ok_or_else(|| format!("steps are numbered 1 to {}", STEPS.len()))
}

impl TourArgs {
    /// Opens the window at the step. Without a display, prints the reason and the texts from this step on.
    pub fn run(self, out: &mut impl Write) -> Result<(), Failure> {
        // The tour plays its scripts instead of the game.
        let tour =
            WindowSettings { calm: true, tour: Some(self.step - 1), ..self.frame.settings()? };
        let Some(missing) = display::missing() else { return window::run(tour) };
        writeln!(
            out,
            "Cubewire cannot open a window, because {missing}. The texts of the tour follow."
        )?;
        Ok(print(self.step, out)?)
    }
}

fn print(first: usize, out: &mut impl Write) -> std::io::Result<()> {
    for (number, step) in (1..).zip(&STEPS).skip(first - 1) {
        writeln!(out, "\n{number}. {}\n{}", step.title, step.text)?;
        if let Some(article) = step.article_line() {
            writeln!(out, "{article}")?;
        }
        writeln!(out, "{}\n{}", step.difference, step.address)?;
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
        print(1, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        for step in &STEPS {
            assert!(text.contains(step.title) && text.contains(step.text));
        }
        let mut out = Vec::new();
        print(5, &mut out).unwrap();
        let rest = String::from_utf8(out).unwrap();
        assert!(rest.starts_with("\n5. ") && text.ends_with(&rest));
    }
}
