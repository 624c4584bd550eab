//! Runs an app without a window in real time, until a time limit or a condition ends it.

use std::thread;
use std::time::{Duration, Instant};

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;

use super::stop::StopPlugin;
use crate::display::log_plugin;

/// Time between two updates. Each update also handles the socket.
const UPDATE_INTERVAL: Duration = Duration::from_millis(2);

pub struct RealTimePlugin;

impl Plugin for RealTimePlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins((StopPlugin, log_plugin()));
    }
}

/// Updates the app until `seconds` have passed, the program receives a signal, or `should_continue` returns false. Then
/// the app has received [`AppExit`].
pub fn play(app: &mut App, seconds: Option<f64>, mut should_continue: impl FnMut(&App) -> bool) {
    app.insert_resource(TimeUpdateStrategy::Automatic);
    let start = Instant::now();
    loop {
        app.update();
        if app.should_exit().is_some() {
            return;
        }
        let is_over = seconds.is_some_and(|seconds| start.elapsed().as_secs_f64() >= seconds);
        if is_over || !should_continue(app) {
            app.world_mut().write_message(AppExit::Success);
            app.update();
            return;
        }
        thread::sleep(UPDATE_INTERVAL);
    }
}
