//! The style of the panel: type, spacing, and the colours of the theme and of the selected half.

use bevy_egui::egui::{
    self, Color32, CornerRadius, FontId, Id, Margin, Stroke, TextStyle, Ui, Visuals, vec2,
};
use cubewire_codec::BitKind;

use crate::theme::{Theme, egui_color, fonts};
use crate::view::Side;

/// Font sizes, logical points: tables and captions, words and buttons, key figures.
pub(super) const SMALL: f32 = 12.0;
pub(super) const BODY: f32 = 14.0;
pub(super) const LARGE: f32 = 24.0;

/// Heights of rows of text and of controls, logical points.
pub(super) const LINE: f32 = 16.0;
pub(super) const ROW: f32 = 20.0;
pub(super) const CONTROL: f32 = 24.0;
pub(super) const BUTTON: f32 = 28.0;

/// Space between things that belong together, and between those that do not.
pub(super) const GAP: f32 = 4.0;
pub(super) const MARGIN: f32 = 16.0;

/// The colours that the panel is painted with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    pub(super) theme: Theme,
    pub(super) side: Side,
    /// Behind everything.
    pub(super) ground: Color32,
    /// Buttons, cards and chips.
    pub(super) raised: Color32,
    /// Plots and fields.
    pub(super) sunken: Color32,
    /// Dividers.
    pub(super) line: Color32,
    pub(super) ink: Color32,
    pub(super) muted: Color32,
    pub(super) warning: Color32,
    pub(super) error: Color32,
    /// Bars and dots that are not selected.
    pub(super) quiet: Color32,
    /// What cannot be chosen: its ground and its text.
    pub(super) impossible: [Color32; 2],
    /// Bars of what costs more than the target.
    pub(super) above_target: Color32,
    /// The half that the selected lane is shown in.
    pub(super) half: Color32,
    /// Behind what is selected.
    pub(super) tint: Color32,
}

impl Look {
    fn new(theme: Theme, side: Side) -> Self {
        let colors = theme.colors();
        Self {
            theme,
            side,
            ground: egui_color(colors.ground),
            raised: egui_color(colors.raised),
            sunken: egui_color(colors.sunken),
            line: egui_color(colors.line),
            ink: egui_color(colors.ink),
            muted: egui_color(colors.muted),
            warning: egui_color(colors.warning),
            error: egui_color(colors.error),
            quiet: egui_color(colors.quiet),
            impossible: [colors.impossible_ground, colors.impossible].map(egui_color),
            above_target: egui_color(colors.above_target),
            half: egui_color(side.color_of(colors)),
            tint: egui_color(match side {
                Side::Left => colors.left_tint,
                Side::Right => colors.right_tint,
            }),
        }
    }

    /// That of the panel which is being drawn.
    pub(super) fn of(ui: &Ui) -> Self {
        let look = ui.data(|data| data.get_temp(Id::new(LOOK)));
        look.unwrap_or_else(|| Self::new(Theme::default(), Side::Right))
    }

    /// The colour of a half.
    pub(super) const fn of_half(self, side: Side) -> Color32 {
        egui_color(side.color(self.theme))
    }

    /// The colour of a kind of bits.
    pub(super) fn kind(self, kind: BitKind) -> Color32 {
        egui_color(self.theme.colors().bit_kind(kind))
    }
}

/// Sets the style of `ctx` for a theme, and the colours for the half of the selected lane.
pub(super) fn apply(ctx: &egui::Context, theme: Theme, side: Side) {
    let id = Id::new(LOOK);
    let before: Option<Look> = ctx.data(|data| data.get_temp(id));
    let look = Look::new(theme, side);
    if before == Some(look) {
        return;
    }
    if before.is_none() {
        ctx.set_fonts(fonts());
        // A press of any length counts.
        ctx.options_mut(|options| options.input_options.max_click_duration = f64::INFINITY);
    }
    ctx.data_mut(|data| data.insert_temp(id, look));
    let egui_theme = match theme {
        Theme::Light => egui::Theme::Light,
        Theme::Dark => egui::Theme::Dark,
    };
    ctx.set_theme(egui_theme);
    ctx.style_mut_of(egui_theme, |style| set(style, look));
}

