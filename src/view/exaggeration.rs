//! Draws the errors of replicas larger than they are: moves and turns each cube away from the simulated one.
//!
//! Only the picture changes. Measurements, history and exports keep the real errors.

use bevy::prelude::*;
use cubewire_codec::BodyState;

use super::cubes::{DisplayedTicks, ViewCube};
use super::side::Side;
use crate::history::{LaneHistory, ShownPast};
use crate::replication::{Lane, RecentStates};

/// Factor of the drawn errors. Needs the simulation, so a viewer of a remote server has no choice.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(target_family = "wasm"), derive(clap::ValueEnum))]
pub enum Exaggeration {
    /// As they are.
    #[default]
    #[cfg_attr(not(target_family = "wasm"), value(name = "1"))]
    None,
    /// Ten times.
    #[cfg_attr(not(target_family = "wasm"), value(name = "10"))]
    Ten,
    /// Fifty times.
    #[cfg_attr(not(target_family = "wasm"), value(name = "50"))]
    Fifty,
}

impl Exaggeration {
    pub const fn next(self) -> Self {
        [Self::Ten, Self::Fifty, Self::None][self as usize]
    }

    const fn factor(self) -> f32 {
        [1.0, 10.0, 50.0][self as usize]
    }

    pub fn text(self) -> Option<String> {
        (self != Self::None).then(|| format!("errors × {}", self.factor()))
    }

    /// Moves `shown` away from the simulated pose. An exaggerated angle is at most half a turn.
    fn apply(self, shown: &mut Transform, simulated: &BodyState) {
        let off = shown.translation - simulated.position;
        shown.translation = simulated.position + self.factor() * off;
        let mut turn = shown.rotation * simulated.orientation.inverse();
        if turn.w < 0.0 {
            turn = -turn;
        }
        let turn = self.factor() * turn.to_scaled_axis();
        let turn = Quat::from_scaled_axis(turn.clamp_length_max(std::f32::consts::PI));
        shown.rotation = (turn * simulated.orientation).normalize();
    }
}

pub(super) fn is_on(exaggeration: Res<Exaggeration>) -> bool {
    *exaggeration != Exaggeration::None
}

type Exaggerated<'a> = (&'a Side, Option<&'a DisplayedTicks>, Option<&'a LaneHistory>);

/// Exaggerates the error of each cube of a replica against the simulation at the displayed tick.
pub(super) fn exaggerate(
    exaggeration: Res<Exaggeration>,
    past: ShownPast<'_>,
    recent: Option<Res<RecentStates>>,
    lanes: Query<Exaggerated, With<Lane>>,
    mut cubes: Query<(&Side, &ViewCube, &mut Transform)>,
) {
    for (half, displayed, history) in &lanes {
        let simulated: Option<Vec<BodyState>> = match past.tick() {
            Some(tick) => history.and_then(|history| history.simulated_at(tick, &past.world)),
            None => displayed.and_then(|displayed| displayed.tick).and_then(|tick| {
                let states = recent.as_ref()?.around(tick)?;
                Some(states.map(|(_, cube)| cube).collect())
            }),
        };
        let Some(simulated) = simulated else { continue };
        for (side, cube, mut transform) in &mut cubes {
            // A pose that was not set in this frame is already exaggerated.
            if side == half
                && transform.is_changed()
                && let Some(simulated) = simulated.get(cube.index)
            {
                exaggeration.apply(&mut transform, simulated);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy::math::vec3;

    use super::*;

    #[test]
    fn errors_grow_by_the_factor_and_a_turn_ends_at_half_a_turn() {
        let simulated = BodyState {
            position: vec3(3.0, 2.0, 1.0),
            orientation: Quat::from_rotation_x(0.4),
            ..BodyState::default()
        };
        for (exaggeration, factor) in
            [(Exaggeration::None, 1.0), (Exaggeration::Ten, 10.0), (Exaggeration::Fifty, 50.0)]
        {
            let off = vec3(0.01, 0.0, -0.02);
            for (angle, drawn) in
                [(0.01, 0.01 * factor), (0.5, f32::min(0.5 * factor, std::f32::consts::PI))]
            {
                for sign in [1.0, -1.0] {
                    let turned = Quat::from_rotation_z(angle) * simulated.orientation;
                    let mut shown = Transform::from_translation(simulated.position + off)
                        .with_rotation(turned * sign);
                    exaggeration.apply(&mut shown, &simulated);
                    let moved = shown.translation - simulated.position;
                    assert!(moved.distance(factor * off) < 1e-4, "{moved}");
                    let wanted = Quat::from_rotation_z(drawn) * simulated.orientation;
                    assert!(shown.rotation.angle_between(wanted) < 1e-2, "{angle} × {factor}");
                }
            }
        }
    }
}
