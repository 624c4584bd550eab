//! The fields of one changed body. The orientation is first, because the prediction of the position depends on it.

use super::adaptive::update_mean;
use super::bins::{CodingObserver, Element};
use super::blend::Blend;
use super::body_context::{BodyContext, largest};
use super::coder::BinCoder;
use super::components::kind;
use super::history::Position;
use super::layout::{
    CANDIDATES, FlagContexts, NEXT_LARGEST, PoseField, SAME_LARGEST, SAME_ORIENTATION,
    SAME_POSITION, blend_error_index, error_index,
};
use super::packet_coder::PacketCoder;
use super::residual::signed_magnitude;
use super::rigid_body::quantize;
use super::rotation::{
    Quaternion, Vector, by_size, difference, pack, rotation_vector, turned, unpack,
};
use crate::decode_error::DecodeError;
use crate::ledger::{BitKind, Form};
use crate::quantize::smallest_three::SmallestThree;

/// A field after it was coded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coded<T> {
    pub(super) value: T,
    /// Magnitude of the largest residual; 0 if the field equals the reference's.
    pub(super) residual: usize,
    /// Index of the candidate that was nearest to the value.
    pub(super) best: usize,
}

/// A field before it is coded. `T` is the type of its value, `C` of its candidates.
struct FieldContext<'c, T, C> {
    field: PoseField,
    candidates: &'c [C],
    /// Class for the mean errors of the candidates.
    class: usize,
    reference: T,
    target: Option<T>,
}

