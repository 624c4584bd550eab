//! The picture: the simulation at the left, or a lane's replica; a lane's replica at the right.
//!
//! The view has cubes of its own, a set for each half. [`ViewPlugin`] moves them, the simulation's
//! after its states, a replica's after decoded snapshots alone, and needs no window.
//! [`AppearancePlugin`] gives them meshes, cameras, light and labels, on a [`Canvas`]: a window or an
//! image.

mod appearance;
mod camera;
mod canvas;
mod floor;
mod halves;
mod notices;
mod overlay;
mod pictures;
mod trails;

use bevy::prelude::*;
use bevy::transform::TransformSystems;

use crate::replication::{ReplicationSystems, Side};
use crate::simulation::World as CubeWorld;

pub use appearance::AppearancePlugin;
pub use canvas::Canvas;
pub(crate) use halves::lane_in;
pub use halves::{select, show};
pub use notices::Notices;
pub use overlay::{Overlay, Part};
pub use pictures::{ReplicaPicture, ViewCube};
pub use trails::Trails;

/// When the view does what, in [`PostUpdate`], before transforms are propagated.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViewSystems {
    /// The cubes go where they are due.
    Cubes,
    /// What depends on where they are.
    Follow,
}

/// Moves the cubes of both halves.
#[derive(Debug)]
pub struct ViewPlugin;

impl Plugin for ViewPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<ViewMode>()
            .init_resource::<Trails>()
            .configure_sets(
                PostUpdate,
                (ViewSystems::Cubes, ViewSystems::Follow)
                    .chain()
                    .before(TransformSystems::Propagate),
            )
            .add_systems(Startup, pictures::spawn)
            .add_systems(
                FixedUpdate,
                trails::record.after(ReplicationSystems::Observe),
            )
            .add_systems(
                PostUpdate,
                (
                    pictures::show_simulation.run_if(resource_exists::<CubeWorld>),
                    pictures::show_replicas,
                )
                    .chain()
                    .in_set(ViewSystems::Cubes),
            );
    }
}

/// What the window shows. V goes on to the next.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ViewMode {
    /// Both halves.
    #[default]
    Split,
    /// The left half alone.
    Left,
    /// The right half alone.
    Right,
    /// One over the other, the right one translucent.
    Difference,
}

impl ViewMode {
    /// The one after it, round and round.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Split => Self::Left,
            Self::Left => Self::Right,
            Self::Right => Self::Difference,
            Self::Difference => Self::Split,
        }
    }

    /// Whether the camera of that side is on.
    #[must_use]
    pub const fn shows(self, side: Side) -> bool {
        match side {
            Side::Left => !matches!(self, Self::Right),
            Side::Right => matches!(self, Self::Split | Self::Right),
        }
    }
}
