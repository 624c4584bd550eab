//! A world that owns its sets.

use std::fmt;

use cubewire_codec::Snapshot;
use cubewire_scene::{DENSITY, FRICTION, Keys};
use glam::Vec3;
use rapier3d::prelude::{
    CCDSolver, ColliderBuilder, ColliderSet, DefaultBroadPhase, ImpulseJointSet, IslandManager,
    MultibodyJointSet, NarrowPhase, PhysicsPipeline, RigidBodyBuilder, RigidBodyHandle,
    RigidBodySet, SharedShape,
};

use crate::solids::{LOOK_AHEAD, Solid, set_rest_thresholds, solids};
use crate::step::{SceneState, Sets};

/// What moves a world in one tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Input {
    /// Whether the scene starts anew before the tick.
    pub resets: bool,
    /// The keys that are held during the tick.
    pub keys: Keys,
}

/// The whole scene. A clone goes on exactly as the original does.
pub struct World {
    scene: SceneState,
    islands: IslandManager,
    broad_phase: DefaultBroadPhase,
    narrow_phase: NarrowPhase,
    bodies: RigidBodySet,
    colliders: ColliderSet,
    impulse_joints: ImpulseJointSet,
    multibody_joints: MultibodyJointSet,
    ccd_solver: CCDSolver,
    pipeline: PhysicsPipeline,
}

impl World {
    /// The world before its first tick.
    #[must_use]
    pub fn new() -> Self {
        let mut bodies = RigidBodySet::new();
        let mut colliders = ColliderSet::new();
        let mut handles = Vec::new();
        for solid in solids() {
            let collider = match solid {
                Solid::Floor => ColliderBuilder::new(SharedShape::halfspace(Vec3::Z)),
                Solid::Wall { centre, half } => {
                    ColliderBuilder::cuboid(half.x, half.y, half.z).translation(centre)
                }
                Solid::Cube { half, .. } => {
                    ColliderBuilder::cuboid(half, half, half).density(DENSITY)
                }
            };
            let collider = collider.friction(FRICTION).restitution(0.0);
            if let Solid::Cube { centre, .. } = solid {
                let mut body = RigidBodyBuilder::dynamic()
                    .translation(centre)
                    .soft_ccd_prediction(LOOK_AHEAD)
                    .build();
                set_rest_thresholds(&mut body);
                let body = bodies.insert(body);
                colliders.insert_with_parent(collider, body, &mut bodies);
                handles.push(body);
            } else {
                colliders.insert(collider);
            }
        }
        Self {
            scene: SceneState::new(handles),
            islands: IslandManager::new(),
            broad_phase: DefaultBroadPhase::new(),
            narrow_phase: NarrowPhase::new(),
            bodies,
            colliders,
            impulse_joints: ImpulseJointSet::new(),
            multibody_joints: MultibodyJointSet::new(),
            ccd_solver: CCDSolver::new(),
            pipeline: PhysicsPipeline::new(),
        }
    }

    /// Simulates one tick with the keys that are held during it.
    pub fn step(&mut self, keys: Keys) {
        let mut sets = Sets {
            islands: &mut self.islands,
            broad_phase: &mut self.broad_phase,
            narrow_phase: &mut self.narrow_phase,
            bodies: &mut self.bodies,
            colliders: &mut self.colliders,
            impulse_joints: &mut self.impulse_joints,
            multibody_joints: &mut self.multibody_joints,
            ccd_solver: &mut self.ccd_solver,
            pipeline: &mut self.pipeline,
        };
        sets.step(&mut self.scene, keys);
    }

    /// Simulates one tick, after a reset if the input has one.
    pub fn advance(&mut self, input: Input) {
        if input.resets {
            *self = Self::new();
        }
        self.step(input.keys);
    }

    /// The bodies.
    #[must_use]
    pub const fn bodies(&self) -> &RigidBodySet {
        &self.bodies
    }

    /// The bodies of the cubes, by index.
    #[must_use]
    pub fn handles(&self) -> &[RigidBodyHandle] {
        self.scene.handles()
    }

    /// Whether each cube is asleep, by index.
    #[must_use]
    pub fn at_rest(&self) -> &[bool] {
        self.scene.at_rest()
    }

    /// Ticks since the start or the last reset.
    #[must_use]
    pub const fn ticks(&self) -> u64 {
        self.scene.ticks()
    }

    /// Every cube after the last tick.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::default();
        self.capture(&mut snapshot);
        snapshot
    }

    /// Writes every cube after the last tick into a snapshot.
    pub fn capture(&self, snapshot: &mut Snapshot) {
        self.scene.capture(&self.bodies, snapshot);
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

/// The working memory is not copied, as no tick depends on it.
impl Clone for World {
    fn clone(&self) -> Self {
        Self {
            scene: self.scene.clone(),
            islands: self.islands.clone(),
            broad_phase: self.broad_phase.clone(),
            narrow_phase: self.narrow_phase.clone(),
            bodies: self.bodies.clone(),
            colliders: self.colliders.clone(),
            impulse_joints: self.impulse_joints.clone(),
            multibody_joints: self.multibody_joints.clone(),
            ccd_solver: CCDSolver::new(),
            pipeline: PhysicsPipeline::new(),
        }
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("ticks", &self.ticks())
            .finish_non_exhaustive()
    }
}
