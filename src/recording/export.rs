//! Saves measurements, and pictures of the window (F12).
//!
//! A task writes each file, under the first free name of the form `cubewire-1.csv` in the [`RecordingFolder`]. The name
//! appears when the file is complete.

mod link;
mod rows;
mod screenshot;

use std::io;
use std::path::Path;

use bevy::prelude::*;
use bevy::tasks::futures::check_ready;
use bevy::tasks::{IoTaskPool, Task, TaskPool, block_on};
use bevy::window::exit_on_all_closed;
use cubewire_scene::TICKS_PER_SECOND;

use super::recorder::{RecorderSystems, RecordingFolder};
use crate::controls::Action;
use crate::files::{FileError, NewFile};
use crate::replication::{LaneMeter, Sample};
use crate::view::{Notices, Selected, Side};

pub use link::query;
pub use rows::{COLUMNS, Column, CsvRows};

/// Handles the [`Action`] that saves measurements, and F12. Needs a [`RecordingFolder`].
pub struct ExportPlugin;

impl Plugin for ExportPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Notices>()
            .init_resource::<Saving>()
            .add_observer(on_action)
            .add_observer(link::on_action)
            .add_observer(link::on_film)
            .add_observer(screenshot::on_action)
            .add_systems(
                Last,
                (
                    collect.after(RecorderSystems::Collect),
                    finish.after(exit_on_all_closed).run_if(on_message::<AppExit>),
                )
                    .chain(),
            );
    }
}

/// Tasks that write files. Each returns a sentence about its result or error.
#[derive(Resource, Debug, Default)]
struct Saving(Vec<Task<Result<String, FileError>>>);

impl Saving {
    /// Starts a task that saves a numbered file. `about` describes the contents for the user.
    fn save(
        &mut self,
        folder: &Path,
        extension: &'static str,
        about: String,
        write: impl FnOnce(&mut NewFile) -> io::Result<()> + Send + 'static,
    ) {
        let folder = folder.to_owned();
        let pool = IoTaskPool::get_or_init(TaskPool::default);
        let save = async move { save(&folder, extension, &about, write) };
        self.0.push(pool.spawn(save));
    }
}

/// Returns a sentence about the result. No file is left after an error.
fn save(
    folder: &Path,
    extension: &str,
    about: &str,
    write: impl FnOnce(&mut NewFile) -> io::Result<()>,
) -> Result<String, FileError> {
    let mut file = NewFile::create_numbered(folder, extension).map_err(FileError::at(folder))?;
    let failed = FileError::at(file.path());
    let path = write(&mut file).and_then(|()| file.finish()).map_err(failed)?;
    Ok(format!("{}: {about}", path.display()))
}

fn on_action(
    action: On<Action>,
    folder: Res<RecordingFolder>,
    lane: Option<Single<(&Side, &LaneMeter), With<Selected>>>,
    mut saving: ResMut<Saving>,
    mut notices: ResMut<Notices>,
) {
    if *action != Action::SaveCsv {
        return;
    }
    let lane = lane.map(Single::into_inner);
    let Some((side, meter)) = lane.filter(|(_, meter)| !meter.samples().is_empty()) else {
        return notices.fail("No measurements yet");
    };
    let samples: Vec<Sample> = meter.samples().iter().cloned().collect();
    let seconds = samples.len() as f64 / f64::from(TICKS_PER_SECOND);
    let about = format!("the last {seconds:.1} s of the {} half", side.name());
    saving.save(&folder.0, "csv", about, move |file| {
        let mut rows = CsvRows::begin(file)?;
        samples.iter().try_for_each(|sample| rows.add(sample))?;
        rows.finish().map(drop)
    });
}

fn collect(mut saving: ResMut<Saving>, mut notices: ResMut<Notices>) {
    saving.0.retain_mut(|saved| match check_ready(saved) {
        Some(result) => {
            notices.add(result);
            false
        }
        None => true,
    });
}

fn finish(mut saving: ResMut<Saving>, mut notices: ResMut<Notices>) {
    saving.0.drain(..).for_each(|saved| notices.add(block_on(saved)));
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_cannot_be_saved_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let full = |file: &mut NewFile| {
            io::Write::write_all(file, b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        };
        let error = save(folder.path(), "csv", "all", full).unwrap_err();
        let name = folder.path().join("cubewire-1.csv");
        assert_eq!(error.to_string(), format!("{}: no storage space", name.display()));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

        for number in 1..3 {
            let said = save(folder.path(), "csv", "all", |_| Ok(())).unwrap();
            assert!(said.ends_with(&format!("cubewire-{number}.csv: all")), "{said}");
        }
    }
}
