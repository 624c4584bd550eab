//! The pages of the panel.

pub(super) mod halves;
pub(super) mod ladder;
pub(super) mod pickers;

mod bars;
mod budget;
mod help;
mod kinds;
mod link;
mod over_time;
pub(super) mod packet;
pub(super) mod peers;
pub(super) mod ranges;
mod savings;
mod stages;
mod strip;
mod sync;
mod without_each;

use bevy_egui::egui::{Id, Rect, Sense, Stroke, Ui, Vec2, WidgetInfo, WidgetType, vec2};

use super::lane::LaneView;
use super::settings::{Page, PanelState, Tab};
use super::style::{BODY, CONTROL, Look, SMALL};
use super::widgets::{At, Choice, focus_ring, note, segmented, text};
use crate::controls::Action;
use crate::replication::fallback;
use packet::inspected::Inspected;

impl Page {
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Ladder => "Ladder",
            Self::Savings => "Savings",
            Self::OverTime => "Over time",
            Self::WithoutEach => "Without each",
            Self::Packet => "One packet",
            Self::Kinds => "By kind of bits",
            Self::Stages => "Stages",
            Self::Ranges => "Ranges",
            Self::Budget => "Budget",
            Self::Link => "Link and playout",
            Self::Halves => "The two halves",
            Self::Help => "Help",
        }
    }

    const fn about(self) -> &'static str {
        match self {
            Self::Ladder => "Named combinations of stages, and what each would cost now.",
            Self::Savings => "What each rung saves over the one above it in the list, now.",
            Self::OverTime => "What each rung would have cost in the last seconds.",
            Self::WithoutEach => {
                "What the stages of this lane would cost with one of them taken away. While this is open, more is encoded \
                 in the background."
            }
            Self::Packet => "Every bit of one packet, and of the selected cube.",
            Self::Kinds => "What the bits of a second are for.",
            Self::Stages => "Each stage of the compression by itself.",
            Self::Ranges => "Parameters of the stages, and what they trade: kbps against error.",
            Self::Budget => {
                "As good as it can be in a given number of bits, and what waits for its turn."
            }
            Self::Link => {
                "The link, how often snapshots are sent, and how they become smooth motion."
            }
            Self::Halves => "What the two halves of the screen show.",
            Self::Help => "Theme, size, and the keys.",
        }
    }

    /// Whether its figures stay the same while the views show the past.
    const fn is_of_the_present(self) -> bool {
        matches!(
            self,
            Self::OverTime | Self::WithoutEach | Self::Ranges | Self::Budget | Self::Link
        )
    }

    const fn is_there(self, lane: &LaneView<'_>) -> bool {
        match self {
            Self::Halves => lane.halves.is_some(),
            _ => true,
        }
    }
}

impl Tab {
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Ladder => "Ladder",
            Self::Packet => "Packet",
            Self::Tuning => "Tuning",
            Self::Network => "Network",
            Self::Help => "Help",
        }
    }
}

/// The tabs, in one row. Each opens the page of its own that was open last.
pub(super) fn bar(ui: &mut Ui, state: &mut PanelState, lane: &LaneView<'_>) {
    if !state.page.is_there(lane) {
        state.page = state.page.tab().pages()[0];
    }
    let look = Look::of(ui);
    let before = (state.page.tab(), state.page);
    ui.data_mut(|data| data.insert_temp(Id::new(before.0), before.1));
    let line = Stroke::new(1.0, look.line);
    let width = ui.available_width() / Tab::ALL.len() as f32;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing = Vec2::ZERO;
        for tab in Tab::ALL {
            let (rect, response) = ui.allocate_exact_size(vec2(width, HEIGHT), Sense::click());
            let is_open = tab == before.0;
            response.widget_info(|| {
                WidgetInfo::selected(WidgetType::SelectableLabel, true, is_open, tab.title())
            });
            if response.clicked() {
                let last = ui.data(|data| data.get_temp(Id::new(tab)));
                state.page = last.unwrap_or(tab.pages()[0]);
            }
            ui.painter()
                .hline(rect.x_range(), rect.bottom() - 0.5, line);
            let color = match is_open || response.hovered() {
                true => look.ink,
                false => look.muted,
            };
            text(
                ui.painter(),
                rect,
                At::Center(width / 2.0),
                tab.title(),
                BODY,
                color,
            );
            if is_open {
                let line = rect.with_min_y(rect.bottom() - 3.0);
                ui.painter().rect_filled(line, 0.0, look.half);
            }
            if response.has_focus() {
                focus_ring(ui.painter(), look, rect);
            }
        }
    });
}

