//! Sets that are owned and stepped elsewhere, as by `bevy_rapier3d` in the game.

use cubewire_physics::rapier3d::prelude::*;
use cubewire_physics::{
    GRAVITY, Input, LOOK_AHEAD, SceneState, Sets, Solid, World, parameters, set_rest_thresholds,
    solids, state_hash,
};
use cubewire_scene::{DENSITY, FRICTION};

use crate::{hash, input};

struct Kept {
    scene: SceneState,
    sets: PhysicsWorld,
}

impl Kept {
    /// Spawns the same bodies as the game, with user data.
    fn new() -> Self {
        let mut sets = PhysicsWorld {
            gravity: GRAVITY,
            integration_parameters: parameters(),
            ..PhysicsWorld::new()
        };
        let mut handles = Vec::new();
        for (data, solid) in (1_000..).zip(solids()) {
            let collider = match solid {
                Solid::Floor => ColliderBuilder::new(SharedShape::halfspace(Vector::Z)),
                Solid::Wall { centre, half } => {
                    ColliderBuilder::cuboid(half.x, half.y, half.z).translation(centre)
                }
                Solid::Cube { half, .. } => {
                    ColliderBuilder::cuboid(half, half, half).density(DENSITY)
                }
            };
            let collider = collider.friction(FRICTION).restitution(0.0).user_data(data);
            let Solid::Cube { centre, .. } = solid else {
                sets.insert_collider(collider, None);
                continue;
            };
            let body = RigidBodyBuilder::dynamic()
                .translation(centre)
                .soft_ccd_prediction(LOOK_AHEAD)
                .user_data(data);
            let (handle, _) = sets.insert(body, collider);
            set_rest_thresholds(&mut sets.bodies[handle]);
            handles.push(handle);
        }
        Self { scene: SceneState::new(handles), sets }
    }

    fn advance(&mut self, input: Input) {
        if input.resets {
            *self = Self::new();
        }
        Sets::from(&mut self.sets).before(&mut self.scene, input);
        self.sets.step();
        Sets::from(&mut self.sets).after(&mut self.scene);
    }

    fn hash(&self) -> u64 {
        let mut snapshot = cubewire_physics::initial_snapshot();
        self.scene.capture(&self.sets.bodies, &mut snapshot);
        state_hash(0, &snapshot)
    }
}

#[test]
fn borrowed_sets_go_on_as_those_of_a_world_over_rebuilds_and_resets() {
    let mut kept = Kept::new();
    let mut world = World::new();
    for tick in 0..700 {
        let input = Input { rebuilds: tick % 90 == 45, ..input(tick) };
        kept.advance(input);
        world.advance(input);
        assert_eq!(kept.hash(), hash(&world), "tick {tick}");
        assert_eq!(kept.scene.at_rest(), world.at_rest(), "tick {tick}");
    }
    let state = kept.scene.state(&kept.sets.bodies);
    assert_eq!(state.to_bytes(), world.state().to_bytes());
}

#[test]
fn a_rebuild_keeps_handles_and_user_data() {
    let describe = |kept: &Kept| {
        let bodies = kept.sets.bodies.iter();
        let bodies =
            bodies.map(|(handle, body)| (handle, body.user_data, body.colliders().to_vec()));
        let colliders = kept.sets.colliders.iter();
        let colliders =
            colliders.map(|(handle, collider)| (handle, collider.user_data, collider.parent()));
        (bodies.collect::<Vec<_>>(), colliders.collect::<Vec<_>>(), kept.scene.handles().to_vec())
    };
    let mut kept = Kept::new();
    for tick in 0..150 {
        kept.advance(input(tick));
    }
    let before = describe(&kept);
    kept.advance(Input { rebuilds: true, ..input(150) });
    assert_eq!(describe(&kept), before);
}
