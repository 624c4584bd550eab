//! Explains the screen: at the first start, and on request.

use bevy::prelude::*;
use bevy_egui::egui::{
    Align2, Area, Button, Color32, Context, Frame, Id, Margin, Order, Pos2, Rect, RichText, Stroke,
    TextStyle, Vec2, pos2,
};
use bevy_egui::input::EguiWantsInput;

use super::lane::LaneView;
use super::pages::ladder::kbps_of;
use super::settings::{PanelSize, PanelState};
use super::style;
use cubewire_codec::ladder::LADDER;

use crate::controls::{Action, key_of};
use crate::replication::Accounting;
use crate::theme::egui_color;
use crate::view::{CubeColors, Inset, Side, ViewMode};

/// Ends the explanation with the first key, or with a click into the view.
pub(super) fn end_with_first_input(
    keys: Option<Res<ButtonInput<KeyCode>>>,
    buttons: Option<Res<ButtonInput<MouseButton>>>,
    touches: Option<Res<Touches>>,
    egui: Option<Res<EguiWantsInput>>,
    mut state: ResMut<PanelState>,
    mut was_explaining: Local<bool>,
) {
    let was_explaining = std::mem::replace(&mut *was_explaining, state.explaining);
    if !was_explaining {
        return;
    }
    if state.explaining {
        let pressed = keys.is_some_and(|keys| {
            let mut pressed = keys.get_just_pressed();
            pressed.any(|key| !MODIFIERS.contains(key))
        });
        let over_panel = egui.is_some_and(|egui| egui.wants_any_pointer_input());
        let clicked = buttons.is_some_and(|buttons| buttons.get_just_pressed().next().is_some())
            || touches.is_some_and(|touches| touches.any_just_pressed());
        if !pressed && (!clicked || over_panel) {
            return;
        }
    }
    // It may also have been ended by its own key.
    state.explaining = false;
    state.explained = true;
}

const MODIFIERS: [KeyCode; 8] = [
    KeyCode::ShiftLeft,
    KeyCode::ShiftRight,
    KeyCode::ControlLeft,
    KeyCode::ControlRight,
    KeyCode::AltLeft,
    KeyCode::AltRight,
    KeyCode::SuperLeft,
    KeyCode::SuperRight,
];

/// What the explanation says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Explained {
    plays: bool,
    plays_itself: bool,
    view: ViewMode,
    is_compared: bool,
    /// How far the displayed state lags behind, milliseconds.
    late_ms: u128,
    kbps: f64,
    /// What the first rung would cost, if that is known.
    whole_kbps: Option<f64>,
    /// Whether the tour can be taken.
    has_tour: bool,
}

impl Explained {
    pub(super) fn of(lane: &LaneView<'_>) -> Self {
        let settings = &*lane.settings;
        let late = settings.link.conditions.latency + settings.playout.rule_delay(&settings.sender);
        Self {
            plays: lane.status.plays,
            plays_itself: lane.status.plays_itself,
            view: lane.status.view,
            is_compared: lane.shown.len() > 1,
            late_ms: (late.as_millis() + 5) / 10 * 10,
            kbps: lane.meter.kbps(Accounting::PayloadAndUdp),
            whole_kbps: lane.shadow.and_then(|shadow| kbps_of(shadow, &LADDER[0])),
            has_tour: lane.status.tour.is_some(),
        }
    }

    /// The boxes, for a view of this size next to the panel.
    fn callouts(&self, picture: Rect, state: &PanelState) -> Vec<Callout> {
        let mut callouts = vec![self.keys(picture, state)];
        // What plays by itself is left in sight.
        if !self.plays_itself {
            callouts.extend(self.parts(picture, state));
        }
        callouts
    }

    /// The keys, at the bottom.
    fn keys(&self, picture: Rect, state: &PanelState) -> Callout {
        let again = key_of(Action::Help);
        let bottom = keys_end(picture);
        Callout {
            title: if self.plays && state.has_touch {
                "drag rolls  ·  two fingers turn and zoom  ·  the panel compresses"
            } else if self.plays {
                "arrow keys roll  ·  Space blow  ·  Z katamari  ·  PageUp compress"
            } else {
                "PageUp compress  ·  drag orbit  ·  T trails"
            },
            text: if state.has_touch {
                "Any touch starts.".to_owned()
            } else if self.plays_itself {
                format!("Any key takes over. {again} explains again.")
            } else {
                format!("Any key starts. {again} explains again.")
            },
            at: pos2(picture.center().x, bottom),
            align: Align2::CENTER_BOTTOM,
            width: (picture.width() - 40.0).min(560.0),
            color: egui_color(state.theme.colors().ink),
        }
    }

