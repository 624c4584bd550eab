//! Pickers, switches and a button that several pages have: of rungs, networks, rates, delays and interpolations.

use std::time::Duration;

use bevy_egui::egui::Ui;
use cubewire_codec::ladder::LADDER;
use cubewire_link::{Conditions, PRESETS, Preset};
use cubewire_protocol::Interpolation;
use cubewire_scene::TICKS_PER_SECOND;

use crate::controls::Action;
use crate::panel::style::CONTROL;
use crate::panel::widgets::{Choice, Kind, button, picker, segmented};
use crate::replication::{LinkSettings, PlayoutDelay, SEND_INTERVALS, SenderSettings, rung_name};

/// The list of rungs.
pub(in crate::panel) fn rung(ui: &mut Ui, sender: &mut SenderSettings, size: [f32; 2]) {
    let present = rung_name(sender.stages);
    rung_named(ui, sender, present, size);
}

/// The list of rungs, in which that one is said to be chosen: the one that is shown may be of the past.
pub(in crate::panel) fn rung_named(
    ui: &mut Ui,
    sender: &mut SenderSettings,
    shown: &str,
    size: [f32; 2],
) {
    picker(ui, "rung", size, shown, |ui| {
        for rung in LADDER {
            ui.selectable_value(&mut sender.stages, rung.stages, rung.name)
                .on_hover_text(rung.summary);
        }
    })
    .on_hover_text("The stages of compression in use. PageUp and PageDown change the rung.");
}

/// Conditions to choose from: the name, a sentence, and what they are.
pub(super) fn networks() -> impl Iterator<Item = (&'static str, &'static str, Conditions)> {
    let presets = PRESETS.iter();
    let presets = presets.map(|preset| (preset.title, preset.summary, preset.conditions.clone()));
    let usual = (
        USUAL_TITLE,
        USUAL_SUMMARY,
        LinkSettings::default().conditions,
    );
    presets.chain([usual])
}

/// The name of these conditions, and a sentence about them, whether the link is cut or not.
pub(super) fn network_of(link: &Conditions) -> (&'static str, &'static str) {
    match Preset::of(link) {
        Some(preset) => (preset.title, preset.summary),
        None if with_cut(LinkSettings::default().conditions, link.cut) == *link => {
            (USUAL_TITLE, USUAL_SUMMARY)
        }
        None => ("custom", "Conditions of your own, in each direction."),
    }
}

/// Changes the conditions, but not whether the link is cut.
pub(super) fn set_network(link: &mut Conditions, conditions: Conditions) {
    *link = with_cut(conditions, link.cut);
}

const fn with_cut(mut conditions: Conditions, cut: bool) -> Conditions {
    conditions.cut = cut;
    conditions
}

/// The list of networks.
pub(super) fn network(ui: &mut Ui, link: &mut Conditions, size: [f32; 2]) {
    let (chosen, _) = network_of(link);
    picker(ui, "network", size, chosen, |ui| {
        for (name, about, conditions) in networks() {
            let label = ui.selectable_label(name == chosen, name);
            if label.on_hover_text(about).clicked() {
                set_network(link, conditions);
            }
        }
    })
    .on_hover_text("The conditions of each direction of the link.");
}

/// The rate of snapshots.
pub(super) fn rate(ui: &mut Ui, width: f32, sender: &mut SenderSettings) {
    let choices = SEND_INTERVALS.map(|ticks| {
        let rate = (TICKS_PER_SECOND / ticks).to_string();
        Choice::new(ticks, rate, "Snapshots a second.")
    });
    segmented(ui, width, &mut sender.send_interval_ticks, &choices);
}

pub(super) fn interpolation(ui: &mut Ui, width: f32, kind: &mut Interpolation) {
    let choices = Interpolation::ALL.map(|kind| {
        let [short, long] = about(kind);
        Choice::new(kind, kind.name(), format!("{short} {long}"))
    });
    segmented(ui, width, kind, &choices);
}

/// The list of playout delays: one that is fixed is so long at first.
pub(super) fn delay(ui: &mut Ui, delay: &mut PlayoutDelay, fixed: Duration, width: f32) {
    let chosen = match *delay {
        PlayoutDelay::Fixed(fixed) => format!("{} ms", fixed.as_millis()),
        PlayoutDelay::Rule => BY_RULE.to_owned(),
        _ => ADAPTIVE.to_owned(),
    };
    let choices = delays(*delay, fixed);
    picker(ui, "playout", [width, CONTROL], &chosen, |ui| {
        for choice in choices {
            ui.selectable_value(delay, choice.value, choice.name)
                .on_hover_text(choice.about);
        }
    });
}

/// The present one if it is fixed, or else one of `fixed`, is among them.
pub(super) fn delays(now: PlayoutDelay, fixed: Duration) -> [Choice<PlayoutDelay>; 3] {
    let fixed = match now {
        PlayoutDelay::Fixed(_) => now,
        _ => PlayoutDelay::Fixed(fixed),
    };
    [
        Choice::new(
            PlayoutDelay::Rule,
            BY_RULE,
            "Three snapshot intervals and a few ticks: covers two losses in a row.",
        ),
        Choice::new(fixed, "fixed", "Always as long as the field says."),
        Choice::new(
            PlayoutDelay::Adaptive,
            ADAPTIVE,
            "As long as the packets of the last five seconds needed.",
        ),
    ]
}

/// The button that copies what both halves show. Returns that action when it is pressed.
pub(super) fn copy(ui: &mut Ui, width: f32) -> Option<Action> {
    let name = match cfg!(target_family = "wasm") {
        true => "Copy address",
        false => "Copy command",
    };
    let copy = button(ui, width, name, "", Kind::Usual { is_on: false });
    let copy = copy.on_hover_text("Copies what opens the window with what both halves show.");
    copy.clicked().then_some(Action::CopyLink)
}

/// What a kind of interpolation does, and what follows from it.
pub(super) const fn about(kind: Interpolation) -> [&'static str; 2] {
    match kind {
        Interpolation::None => [
            "Shows the newest snapshot as it arrives.",
            "Jitter and losses are visible.",
        ],
        Interpolation::Linear => [
            "A straight line from one snapshot to the next.",
            "Good enough at 60 a second; at 10 a second, motion has visible corners.",
        ],
        Interpolation::Hermite => [
            "A curve that matches position and velocity at both snapshots.",
            "Smooth at 10 a second, but needs velocities in the snapshots.",
        ],
        Interpolation::Extrapolate => [
            "On along the velocity, without waiting for the next snapshot.",
            "Cubes sink into the floor and snap back, because collisions are not predicted.",
        ],
    }
}

const BY_RULE: &str = "by rule";
const ADAPTIVE: &str = "adaptive";

/// The conditions at the start.
const USUAL_TITLE: &str = "50 ms each way";
const USUAL_SUMMARY: &str = "As at the start: a round trip of 100 ms, nothing lost.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_recognised_even_if_the_link_is_cut() {
        for (name, about, conditions) in networks() {
            let mut link = Conditions {
                cut: true,
                ..Conditions::default()
            };
            set_network(&mut link, conditions);
            assert!(link.cut);
            assert_eq!(network_of(&link), (name, about));
        }
        let other = Conditions {
            latency: Duration::from_millis(49),
            ..Conditions::default()
        };
        assert_eq!(network_of(&other).0, "custom");
    }
}
