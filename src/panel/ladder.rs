//! The ladder: a list of buttons that select a rung.

use bevy_egui::egui;
use cubewire_codec::Stages;
use cubewire_codec::ladder::{AFFINE, LADDER, Rung};

use crate::replication::{ShadowLadder, ShadowRung};

/// A direction on the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Towards more compression.
    Up,
    /// Towards less compression.
    Down,
}

/// The index of the rung with these stages, if there is one.
pub(super) fn place(stages: Stages) -> Option<usize> {
    LADDER.iter().position(|rung| rung.stages == stages)
}

/// The index of the rung that a step leads to. From stages that are not on the ladder, either direction
/// leads to the last rung.
pub(super) fn step(current: Option<usize>, last_rung: usize, step: Step) -> usize {
    let rung = match (current, step) {
        (Some(rung), Step::Up) => rung + 1,
        (Some(rung), Step::Down) => rung.saturating_sub(1),
        (None, _) => last_rung,
    };
    rung.min(LADDER.len() - 1)
}

pub(super) fn draw(ui: &mut egui::Ui, stages: &mut Stages, shadow: Option<&ShadowLadder>) {
    ui.weak(if shadow.is_some() {
        "Each rung adds a stage of compression. Its bandwidth for the same snapshots, in article \
         accounting:"
    } else {
        "Each rung adds a stage of compression. Requested from the server:"
    });
    for (place, rung) in LADDER.iter().enumerate() {
        row(
            ui,
            stages,
            format!("{:2}  {}", place + 1, rung.name),
            rung,
            shadow,
        );
    }
    ui.separator();
    row(ui, stages, AFFINE.name.to_owned(), &AFFINE, shadow);
}

fn row(
    ui: &mut egui::Ui,
    stages: &mut Stages,
    name: String,
    rung: &Rung,
    shadow: Option<&ShadowLadder>,
) {
    let kbps = shadow
        .and_then(|shadow| {
            let mut rungs = shadow.rungs().iter();
            rungs.find(|shadowed| shadowed.rung().name == rung.name)
        })
        .map(ShadowRung::kbps);
    let figure = kbps.map_or_else(String::new, |kbps| format!("{kbps:.1} kbps"));
    let button = egui::Button::selectable(*stages == rung.stages, name)
        .right_text(egui::RichText::new(figure).monospace())
        .min_size(egui::vec2(ui.available_width(), 0.0));
    if ui.add(button).on_hover_text(rung.summary).clicked() {
        *stages = rung.stages;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOP: usize = LADDER.len() - 1;

    #[test]
    fn every_rung_is_found_at_its_index() {
        for (at, rung) in LADDER.iter().enumerate() {
            assert_eq!(place(rung.stages), Some(at), "{}", rung.name);
        }
        assert_eq!(place(AFFINE.stages), None);
    }

    #[test]
    fn steps_stay_on_the_ladder() {
        assert_eq!(step(Some(4), 0, Step::Up), 5);
        assert_eq!(step(Some(4), 0, Step::Down), 3);
        assert_eq!(step(Some(TOP), 0, Step::Up), TOP);
        assert_eq!(step(Some(0), 9, Step::Down), 0);
    }

    #[test]
    fn steps_from_custom_stages_lead_to_the_last_rung() {
        assert_eq!(step(None, 7, Step::Up), 7);
        assert_eq!(step(None, 7, Step::Down), 7);
        assert_eq!(step(None, usize::MAX, Step::Down), TOP);
    }
}
