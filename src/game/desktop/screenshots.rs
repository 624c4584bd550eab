//! Pictures of the window's tabs and views, rendered offscreen: for documents, and to look at after a
//! change.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bevy::prelude::*;
use png::Compression;

use super::offscreen::{Interface, OffScreen, OffScreenError};
use super::record::RecordError;
use super::record::check_adapter;
use crate::game::{GameError, ball, katamari, right_lane, show_halves};
use crate::history::{Moment, Selection};
use crate::panel::{Page, PanelSize, PanelState, Tour};
use crate::recording::ScriptPlayback;
use crate::recording::video::{VideoError, round, write_png};
use crate::replication::Ablation;
use crate::simulation::CubeWorld;
use crate::theme::Theme;
use crate::view::{CubeColors, Notices, Side, Trails, ViewMode};

/// A picture to take.
#[derive(Clone, Copy, Debug)]
pub struct Shot {
    /// The first part of the file's name.
    pub name: &'static str,
    /// How the panel differs from its defaults.
    panel: fn(&mut PanelState),
    view: ViewMode,
    /// What the halves show, in the text form.
    halves: [&'static str; Side::ALL.len()],
    focus: Focus,
}

/// What is played and looked at, besides the panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Focus {
    /// A ball of cubes is rolled up.
    Katamari,
    /// As before; one of its cubes is selected.
    Cube,
    /// As before; a second ago is shown, and marked in the timeline.
    Past,
    /// As before, in the step of the tour with this index.
    Tour(usize),
    /// A ball rolls from side to side, with trails.
    Ball,
}

/// A shot of the simulation next to the default lane.
const fn usual(name: &'static str, panel: fn(&mut PanelState)) -> Shot {
    Shot {
        name,
        panel,
        view: ViewMode::Split,
        halves: ["simulation", "rung:changed-flags"],
        focus: Focus::Katamari,
    }
}

const fn view(name: &'static str, view: ViewMode) -> Shot {
    Shot {
        view,
        ..usual(name, |_| {})
    }
}

/// A page that needs a history of packets.
const fn cube(name: &'static str, right: &'static str, panel: fn(&mut PanelState)) -> Shot {
    Shot {
        halves: ["simulation", right],
        focus: Focus::Cube,
        ..usual(name, panel)
    }
}

/// Two kinds of interpolation.
const fn ball_rolling(name: &'static str, halves: [&'static str; Side::ALL.len()]) -> Shot {
    Shot {
        halves,
        focus: Focus::Ball,
        ..usual(name, |panel| panel.size = PanelSize::Hidden)
    }
}

/// Every tab, every view, and two steps of the tour.
pub const SHOTS: [Shot; 30] = [
    usual("ladder", |_| {}),
    usual("savings-steps", |panel| panel.page = Page::Savings),
    usual("savings-time", |panel| {
        panel.page = Page::OverTime;
    }),
    usual("savings-ablation", |panel| {
        panel.page = Page::WithoutEach;
    }),
    usual("stages", |panel| panel.page = Page::Stages),
    usual("bits", |panel| panel.page = Page::Kinds),
    Shot {
        halves: ["simulation", "rung:changed-flags,link:wi-fi-bad"],
        ..usual("network", |panel| panel.page = Page::Link)
    },
    usual("halves", |panel| panel.page = Page::Halves),
    usual("keys", |panel| panel.page = Page::Help),
    usual("slim", |panel| panel.size = PanelSize::Slim),
    usual("hidden", |panel| panel.size = PanelSize::Hidden),
    usual("explained", |panel| panel.explaining = true),
    view("left", ViewMode::Left),
    view("right", ViewMode::Right),
    view("overlay", ViewMode::Difference),
    Shot {
        halves: ["rung:delta", "rung:changed-flags"],
        ..usual("compared", |panel| panel.page = Page::Halves)
    },
    cube("ranges", "rung:changed-flags", |panel| {
        panel.page = Page::Ranges;
    }),
    cube("budget", "rung:changed-flags,budget:64kbps", |panel| {
        panel.page = Page::Budget;
    }),
    cube("packet", "rung:changed-flags", |panel| {
        panel.page = Page::Packet;
    }),
    cube("packet-arithmetic", "rung:predicted", |panel| {
        panel.page = Page::Packet;
    }),
    usual("cubes-bits", |panel| {
        (panel.page, panel.colors) = (Page::Kinds, CubeColors::Bits);
    }),
    usual("cubes-form", |panel| {
        (panel.page, panel.colors) = (Page::Kinds, CubeColors::Form);
    }),
    usual("cubes-distance", |panel| {
        (panel.page, panel.colors) = (Page::Kinds, CubeColors::Distance);
    }),
    usual("cubes-angle", |panel| {
        (panel.page, panel.colors) = (Page::Kinds, CubeColors::Angle);
    }),
    cube("cubes-wait", "rung:predicted,budget:64kbps", |panel| {
        (panel.page, panel.colors) = (Page::Packet, CubeColors::Wait);
    }),
    Shot {
        halves: ["rung:delta,link:hostile", "rung:predicted,link:wi-fi-bad"],
        focus: Focus::Past,
        ..usual("timeline", |panel| {
            (panel.page, panel.timeline) = (Page::Kinds, true);
        })
    },
    ball_rolling(
        "none-linear",
        [
            "rung:at-rest,rate:10,interpolation:none",
            "rung:at-rest,rate:10,interpolation:linear",
        ],
    ),
    ball_rolling(
        "hermite-extrapolate",
        [
            "rung:at-rest,rate:10,interpolation:hermite",
            "rung:at-rest,rate:10,interpolation:extrapolate",
        ],
    ),
    Shot {
        focus: Focus::Tour(0),
        ..usual("tour-1", |_| {})
    },
    Shot {
        halves: [
            "rung:predicted,budget:128kbps",
            "rung:predicted,budget:32kbps",
        ],
        focus: Focus::Tour(16),
        ..usual("tour-17", |panel| {
            (panel.page, panel.colors) = (Page::Link, CubeColors::Wait);
        })
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
    /// The program was told to end.
    #[error("it was stopped before the last picture")]
    Stopped,
}

/// What to take, and where to write it: each picture as `name-WIDTHxHEIGHT-theme.png`.
#[derive(Clone, Copy, Debug)]
pub struct Pictures<'a> {
    /// The shots, in that order.
    pub shots: &'a [Shot],
    /// Each in these themes.
    pub themes: &'a [Theme],
    /// Pixels.
    pub size: UVec2,
    /// An existing folder.
    pub folder: &'a Path,
}

