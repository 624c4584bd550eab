//! The list of rungs, and the choices of networks, playout delays and interpolation.

use cubewire_link::{Conditions, PRESETS};
use cubewire_protocol::Interpolation;

use crate::panel::prelude::*;
use crate::replication::{LinkSettings, PlayoutDelay};

/// Draws the list of rungs. `shown` is the text of the closed list, which can name a rung of the past.
pub(crate) fn rung_named(ui: &mut Ui, sender: &mut SenderSettings, shown: &str, size: [f32; 2]) {
    let list = picker(ui, "rung", size, shown, |ui| {
        // Dense rows, so that all rungs fit in a low window.
        ui.spacing_mut().item_spacing.y = 0.0;
        ui.spacing_mut().button_padding.y = 0.0;
        for rung in ladder::all() {
            ui.selectable_value(&mut sender.stages, rung.stages, rung.name)
                .on_hover_text(rung.summary);
        }
    });
    list.on_hover_text(
        "The stages of compression in use. PageDown takes the next rung, PageUp the previous one.",
    );
}

/// Returns the network presets and the default link, with the given value of `cut`.
pub(super) fn networks(cut: bool) -> Vec<Choice<Conditions>> {
    let presets = PRESETS.iter().map(|preset| (preset.title, preset.summary, &preset.conditions));
    let usual = &LinkSettings::default().conditions;
    let about = "The default: a round-trip time of 100 ms, no loss.";
    let networks = presets.chain([("Default", about, usual)]).map(|(name, about, conditions)| {
        let mut conditions = conditions.clone();
        conditions.cut = cut;
        Choice::new(conditions, name, about)
    });
    networks.collect()
}

/// Returns the choice of [`networks`] with these conditions, or else one with the name `custom`.
pub(super) fn network_of(link: &Conditions) -> Choice<Conditions> {
    let mut networks = networks(link.cut).into_iter();
    networks.find(|network| network.value == *link).unwrap_or_else(|| {
        Choice::new(link.clone(), "custom", "Your own conditions, in each direction.")
    })
}

/// Returns the choices of the playout delay. `fixed` is the value of a fixed delay.
pub(super) fn delays(fixed: Duration) -> [Choice<PlayoutDelay>; 3] {
    let rule = "Three snapshot intervals and a few ticks: covers two losses in a row.";
    let adaptive = "Adapts to the packets of the last five seconds.";
    choices([
        (PlayoutDelay::Rule, "by rule", rule),
        (PlayoutDelay::Fixed(fixed), "fixed", "Fixed at the value in the field."),
        (PlayoutDelay::Adaptive, "adaptive", adaptive),
    ])
}

pub(super) const fn about(kind: Interpolation) -> [&'static str; 2] {
    match kind {
        Interpolation::None => {
            ["Shows the newest snapshot as it arrives.", "Jitter and losses are visible."]
        }
        Interpolation::Linear => [
            "A straight line from one snapshot to the next.",
            "Good enough at 60 a second; at 10 a second, motion has visible corners.",
        ],
        Interpolation::Hermite => [
            "A curve that matches position and velocity at both snapshots.",
            "Smooth at 10 a second, but needs velocities in the snapshots.",
        ],
        Interpolation::Extrapolate => [
            "Follows the velocity, without waiting for the next snapshot.",
            "Cubes sink into the floor and snap back, because collisions are not predicted.",
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_is_recognised_even_if_cut() {
        for cut in [false, true] {
            for network in networks(cut) {
                assert_eq!(network.value.cut, cut);
                assert_eq!(network_of(&network.value).name, network.name);
            }
        }
        let other = Conditions { latency: Duration::from_millis(49), ..Conditions::default() };
        assert_eq!(network_of(&other).name, "custom");
    }
}