    /// What the parts of the screen show.
    fn parts(&self, picture: Rect, state: &PanelState) -> Vec<Callout> {
        let colors = state.theme.colors();
        let ink = egui_color(colors.ink);
        let is_split = self.view == ViewMode::Split;
        let (left, right) = picture.split_left_right_at_fraction(0.5);
        // Below the figures and the legend of the colours, above the player.
        let y = picture.top()
            + match state.colors {
                CubeColors::Interaction => BELOW_FIGURES,
                _ => BELOW_LEGEND,
            };
        let width = (0.5 * picture.width() - 40.0).clamp(120.0, 330.0);
        let half = |side: Side, over: Rect, title: &'static str, text: String| Callout {
            title,
            text,
            at: pos2(over.center().x, y),
            align: Align2::CENTER_TOP,
            width,
            color: style::half(colors, side),
        };
        let mut callouts = Vec::new();
        if is_split && self.plays && self.is_compared {
            let text = "The same snapshots, sent with other settings.".to_owned();
            callouts.push(half(Side::Left, left, "Another replica", text));
        } else if is_split && self.plays {
            let text = "901 cubes in a physics engine, on this machine. You roll the blue one.";
            callouts.push(half(Side::Left, left, "The simulation", text.to_owned()));
        }
        let text = format!(
            "Rebuilt from network packets alone, some {} ms later. Can you see the difference?",
            self.late_ms
        );
        let over = if is_split { right } else { picture };
        callouts.push(half(Side::Right, over, "What another machine sees", text));

        // A small window has no room for it.
        if picture.height() < MIN_COST_HEIGHT || picture.width() < MIN_COST_WIDTH {
            return callouts;
        }
        let (title, y, align) = match state.size {
            PanelSize::Whole => (
                "What it costs  ➡",
                picture.top() + 0.66 * picture.height(),
                Align2::RIGHT_CENTER,
            ),
            _ => (
                "What it costs  ⬇",
                picture.bottom() - 8.0,
                Align2::RIGHT_BOTTOM,
            ),
        };
        let whole = self
            .whole_kbps
            .map_or_else(String::new, |whole| format!(", of {whole:.0} uncompressed"));
        callouts.push(Callout {
            title,
            text: format!(
                "{:.0} kilobits a second now{whole}. PageUp or a click on the ladder switches the \
                 compression.",
                self.kbps
            ),
            at: pos2(picture.right() - 8.0, y),
            align,
            width: width.min(300.0),
            color: ink,
        });
        callouts
    }
}

/// Where the box of the keys ends.
fn keys_end(picture: Rect) -> f32 {
    picture.bottom() - KEYS_ABOVE * picture.height()
}

/// Draws the explanation over the view, next to the panel that covers `inset`. Returns the action of its
/// button, if that was pressed.
pub(super) fn draw(
    ctx: &Context,
    state: &PanelState,
    what: &Explained,
    inset: Inset,
) -> Option<Action> {
    let mut picture = ctx.viewport_rect();
    picture.max.x -= inset.right;
    picture.max.y -= inset.bottom;
    if picture.width() < 1.0 || picture.height() < 1.0 {
        return None;
    }
    for (index, callout) in what.callouts(picture, state).iter().enumerate() {
        callout.show(ctx, state, index);
    }
    if what.has_tour {
        tour_button(ctx, state, picture)
    } else {
        None
    }
}

/// A button in an area of its own, so that a click on the boxes is a click into the view.
fn tour_button(ctx: &Context, state: &PanelState, picture: Rect) -> Option<Action> {
    let colors = state.theme.colors();
    let shown = Area::new(Id::new("explanation of the tour"))
        .order(Order::Middle)
        .pivot(Align2::CENTER_TOP)
        .fixed_pos(pos2(picture.center().x, keys_end(picture) + 6.0))
        .fade_in(false)
        .show(ctx, |ui| {
            let key = RichText::new(key_of(Action::Tour)).weak();
            let button = Button::new(RichText::new("Take the tour").strong())
                .right_text(key)
                .fill(egui_color(colors.surface))
                .stroke(Stroke::new(2.0, egui_color(colors.ink)))
                .corner_radius(6.0)
                .min_size(TOUR_BUTTON);
            ui.add(button).clicked()
        });
    shown.inner.then_some(Action::Tour)
}

/// A box with a title and a text.
#[derive(Clone, Debug)]
struct Callout {
    title: &'static str,
    text: String,
    /// The position of the corner or the middle that `align` names.
    at: Pos2,
    align: Align2,
    /// Width at most, logical points.
    width: f32,
    /// Colour of the title and the frame.
    color: Color32,
}

impl Callout {
    fn show(&self, ctx: &Context, state: &PanelState, index: usize) {
        let colors = state.theme.colors();
        Area::new(Id::new(("explanation", index)))
            .order(Order::Middle)
            .pivot(self.align)
            .fixed_pos(self.at)
            .interactable(false)
            .fade_in(false)
            .show(ctx, |ui| {
                Frame::new()
                    .fill(egui_color(colors.surface).gamma_multiply(VEIL))
                    .stroke(Stroke::new(2.0, self.color))
                    .corner_radius(6.0)
                    .inner_margin(Margin::symmetric(12, 8))
                    .show(ui, |ui| {
                        ui.set_max_width(self.width);
                        ui.spacing_mut().item_spacing = Vec2::splat(3.0);
                        let title = RichText::new(self.title)
                            .text_style(TextStyle::Heading)
                            .strong()
                            .color(self.color);
                        ui.label(title);
                        ui.label(RichText::new(&self.text).color(egui_color(colors.ink)));
                    });
            });
    }
}

/// Share of the height below the box of the keys.
const KEYS_ABOVE: f32 = 0.16;

/// Logical points.
const TOUR_BUTTON: Vec2 = Vec2::new(150.0, 28.0);
const BELOW_FIGURES: f32 = 100.0;
const BELOW_LEGEND: f32 = 160.0;
const MIN_COST_HEIGHT: f32 = 560.0;
const MIN_COST_WIDTH: f32 = 560.0;

/// Opacity of the boxes.
const VEIL: f32 = 0.93;
