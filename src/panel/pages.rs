//! The pages of the panel.

pub(super) mod ladder;
pub(super) mod link;
pub(super) mod pickers;

mod budget;
mod help;
mod kinds;
pub(super) mod packet;
pub(super) mod peers;
mod playing;
pub(super) mod ranges;
mod stages;
mod sync;

use super::settings::Tab;
use crate::panel::prelude::*;
use crate::replication::fallback;

impl Page {
    pub(super) const fn texts(self) -> [&'static str; 2] {
        match self {
            Self::Ladder => [
                "Ladder",
                "Named combinations of stages, the bandwidth of each, and a switch for the stage that it adds.",
            ],
            Self::Packet => ["One packet", "Every bit of one packet, and of the selected cube."],
            Self::Kinds => ["By kind of bits", "The bits of one second, by kind."],
            Self::Stages => ["Stages", "A switch for each stage of the compression."],
            Self::Ranges => ["Ranges", "Parameters of the stages, with their bandwidth and error."],
            Self::Budget => {
                ["Budget", "A bandwidth limit, and the cubes that waited for their turn."]
            }
            Self::Link => [
                "Link and playout",
                "The link, how often snapshots are sent, and how they become smooth motion.",
            ],
            Self::Playing => {
                ["Playing", "The end to which the keys go, and how soon they have an effect."]
            }
            Self::Help => ["Help", "Theme, size, and the keys."],
        }
    }
}

impl Tab {
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Ladder => "Ladder",
            Self::Packet => "Packet",
            Self::Stages => "Stages",
            Self::Network => "Network",
            Self::Help => "Help",
        }
    }
}

pub(super) fn bar(ui: &mut Ui, state: &mut PanelState) {
    let look = Look::of(ui);
    ui.data_mut(|data| data.insert_temp(Id::new(state.page.tab()), state.page));
    let line = Stroke::new(1.0, look.line);
    let width = ui.available_width() / Tab::ALL.len() as f32;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing = Vec2::ZERO;
        for tab in Tab::ALL {
            let (rect, response) = ui.allocate_exact_size(vec2(width, 32.0), Sense::click());
            if response.clicked() {
                state.page = ui.data(|data| data.get_temp(Id::new(tab))).unwrap_or(tab.pages()[0]);
                // Earlier tabs were already drawn with the old page.
                ui.request_discard("another tab is opened");
            }
            let is_open = tab == state.page.tab();
            response.widget_info(|| {
                WidgetInfo::selected(WidgetType::SelectableLabel, true, is_open, tab.title())
            });
            let painter = ui.painter();
            painter.hline(rect.x_range(), rect.bottom() - 0.5, line);
            let color = if is_open || response.hovered() { look.ink } else { look.muted };
            text(painter, rect, At::Center(width / 2.0), tab.title(), BODY, color);
            if is_open {
                painter.rect_filled(rect.with_min_y(rect.bottom() - 3.0), 0.0, look.half);
            }
            if response.has_focus() {
                focus_ring(painter, look, rect);
            }
        }
    });
}

/// Draws the switch between the pages of the open tab, or between the columns of the ladder.
pub(super) fn switch(ui: &mut Ui, state: &mut PanelState, lane: &LaneView<'_>) {
    let room = ui.available_width();
    if state.page == Page::Ladder {
        if !lane.status.plays {
            return;
        }
        let columns = Column::ALL.map(|column| {
            let [name, about, ..] = column.texts();
            Choice::new(column, name, about)
        });
        segmented(ui, room, &mut state.column, &columns);
        ui.add_space(GAP_BELOW);
        return;
    }
    let choices = state.page.tab().pages().iter().map(|&page| {
        let [title, about] = page.texts();
        Choice::new(page, title, about)
    });
    let choices: Vec<_> = choices.collect();
    if choices.len() > 1 {
        // Beside three pages is a caption.
        let width = if choices.len() == 2 { room.min(264.0) } else { 0.64 * room };
        segmented(ui, width, &mut state.page, &choices);
        if state.page == Page::Stages {
            let end = ui.cursor().top();
            let row = Rect::from_x_y_ranges(ui.max_rect().x_range(), end - CONTROL..=end);
            let (words, color) = stages::caption(Look::of(ui), lane);
            text(ui.painter(), row, At::Right(0.0), words, SMALL, color);
        }
        ui.add_space(GAP_BELOW);
    }
}

/// The displayed column of the ladder. A viewer only has the cost, because the others are measured at the sender.
fn column(state: &PanelState, lane: &LaneView<'_>) -> Column {
    if lane.status.plays { state.column } else { Column::Cost }
}

pub(super) fn draw(ui: &mut Ui, state: &mut PanelState, lane: &mut LaneView<'_>) -> Option<Action> {
    let is_of_the_present = match state.page {
        Page::Ladder => column(state, lane) == Column::Without,
        Page::Ranges | Page::Budget | Page::Link | Page::Playing => true,
        _ => false,
    };
    if lane.past.moment.is_some() && is_of_the_present {
        note(ui, "These figures are current: only packets and cubes are recorded for the past.");
    }
    if matches!(state.page, Page::Ladder | Page::Stages | Page::Link)
        && let Some(text) = fallback(lane.settings.sender.stages, lane.meter.fallback)
    {
        note(ui, text);
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    match state.page {
        Page::Ladder => ladder::draw(ui, state, lane),
        Page::Packet => packet::draw(ui, &mut state.packet_order, lane),
        Page::Kinds => kinds::draw(ui, state, lane),
        Page::Stages => stages::draw(ui, lane),
        Page::Ranges => ranges::draw(ui, lane),
        Page::Budget => budget::draw(ui, lane),
        Page::Link => {
            let asked = peers::draw(ui, &lane.peers);
            link::draw(ui, lane, state.graph_seconds.0);
            return asked;
        }
        Page::Playing => playing::draw(ui, lane, state.graph_seconds.0),
        Page::Help => return help::draw(ui, state, &lane.status),
    }
    None
}

fn millis(ticks: u64) -> String {
    grouped((1_000 * ticks / u64::from(TICKS_PER_SECOND)) as f64)
}

/// Space below a switch, logical points.
const GAP_BELOW: f32 = 8.0;
