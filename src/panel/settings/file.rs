//! The RON file that keeps the state of the panel between runs.
//!
//! The file is a convenience: if it is missing or invalid, the panel starts with its defaults.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bevy::log::warn;
use bevy::prelude::*;

use super::PanelState;
use crate::files;

/// Why settings cannot be loaded or saved.
#[derive(Debug, thiserror::Error)]
enum SettingsError {
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{}: {source}", path.display())]
    Syntax {
        path: PathBuf,
        source: Box<ron::error::SpannedError>,
    },
    #[error("the panel's settings cannot be written as RON: {0}")]
    Unwritable(#[from] ron::Error),
}

/// Where the settings are saved, and what was last saved there.
#[derive(Resource, Debug)]
pub(in crate::panel) struct SettingsFile {
    path: PathBuf,
    saved: String,
    /// Whether [`PanelState`] may have changed since then.
    touched: bool,
    /// Time of the last attempt to save, by the real clock.
    tried_at: Duration,
    /// Whether a failure was already logged.
    warned: bool,
}

impl SettingsFile {
    pub(in crate::panel) fn path(&self) -> &Path {
        &self.path
    }

    pub(in crate::panel) fn new(path: PathBuf, loaded: &PanelState) -> Self {
        Self {
            path,
            saved: loaded.to_text().unwrap_or_default(),
            touched: false,
            tried_at: Duration::ZERO,
            warned: false,
        }
    }

    fn save(&mut self, state: &PanelState) -> Result<(), SettingsError> {
        let text = state.to_text()?;
        if text != self.saved {
            store(&self.path, &text)?;
            self.saved = text;
        }
        Ok(())
    }
}

/// Loads the settings from a file. If it is missing or invalid, returns the defaults; if it is invalid,
/// logs a warning.
pub(in crate::panel) fn load_or_default(path: &Path) -> PanelState {
    match load(path) {
        Ok(state) => state,
        Err(SettingsError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            PanelState::default()
        }
        Err(error) => {
            warn!("the panel starts with its defaults: {error}");
            PanelState::default()
        }
    }
}

/// Saves changes, at most once per [`SAVE_INTERVAL`], and when the app exits.
pub(in crate::panel) fn save(
    state: Res<PanelState>,
    mut file: ResMut<SettingsFile>,
    time: Res<Time<Real>>,
    mut exits: MessageReader<AppExit>,
) {
    let leaving = exits.read().count() > 0;
    if state.is_changed() {
        file.touched = true;
    }
    let now = time.elapsed();
    if !file.touched || !(leaving || now >= file.tried_at + SAVE_INTERVAL) {
        return;
    }
    file.touched = false;
    file.tried_at = now;
    if let Err(error) = file.save(&state)
        && !file.warned
    {
        warn!("the panel's settings are not saved: {error}");
        file.warned = true;
    }
}

fn load(path: &Path) -> Result<PanelState, SettingsError> {
    let text = files::recall(path).map_err(|source| SettingsError::File {
        path: path.to_owned(),
        source,
    })?;
    PanelState::parse(&text).map_err(|source| SettingsError::Syntax {
        path: path.to_owned(),
        source: Box::new(source),
    })
}

fn store(path: &Path, text: &str) -> Result<(), SettingsError> {
    files::remember(path, text).map_err(|source| SettingsError::File {
        path: path.to_owned(),
        source,
    })
}

/// Minimum time between two attempts to save.
const SAVE_INTERVAL: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::panel::graph::axis::Axis;
    use crate::panel::settings::{Page, PanelSize};
    use crate::theme::Theme;

    #[test]
    fn saved_settings_are_loaded_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deep/inside/panel.ron");
        let mut state = PanelState::default();
        let mut file = SettingsFile::new(path.clone(), &state);
        file.save(&state).unwrap();
        assert!(!path.exists(), "nothing has changed");

        state.size = PanelSize::Slim;
        state.page = Page::WithoutEach;
        state.theme = Theme::Dark;
        state.scale = Some(1.5);
        state.explained = true;
        state.graph_seconds = 60;
        state.axis = Axis::Logarithmic;
        file.save(&state).unwrap();
        assert_eq!(load_or_default(&path), state);
    }

    #[test]
    fn a_missing_or_garbled_file_gives_the_defaults() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("panel.ron");
        assert_eq!(load_or_default(&path), PanelState::default());
        for garbage in ["", "(visible: perhaps)", "\u{0}\u{1}", "(((((("] {
            fs::write(&path, garbage).unwrap();
            assert_eq!(load_or_default(&path), PanelState::default());
        }
        assert_eq!(load_or_default(directory.path()), PanelState::default());
    }

    #[test]
    fn missing_and_out_of_range_values_are_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("panel.ron");
        fs::write(
            &path,
            "(page: Kinds, graph_seconds: 4000000000, scale: Some(1e9), axis: Logarithmic)",
        )
        .unwrap();
        let state = load_or_default(&path);
        assert_eq!(state.page, Page::Kinds);
        assert_eq!(state.graph_seconds, 60);
        assert_eq!((state.scale, state.size), (None, PanelSize::Whole));
        assert_eq!(state.axis, Axis::Logarithmic);
    }

    #[test]
    fn changes_are_saved_when_the_app_exits() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("panel.ron");
        let mut app = App::new();
        app.add_plugins((
            MinimalPlugins,
            crate::panel::PanelPlugin {
                settings: Some(path.clone()),
            },
        ))
        .init_resource::<ButtonInput<KeyCode>>();
        app.update();
        app.world_mut().resource_mut::<PanelState>().graph_seconds = 33;
        app.world_mut().write_message(AppExit::Success);
        app.update();
        assert_eq!(load_or_default(&path).graph_seconds, 33);
    }
}
