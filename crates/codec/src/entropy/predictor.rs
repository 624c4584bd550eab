//! Predictors of bodies, given the bodies that were coded before in the same packet.

use super::history::{Extrapolation, KinematicHistory, Position};
use super::rotation::Quaternion;

/// Predicts one body at a time, in coding order: its orientation, then its position given the decoded orientation.
/// Afterwards [`update`](Self::update) gets both actual values.
pub(crate) trait Predictor {
    /// Whether the candidate with the smallest mean error for similar bodies is the prediction. Otherwise the first
    /// candidate is the prediction, and the second is only a context.
    const SELECTS: bool;
    /// Candidate orientations; at least two.
    type Orientations: AsRef<[Quaternion]>;
    /// Candidate positions; at least two.
    type Positions: AsRef<[Position]>;

    /// Extrapolates the bodies that will probably be coded, several at a time.
    fn prepare(&self, _: &mut [KinematicHistory]) {}
    fn orientations(&mut self, history: &KinematicHistory) -> Self::Orientations;
    /// Called after [`orientations`](Self::orientations), for the same body.
    fn positions(&mut self, history: &KinematicHistory, orientation: Quaternion)
    -> Self::Positions;
    /// Whether another body carries the body of the last call of [`positions`](Self::positions).
    fn is_carried(&self) -> bool {
        false
    }
    /// Extrapolated motion of that body, as if no other body carried it.
    fn extrapolated(&self) -> Extrapolation {
        Extrapolation::default()
    }
    /// Magnitudes of the residuals of bodies near the body of the last call of [`orientations`](Self::orientations),
    /// by [`Field`](super::layout::Field). [`UNKNOWN_RESIDUAL`] if no body is near. `None` if the predictor does not
    /// use nearby bodies.
    fn neighbour_residuals(&self) -> Option<[usize; 2]> {
        None
    }
    /// Reports the actual values of a body, and the magnitudes of its largest residuals.
    fn update(
        &mut self,
        history: &KinematicHistory,
        orientation: Quaternion,
        position: Position,
        residuals: [usize; 2],
    );
}

/// Context for an unknown residual; above every magnitude.
pub(crate) const UNKNOWN_RESIDUAL: usize = 15;

/// Predicts that bodies stay at their pose in the reference. The second candidate is constant velocity.
#[derive(Debug)]
pub(crate) struct HoldPredictor;

impl Predictor for HoldPredictor {
    const SELECTS: bool = false;
    type Orientations = [Quaternion; 2];
    type Positions = [Position; 2];

    fn orientations(&mut self, history: &KinematicHistory) -> [Quaternion; 2] {
        [history.orientation; 2]
    }

    fn positions(&mut self, history: &KinematicHistory, _: Quaternion) -> [Position; 2] {
        let moved =
            std::array::from_fn(|axis| history.position[axis] + history.motion_6_ticks[axis]);
        [history.position, moved]
    }

    fn update(&mut self, _: &KinematicHistory, _: Quaternion, _: Position, _: [usize; 2]) {}
}
