//! Predictors: the expected states of a packet's bodies, given the bodies that were coded before.

use super::history::{Extrapolation, KinematicHistory, Position};
use super::rotation::Quaternion;

/// Predicts one body at a time, in the order of the packet: its orientation, then its position given the
/// decoded orientation; [`update`](Self::update) then reports both actual values.
///
/// A predictor that simulates the whole scene from the reference would implement this trait.
pub(crate) trait Predictor {
    /// Whether the candidate that has been best for similar bodies is the prediction. Otherwise the first
    /// candidate is the prediction, and the second is only a context.
    const SELECTS: bool;
    /// Candidates; at least two.
    type Orientations: AsRef<[Quaternion]>;
    /// Candidates; at least two.
    type Positions: AsRef<[Position]>;

    /// Computes what depends on the history alone, for all bodies that will probably be coded.
    fn prepare(&self, _: &mut [KinematicHistory]) {}
    fn orientations(&mut self, history: &KinematicHistory) -> Self::Orientations;
    /// Called after [`orientations`](Self::orientations), for the same body.
    fn positions(&mut self, history: &KinematicHistory, orientation: Quaternion)
    -> Self::Positions;
    /// Whether any body near the last one for which [`positions`](Self::positions) was called carries it.
    fn is_carried(&self) -> bool {
        false
    }
    /// The extrapolation of that body on its own.
    fn extrapolated(&self) -> Extrapolation {
        Extrapolation::default()
    }
    /// Magnitudes of the residuals of bodies near the last one for which [`orientations`](Self::orientations) was called,
    /// as contexts by [`Field`](super::layout::Field): [`UNKNOWN_RESIDUAL`] if there are none. None if the predictor
    /// does not look at nearby bodies.
    fn neighbour_residuals(&self) -> Option<[usize; 2]> {
        None
    }
    /// The actual values of that body, and the magnitudes of its largest residuals.
    fn update(
        &mut self,
        history: &KinematicHistory,
        orientation: Quaternion,
        position: Position,
        residuals: [usize; 2],
    );
}

/// The residual of no body, as a context: above every magnitude.
pub(crate) const UNKNOWN_RESIDUAL: usize = 15;

/// Predicts that bodies stay where the reference has them. Constant velocity is the second candidate.
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
