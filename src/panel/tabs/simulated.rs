//! What a lane's two ends simulate, on the rung `simulated`: whether they agree, and what makes them disagree.

use std::time::Duration;

use bevy_egui::egui::{self, RichText};
use cubewire_codec::stages::Delta;
use cubewire_protocol::{AgreementStatus, Worlds};
use cubewire_scene::TICKS_PER_SECOND;

use super::Asked;
use crate::controls::{Action, key_of};
use crate::replication::{LaneSimulation, SenderSettings};

/// Draws nothing on other rungs.
pub(super) fn draw(
    ui: &mut egui::Ui,
    sender: &mut SenderSettings,
    simulation: Option<&LaneSimulation>,
    options: Options,
) -> Asked {
    let mut asked = Asked::default();
    let Some(simulation) = simulation.filter(|_| sender.stages.delta == Delta::ArithmeticSimulated)
    else {
        return asked;
    };
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        let about = explanation(simulation.agreement);
        ui.label(status(simulation)).on_hover_text(about);
        let figures = RichText::new(figures(simulation)).small().weak();
        ui.label(figures).on_hover_text(FIGURES);
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 3.0;
            if options.is_local {
                worlds(ui, &mut sender.worlds);
                asked.nudges = nudge(ui, simulation, sender.worlds);
            }
            let key = RichText::new(key_of(Action::Ghosts)).weak().small();
            let ghosts = egui::Button::new("ghosts")
                .selected(options.has_ghosts)
                .right_text(key);
            let about = format!("{GHOSTS} {}", ghosts_now(simulation));
            if ui.add(ghosts).on_hover_text(about).clicked() {
                asked.action = Some(Action::Ghosts);
            }
        });
    });
    asked
}

/// How the lane is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// Whether the sender is in this process.
    pub(super) is_local: bool,
    /// Whether ghosts are shown.
    pub(super) has_ghosts: bool,
}

fn worlds(ui: &mut egui::Ui, worlds: &mut Worlds) {
    ui.label("Worlds");
    for (each, name, about) in [
        (
            Worlds::Exact,
            "exact",
            "The receiver's world is the sender's, to the bit: packets carry the keys, and no cubes. A receiver that \
             has lost it is sent the sender's state once.",
        ),
        (
            Worlds::Corrected,
            "corrected",
            "Both ends start a world of their own from the last snapshot that the receiver has, and correct it by \
             every packet. It lacks what the engine remembers of contacts, so it parts from the sender's, and the \
             packets carry what it got wrong.",
        ),
    ] {
        ui.selectable_value(worlds, each, name).on_hover_text(about);
    }
}

/// Whether the button was pressed.
fn nudge(ui: &mut egui::Ui, simulation: &LaneSimulation, worlds: Worlds) -> bool {
    let is_nudged = simulation.nudged_ticks() > 0;
    let button = egui::Button::new("nudge").selected(is_nudged);
    ui.add_enabled(worlds == Worlds::Exact, button)
        .on_hover_text(
            "For five seconds the receiver simulates corrected worlds, which part from the sender's. Then it is sent \
             the sender's state, and agrees again: watch the bandwidth, and the ghosts.",
        )
        .on_disabled_hover_text("Corrected worlds never agree for long: there is nothing to nudge.")
        .clicked()
}

/// The state of the agreement, in a line.
fn status(simulation: &LaneSimulation) -> String {
    let seconds = |ticks: u64| ticks as f64 / f64::from(TICKS_PER_SECOND);
    let nudged = match simulation.nudged_ticks() {
        0 => String::new(),
        ticks => format!(" · nudged, {:.1} s left", seconds(ticks)),
    };
    let status = match (simulation.agreement, simulation.state_progress) {
        (AgreementStatus::Exact { .. }, _) => format!(
            "Agreeing for {:.1} s · {} cubes corrected",
            seconds(simulation.agreed_ticks().unwrap_or(0)),
            simulation.corrected_cubes
        ),
        (AgreementStatus::Corrected, _) => format!(
            "Correcting {:.0} cubes a packet",
            simulation.mean_corrected_cubes()
        ),
        (AgreementStatus::None, Some((arrived, pieces))) => {
            format!("Predicted, and sending a state: {arrived} of {pieces} pieces")
        }
        (AgreementStatus::None, None) => "Predicted: waiting for a state".to_owned(),
    };
    status + &nudged
}

/// What the status means.
const fn explanation(agreement: AgreementStatus) -> &'static str {
    match agreement {
        AgreementStatus::Exact { .. } => {
            "Both ends compute the same world, tick by tick. A packet carries the keys since the last tick that the \
             receiver is known to have, and a check, which has confirmed every snapshot so far."
        }
        AgreementStatus::Corrected => {
            "Both ends simulate on from a snapshot that the receiver has, with the keys of the packet. Where that is \
             wrong, the packet carries the difference."
        }
        AgreementStatus::None => {
            "The receiver has no world that is the sender's. Until it has been sent the sender's state, packets are \
             coded as on the rung predicted."
        }
    }
}

/// What it costs.
fn figures(simulation: &LaneSimulation) -> String {
    let mut figures = format!(
        "{:.1} steps, {} a packet · states: {:.0} kilobits so far",
        simulation.mean_steps(),
        time(simulation.mean_time()),
        simulation.state_kilobits
    );
    match simulation.disagreements {
        0 => {}
        1 => figures += " · disagreed once",
        times => figures += &format!(" · disagreed {times} times"),
    }
    figures
}

fn time(time: Duration) -> String {
    match time.as_micros() {
        micros @ ..1000 => format!("{micros} µs"),
        _ => format!("{:.1} ms", time.as_secs_f64() * 1000.0),
    }
}

const FIGURES: &str = "At the receiver, means of the last packets: ticks that it simulates for a packet, and how long it takes to \
     process one. While the two ends agree it simulates each tick once; a corrected world starts again from the \
     baseline with every packet. States are what a receiver needs besides a snapshot to simulate on.";

const GHOSTS: &str =
    "Outlines the cubes that the receiver simulated wrongly, where it thought they were.";

/// How many there are.
fn ghosts_now(simulation: &LaneSimulation) -> String {
    match simulation.agreement {
        AgreementStatus::Exact { .. } => {
            "The two ends agree, so there is nothing to outline now.".to_owned()
        }
        AgreementStatus::None => {
            "The receiver simulates nothing now, so there is nothing to outline.".to_owned()
        }
        AgreementStatus::Corrected => {
            format!(
                "In the newest packet, {} cubes.",
                simulation.corrected_cubes
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_whether_the_ends_agree() {
        let mut simulation = LaneSimulation::default();
        simulation.tick = 1000;
        assert_eq!(status(&simulation), "Predicted: waiting for a state");
        simulation.state_progress = Some((8, 21));
        assert_eq!(
            status(&simulation),
            "Predicted, and sending a state: 8 of 21 pieces"
        );
        simulation.agreement = AgreementStatus::Exact { since: 262 };
        assert_eq!(
            status(&simulation),
            "Agreeing for 12.3 s · 0 cubes corrected"
        );
        simulation.agreement = AgreementStatus::Corrected;
        assert_eq!(status(&simulation), "Correcting 0 cubes a packet");
    }

    #[test]
    fn times_are_given_in_the_unit_that_is_read_best() {
        assert_eq!(time(Duration::from_micros(210)), "210 µs");
        assert_eq!(time(Duration::from_micros(3_240)), "3.2 ms");
    }
}
