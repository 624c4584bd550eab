//! Features that need a desktop: films and pictures in files, a network, a terminal.

#![allow(clippy::disallowed_methods, reason = "these features are not available in a browser")]

pub mod clip;
pub mod film;
pub mod offscreen;
pub mod peers;
pub mod real_time;
pub mod record;
pub mod series;
pub mod stop;
pub mod viewer;

use std::fmt;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

/// Creates a progress bar on standard error, hidden if that is not a terminal.
pub fn progress(steps: u64, unit: &'static str) -> ProgressBar {
    let template =
        format!("{{msg}} {{wide_bar}} {{pos}}/{{len}} {unit}, {{rate}} a second, {{eta}} left");
    let style = ProgressStyle::with_template(&template).expect("the template is well formed");
    let style = style.with_key("rate", |state: &ProgressState, out: &mut dyn fmt::Write| {
        let rate = state.per_sec();
        // Ignore a failed write of progress text.
        let _ = write!(out, "{rate:.*}", usize::from(rate < 10.0));
    });
    ProgressBar::new(steps).with_style(style)
}
