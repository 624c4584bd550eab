//! Renders pictures of the window's tabs and views offscreen, for documents and for checks after a change.

use std::io;
use std::path::Path;
use std::sync::LazyLock;

use bevy::prelude::*;
use png::Compression;

use super::offscreen::{Interface, OffScreen};
use super::record::check_adapter;
use super::stop::Stopped;
use crate::files::FileError;
use crate::game::{Failure, right_lane, script_of, show_halves};
use crate::history::{Moment, Selection};
use crate::panel::{Column, Page, PanelSize, PanelState, STEPS, Scene, Tour};
use crate::recording::ScriptPlayback;
use crate::recording::video::{round, write_png};
use crate::simulation::CubeWorld;
use crate::theme::Theme;
use crate::view::{CubeColors, Side, Trails, ViewMode};

#[derive(Clone, Copy, Debug)]
pub struct Shot {
    /// First part of the file name.
    pub name: &'static str,
    page: Page,
    colors: CubeColors,
    /// Further changes of the panel from its defaults.
    panel: fn(&mut PanelState),
    view: ViewMode,
    halves: [&'static str; Side::ALL.len()],
    focus: Focus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Focus {
    Katamari,
    /// As `Katamari`, with a selected cube.
    Cube,
    /// As `Cube`, paused one second in the past, which the timeline marks.
    Past,
    /// The scene of the tour step with this index, or of the last step for the final card.
    Tour(usize),
    /// A ball rolls from side to side, with trails.
    Ball,
}

/// A page of the panel next to the simulation and the default lane.
const fn page(name: &'static str, page: Page) -> Shot {
    halves(name, ["simulation", "rung:changed-flags"], page)
}

const fn halves(name: &'static str, halves: [&'static str; Side::ALL.len()], page: Page) -> Shot {
    Shot {
        name,
        page,
        colors: CubeColors::Interaction,
        // Show the whole panel, even in a narrow picture.
        panel: |it| it.size_if_narrow = Some(PanelSize::Whole),
        view: ViewMode::Split,
        halves,
        focus: Focus::Katamari,
    }
}

const fn colors(name: &'static str, colors: CubeColors) -> Shot {
    Shot { colors, ..page(name, Page::Kinds) }
}

const fn panel(name: &'static str, panel: fn(&mut PanelState)) -> Shot {
    Shot { panel, ..page(name, Page::Ladder) }
}

const fn show(state: &mut PanelState, column: Column) {
    state.column = column;
    state.size_if_narrow = Some(PanelSize::Whole);
}

const fn view(name: &'static str, view: ViewMode) -> Shot {
    Shot { view, ..panel(name, |_| {}) }
}

/// A page that needs a history of packets of a selected cube.
const fn cube(name: &'static str, right: &'static str, page: Page) -> Shot {
    Shot { focus: Focus::Cube, ..halves(name, ["simulation", right], page) }
}

const fn ball_rolling(name: &'static str, kinds: [&'static str; Side::ALL.len()]) -> Shot {
    Shot {
        panel: |it| it.size = PanelSize::Hidden,
        focus: Focus::Ball,
        ..halves(name, kinds, Page::Ladder)
    }
}

fn step(index: usize) -> Shot {
    let step = STEPS.get(index).unwrap_or(&STEPS[STEPS.len() - 1]);
    let name = match index < STEPS.len() {
        // Leaks once, because the list is created once.
        true => format!("tour-{}", index + 1).leak(),
        false => "tour-end",
    };
    Shot {
        focus: Focus::Tour(index),
        colors: step.colors,
        panel: |_| {},
        view: step.view,
        ..halves(name, [step.left, step.right], step.page)
    }
}

/// Every tab, every view, and every step of the tour.
pub static SHOTS: LazyLock<Vec<Shot>> = LazyLock::new(|| {
    let steps = (0..=STEPS.len()).map(step);
    TABS_AND_VIEWS.into_iter().chain(steps).collect()
});

