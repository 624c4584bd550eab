//! Films the last seconds (F11): copies their history, and renders it in a thread during the game.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bevy::ecs::message::MessageUpdateSystems;
use bevy::prelude::*;
use bevy::time::TimeSystems;
use bevy::window::exit_on_all_closed;
use chrono::Local;

use crate::controls::{Action, PastFilm};
use crate::game::Failure;
use crate::game::desktop::clip::{Progress, SIZE, frames, record};
use crate::recording::{Clip, ClipPlugin, RecordingFolder};
use crate::view::{FilmProgress, Notices};

/// Handles the actions that film the past. Needs [`RecordingFolder`] and [`Notices`].
pub struct FilmPlugin;

impl Plugin for FilmPlugin {
    fn build(&self, app: &mut App) {
        let is_filming = resource_exists::<Filming>;
        app.add_plugins(ClipPlugin)
            .insert_resource(FilmSize(SIZE))
            .add_observer(on_action)
            .add_systems(
                First,
                follow.run_if(is_filming).after(MessageUpdateSystems).after(TimeSystems),
            )
            .add_systems(
                Last,
                end.after(exit_on_all_closed).run_if(on_message::<AppExit>.and_then(is_filming)),
            );
    }
}

#[derive(Resource, Clone, Copy, Debug)]
pub struct FilmSize(pub UVec2);

#[derive(Resource, Debug)]
struct Filming {
    /// Number of frames of the whole film.
    frames: u64,
    film: PastFilm,
    /// Real time and number of frames when the first frames were seen, to estimate the time left.
    first: Option<(Duration, u64)>,
    progress: Arc<Progress>,
    thread: JoinHandle<Result<(PathBuf, u64), Failure>>,
}

impl Filming {
    fn outcome(self) -> Result<String, String> {
        match self.thread.join() {
            Ok(Ok((path, frames))) => {
                Ok(about(&path, [frames, self.frames], self.film.frames_per_second()))
            }
            Ok(Err(error)) => Err(format!("No film: {error}")),
            // The panic is on standard error.
            Err(_) => Err("No film: the renderer failed".to_owned()),
        }
    }
}

fn on_action(action: On<Action>, filming: Option<Res<Filming>>, mut commands: Commands) {
    match *action {
        Action::FilmLast(film) => {
            commands.queue(move |world: &mut World| begin(world, film));
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
fn begin(world: &mut World, film: PastFilm) {
    if world.contains_resource::<Filming>() {
        return;
    }
    let clip = match Clip::of_last(film.seconds, world) {
        Ok(clip) => clip,
        Err(sentence) => return world.resource_mut::<Notices>().fail(sentence),
    };
    let folder = world.resource::<RecordingFolder>().0.clone();
    let size = world.resource::<FilmSize>().0;
    let name = Local::now().format("cubewire-%Y-%m-%d-%H%M%S").to_string();
    let progress = Arc::new(Progress::default());
    world.insert_resource(Filming {
        frames: frames(&clip, film),
        film,
        first: None,
        progress: progress.clone(),
        thread: thread::spawn(move || record(&clip, &folder, &name, (size, film), &progress)),
    });
}

fn follow(
    time: Res<Time<Real>>,
    mut filming: ResMut<Filming>,
    mut notices: ResMut<Notices>,
    mut commands: Commands,
) {
    let (now, frames) = (time.elapsed(), filming.progress.frames.load(Ordering::Relaxed));
    let of_all = filming.frames;
    let left_seconds = (frames > 0).then(|| *filming.first.get_or_insert((now, frames)));
    let left_seconds = left_seconds.filter(|&(_, first)| frames > first).map(|(start, first)| {
        let seconds_per_frame = (now - start).as_secs_f64() / (frames - first) as f64;
        (seconds_per_frame * (of_all - frames) as f64).ceil() as u32
    });
    notices.film = Some(FilmProgress { fraction: frames as f32 / of_all as f32, left_seconds });
    if filming.thread.is_finished() {
        commands.queue(finish);
    }
}

fn finish(world: &mut World) {
    let Some(filming) = world.remove_resource::<Filming>() else { return };
    let mut notices = world.resource_mut::<Notices>();
    notices.film = None;
    notices.add(filming.outcome());
}

/// Ends the film when the app exits. The file has the frames so far.
fn end(filming: Res<Filming>, mut commands: Commands) {
    filming.progress.stop.store(true, Ordering::Relaxed);
    commands.queue(finish);
}

/// Sentence about a film that has the first number of frames, of the second.
fn about(path: &Path, frames: [u64; 2], frames_per_second: u32) -> String {
    let [seconds, all] = frames.map(|frames| frames as f64 / f64::from(frames_per_second));
    let path = path.display();
    match frames[0] < frames[1] {
        true => format!("{path}: stopped after {seconds:.1} of {all:.1} s"),
        false => format!("{path}: {all:.1} s of what the view showed"),
    }
}
