//! Pictures of the window's tabs and views, rendered offscreen: for documents, and to look at after a
//! change.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bevy::prelude::*;

use super::RecordError;
use super::offscreen::{Interface, OffScreen, OffScreenError};
use super::record::check_adapter;
use crate::game::{GameError, ball, rolling, show_halves};
use crate::history::{Moment, Selection};
use crate::panel::{PanelSize, PanelState, STEPS, SavingsView, Scene, Tab, Tour};
use crate::recording::video::{Colours, VideoError, write_png};
use crate::recording::{Script, ScriptPlayback};
use crate::replication::{Ablation, Divergence, LaneSettings};
use crate::simulation::{CubeWorld, ResetSimulation};
use crate::theme::Theme;
use crate::view::{CubeColors, Half, Notices, ShowHalf, Side, Trails, ViewMode};

/// A picture to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shot {
    /// The first part of the file's name.
    pub name: &'static str,
    tab: Tab,
    savings: SavingsView,
    panel: PanelSize,
    view: ViewMode,
    is_explained: bool,
    has_trails: bool,
    /// Whether a cube is selected, after the page was open for a while.
    is_inspected: bool,
    colors: CubeColors,
    /// Whether the timeline is shown, with the totals of a second, and its end in the views.
    is_past: bool,
    /// The place of the tour's step that is shown.
    tour: Option<usize>,
    /// What is played.
    scene: Scene,
    /// What the halves show, in the text form.
    halves: [&'static str; Side::ALL.len()],
}

const USUAL_HALVES: [&str; Side::ALL.len()] = ["simulation", "rung:changed-flags"];

const LADDER: Shot = Shot {
    name: "ladder",
    tab: Tab::Ladder,
    savings: SavingsView::Steps,
    panel: PanelSize::Whole,
    view: ViewMode::Split,
    is_explained: false,
    has_trails: false,
    is_inspected: false,
    colors: CubeColors::Interaction,
    is_past: false,
    tour: None,
    scene: Scene::Katamari,
    halves: USUAL_HALVES,
};

const fn tab(name: &'static str, tab: Tab) -> Shot {
    Shot {
        name,
        tab,
        ..LADDER
    }
}

const fn savings(name: &'static str, savings: SavingsView) -> Shot {
    Shot {
        savings,
        ..tab(name, Tab::Savings)
    }
}

const fn view(name: &'static str, view: ViewMode) -> Shot {
    Shot {
        name,
        view,
        ..LADDER
    }
}

/// A page that needs a history of packets.
const fn inspected(name: &'static str, tab: Tab, halves: [&'static str; Side::ALL.len()]) -> Shot {
    Shot {
        halves,
        is_inspected: true,
        ..self::tab(name, tab)
    }
}

const fn cubes(name: &'static str, colors: CubeColors) -> Shot {
    Shot {
        colors,
        ..tab(name, Tab::Bits)
    }
}

/// Two kinds of interpolation at ten snapshots a second, with trails.
const fn interpolation(name: &'static str, halves: [&'static str; Side::ALL.len()]) -> Shot {
    Shot {
        name,
        panel: PanelSize::Hidden,
        has_trails: true,
        scene: Scene::Ball,
        halves,
        ..LADDER
    }
}

/// Every tab, every view, and the first step of the tour.
#[must_use]
pub fn usual_shots() -> Vec<Shot> {
    let mut shots = shots();
    shots.truncate(SHOTS.len() + 1);
    shots
}

/// Every tab, every view, and every step of the tour.
#[must_use]
pub fn shots() -> Vec<Shot> {
    let steps = STEPS.iter().zip(STEP_NAMES).enumerate();
    let steps = steps.map(|(place, (step, name))| Shot {
        tour: Some(place),
        has_trails: step.has_trails,
        colors: step.colors,
        scene: step.scene,
        halves: [step.left, step.right],
        ..tab(name, step.tab)
    });
    SHOTS.into_iter().chain(steps).collect()
}

