//! Films of the past: renders a [`Clip`] tick by tick, in a thread next to the game.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bevy::prelude::*;
use bevy::render::RenderApp;
use cubewire_scene::TICKS_PER_SECOND;

use super::offscreen::{Interface, OffScreen, keep_logs};
use super::record::{AddFrame, check_adapter, encode};
use super::stop::Stopped;
use crate::controls::PastFilm;
use crate::game::headless::run_in_this_thread;
use crate::game::{Failure, exit};
use crate::recording::Clip;
use crate::recording::video::Video;
use crate::replication::LaneMeter;
use crate::view::{Overlay, Side, settle_cameras};

/// Size of the film, pixels.
pub const SIZE: UVec2 = UVec2::new(1280, 720);

/// Ticks before the first one that are shown without being filmed, so that trails have their length.
const LEAD_IN: u64 = TICKS_PER_SECOND as u64;

#[derive(Debug, Default)]
pub struct Progress {
    pub frames: AtomicU64,
    /// Ends the film after the current frame.
    pub stop: AtomicBool,
}

pub fn frames(clip: &Clip, film: PastFilm) -> u64 {
    clip.length().div_ceil(film.ticks_per_frame.into())
}

/// Renders a clip with a size and the frame rate of `film`, and writes it to an MP4 in `folder` with the first free name of
/// the form `name.mp4`, `name-2.mp4`. If [`Progress::stop`] is set or the program receives a signal, the film has the frames
/// so far.
///
/// Returns the path of the film and its number of frames.
///
/// # Errors
/// If there is no adapter, a frame cannot be drawn, or the file cannot be written. [`Stopped`] before the first frame.
/// On an error, no file is left.
pub fn record(
    clip: &Clip,
    folder: &Path,
    name: &str,
    (size, film): (UVec2, PastFilm),
    progress: &Arc<Progress>,
) -> Result<(PathBuf, u64), Failure> {
    let video = Video::in_folder(folder, name, size.into(), film.frames_per_second())?;
    check_adapter()?;
    let (frames, video) = encode(video, |add| shoot(clip, (size, film), progress, add))?;
    Ok((video.finish()?, frames))
}

fn shoot(
    clip: &Clip,
    (size, film): (UVec2, PastFilm),
    progress: &Arc<Progress>,
    add: &mut AddFrame<'_>,
) -> Result<u64, Failure> {
    let mut part = open(clip, (size, film.frames_per_second()), progress)?;
    let mut frames = 0;
    let first = *clip.ticks.start();
    for tick in clip.ticks.clone() {
        if progress.stop.load(Ordering::Relaxed) || part.app.should_exit().is_some() {
            break;
        }
        let world = part.app.world_mut();
        if tick > first {
            clip.show(tick, world);
        }
        if !(tick - first).is_multiple_of(film.ticks_per_frame.into()) {
            continue;
        }
        let mut lanes = world.query::<(&Side, &LaneMeter)>();
        let mut curves = std::mem::take(&mut world.resource_mut::<Overlay>().curves);
        curves.show(lanes.iter(world).map(|(&side, meter)| (side as usize, meter)));
        world.resource_mut::<Overlay>().curves = curves;
        add(part.frame()?)?;
        frames += 1;
        progress.frames.store(frames, Ordering::Relaxed);
    }
    match frames {
        0 => Err(Stopped("the first frame").into()),
        frames => Ok(frames),
    }
}

fn open(
    clip: &Clip,
    (size, fps): (UVec2, u32),
    progress: &Arc<Progress>,
) -> Result<OffScreen, Failure> {
    keep_logs();
    let mut part = OffScreen::new(size, fps, Interface::Past)?;
    let progress = progress.clone();
    let is_stopped = move || progress.stop.load(Ordering::Relaxed);
    part.app.add_systems(Update, exit.run_if(is_stopped));
    // Keep the task pools free for the game, which shares them.
    run_in_this_thread(part.app.world_mut());
    run_in_this_thread(part.app.sub_app_mut(RenderApp).world_mut());
    let world = part.app.world_mut();
    world.insert_resource(Overlay {
        title: Some(clip.title().to_owned()),
        curves: clip.curves(),
        ..Overlay::default()
    });
    clip.set_up(world);
    let first = *clip.ticks.start();
    let before = first.saturating_sub(LEAD_IN)..first;
    for tick in before.filter(|_| clip.view.has_trails) {
        clip.show(tick, world);
    }
    clip.show(first, world);
    part.warm_up()?;
    settle_cameras(part.app.world_mut());
    Ok(part)
}