fn set(style: &mut egui::Style, look: Look) {
    style.text_styles = [
        (TextStyle::Small, FontId::proportional(SMALL)),
        (TextStyle::Body, FontId::proportional(BODY)),
        (TextStyle::Button, FontId::proportional(BODY)),
        (TextStyle::Heading, FontId::proportional(LARGE)),
        (TextStyle::Monospace, FontId::monospace(SMALL)),
    ]
    .into();
    let spacing = &mut style.spacing;
    spacing.item_spacing = vec2(GAP, GAP);
    spacing.button_padding = vec2(8.0, 2.0);
    spacing.interact_size = vec2(ROW, ROW);
    spacing.slider_rail_height = 4.0;
    spacing.menu_margin = Margin::same(4);
    // Every entry of a list is visible without scrolling.
    spacing.combo_height = 560.0;
    // In the margin, never over the content.
    spacing.scroll.floating = true;
    spacing.scroll.bar_width = 6.0;
    style.interaction.selectable_labels = false;
    style.interaction.tooltip_delay = 0.4;
    style.visuals = visuals(look);
}

fn visuals(look: Look) -> Visuals {
    let mut visuals = match look.theme {
        Theme::Light => Visuals::light(),
        Theme::Dark => Visuals::dark(),
    };
    visuals.panel_fill = look.ground;
    visuals.window_fill = look.ground;
    visuals.window_stroke = Stroke::new(1.0, look.line);
    visuals.extreme_bg_color = look.sunken;
    visuals.weak_text_color = Some(look.muted);
    visuals.error_fg_color = look.error;
    visuals.warn_fg_color = look.warning;
    visuals.hyperlink_color = look.ink;
    visuals.disabled_alpha = 1.0;
    // Text of what is selected, and the ring around what has the focus.
    visuals.selection.bg_fill = look.tint;
    visuals.selection.stroke = Stroke::new(2.0, look.ink);
    let widgets = &mut visuals.widgets;
    for widget in [
        &mut widgets.noninteractive,
        &mut widgets.inactive,
        &mut widgets.hovered,
        &mut widgets.active,
        &mut widgets.open,
    ] {
        widget.fg_stroke.color = look.ink;
        widget.weak_bg_fill = look.raised;
        widget.bg_fill = look.raised;
        widget.bg_stroke = Stroke::NONE;
        widget.corner_radius = CornerRadius::same(4);
        widget.expansion = 0.0;
    }
    // The rim of a light corner is blended too dark: an edge all around hides that.
    widgets.inactive.bg_stroke = Stroke::new(1.0, look.line);
    for widget in [&mut widgets.hovered, &mut widgets.open] {
        widget.bg_stroke = Stroke::new(1.0, look.quiet);
    }
    // What is pressed, and the ring around what has the focus of the keyboard.
    widgets.active.bg_stroke = Stroke::new(2.0, look.ink);
    widgets.noninteractive.weak_bg_fill = look.impossible[0];
    widgets.noninteractive.bg_stroke = Stroke::new(1.0, look.line);
    visuals
}

/// Draws with the colours of a half, whichever is selected.
pub(super) fn in_half<R>(ui: &mut Ui, side: Side, draw: impl FnOnce(&mut Ui) -> R) -> R {
    let id = Id::new(LOOK);
    let look = Look::of(ui);
    ui.data_mut(|data| data.insert_temp(id, Look::new(look.theme, side)));
    let drawn = draw(ui);
    ui.data_mut(|data| data.insert_temp(id, look));
    drawn
}

/// Where the colours are kept.
const LOOK: &str = "colours of the panel";

/// The height of the page below what was drawn so far, without scrolling.
pub(super) fn page_left(ui: &Ui) -> f32 {
    ui.clip_rect().bottom() - ui.cursor().top()
}