impl Pictures<'_> {
    /// Takes them all, and calls `done` with the path of each.
    ///
    /// # Errors
    /// [`ScreenshotError`]
    pub fn take(&self, mut done: impl FnMut(&Path)) -> Result<(), ScreenshotError> {
        check_adapter()?;
        for shot in self.shots {
            let mut renderer = shot.set_up(self.size)?;
            for &theme in self.themes {
                renderer.app.world_mut().resource_mut::<PanelState>().theme = theme;
                // The picture follows the panel by a frame, and what egui measures by another.
                for _ in 0..SETTLING_FRAMES {
                    renderer.frame()?;
                }
                let frame: Vec<u8> = renderer.frame()?.into_iter().map(round).collect();
                // What was skipped may not have been played.
                if renderer.app.should_exit().is_some() {
                    return Err(ScreenshotError::Stopped);
                }
                let path = path(self.folder, shot, self.size, theme);
                write_png(&path, self.size.into(), &frame, Compression::High)?;
                done(&path);
            }
        }
        Ok(())
    }
}

impl Shot {
    /// Opens what is shown, and plays until it has figures.
    fn set_up(&self, size: UVec2) -> Result<OffScreen, ScreenshotError> {
        let (script, ticks) = match self.focus {
            Focus::Ball => (ball(), BALL_TICKS),
            _ => (katamari(), KATAMARI_TICKS),
        };
        let mut panel = PanelState::default();
        (self.panel)(&mut panel);
        let mut renderer = OffScreen::new(size, FRAMES_PER_SECOND, Interface::Panel)?;
        let world = renderer.app.world_mut();
        let [left, right] = self.halves;
        let left = left.parse().expect("a test parses it");
        let right = right_lane(right).expect("a test parses it");
        show_halves(world, left, right)?;
        world.insert_resource(ScriptPlayback::new(script));
        world.insert_resource(self.view);
        world.resource_mut::<Trails>().shown = self.focus == Focus::Ball;
        world.resource_mut::<Selection>().cube = (self.focus == Focus::Cube).then_some(CUBE);
        // How to bring back the panel is of no use in a picture.
        let mut notices = world.resource_mut::<Notices>();
        notices.hide(panel.size == PanelSize::Hidden, Duration::ZERO);
        world.insert_resource(panel);
        renderer.skip(ticks);
        renderer.warm_up()?;

        let world = renderer.app.world_mut();
        for mut ablation in world.query::<&mut Ablation>().iter_mut(world) {
            ablation.finish().map_err(GameError::from)?;
        }
        let tick = world.resource::<CubeWorld>().tick();
        world.insert_resource(Tour {
            index: match self.focus {
                Focus::Tour(index) => Some(index),
                _ => None,
            },
            plays: true,
            ..Tour::default()
        });
        if self.focus == Focus::Past {
            let past = tick - PAST_TICKS;
            world.resource_mut::<Time<Virtual>>().pause();
            world.insert_resource(Moment(Some(past)));
            let mut panel = world.resource_mut::<PanelState>();
            panel.range = Some([past - PAST_TICKS, past]);
        }
        Ok(renderer)
    }
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
const KATAMARI_TICKS: u64 = 600;
const BALL_TICKS: u64 = 900;
const PAST_TICKS: u64 = 60;
/// A cube of the ball.
const CUBE: usize = 465;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::PaneContent;

    #[test]
    fn every_half_has_the_text_form_of_one() {
        for Shot { name, halves, .. } in SHOTS {
            assert!(halves[0].parse::<PaneContent>().is_ok(), "{name}");
            assert!(right_lane(halves[1]).is_ok(), "{name}");
        }
    }
}
