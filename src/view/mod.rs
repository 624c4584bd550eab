//! The picture: the simulation at the left, the replica of a lane at the right.
//!
//! The view has cubes of its own, two sets of them. [`ViewPlugin`] moves them, the simulation's
//! after its states, the replica's after decoded snapshots alone, and needs no window.
//! [`AppearancePlugin`] gives them meshes, cameras, light and labels.

mod appearance;
mod camera;
mod floor;
mod overlay;
mod pictures;
mod trails;

use bevy::prelude::*;
use bevy::transform::TransformSystems;

use crate::replication::ReplicationSystems;
use crate::simulation::World as CubeWorld;

pub use appearance::AppearancePlugin;
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
        app.init_resource::<ReplicaPicture>()
            .init_resource::<ViewMode>()
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
                    pictures::show_replica,
                )
                    .chain()
                    .in_set(ViewSystems::Cubes),
            );
    }
}

/// Which of the two worlds a thing of the view belongs to.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The simulation, usually at the left.
    Simulation,
    /// The replica, usually at the right.
    Replica,
}

impl Side {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Simulation, Self::Replica];
}

/// What the window shows. V goes on to the next.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ViewMode {
    /// Both halves.
    #[default]
    Split,
    /// The simulation alone.
    Simulation,
    /// The replica alone.
    Replica,
    /// One over the other, the replica translucent.
    Difference,
}

impl ViewMode {
    /// The one after it, round and round.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Split => Self::Simulation,
            Self::Simulation => Self::Replica,
            Self::Replica => Self::Difference,
            Self::Difference => Self::Split,
        }
    }

    /// Whether the camera of that side is on.
    #[must_use]
    pub const fn shows(self, side: Side) -> bool {
        match side {
            Side::Simulation => !matches!(self, Self::Replica),
            Side::Replica => matches!(self, Self::Split | Self::Replica),
        }
    }
}
