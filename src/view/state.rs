//! The settings of the picture as one value, to show the same picture in another app.

use bevy::prelude::*;

use super::ViewMode;
use super::camera::Orbit;
use super::costs::{CubeColors, FixedScale};
use super::exaggeration::Exaggeration;
use super::quality::Quality;
use super::trails::Trails;
use crate::history::Selection;
use crate::simulation::OwnPlayer;
use crate::theme::Theme;

/// Halves, camera, colours and graphics settings of the picture at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct ViewState {
    pub mode: ViewMode,
    pub colors: CubeColors,
    pub exaggeration: Exaggeration,
    pub theme: Theme,
    pub has_trails: bool,
    pub fixed: FixedScale,
    pub quality: Quality,
    own: OwnPlayer,
    orbit: Orbit,
    selection: Selection,
}

impl ViewState {
    pub fn of(world: &World) -> Self {
        fn copy<R: Resource + Copy + Default>(world: &World) -> R {
            world.get_resource().copied().unwrap_or_default()
        }
        let trails = world.get_resource::<Trails>();
        Self {
            mode: copy(world),
            colors: copy(world),
            exaggeration: copy(world),
            theme: copy(world),
            has_trails: trails.is_some_and(|trails| trails.shown),
            orbit: copy(world),
            fixed: copy(world),
            quality: copy(world),
            own: copy(world),
            selection: Selection { hovered: None, ..copy(world) },
        }
    }

    pub fn apply(&self, world: &mut World) {
        world.insert_resource(self.mode);
        world.insert_resource(self.colors);
        world.insert_resource(self.exaggeration);
        world.insert_resource(self.theme);
        world.insert_resource(self.orbit);
        world.insert_resource(self.fixed);
        world.insert_resource(self.quality);
        world.insert_resource(self.own);
        world.insert_resource(self.selection);
        let mut trails = world.get_resource_or_init::<Trails>();
        trails.shown = self.has_trails;
    }

    /// Whether the camera was turned or moved from its initial place.
    pub fn has_turned(&self) -> bool {
        self.orbit != Orbit::default()
    }
}