const STEP_NAMES: [&str; STEPS.len()] = [
    "tour-1", "tour-2", "tour-3", "tour-4", "tour-5", "tour-6", "tour-7", "tour-8", "tour-9",
    "tour-10", "tour-11", "tour-12", "tour-13", "tour-14", "tour-15", "tour-16",
];

/// Every tab and every view.
const SHOTS: [Shot; 27] = [
    LADDER,
    savings("savings-steps", SavingsView::Steps),
    savings("savings-time", SavingsView::OverTime),
    savings("savings-ablation", SavingsView::Ablation),
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
        halves: ["rung:delta", "rung:changed-flags"],
        ..tab("compared", Tab::Halves)
    },
    inspected("ranges", Tab::Ranges, USUAL_HALVES),
    inspected("packet", Tab::Packet, USUAL_HALVES),
    inspected(
        "packet-arithmetic",
        Tab::Packet,
        ["simulation", "rung:predicted"],
    ),
    cubes("cubes-bits", CubeColors::Bits),
    cubes("cubes-form", CubeColors::Form),
    cubes("cubes-distance", CubeColors::Distance),
    cubes("cubes-angle", CubeColors::Angle),
    Shot {
        is_past: true,
        halves: ["rung:delta,link:hostile", "rung:predicted,link:wi-fi-bad"],
        ..tab("timeline", Tab::Bits)
    },
    interpolation(
        "none-linear",
        [
            "rung:at-rest,rate:10,interpolation:none",
            "rung:at-rest,rate:10,interpolation:linear",
        ],
    ),
    interpolation(
        "hermite-extrapolate",
        [
            "rung:at-rest,rate:10,interpolation:hermite",
            "rung:at-rest,rate:10,interpolation:extrapolate",
        ],
    ),
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
    /// What is played, and how many ticks of it before.
    pub script: &'a Script,
    /// See [`script`](Self::script).
    pub skipped_ticks: u64,
    /// An existing folder.
    pub folder: &'a Path,
    /// How many colours a picture may have.
    pub colours: Colours,
}

impl Pictures<'_> {
    /// Takes them all, and calls `done` with the path of each.
    ///
    /// # Errors
    /// [`ScreenshotError`]
    pub fn take(&self, mut done: impl FnMut(&Path)) -> Result<(), ScreenshotError> {
        check_adapter()?;
        let mut renderer = OffScreen::new(self.size, FRAMES_PER_SECOND, Interface::Panel)?;
        let world = renderer.app.world_mut();
        show_halves(world, Half::Simulation, LaneSettings::default())?;
        world.insert_resource(ScriptPlayback::new(self.script.clone()));
        renderer.skip(self.skipped_ticks);
        renderer.warm_up()?;
        let mut before = LADDER;
        for shot in self.shots {
            self.set_up(&mut renderer, shot, &before)?;
            before = *shot;
            for &theme in self.themes {
                let frame = draw(&mut renderer, shot, theme)?;
                // What was skipped may not have been played.
                if renderer.app.should_exit().is_some() {
                    return Err(ScreenshotError::Stopped);
                }
                let path = path(self.folder, shot, self.size, theme);
                write_png(&path, self.size.into(), &frame, self.colours)?;
                done(&path);
            }
        }
        Ok(())
    }

    /// Opens what the shot shows, and plays until it has figures.
    fn set_up(
        &self,
        renderer: &mut OffScreen,
        shot: &Shot,
        before: &Shot,
    ) -> Result<(), ScreenshotError> {
        let world = renderer.app.world_mut();
        world.resource_mut::<Trails>().shown = shot.has_trails;
        let mut panel = world.resource_mut::<PanelState>();
        panel.timeline = shot.is_past;
        panel.colors = shot.colors;
        // What is measured only while it is in sight.
        panel.tab = shot.tab;
        panel.savings = shot.savings;
        panel.size = shot.panel;
        world.resource_mut::<Time<Virtual>>().unpause();
        // Paths to look at are the same whatever was played before.
        if shot.scene != before.scene || shot.has_trails {
            world.write_message(ResetSimulation);
            let (script, ticks) = match shot.scene {
                Scene::Katamari => (self.script.clone(), self.skipped_ticks),
                Scene::Rolling => (rolling(), ROLLING_TICKS),
                Scene::Ball => (ball(), BALL_TICKS),
            };
            world.insert_resource(ScriptPlayback::new(script));
            show(renderer, shot.halves);
            renderer.skip(ticks);
        } else if shot.halves != before.halves {
            show(renderer, shot.halves);
        }
        let world = renderer.app.world_mut();
        world.resource_mut::<Selection>().cube = shot.is_inspected.then_some(CUBE);
        if shot.is_inspected {
            renderer.frame()?;
            renderer.skip(SHOWN_TICKS);
        } else if shot.colors != before.colors {
            renderer.frame()?;
            renderer.skip(COST_TICKS);
        }
        if shot.savings == SavingsView::Ablation {
            ablate(renderer)?;
        }
        if shot.is_past {
            renderer.skip(SHOWN_TICKS);
            let world = renderer.app.world_mut();
            let past = world.resource::<CubeWorld>().tick() - PAST_TICKS;
            world.resource_mut::<Time<Virtual>>().pause();
            *world.resource_mut::<Moment>() = Moment(Some(past));
            let mut panel = world.resource_mut::<PanelState>();
            panel.mark_range([past - PAST_TICKS, past]);
        }
        Ok(())
    }
}

