//! The pages of the panel.

pub(super) mod halves;
pub(super) mod ladder;

mod acks;
mod bits;
mod keys;
mod network;
pub(super) mod peers;
mod playout;
mod savings;
mod stages;

use bevy_egui::egui;

use super::{LaneView, PanelState, Tab};

impl Tab {
    /// The pages that every panel has.
    pub(super) const USUAL: [Self; 8] = [
        Self::Ladder,
        Self::Savings,
        Self::Stages,
        Self::Bits,
        Self::Network,
        Self::Playout,
        Self::Halves,
        Self::Keys,
    ];

    const fn about(self) -> &'static str {
        match self {
            Self::Ladder => "Named combinations of stages, and what each would cost now.",
            Self::Savings => "What each rung and each stage saves, and the rungs over time.",
            Self::Stages => "Each stage of the compression by itself.",
            Self::Bits => "What the bits of a packet are for.",
            Self::Network => "The simulated link, and how often snapshots are sent.",
            Self::Playout => "How snapshots become a smooth picture, and how wrong it is.",
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
            Self::Bits => "Bits",
            Self::Network => "Network",
            Self::Playout => "Playout",
            Self::Halves => "Halves",
            Self::Keys => "Keys",
            Self::Peers => lane.peers.title().unwrap_or("Peers"),
        }
    }

    fn is_there(self, lane: &LaneView<'_>) -> bool {
        match self {
            Self::Halves => lane.halves.is_some(),
            Self::Peers => lane.peers.title().is_some(),
            _ => true,
        }
    }
}

/// The row of tabs.
pub(super) fn bar(ui: &mut egui::Ui, state: &mut PanelState, lane: &LaneView<'_>) {
    if !state.tab.is_there(lane) {
        state.tab = Tab::Ladder;
    }
    let tabs: Vec<_> = [Tab::Peers].into_iter().chain(Tab::USUAL).collect();
    let tabs = tabs.into_iter().filter(|tab| tab.is_there(lane));
    let tabs: Vec<_> = tabs.map(|tab| (tab, tab.title(lane))).collect();
    let (padding, size) = one_row(ui, tabs.iter().map(|(_, title)| *title));
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        ui.spacing_mut().button_padding.x = padding;
        for (tab, title) in tabs {
            let title = egui::RichText::new(title).size(size);
            ui.selectable_value(&mut state.tab, tab, title)
                .on_hover_text(tab.about());
        }
    });
}

/// The room on either side of each title, and the size of their text, with which all stay in one row.
fn one_row<'a>(ui: &egui::Ui, titles: impl ExactSizeIterator<Item = &'a str>) -> (f32, f32) {
    let font = egui::TextStyle::Button.resolve(ui.style());
    let sides = 2.0 * titles.len() as f32;
    let width = |title: &str| {
        let color = ui.visuals().text_color();
        let text = ui
            .painter()
            .layout_no_wrap(title.to_owned(), font.clone(), color);
        // What egui rounds up to.
        text.size().x.ceil() + 1.0
    };
    let titles: f32 = titles.map(width).sum();
    let rest = ui.available_width() - titles;
    let padding = (rest / sides).clamp(*PADDING.start(), *PADDING.end());
    let too_wide = (sides * padding - rest).max(0.0);
    (padding, font.size * (1.0 - too_wide / titles))
}

/// Between titles that are told apart, and those that are far enough from each other; logical points.
const PADDING: std::ops::RangeInclusive<f32> = 2.0..=4.0;

/// The page that is open.
pub(super) fn page(ui: &mut egui::Ui, state: &mut PanelState, lane: LaneView<'_>) {
    let LaneView {
        settings,
        side,
        meter,
        shadow,
        ablation,
        tick,
        divergence,
        peers,
        shown,
        halves,
        status,
        past: _,
    } = lane;
    let is_remote = peers.is_server();
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
        Tab::Bits => bits::draw(ui, state, meter, is_remote),
        Tab::Network => network::draw(ui, settings, meter, is_remote),
        Tab::Playout => playout::draw(ui, state, settings, meter, divergence),
        Tab::Halves => {
            if let Some(halves) = halves {
                halves::draw(ui, state.theme, halves, &shown);
            }
        }
        Tab::Keys => keys::draw(ui, state, &status),
        Tab::Peers => peers::draw(ui, peers),
    }
}
