//! The RON file that keeps the state of the panel between runs.
//!
//! A missing or invalid file gives the defaults.

use std::io;
use std::path::{Path, PathBuf};

use bevy::log::{warn, warn_once};
use bevy::prelude::*;

use super::PanelState;
use crate::files;

#[derive(Resource, Debug)]
pub(crate) struct SettingsFile {
    pub(crate) path: PathBuf,
    saved: String,
}

impl SettingsFile {
    pub(crate) fn new(path: PathBuf, loaded: &PanelState) -> Self {
        Self { path, saved: loaded.to_text().unwrap_or_default() }
    }

    fn save(&mut self, state: &PanelState) -> io::Result<()> {
        let text = state.to_text().map_err(io::Error::other)?;
        if text != self.saved {
            files::remember(&self.path, &text)?;
            self.saved = text;
        }
        Ok(())
    }
}

/// Loads the settings. Returns the defaults if the file is missing or invalid. Logs a warning if it is invalid.
pub(crate) fn load_or_default(path: &Path) -> PanelState {
    let text = files::recall(path);
    let state = text.and_then(|text| PanelState::parse(&text).map_err(io::Error::other));
    state.unwrap_or_else(|error| {
        if error.kind() != io::ErrorKind::NotFound {
            let path = path.display();
            warn!("the panel starts with its defaults: {path}: {error}");
        }
        PanelState::default()
    })
}

pub(crate) fn save(state: Res<PanelState>, mut file: ResMut<SettingsFile>) {
    if let Err(error) = file.save(&state) {
        let path = file.path.display();
        warn_once!("the panel's settings are not saved: {path}: {error}");
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::panel::settings::{Column, GraphSeconds, Page, PanelSize};
    use crate::theme::Theme;
    use cubewire_inspector::graph::Axis;

    #[test]
    fn saved_settings_are_loaded_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deep/inside/panel.ron");
        let default = PanelState::default();
        let mut file = SettingsFile::new(path.clone(), &default);
        file.save(&default).unwrap();
        assert!(!path.exists(), "nothing has changed");
        let state = PanelState {
            size: PanelSize::Slim,
            page: Page::Kinds,
            column: Column::Without,
            theme: Theme::Dark,
            scale: Some(1.5),
            explained: true,
            graph_seconds: GraphSeconds(60),
            axis: Axis::Logarithmic,
            ..default
        };
        file.save(&state).unwrap();
        assert_eq!(load_or_default(&path), state);
    }

    #[test]
    fn missing_garbled_or_extreme_settings_are_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("panel.ron");
        assert_eq!(load_or_default(&path), PanelState::default());
        assert_eq!(load_or_default(directory.path()), PanelState::default());
        for garbage in ["", "(visible: perhaps)", "\u{0}\u{1}", "(((((("] {
            fs::write(&path, garbage).unwrap();
            assert_eq!(load_or_default(&path), PanelState::default());
        }
        let bounded = "(page: OverTime, column: OverTime, theme: Dark, graph_seconds: 4000000000, scale: Some(1e9))";
        fs::write(&path, bounded).unwrap();
        let expected = PanelState {
            page: Page::Ladder,
            theme: Theme::Dark,
            graph_seconds: GraphSeconds(60),
            ..PanelState::default()
        };
        assert_eq!(load_or_default(&path), expected);
    }

    #[test]
    fn changes_are_saved_when_the_app_exits() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("panel.ron");
        let mut app = App::new();
        app.add_plugins((
            MinimalPlugins,
            crate::panel::PanelPlugin { settings: Some(path.clone()) },
        ))
        .init_resource::<ButtonInput<KeyCode>>();
        app.update();
        app.world_mut().resource_mut::<PanelState>().graph_seconds.0 = 33;
        app.world_mut().write_message(AppExit::Success);
        app.update();
        assert_eq!(load_or_default(&path).graph_seconds.0, 33);
    }
}