/// What the buttons of a page ask for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    /// Whether the lane is to lose its world.
    pub(super) desyncs: bool,
    /// What a key does, too.
    pub(super) action: Option<Action>,
}

/// The switch between the pages of the tab that is open.
pub(super) fn switch(ui: &mut Ui, state: &mut PanelState, lane: &LaneView<'_>) {
    let pages = state.page.tab().pages().iter();
    let pages = pages.filter(|page| page.is_there(lane));
    let choices = pages.map(|page| Choice::new(*page, page.title(), page.about()));
    let choices: Vec<_> = choices.collect();
    if choices.len() > 1 {
        let width = match choices.len() {
            4 => ui.available_width(),
            2 => SWITCH_OF_TWO.min(ui.available_width()),
            _ => SWITCH.min(ui.available_width()),
        };
        segmented(ui, width, &mut state.page, &choices);
        if state.page == Page::Stages && lane.ablation.is_some() {
            caption(ui, "saves kbps now");
        }
        ui.add_space(GAP_BELOW);
    }
}

/// The page that is open.
pub(super) fn draw(ui: &mut Ui, state: &mut PanelState, lane: LaneView<'_>) -> Asked {
    if lane.past.moment.is_some() && state.page.is_of_the_present() {
        note(
            ui,
            "These figures are of the present: of the past there are packets and cubes only.",
        );
    }
    page(ui, state, lane)
}

/// Muted words at the right of what was drawn last.
fn caption(ui: &Ui, words: &str) {
    let end = ui.cursor().top() - ui.spacing().item_spacing.y;
    let row = Rect::from_x_y_ranges(ui.max_rect().x_range(), end - CONTROL..=end);
    let color = Look::of(ui).muted;
    text(ui.painter(), row, At::Right(0.0), words, SMALL, color);
}

fn page(ui: &mut Ui, state: &mut PanelState, lane: LaneView<'_>) -> Asked {
    let stages_shown = lane.stages_shown();
    let LaneView {
        settings,
        side: _,
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
    if matches!(state.page, Page::Ladder | Page::Stages | Page::Link)
        && let Some(text) = fallback(settings.sender.stages, meter.fallback)
    {
        note(ui, text);
    }
    let mut asked = Asked::default();
    match state.page {
        Page::Ladder => {
            let shown = ladder::Shown {
                stages: stages_shown,
                moment: past.moment,
                meter,
                tick,
                shadow,
                sync,
                is_local: !is_remote,
            };
            asked.desyncs = ladder::draw(ui, &mut settings.sender, &shown);
        }
        Page::Savings | Page::OverTime | Page::WithoutEach => match shadow {
            None => {
                note(ui, "This is measured where the simulation runs.");
            }
            Some(shadow) if state.page == Page::Savings => {
                let stages = &mut settings.sender.stages;
                savings::draw(ui, stages, stages_shown, shadow, past.moment);
            }
            Some(shadow) if state.page == Page::OverTime => {
                over_time::draw(ui, state.graph_seconds, stages_shown, shadow);
            }
            Some(shadow) => without_each::draw(ui, ablation, shadow, tick),
        },
        Page::Stages => stages::draw(ui, &mut settings.sender.stages, ablation),
        Page::Ranges => {
            let measured = ranges::Measured {
                counts,
                meter,
                tradeoffs,
            };
            ranges::draw(ui, &mut settings.sender.stages, &measured);
        }
        Page::Budget => {
            let measured = budget::Measured { meter, standings };
            budget::draw(ui, &mut settings.sender, selection, &measured);
        }
        Page::Kinds => kinds::draw(ui, state, meter, past.moment, is_remote),
        Page::Packet => {
            let inspected = Inspected {
                meter,
                moment: past.moment,
                errors,
                standings,
            };
            packet::draw(ui, &mut state.packet_order, selection, &inspected);
        }
        Page::Link => {
            peers::draw(ui, peers);
            let measured = link::Measured {
                meter,
                replica_error,
                seconds: state.graph_seconds,
                is_remote,
            };
            link::draw(ui, settings, &measured);
        }
        Page::Halves => {
            if let Some(halves) = halves {
                asked.action = halves::draw(ui, halves, &shown);
            }
        }
        Page::Help => asked.action = help::draw(ui, state, &status),
    }
    asked
}

/// Logical points.
const HEIGHT: f32 = 32.0;
const SWITCH: f32 = 240.0;
const SWITCH_OF_TWO: f32 = 264.0;
const GAP_BELOW: f32 = 4.0;
