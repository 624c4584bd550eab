//! The states of the examples in WIRE.md, and what is simulated for those of *simulated*.

use cubewire_codec::ladder::SIMULATED;
use cubewire_codec::{CubeState, Origin, QuantizedSnapshot, Sequence, Snapshot, Stages};
use glam::{Quat, Vec3};

use crate::engine::{Foreseen, Scene};
use crate::scene::Lane;

/// The initial state and the four others of section 13.
pub(crate) fn example_states() -> (Snapshot, [(Sequence, Snapshot); 4]) {
    let cubes = [
        Vec3::new(0.0, 0.0, 4.0),
        Vec3::new(2.0, 0.0, 0.5),
        Vec3::new(4.0, 0.0, 0.5),
    ];
    let initial = Snapshot {
        cubes: cubes
            .map(|position| CubeState {
                position,
                ..CubeState::default()
            })
            .into(),
    };
    let mut states = [1000, 1006, 1012, 1018].map(|tick| (Sequence(tick), initial.clone()));
    let flown = [
        (Vec3::new(0.25, -0.5, 4.0), 0.0),
        (Vec3::new(0.5, -1.0, 3.875), -2.0),
        (Vec3::new(0.75, -1.5, 3.5), -4.0),
        (Vec3::new(1.0, -2.0, 2.9375), -6.0),
    ];
    for (turn, ((_, state), (position, fall))) in states.iter_mut().zip(flown).enumerate() {
        state.cubes[0] = CubeState {
            position,
            orientation: match turn {
                0 => Quat::from_xyzw(0.6, 0.0, 0.0, 0.8),
                _ => Quat::from_xyzw(0.48, 0.36, 0.0, 0.8),
            },
            linear_velocity: Vec3::new(2.5, -5.0, fall),
            interacting: true,
        };
        state.cubes[1].position.x = [2.0, 2.25, 2.5, 2.5][turn];
        state.cubes[1].linear_velocity.x = [0.0, 2.5, 2.5, 0.0][turn];
        state.cubes[1].interacting = turn > 0;
        state.cubes[2].interacting = true;
    }
    (initial, states)
}

/// What is simulated for an example of *simulated*.
fn example_scene(sequence: Sequence) -> Scene {
    let (_, states) = example_states();
    let at = |sequence| &states.iter().find(|(at, _)| *at == sequence).unwrap().1;
    // A cube for which it is wrong is as at an earlier tick.
    let (origin, inputs, wrong) = match sequence.0 {
        1000 => (Origin::Started(3), [0, 1, 1].to_vec(), None),
        1006 => (Origin::Continued(6), vec![1; 6], None),
        1012 => {
            let inputs = [1, 1, 1, 1, 9, 9].to_vec();
            (Origin::Corrected, inputs, Some((1, Sequence(1006))))
        }
        _ => (Origin::Cold, vec![9; 6], Some((0, Sequence(1012)))),
    };
    let mut state = at(sequence).clone();
    if let Some((cube, earlier)) = wrong {
        state.cubes[cube] = at(earlier).cubes[cube];
    }
    Scene {
        origin: Some(origin),
        inputs,
        prediction: Some(quantized(&state, SIMULATED.stages)),
        attachment: match sequence.0 {
            1018 => vec![0xC0, 0xDE],
            _ => Vec::new(),
        },
    }
}

/// The engine that simulates an example.
pub(crate) fn example_engine(sequence: Sequence) -> Foreseen {
    Foreseen {
        prediction: example_scene(sequence).prediction,
        ..Foreseen::default()
    }
}

fn quantized(state: &Snapshot, stages: Stages) -> QuantizedSnapshot {
    let mut quantized = QuantizedSnapshot::new(stages.precision());
    quantized.quantize(state, stages.precision()).unwrap();
    quantized
}

/// Sends an example of *simulated*.
pub(crate) fn send_example(
    lane: &mut Lane,
    sequence: Sequence,
    state: &Snapshot,
    baseline: Option<Sequence>,
) {
    let scene = example_scene(sequence);
    let numbered = (sequence, SIMULATED.stages);
    let current = quantized(state, SIMULATED.stages);
    let names = [baseline, None, None];
    let mut engine = example_engine(sequence);
    lane.send_simulated(numbered, &current, names, scene.simulated(), &mut engine);
}
