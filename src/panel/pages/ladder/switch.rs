//! The switch in the row of a rung: the stage that it adds to the rung below, by itself.

use std::iter;

use cubewire_codec::Stages;
use cubewire_codec::ladder::{self, LADDER, Rung};

use super::super::stages::offers::CODED;
use crate::panel::prelude::*;
use crate::replication::{Part, usual};

#[derive(Clone, Debug)]
pub(super) struct Switch {
    rung: Rung,
    /// Whether the stages have any option that the rung adds, or one that replaces it on a higher rung.
    is_on: bool,
    /// The stages after a click, or the reason why they are illegal.
    then: Result<Stages, String>,
}

/// Returns the rung that this one extends. The first rung extends no other.
pub(super) fn base(rung: Rung) -> Option<Rung> {
    match rung {
        // Arithmetic coding replaces the stages of the rungs between.
        ladder::ARITHMETIC => Some(ladder::DELTA),
        ladder::AFFINE => Some(ladder::SMALLEST_THREE),
        _ => Some(LADDER[LADDER.iter().position(|it| *it == rung)?.checked_sub(1)?]),
    }
}

/// Whether a rung has the stage of another rung, or a stage that replaces it.
pub(super) fn builds_on(rung: Rung, other: Rung) -> bool {
    iter::successors(Some(rung), |it| base(*it)).any(|it| it == other)
}

impl Switch {
    /// Returns the switch of a rung. The first rung adds no stage and has no switch.
    pub(super) fn of(rung: Rung, present: Stages) -> Option<Self> {
        let base = base(rung)?;
        let added = Part::changed(usual(*base.stages), usual(*rung.stages));
        let above: Vec<Rung> = ladder::all().filter(|it| builds_on(*it, rung)).collect();
        let is_in_use = |part: &Part| {
            let is_on = |it: &Rung| part.is_same(usual(*present), usual(*it.stages));
            above.iter().any(is_on)
        };
        let in_use: Vec<Part> = added.iter().copied().filter(is_in_use).collect();
        let is_on = !in_use.is_empty();
        let (parts, from) = if is_on { (in_use, base) } else { (added, rung) };
        let is_coded = present.delta.is_arithmetic() && !from.stages.delta.is_arithmetic();
        let is_coded = is_coded && !is_on && parts.contains(&Part::Delta);
        let mut options = *present;
        for part in parts {
            part.copy(*from.stages, &mut options);
        }
        let then = match options.check() {
            Ok(_) if is_coded => Err(CODED.to_owned()),
            Ok(stages) => Ok(stages),
            Err(illegal) => Err(capital(&illegal.to_string()) + "."),
        };
        Some(Self { rung, is_on, then })
    }

    /// Draws the switch at the left end of a row. A second click on the same switch undoes the first.
    pub(super) fn draw(&self, ui: &Ui, row: Rect, stages: &mut Stages) -> Response {
        let id = Id::new("last switch of the ladder");
        let last: Option<(&str, [Stages; 2])> = ui.data(|data| data.get_temp(id));
        let undone = last.filter(|(name, [_, after])| *name == self.rung.name && after == stages);
        let then = match (undone, &self.then) {
            (Some((_, [before, _])), _) => Ok(before),
            (None, then) => then.as_ref().copied(),
        };
        let about = match then {
            Err(refusal) => refusal,
            Ok(_) if self.is_on => "Removes this stage; the others stay.",
            Ok(_) => "Adds this stage; the others stay.",
        };
        let place = Rect::from_min_size(row.min - vec2(BEYOND, 0.0), vec2(WIDTH, row.height()));
        let name = self.rung.name;
        let response = ui.interact(place, ui.id().with(("switch", name)), Sense::click());
        response.widget_info(|| {
            let said = format!("stage of {name}");
            WidgetInfo::selected(WidgetType::Checkbox, then.is_ok(), self.is_on, said)
        });
        self.paint(ui, place, &response, then.is_ok());
        if let (true, Ok(then)) = (response.clicked(), then) {
            ui.data_mut(|data| data.insert_temp(id, (name, [*stages, then])));
            *stages = then;
            ui.ctx().request_discard("another stage is switched");
        }
        response.on_hover_text(about)
    }

    fn paint(&self, ui: &Ui, place: Rect, response: &Response, is_possible: bool) {
        let (look, painter) = (Look::of(ui), ui.painter());
        let square = Rect::from_center_size(place.center(), Vec2::splat(SQUARE));
        let [ground, edge, hook] = match (is_possible, self.is_on) {
            (true, true) => [look.half, look.half, look.ground],
            (true, false) if response.hovered() => [look.sunken, look.ink, look.ink],
            (true, false) => [look.sunken, look.quiet, look.ink],
            (false, _) => [look.impossible[0], look.impossible[1], look.impossible[1]],
        };
        painter.rect(square, 2.0, ground, Stroke::new(1.0, edge), StrokeKind::Inside);
        if self.is_on {
            let points = [(-3.0, 0.0), (-1.0, 2.5), (3.0, -2.5)];
            let points = points.map(|(x, y)| square.center() + vec2(x, y));
            painter.line(points.to_vec(), Stroke::new(2.0, hook));
        }
        if response.has_focus() {
            focus_ring(painter, look, place);
        }
    }
}

/// Logical points: the width of the clickable area, its part in the margin, and the size of the square.
const WIDTH: f32 = 20.0;
const BEYOND: f32 = 6.0;
const SQUARE: f32 = 12.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_switches_of_a_rung_that_are_on_lead_to_it() {
        for rung in ladder::all() {
            let is_on = |other: &Rung| Switch::of(*other, rung.stages).is_some_and(|it| it.is_on);
            let on: Vec<_> = ladder::all().filter(is_on).collect();
            let leads = |other: &Rung| base(*other).is_some() && builds_on(rung, *other);
            let leads: Vec<_> = ladder::all().filter(leads).collect();
            assert_eq!(on, leads, "{}", rung.name);
        }
    }

    #[test]
    fn a_click_turns_a_switch_or_a_reason_is_given() {
        for present in Stages::every_legal(&[9, 10]) {
            for rung in ladder::all() {
                let Some(switch) = Switch::of(rung, present) else {
                    assert_eq!(rung, ladder::UNCOMPRESSED);
                    continue;
                };
                let said = format!("{present}: {}", rung.name);
                match switch.then {
                    Ok(then) => {
                        assert_eq!(Switch::of(rung, then).unwrap().is_on, !switch.is_on, "{said}");
                    }
                    Err(reason) => assert!(reason.ends_with('.'), "{said}: {reason}"),
                }
            }
        }
    }
}
