//! The contexts of a body: small classes that predict how it changes.

use super::adaptive::ResidualHistory;
use super::bins::CodingObserver;
use super::coder::BinCoder;
use super::history::{KinematicHistory, Position};
use super::packet_coder::PacketCoder;
use super::residual::magnitude;
use super::rotation::height_row;
use crate::plan::Solid;

/// A body and the values that its contexts are computed from: small classes, so that a few of them index a table.
pub(super) struct BodyContext<'h> {
    pub(super) body: usize,
    pub(super) history: &'h KinematicHistory,
    pub(super) residual_history: ResidualHistory,
    /// [Magnitudes](magnitude) of the fields of [`KinematicHistory`] with the same names.
    pub(super) motion_6_ticks: usize,
    pub(super) velocity: usize,
    pub(super) rotation: usize,
    pub(super) recent_rotation: usize,
    /// Class of the height of the lowest point above the floor: 0 to 5. 5 without a floor or a
    /// known shape.
    pub(super) clearance: usize,
    /// Class of the distance to the anchor: 0 to 15, each 1/8 m wide in the demo and scaled with the size of bodies in
    /// other scenes. Without an anchor, the kind modulo 16 takes its place.
    pub(super) distance: usize,
    /// `clearance`, with its highest class divided into three by `distance`: 0 to 7.
    pub(super) zone: usize,
}

impl<B: BinCoder, O: CodingObserver> PacketCoder<'_, B, O> {
    /// Computes the contexts of a body. `distance` is its squared distance to the anchor, in steps squared.
    pub(super) fn context<'h>(
        &self,
        history: &'h KinematicHistory,
        distance: i64,
    ) -> BodyContext<'h> {
        let plan = self.snapshots.plan;
        let distance = match plan.anchor {
            Some(_) => {
                ((distance as f32).sqrt() * plan.lengths.distance_classes).min(15.0) as usize
            }
            None => history.kind % 16,
        };
        let solid = plan.solids[history.kind];
        let clearance = match plan.motion.floor {
            Some(floor) if solid != Solid::Unknown => {
                // Height of the lowest point above the floor, in steps.
                let below = solid.below(height_row(history.orientation));
                let clearance = history.position[2] as f32 - floor - below;
                plan.lengths.clearance_class(clearance as i32)
            }
            _ => plan.lengths.clearances.len(),
        };
        BodyContext {
            body: history.body,
            residual_history: self.next.residual_histories[history.body].unpack(),
            motion_6_ticks: largest(history.motion_6_ticks),
            velocity: largest(history.velocity),
            rotation: magnitude(history.rotation),
            recent_rotation: magnitude(history.recent_rotation),
            clearance,
            distance,
            // Bodies high up stick to the player or fly free, which the distance tells apart.
            zone: match clearance {
                5 => 5 + (distance / 4).min(2),
                near_floor => near_floor,
            },
            history,
        }
    }
}

/// [`magnitude`] of the component with the largest absolute value.
pub(super) fn largest(vector: Position) -> usize {
    let largest = vector.into_iter().map(i32::unsigned_abs).max();
    magnitude(largest.map_or(0, |largest| largest.min(1 << 20) as i32))
}
