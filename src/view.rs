//! Draws the simulation or a lane's replica in the left half of the window, and a lane's replica in the right half.
//!
//! The view has one set of cubes per half, separate from the simulated bodies. [`ViewPlugin`] moves them and needs no
//! window. Cubes of a replica follow decoded snapshots only. [`AppearancePlugin`] adds meshes, cameras, light and
//! labels on a [`Canvas`], which is a window or an image.

mod appearance;
mod bevel;
mod camera;
mod canvas;
mod compose;
mod costs;
mod cubes;
mod exaggeration;
mod floor;
mod halves;
mod notices;
mod overlay;
mod panes;
mod picking;
mod player;
mod quality;
mod side;
mod stage;
mod state;
mod surface;
mod touch;
mod trails;

use bevy::prelude::*;
use bevy::transform::TransformSystems;
use bevy_egui::EguiPostUpdateSet;

use crate::controls::Action;
use crate::history::{HistoryPlugin, HistorySystems};
use crate::replication::ReplicationSystems;
use crate::simulation::{CubeWorld, OwnPlayer};

pub use appearance::AppearancePlugin;
pub use camera::settle_cameras;
pub use canvas::Canvas;
pub use costs::{CubeColors, FixedScale};
pub use cubes::{DisplayedTicks, ViewCube, shown_at};
pub use exaggeration::Exaggeration;
pub use halves::{content, lane_in, select_half, show};
pub use notices::{FilmProgress, Notices};
pub use overlay::{Card, Column, Curves, Flag, Overlay, Part, common, title_of_halves};
#[cfg(not(target_family = "wasm"))]
pub(crate) use panes::GAP;
pub use quality::Quality;
pub use side::{Halves, PaneContent, Selected, Side};
pub use state::ViewState;
pub use touch::{TouchKeys, held};
pub use trails::Trails;

/// System sets of the view in [`PostUpdate`], in this order, before transforms are propagated.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViewSystems {
    Cubes,
    Follow,
    /// Draws text over the scene, in [`EguiPrimaryContextPass`](bevy_egui::EguiPrimaryContextPass).
    Overlay,
}

/// Margins of the window that the panel covers, in logical points.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq)]
pub struct Inset {
    pub right: f32,
    pub bottom: f32,
}

impl Inset {
    /// Whether `point` lies under the inset in a window of size `window`, all in logical points.
    pub fn covers(self, point: Vec2, window: Vec2) -> bool {
        point.x >= window.x - self.right || point.y >= window.y - self.bottom
    }

    pub fn scaled(self, factor: f32) -> Self {
        Self { right: self.right * factor, bottom: self.bottom * factor }
    }
}

pub struct ViewPlugin;

impl Plugin for ViewPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<HistoryPlugin>() {
            app.add_plugins(HistoryPlugin);
        }
        app.init_resource::<ViewMode>()
            .init_resource::<Trails>()
            .init_resource::<Exaggeration>()
            .init_resource::<Inset>()
            .init_resource::<CubeColors>()
            .init_resource::<FixedScale>()
            .init_resource::<costs::Costs>()
            .add_systems(PreUpdate, costs::want_history.before(HistorySystems))
            .add_observer(on_action)
            .configure_sets(
                PostUpdate,
                (ViewSystems::Cubes, ViewSystems::Follow)
                    .chain()
                    .before(TransformSystems::Propagate)
                    .before(EguiPostUpdateSet::EndPass),
            )
            .init_resource::<OwnPlayer>()
            .add_systems(Startup, cubes::spawn)
            .add_systems(PreUpdate, cubes::spawn.after(HistorySystems))
            .add_systems(FixedUpdate, trails::record.after(ReplicationSystems::Observe))
            .add_systems(
                PostUpdate,
                (
                    cubes::show_replicas.run_if(cubes::is_present),
                    cubes::show_simulation
                        .run_if(resource_exists::<CubeWorld>.and_then(cubes::is_present)),
                    cubes::show_past,
                    costs::measure,
                )
                    .chain()
                    .in_set(ViewSystems::Cubes),
            )
            .add_systems(
                PostUpdate,
                exaggeration::exaggerate.in_set(ViewSystems::Follow).run_if(exaggeration::is_on),
            );
    }
}

/// Which halves are shown, and how they are laid out.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ViewMode {
    #[default]
    Split,
    Left,
    Right,
    /// Both halves over each other at the same tick. A cube of the right half is outlined over the left one if it moves
    /// or differs.
    Difference,
}

impl ViewMode {
    /// In the order of the key.
    const ALL: [Self; 4] = [Self::Split, Self::Left, Self::Right, Self::Difference];

    pub const fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }

    /// Whether only one half is shown.
    pub const fn is_single(self) -> bool {
        matches!(self, Self::Left | Self::Right)
    }

    pub const fn shows(self, side: Side) -> bool {
        match side {
            Side::Left => !matches!(self, Self::Right),
            Side::Right => matches!(self, Self::Split | Self::Right),
        }
    }
}

const fn visibility(is_shown: bool) -> Visibility {
    if is_shown { Visibility::Inherited } else { Visibility::Hidden }
}

fn on_action(
    action: On<Action>,
    simulation: Option<Res<CubeWorld>>,
    mut mode: ResMut<ViewMode>,
    mut trails: ResMut<Trails>,
    mut exaggeration: ResMut<Exaggeration>,
    orbit: Option<ResMut<camera::Orbit>>,
) {
    match *action {
        // A viewer of a remote server has no simulation for the left half.
        Action::NextView if simulation.is_some() => *mode = mode.next(),
        Action::Exaggerate if simulation.is_some() => *exaggeration = exaggeration.next(),
        Action::ResetCamera => {
            if let Some(mut orbit) = orbit {
                *orbit = camera::Orbit::default();
            }
        }
        Action::Trails => trails.shown = !trails.shown,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use bevy::math::vec2;

    use super::*;

    #[test]
    fn home_turns_the_cameras_back() {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, ViewPlugin)).init_resource::<camera::Orbit>();
        let mut orbit = app.world_mut().resource_mut::<camera::Orbit>();
        orbit.drag(vec2(100.0, 10.0));
        assert_ne!(*orbit, camera::Orbit::default());
        app.world_mut().trigger(Action::ResetCamera);
        let orbit = app.world().resource::<camera::Orbit>();
        assert_eq!(*orbit, camera::Orbit::default());
    }

    #[test]
    fn the_inset_covers_the_right_and_the_bottom_edge() {
        let window = vec2(1280.0, 720.0);
        let right = Inset { right: 300.0, bottom: 0.0 };
        assert!(right.covers(vec2(980.0, 10.0), window));
        assert!(!right.covers(vec2(979.0, 719.0), window));
        let bottom = Inset { right: 0.0, bottom: 50.0 };
        assert!(bottom.covers(vec2(10.0, 670.0), window));
        assert!(!bottom.covers(vec2(1279.0, 669.0), window));
        assert_eq!(bottom.scaled(2.0).bottom, 100.0);
    }
}
