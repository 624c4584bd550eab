//! The pages of the panel.

pub(super) mod halves;
pub(super) mod ladder;

mod acks;
mod axis;
mod bits;
mod cube;
mod keys;
mod network;
pub(super) mod packet;
pub(super) mod peers;
mod playout;
pub(super) mod ranges;
mod savings;
mod stages;
mod sync;

use bevy_egui::egui;

use super::export::Export;
use super::lane::LaneView;
use super::settings::{PanelState, Tab};
use crate::controls::Action;
use crate::replication::fallback;
use packet::inspected::Inspected;

impl Tab {
    const fn about(self) -> &'static str {
        match self {
            Self::Ladder => "Named combinations of stages, and what each would cost now.",
            Self::Savings => "What each rung and each stage saves, and the rungs over time.",
            Self::Stages => "Each stage of the compression by itself.",
            Self::Ranges => "Parameters of the stages, and what they trade: kbps against error.",
            Self::Bits => "What the bits of a packet are for.",
            Self::Packet => "Every bit of one packet, and of the selected cube.",
            Self::Network => "The simulated link, and how often snapshots are sent.",
            Self::Playout => "How snapshots become smooth motion, and how far off it is.",
            Self::Halves => "What the two halves of the screen show.",
            Self::Keys => "All keys; theme and size of the panel.",
            Self::Peers => "The other ends of the real network.",
        }
    }

    fn title(self, lane: &LaneView<'_>) -> &'static str {
        match self {
            Self::Ladder => "Ladder",
            Self::Savings => "Savings",
            Self::Stages => "Stages",
            Self::Ranges => "Ranges",
            Self::Bits => "Bits",
            Self::Packet => "Packet",
            Self::Network => "Network",
            Self::Playout => "Playout",
            Self::Halves => "Halves",
            Self::Keys => "Keys",
            Self::Peers => lane.peers.title().unwrap_or("Peers"),
        }
    }

    /// Whether its figures stay the same while the views show the past.
    const fn is_of_the_present(self) -> bool {
        matches!(
            self,
            Self::Ladder | Self::Savings | Self::Ranges | Self::Network | Self::Playout
        )
    }

    fn is_there(self, lane: &LaneView<'_>) -> bool {
        match self {
            Self::Halves => lane.halves.is_some(),
            Self::Peers => lane.peers.title().is_some(),
            _ => true,
        }
    }
}

/// The tabs: a row for the codec, and one for everything around it.
pub(super) fn bar(ui: &mut egui::Ui, state: &mut PanelState, lane: &LaneView<'_>) {
    if !state.tab.is_there(lane) {
        state.tab = Tab::Ladder;
    }
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(0.0, 1.0);
        let width = ui.available_width() / ROWS[0].len() as f32;
        for row in ROWS {
            ui.horizontal(|ui| {
                for tab in row.iter().filter(|tab| tab.is_there(lane)) {
                    let is_open = state.tab == *tab;
                    let button = egui::Button::selectable(is_open, tab.title(lane));
                    let button = button.min_size(egui::vec2(width, 0.0));
                    if ui.add(button).on_hover_text(tab.about()).clicked() {
                        state.tab = *tab;
                    }
                }
            });
        }
    });
}

/// The tabs, as they are laid out.
pub(super) const ROWS: [&[Tab]; 2] = [
    &[
        Tab::Ladder,
        Tab::Savings,
        Tab::Stages,
        Tab::Ranges,
        Tab::Bits,
        Tab::Packet,
    ],
    &[
        Tab::Peers,
        Tab::Network,
        Tab::Playout,
        Tab::Halves,
        Tab::Keys,
    ],
];

/// What the buttons of a page ask for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    pub(super) action: Option<Action>,
    pub(super) export: Option<Export>,
    /// Whether the lane is to lose its world.
    pub(super) desyncs: bool,
}

/// The page that is open.
pub(super) fn page(ui: &mut egui::Ui, state: &mut PanelState, lane: LaneView<'_>) -> Asked {
    let LaneView {
        settings,
        side,
        meter,
        sync,
        shadow,
        ablation,
        tick,
        replica_error,
        peers,
        shown,
        halves,
        status,
        past,
        selection,
        errors,
        standings,
        counts,
        tradeoffs,
    } = lane;
    let is_remote = peers.is_server();
    if past.moment.is_some() && state.tab.is_of_the_present() {
        ui.weak("These are the figures of the present: the past has its packets and cubes only.");
    }
    if matches!(state.tab, Tab::Ladder | Tab::Stages | Tab::Peers)
        && let Some(text) = fallback(settings.sender.stages, meter.fallback)
    {
        ui.label(text);
    }
    let mut asked = Asked::default();
    match state.tab {
        Tab::Ladder => ladder::draw(ui, state.theme, side, &mut settings.sender, shadow, tick),
        Tab::Savings => {
            let measures = savings::Measures {
                side,
                stages: settings.sender.stages,
                shadow,
                ablation,
                tick,
            };
            savings::draw(ui, state, measures);
        }
        Tab::Stages => stages::draw(ui, &mut settings.sender.stages),
        Tab::Ranges => {
            let measured = ranges::Measured {
                counts,
                meter,
                tradeoffs,
            };
            ranges::draw(ui, state, &mut settings.sender.stages, &measured);
        }
        Tab::Bits => asked.export = bits::draw(ui, state, meter, past.moment, is_remote),
        Tab::Packet => {
            let inspected = Inspected {
                meter,
                moment: past.moment,
                errors,
                standings,
            };
            packet::draw(ui, state, selection, &inspected);
        }
        Tab::Network => network::draw(ui, settings, meter, is_remote),
        Tab::Playout => playout::draw(ui, state, settings, meter, replica_error),
        Tab::Halves => {
            if let Some(halves) = halves {
                halves::draw(ui, state.theme, halves, &shown);
            }
        }
        Tab::Keys => keys::draw(ui, state, &status),
        Tab::Peers => peers::draw(ui, peers),
    }
    if matches!(state.tab, Tab::Ladder | Tab::Stages) {
        asked.desyncs = sync::draw(ui, &settings.sender, sync, !is_remote);
    }
    asked
}