/// Draws a shot that is set up.
fn draw(renderer: &mut OffScreen, shot: &Shot, theme: Theme) -> Result<Vec<u8>, OffScreenError> {
    let world = renderer.app.world_mut();
    *world.resource_mut::<ViewMode>() = shot.view;
    let errors_m = errors(world);
    world.insert_resource(Tour {
        place: shot.tour,
        plays: true,
        errors_m,
        ..Tour::default()
    });
    let mut panel = world.resource_mut::<PanelState>();
    panel.theme = theme;
    panel.explaining = shot.is_explained;
    // How to bring back the panel is of no use in a picture.
    let mut notices = world.resource_mut::<Notices>();
    notices.hide(shot.panel == PanelSize::Hidden, Duration::ZERO);
    // The picture follows the panel by a frame, and what egui measures by another.
    for _ in 0..SETTLING_FRAMES {
        renderer.frame()?;
    }
    renderer.frame()
}

/// How far the red cubes of each half that shows a lane are from the simulation's, metres.
fn errors(world: &mut World) -> [Option<f64>; Side::ALL.len()] {
    let mut lanes = world.query::<(&Side, &Divergence)>();
    Side::ALL.map(|side| {
        let (_, divergence) = lanes.iter(world).find(|(half, _)| **half == side)?;
        divergence.tick.map(|_| divergence.mean_m.into())
    })
}

/// Changes the halves, and plays for a while.
fn show(renderer: &mut OffScreen, halves: [&str; Side::ALL.len()]) {
    for (side, half) in Side::ALL.into_iter().zip(halves) {
        let half = half.parse().expect("a test parses it");
        renderer.app.world_mut().trigger(ShowHalf { side, half });
    }
    renderer.skip(SHOWN_TICKS);
}

/// Plays until the ablation, which is in sight, has figures.
fn ablate(renderer: &mut OffScreen) -> Result<(), ScreenshotError> {
    renderer.frame()?;
    for _ in 0..SHOWN_TICKS.div_ceil(COST_TICKS) {
        renderer.skip(COST_TICKS);
        let world = renderer.app.world_mut();
        for mut ablation in world.query::<&mut Ablation>().iter_mut(world) {
            ablation.finish().map_err(GameError::from)?;
        }
    }
    Ok(())
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
const SHOWN_TICKS: u64 = 120;
const COST_TICKS: u64 = 12;
/// A cube of the ball.
const CUBE: usize = 465;
const PAST_TICKS: u64 = 60;
const BALL_TICKS: u64 = 780;
const ROLLING_TICKS: u64 = 240;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_has_the_text_form_of_one() {
        for shot in shots() {
            for half in shot.halves {
                assert!(half.parse::<Half>().is_ok(), "{}: {half}", shot.name);
            }
        }
    }
}
