//! Plays without a window at the pace of the clock, until the time is up or somebody ends it.

use std::thread;
use std::time::{Duration, Instant};

use bevy::app::TerminalCtrlCHandlerPlugin;
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;

use crate::display::LOG_FILTER;

/// Between two looks at the socket.
const NAP: Duration = Duration::from_millis(2);

/// Ctrl-C ends the app, and it logs.
#[derive(Debug)]
pub(super) struct RealTimePlugin;

impl Plugin for RealTimePlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins((
            TerminalCtrlCHandlerPlugin,
            LogPlugin {
                filter: LOG_FILTER.to_owned(),
                ..default()
            },
        ));
    }
}

/// Plays until `seconds` are over, Ctrl-C is pressed, or `goes_on` says no. The app has been told
/// that it ends, whichever it was.
pub(super) fn play(app: &mut App, seconds: Option<f64>, goes_on: impl Fn(&App) -> bool) {
    app.insert_resource(TimeUpdateStrategy::Automatic);
    let start = Instant::now();
    loop {
        app.update();
        if app.should_exit().is_some() {
            return;
        }
        let is_over = seconds.is_some_and(|seconds| start.elapsed().as_secs_f64() >= seconds);
        if is_over || !goes_on(app) {
            app.world_mut().write_message(AppExit::Success);
            app.update();
            return;
        }
        thread::sleep(NAP);
    }
}
