//! Pictures of the window's tabs and views, rendered offscreen: for documents, and to look at after a
//! change.

use std::path::{Path, PathBuf};

use bevy::prelude::*;

use super::offscreen::{Interface, OffScreen, OffScreenError};
use super::record::check_adapter;
use super::{GameError, RecordError, show_halves};
use crate::panel::{PanelSize, PanelState, Tab};
use crate::recording::video::{VideoError, write_png};
use crate::recording::{Script, ScriptPlayback};
use crate::replication::LaneSettings;
use crate::theme::Theme;
use crate::view::{Half, ShowHalf, Side, ViewMode};

/// A picture to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shot {
    /// The first part of the file's name.
    pub name: &'static str,
    tab: Tab,
    panel: PanelSize,
    view: ViewMode,
    is_explained: bool,
    is_compared: bool,
}

const LADDER: Shot = Shot {
    name: "ladder",
    tab: Tab::Ladder,
    panel: PanelSize::Whole,
    view: ViewMode::Split,
    is_explained: false,
    is_compared: false,
};

const fn tab(name: &'static str, tab: Tab) -> Shot {
    Shot {
        name,
        tab,
        ..LADDER
    }
}

const fn view(name: &'static str, view: ViewMode) -> Shot {
    Shot {
        name,
        view,
        ..LADDER
    }
}

/// Every tab and every view.
pub const SHOTS: [Shot; 14] = [
    LADDER,
    tab("stages", Tab::Stages),
    tab("bits", Tab::Bits),
    tab("network", Tab::Network),
    tab("playout", Tab::Playout),
    tab("halves", Tab::Halves),
    tab("keys", Tab::Keys),
    Shot {
        panel: PanelSize::Slim,
        ..tab("slim", Tab::Ladder)
    },
    Shot {
        panel: PanelSize::Hidden,
        ..tab("hidden", Tab::Ladder)
    },
    Shot {
        is_explained: true,
        ..tab("explained", Tab::Ladder)
    },
    view("left", ViewMode::Left),
    view("right", ViewMode::Right),
    view("overlay", ViewMode::Difference),
    Shot {
        is_compared: true,
        ..tab("compared", Tab::Halves)
    },
];

/// Why there are no pictures.
#[derive(Debug, thiserror::Error)]
pub enum ScreenshotError {
    /// There is no graphics adapter.
    #[error(transparent)]
    Adapter(#[from] RecordError),
    /// A picture cannot be drawn.
    #[error(transparent)]
    OffScreen(#[from] OffScreenError),
    /// The game cannot be set up.
    #[error(transparent)]
    Game(#[from] GameError),
    /// A picture cannot be written.
    #[error(transparent)]
    File(#[from] VideoError),
}

/// Takes the shots at one size, in every theme, after `skipped_ticks` of the script, and writes each as
/// `name-WIDTHxHEIGHT-theme.png` in `folder`. Calls `done` with the path of each.
///
/// # Errors
/// [`ScreenshotError`]
pub fn take(
    shots: &[Shot],
    size: UVec2,
    themes: &[Theme],
    (script, skipped_ticks): (&Script, u64),
    folder: &Path,
    mut done: impl FnMut(&Path),
) -> Result<(), ScreenshotError> {
    check_adapter()?;
    let mut renderer = OffScreen::new(size, FRAMES_PER_SECOND, Interface::Panel)?;
    let world = renderer.app.world_mut();
    show_halves(world, Half::Simulation, LaneSettings::default())?;
    world.insert_resource(ScriptPlayback::new(script.clone()));
    renderer.skip(skipped_ticks);
    renderer.warm_up()?;
    let mut is_compared = false;
    for shot in shots {
        if shot.is_compared != is_compared {
            is_compared = shot.is_compared;
            compare(&mut renderer, is_compared);
        }
        for &theme in themes {
            let world = renderer.app.world_mut();
            *world.resource_mut::<ViewMode>() = shot.view;
            let mut panel = world.resource_mut::<PanelState>();
            panel.tab = shot.tab;
            panel.size = shot.panel;
            panel.theme = theme;
            panel.explaining = shot.is_explained;
            // The picture follows the panel by a frame, and what egui measures by another.
            for _ in 0..SETTLING_FRAMES {
                renderer.frame()?;
            }
            let frame = renderer.frame()?;
            let path = path(folder, shot, size, theme);
            write_png(&path, size.into(), &frame)?;
            done(&path);
        }
    }
    Ok(())
}

/// Shows a second lane in the left half, or the simulation again, and plays for a while.
fn compare(renderer: &mut OffScreen, is_compared: bool) {
    let half = if is_compared {
        let stages = cubewire_codec::ladder::DELTA.stages;
        Half::Lane(LaneSettings::with_stages(stages))
    } else {
        Half::Simulation
    };
    let side = Side::Left;
    renderer.app.world_mut().trigger(ShowHalf { side, half });
    renderer.skip(COMPARED_TICKS);
}

fn path(folder: &Path, shot: &Shot, size: UVec2, theme: Theme) -> PathBuf {
    let theme = match theme {
        Theme::Light => "light",
        Theme::Dark => "dark",
    };
    let UVec2 { x, y } = size;
    folder.join(format!("{}-{x}x{y}-{theme}.png", shot.name))
}

const FRAMES_PER_SECOND: u32 = 60;
const SETTLING_FRAMES: usize = 2;
const COMPARED_TICKS: u64 = 120;
