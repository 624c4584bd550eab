//! Films the last seconds (F11): copies the history of the halves, and renders it in a thread during the game.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};

use bevy::ecs::message::MessageUpdateSystems;
use bevy::prelude::*;
use bevy::window::exit_on_all_closed;
use chrono::Local;
use cubewire_scene::TICKS_PER_SECOND;

use crate::controls::Action;
use crate::game::Failure;
use crate::game::desktop::clip::{Progress, SIZE, record};
use crate::recording::{Clip, ClipPlugin, RecordingFolder};
use crate::view::Notices;

/// Handles the actions that film the past. Needs [`RecordingFolder`] and [`Notices`].
pub struct FilmPlugin;

impl Plugin for FilmPlugin {
    fn build(&self, app: &mut App) {
        let is_filming = resource_exists::<Filming>;
        app.add_plugins(ClipPlugin)
            .init_resource::<FilmSize>()
            .add_observer(on_action)
            .add_systems(First, follow.run_if(is_filming).after(MessageUpdateSystems))
            .add_systems(
                Last,
                end.after(exit_on_all_closed).run_if(on_message::<AppExit>.and_then(is_filming)),
            );
    }
}

#[derive(Resource, Clone, Copy, Debug)]
pub struct FilmSize(pub UVec2);

impl Default for FilmSize {
    fn default() -> Self {
        Self(SIZE)
    }
}

#[derive(Resource, Debug)]
struct Filming {
    ticks: u64,
    progress: Arc<Progress>,
    thread: JoinHandle<Result<(PathBuf, u64), Failure>>,
}

impl Filming {
    /// Waits for the end of the film.
    fn outcome(self) -> Result<String, String> {
        match self.thread.join() {
            Ok(Ok((path, frames))) => Ok(about(&path, frames, self.ticks)),
            Ok(Err(error)) => Err(format!("No film: {error}")),
            // The panic is on standard error.
            Err(_) => Err("No film: the renderer failed".to_owned()),
        }
    }
}

fn on_action(action: On<Action>, filming: Option<Res<Filming>>, mut commands: Commands) {
    match *action {
        Action::FilmLast(seconds) => {
            commands.queue(move |world: &mut World| begin(world, seconds));
        }
        Action::StopFilm => {
            if let Some(filming) = filming {
                filming.progress.stop.store(true, Ordering::Relaxed);
            }
        }
        _ => {}
    }
}

/// Starts a film of the last seconds, or shows the reason for an error. Ignored during a film.
fn begin(world: &mut World, seconds: u32) {
    if world.contains_resource::<Filming>() {
        return;
    }
    let clip = match Clip::of_last(seconds, world) {
        Ok(clip) => clip,
        Err(sentence) => return world.resource_mut::<Notices>().fail(sentence),
    };
    let folder = world.resource::<RecordingFolder>().0.clone();
    let size = world.resource::<FilmSize>().0;
    let name = Local::now().format("cubewire-%Y-%m-%d-%H%M%S").to_string();
    let progress = Arc::new(Progress::default());
    world.insert_resource(Filming {
        ticks: clip.length(),
        progress: progress.clone(),
        thread: thread::spawn(move || record(&clip, &folder, &name, size, &progress)),
    });
}

fn follow(filming: Res<Filming>, mut notices: ResMut<Notices>, mut commands: Commands) {
    let frames = filming.progress.frames.load(Ordering::Relaxed);
    let fraction = Some(frames as f32 / filming.ticks as f32);
    if notices.film != fraction {
        notices.film = fraction;
    }
    if filming.thread.is_finished() {
        commands.queue(finish);
    }
}

fn finish(world: &mut World) {
    let Some(filming) = world.remove_resource::<Filming>() else {
        return;
    };
    let mut notices = world.resource_mut::<Notices>();
    notices.film = None;
    notices.add(filming.outcome());
}

/// Ends the film when the app exits. The file has the frames so far.
fn end(filming: Res<Filming>, mut commands: Commands) {
    filming.progress.stop.store(true, Ordering::Relaxed);
    commands.queue(finish);
}

/// Sentence about a film with `frames` of the wanted `ticks`.
fn about(path: &Path, frames: u64, ticks: u64) -> String {
    let [frames, all] = [frames, ticks].map(|ticks| ticks as f64 / f64::from(TICKS_PER_SECOND));
    let path = path.display();
    match frames < all {
        true => format!("{path}: stopped after {frames:.1} of {all:.1} s"),
        false => format!("{path}: {all:.1} s of what both halves showed"),
    }
}