impl<B: BinCoder, O: CodingObserver> PacketCoder<'_, B, O> {
    /// Codes an orientation. Returns it packed and as a quaternion.
    pub(super) fn orientation(
        &mut self,
        context: &BodyContext<'_>,
        target: Option<SmallestThree>,
    ) -> Result<(Coded<SmallestThree>, Quaternion), DecodeError> {
        let BodyContext { history, clearance, distance, .. } = context;
        let plan = self.snapshots.plan;
        let steps_per_radian = plan.components.steps_per_radian;
        let candidates = match &mut self.predictor {
            Some(predictor) => predictor.orientations(history),
            None => [history.orientation; 3],
        };
        let was_best = usize::from(context.residual_history.best_orientation);
        let field = FieldContext {
            field: PoseField::Orientation,
            candidates: &candidates,
            class: (clearance * CANDIDATES[0] + was_best) * 16 + distance,
            reference: history.packed,
            target,
        };
        let selected = self.select(&field);
        let [nearest, secondary] = selected.map(|candidate| field.candidates[candidate]);
        let blend = self.predictor.as_ref().map(|predictor| {
            let class = (clearance * CANDIDATES[0] + selected[0]) * 4 + distance / 4;
            let weights = self.model.blend(PoseField::Orientation, class);
            Blend::of_orientations(
                history,
                class,
                [nearest, secondary],
                predictor.alone.spins,
                weights,
                steps_per_radian,
            )
        });
        let radians_per_step = 1.0 / steps_per_radian;
        let blended =
            blend.map(|blend| turned(nearest, blend.sum.map(|angle| angle * radians_per_step)));
        let prediction = self.choose(nearest, blend.zip(blended));
        // A body that did not turn before hardly turns now: 0.06 to 0.4 %. The second context saves 0.01 %.
        let unchanged =
            [context.rotation * 16 + context.recent_rotation, clearance * 16 + selected[0]];
        let (value, residual) = if self.is_unchanged(context, &field, SAME_ORIENTATION, unchanged) {
            (history.packed, 0)
        } else {
            self.orientation_residual(context, [prediction, secondary], target)?
        };
        let actual = unpack(&plan.components, value);
        let error = |candidate| {
            let [x, y, z] = rotation_vector(actual, candidate).map(f32::abs);
            ((x + y + z) * steps_per_radian) as u32
        };
        let best = self.update_errors(&field, selected[0], blend.zip(blended), error, || {
            rotation_vector(actual, nearest).map(|angle| angle * steps_per_radian)
        });
        Ok((Coded { value, residual, best }, actual))
    }

    /// Codes an orientation that differs from the reference's. Returns it and the magnitude of the largest residual.
    fn orientation_residual(
        &mut self,
        context: &BodyContext<'_>,
        [predicted, secondary]: [Quaternion; 2],
        target: Option<SmallestThree>,
    ) -> Result<(SmallestThree, usize), DecodeError> {
        let BodyContext { history, zone, .. } = context;
        let largest = self.largest_component(context, predicted, target);
        let packed = &self.snapshots.plan.components;
        let prediction = pack(packed, predicted, largest);
        let secondary = pack(packed, secondary, largest);
        let reference = pack(packed, history.orientation, largest);
        let own = context.residual_history.context(PoseField::Orientation);
        let target = target.map(|target| target.components.map(i32::from));
        // Without a predictor, the motion of the body takes the place of the residuals around it.
        let around = self.predictor.as_ref();
        let around = around.map_or(context.velocity, |around| around.neighbour_residuals()[0]);
        let contexts = |axis: usize, so_far: usize| {
            [
                // A body that was predicted badly will be again: 0.1 %, on `arithmetic` 0.2 %.
                own * 16 + so_far,
                // The predicted turn. The error grows with it: 0.1 to 0.7 %.
                signed_magnitude(reference[axis] - prediction[axis]) * 8 + zone,
                // The direction of the second prediction, which may be the right one: 0.3 to 0.5 %.
                signed_magnitude(secondary[axis] - prediction[axis]) * 8 + zone,
                // A collision disturbs neighbours, too: 0.2 to 0.3 %.
                so_far * 16 + around,
            ]
        };
        let (values, residual) =
            self.components(context, PoseField::Orientation, prediction, target, contexts)?;
        self.bins.observer.note(|| match by_size(predicted)[0] == largest {
            true => form(residual),
            false => Form::OtherLargest,
        });
        let value =
            SmallestThree { largest: largest as u8, components: values.map(|value| value as u16) };
        self.bins.check_canonical(value != history.packed)?;
        Ok((value, residual))
    }

    /// Codes which component is omitted, as its rank in the order of the prediction's components. Returns its index.
    fn largest_component(
        &mut self,
        context: &BodyContext<'_>,
        prediction: Quaternion,
        target: Option<SmallestThree>,
    ) -> usize {
        let ranks = by_size(prediction);
        let margin = prediction[ranks[0]].abs() - prediction[ranks[1]].abs();
        // With a small margin, a small error of the prediction changes the rank. The context saves 0.3 to 0.5 %, and on
        // `arithmetic` 0.4 %.
        let margin = ((margin * 40.0) as usize).min(15);
        let rank = target.map_or(0, |target| {
            let largest = usize::from(target.largest);
            ranks.iter().position(|&component| component == largest).unwrap_or(0)
        });
        let element = Element { kind: BitKind::Orientation, body: Some(context.body) };
        let contexts = [margin * 16 + context.rotation];
        if self.flag(element, SAME_LARGEST, contexts, rank == 0) {
            return ranks[0];
        }
        // The margin saves at most 0.01 % here.
        for next in [1, 2] {
            if self.flag(element, NEXT_LARGEST, [(next - 1) * 16 + margin], rank == next) {
                return ranks[next];
            }
        }
        ranks[3]
    }

    /// Codes a position, after the orientation of the same body. `unpacked` is the orientation as a quaternion.
    pub(super) fn position(
        &mut self,
        context: &BodyContext<'_>,
        orientation: Coded<SmallestThree>,
        unpacked: Quaternion,
        target: Option<Position>,
    ) -> Result<Coded<Position>, DecodeError> {
        let BodyContext { history, clearance, distance, .. } = context;
        let candidates = match &self.predictor {
            Some(predictor) => predictor.positions(history, unpacked),
            None => {
                let [from, motion] = [history.position, history.motion_6_ticks];
                let moved = std::array::from_fn(|axis| from[axis] + motion[axis]);
                [from, moved, from, from]
            }
        };
        let was_best = usize::from(context.residual_history.best_position);
        let field = FieldContext {
            field: PoseField::Position,
            candidates: &candidates,
            class: (clearance * CANDIDATES[1] + was_best) * 16 + distance,
            reference: history.position,
            target,
        };
        let selected = self.select(&field);
        let [nearest, secondary] = selected.map(|candidate| field.candidates[candidate]);
        let blend = self.predictor.as_ref().map(|predictor| {
            let near = usize::from(predictor.around.is_some());
            let class = (clearance * CANDIDATES[1] + selected[0]) * 8 + near * 4 + distance / 4;
            let weights = self.model.blend(PoseField::Position, class);
            let velocity = predictor.alone.velocity;
            Blend::of_positions(history, class, nearest, &candidates, velocity, weights)
        });
        let blended = blend.map(|blend| {
            quantize(
                self.snapshots.plan,
                std::array::from_fn(|axis| nearest[axis] as f32 + blend.sum[axis]),
            )
        });
        let prediction = self.choose(nearest, blend.zip(blended));
        // A body that turned has usually moved, and the same body moved before. Each context saves up to 0.05 %, on
        // `arithmetic` the second one 0.09 %.
        let turned = usize::from(orientation.value != history.packed);
        let unchanged = [
            (context.velocity * 16 + context.motion_6_ticks) * 2 + turned,
            (orientation.residual * 16 + context.velocity) * 2 + turned,
        ];
        let (value, residual) = if self.is_unchanged(context, &field, SAME_POSITION, unchanged) {
            (history.position, 0)
        } else {
            let predictions = [prediction, secondary];
            self.position_residual(context, predictions, target, orientation.residual)?
        };
        let error = |candidate: Position| {
            let axes = 0..3;
            axes.map(|axis| value[axis].abs_diff(candidate[axis])).sum()
        };
        let exact = || difference(value, nearest);
        let best = self.update_errors(&field, selected[0], blend.zip(blended), error, exact);
        Ok(Coded { value, residual, best })
    }

    /// Codes a position that differs from the reference's. Returns it and the magnitude of the largest residual.
    fn position_residual(
        &mut self,
        context: &BodyContext<'_>,
        [prediction, secondary]: [Position; 2],
        target: Option<Position>,
        orientation_residual: usize,
    ) -> Result<(Position, usize), DecodeError> {
        let BodyContext { history, zone, .. } = context;
        // The newest velocity minus the mean velocity, in steps per six ticks. A body that was just pushed is hard to
        // predict.
        let acceleration =
            std::array::from_fn(|axis| 6 * history.velocity[axis] - history.motion_6_ticks[axis]);
        let acceleration = largest(acceleration).min(7);
        // As for orientations, but the body's own residual in the reference's packet takes the place.
        let around = self.predictor.as_ref();
        let own = context.residual_history.context(PoseField::Position);
        let around = around.map_or(own, |around| around.neighbour_residuals()[1]);
        let contexts = |axis: usize, so_far: usize| {
            [
                // 0.1 %, on `arithmetic` 0.06 to 0.15 %.
                around * 16 + so_far,
                // 0.1 to 0.4 %.
                signed_magnitude(history.position[axis] - prediction[axis]) * 8 + acceleration,
                // As for orientations: 0.5 to 1 %. On `arithmetic`, which predicts no motion, it is the motion: 4 to 5 %.
                signed_magnitude(secondary[axis] - prediction[axis]) * 8 + zone,
                // A collision disturbs both fields: 1 %, on `arithmetic` 0.2 to 1.3 %.
                so_far * 16 + orientation_residual,
            ]
        };
        let (value, residual) =
            self.components(context, PoseField::Position, prediction, target, contexts)?;
        self.bins.observer.note(|| form(residual));
        self.bins.check_canonical(value != history.position)?;
        Ok((value, residual))
    }

    /// Codes whether a field equals the reference's.
    fn is_unchanged<T: PartialEq, C>(
        &mut self,
        context: &BodyContext<'_>,
        field: &FieldContext<'_, T, C>,
        group: FlagContexts,
        contexts: [usize; 2],
    ) -> bool {
        let element = Element { kind: kind(field.field), body: Some(context.body) };
        let unchanged = field.target.as_ref() == Some(&field.reference);
        self.flag(element, group, contexts, unchanged)
    }

    /// Indices of the candidates for the prediction and the secondary prediction.
    fn select<T, C>(&self, field: &FieldContext<'_, T, C>) -> [usize; 2] {
        match self.predictor {
            Some(_) => self.next.best_candidates(field.field, field.class),
            None => [0, 1],
        }
    }

    /// Returns the blend if its mean error is smaller than the nearest candidate's, otherwise the candidate.
    fn choose<T>(&self, nearest: T, blended: Option<(Blend, T)>) -> T {
        let Some((blend, blended)) = blended else { return nearest };
        let without = blend_error_index(blend.field, blend.class);
        match self.next.errors[without + 1] < self.next.errors[without] {
            true => blended,
            false => nearest,
        }
    }

    /// Updates the mean errors of the candidates and of the blend, if there is a predictor. `exact` is the sum of
    /// differences that would have predicted the field exactly. Returns the nearest candidate.
    fn update_errors<T, C: Copy>(
        &mut self,
        field: &FieldContext<'_, T, C>,
        selected: usize,
        blended: Option<(Blend, C)>,
        error: impl Fn(C) -> u32,
        exact: impl FnOnce() -> Vector,
    ) -> usize {
        let Some((blend, blended)) = blended else { return 0 };
        let (mut best, mut smallest, mut selected_error) = (0, u32::MAX, 0);
        for (candidate, &value) in field.candidates.iter().enumerate() {
            let error = error(value);
            let mean = error_index(field.field, field.class) + candidate;
            update_mean(&mut self.next.errors[mean], error);
            if error < smallest {
                (best, smallest) = (candidate, error);
            }
            if candidate == selected {
                selected_error = error;
            }
        }
        let without = blend_error_index(blend.field, blend.class);
        update_mean(&mut self.next.errors[without], selected_error);
        update_mean(&mut self.next.errors[without + 1], error(blended));
        self.bins.observer.blended(&blend, exact);
        best
    }
}

/// Form of a field, from the magnitude of its largest residual.
const fn form(residual: usize) -> Form {
    match residual {
        0 => Form::Exact,
        1..=6 => Form::Small,
        _ => Form::Large,
    }
}