const TABS_AND_VIEWS: [Shot; 27] = [
    page("ladder", Page::Ladder),
    panel("ladder-savings", |it| show(it, Column::Savings)),
    panel("ladder-without", |it| show(it, Column::Without)),
    panel("ladder-time", |it| show(it, Column::OverTime)),
    page("stages", Page::Stages),
    page("bits", Page::Kinds),
    halves("network", ["simulation", "rung:changed-flags,link:wi-fi-bad"], Page::Link),
    page("halves", Page::Halves),
    page("keys", Page::Help),
    panel("slim", |it| it.size = PanelSize::Slim),
    panel("hidden", |it| it.size = PanelSize::Hidden),
    panel("explained", |it| it.explaining = true),
    view("left", ViewMode::Left),
    view("right", ViewMode::Right),
    view("overlay", ViewMode::Difference),
    halves("compared", ["rung:delta", "rung:changed-flags"], Page::Halves),
    cube("ranges", "rung:changed-flags", Page::Ranges),
    cube("budget", "rung:changed-flags,budget:32kbps", Page::Budget),
    cube("packet", "rung:changed-flags", Page::Packet),
    cube("packet-arithmetic", "rung:predicted", Page::Packet),
    colors("cubes-bits", CubeColors::Bits),
    colors("cubes-form", CubeColors::Form),
    colors("cubes-distance", CubeColors::Distance),
    Shot {
        colors: CubeColors::Wait,
        ..cube("cubes-wait", "rung:predicted,budget:64kbps", Page::Packet)
    },
    Shot {
        panel: |it| it.timeline = true,
        focus: Focus::Past,
        ..halves(
            "timeline",
            ["rung:delta,link:hostile", "rung:predicted,link:wi-fi-bad"],
            Page::Kinds,
        )
    },
    ball_rolling("none-linear", [NONE, LINEAR]),
    ball_rolling("hermite-extrapolate", [HERMITE, EXTRAPOLATE]),
];

/// Lanes with each kind of interpolation.
const NONE: &str = "rung:at-rest,rate:10,interpolation:none";
const LINEAR: &str = "rung:at-rest,rate:10,interpolation:linear";
const HERMITE: &str = "rung:at-rest,rate:10,interpolation:hermite";
const EXTRAPOLATE: &str = "rung:at-rest,rate:10,interpolation:extrapolate";

impl Shot {
    /// Renders a picture in each theme to an existing folder, as `name-WIDTHxHEIGHT-theme.png`, and calls `done` with its
    /// path.
    ///
    /// # Errors
    /// If there is no adapter, or a picture cannot be drawn or written. [`Stopped`] if the program receives a signal. Any
    /// error of `done`.
    pub fn take(
        &self,
        themes: &[Theme],
        size: UVec2,
        folder: &Path,
        mut done: impl FnMut(&Path) -> io::Result<()>,
    ) -> Result<(), Failure> {
        check_adapter()?;
        let mut renderer = self.set_up(size)?;
        for &theme in themes {
            renderer.app.world_mut().resource_mut::<PanelState>().theme = theme;
            // The layout follows the panel's state one frame later, and egui's measurements take another frame.
            for _ in 0..SETTLING_FRAMES {
                renderer.frame()?;
            }
            let frame: Vec<u8> = renderer.frame()?.into_iter().map(round).collect();
            // A signal may have cut the skipped ticks short.
            if renderer.app.should_exit().is_some() {
                return Err(Stopped("the last picture").into());
            }
            let theme = match theme {
                Theme::Light => "light",
                Theme::Dark => "dark",
            };
            let UVec2 { x, y } = size;
            let path = folder.join(format!("{}-{x}x{y}-{theme}.png", self.name));
            let written = write_png(&path, size.into(), &frame, Compression::High);
            written.map_err(FileError::at(&path))?;
            done(&path)?;
        }
        Ok(())
    }

    /// Sets up the game and plays until the panel has measurements.
    fn set_up(&self, size: UVec2) -> Result<OffScreen, Failure> {
        let step = match self.focus {
            Focus::Tour(index) => STEPS.get(index).or(STEPS.last()),
            _ => None,
        };
        let scene = match self.focus {
            Focus::Ball => Scene::Ball,
            _ => step.map_or(Scene::Katamari, |step| step.scene),
        };
        let ticks = match scene {
            Scene::Ball => BALL_TICKS,
            Scene::Katamari | Scene::Rolling => KATAMARI_TICKS,
        };
        let mut panel = PanelState::default();
        (panel.page, panel.colors) = (self.page, self.colors);
        (self.panel)(&mut panel);
        let mut renderer = OffScreen::new(size, FRAMES_PER_SECOND, Interface::Panel)?;
        let world = renderer.app.world_mut();
        let [left, right] = self.halves;
        let left = left.parse().expect("a test parses it");
        let right = right_lane(right).expect("a test parses it");
        show_halves(world, left, right)?;
        world.insert_resource(ScriptPlayback::new(script_of(scene)));
        world.insert_resource(self.view);
        let has_trails = self.focus == Focus::Ball || step.is_some_and(|step| step.has_trails);
        world.resource_mut::<Trails>().shown = has_trails;
        world.resource_mut::<Selection>().cube = (self.focus == Focus::Cube).then_some(CUBE);
        world.insert_resource(panel);
        renderer.skip(ticks);
        renderer.warm_up()?;

        let world = renderer.app.world_mut();
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
        for Shot { name, halves, .. } in &*SHOTS {
            assert!(halves[0].parse::<PaneContent>().is_ok(), "{name}");
            assert!(right_lane(halves[1]).is_ok(), "{name}");
        }
    }
}
