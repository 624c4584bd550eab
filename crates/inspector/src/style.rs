//! Fonts, spacing and theme colours.

use bevy_egui::egui::{
    self, Align, Color32, CornerRadius, FontId, Id, Layout, Margin, Rect, Stroke, TextStyle, Theme,
    Ui, UiBuilder, Visuals, emath, style::NumberFormatter, vec2,
};
use cubewire_codec::BitKind;
use cubewire_palette::{Colors, DARK, LIGHT, Rgb};

use crate::words::grouped;

/// Font sizes in logical points: tables and captions; text and buttons; key figures.
pub const SMALL: f32 = 12.0;
pub const BODY: f32 = 14.0;
pub const LARGE: f32 = 24.0;

/// Heights of text rows and of controls, in logical points.
pub const LINE: f32 = 16.0;
pub const ROW: f32 = 20.0;
pub const CONTROL: f32 = 24.0;
pub const BUTTON: f32 = 28.0;

/// Space between related and between unrelated items, in logical points.
pub const GAP: f32 = 4.0;
pub const MARGIN: f32 = 16.0;

/// Colours of the current theme, returned by [`Look::of`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    theme: Theme,
    pub ground: Color32,
    /// Background of buttons, cards and chips.
    pub raised: Color32,
    /// Background of plots and fields.
    pub sunken: Color32,
    pub line: Color32,
    pub ink: Color32,
    pub muted: Color32,
    /// Warnings and budgets.
    pub warning: Color32,
    /// Errors and losses.
    pub error: Color32,
    /// Bars and dots that are not selected.
    pub quiet: Color32,
    /// Background and text of disabled items.
    pub impossible: [Color32; 2],
    /// Bars above the target.
    pub above_target: Color32,
    pub primary: Color32,
    /// Selection marks, and the line of the current value.
    pub half: Color32,
    pub tint: Color32,
}

impl Look {
    /// Returns a theme's colours, with the demo's right-half colours for the selection.
    pub fn new(theme: Theme) -> Self {
        let colors = colors(theme);
        Self {
            theme,
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
            primary: egui_color(colors.right),
            half: egui_color(colors.right),
            tint: egui_color(colors.right_tint),
        }
    }

    /// Replaces the colours of the selection: marks and background.
    pub const fn selecting(self, half: Color32, tint: Color32) -> Self {
        Self { half, tint, ..self }
    }

    /// Returns the colours from the last [`set`](Self::set), or the colours of the context's theme.
    pub fn of(ctx: &egui::Context) -> Self {
        let look = ctx.data(|data| data.get_temp(Id::new("colours of the inspector")));
        look.unwrap_or_else(|| match ctx.global_style().visuals.dark_mode {
            true => Self::new(Theme::Dark),
            false => Self::new(Theme::Light),
        })
    }

    /// Makes [`of`](Self::of) return these colours in the whole context. Returns the previous ones.
    pub fn set(self, ctx: &egui::Context) -> Option<Self> {
        let id = Id::new("colours of the inspector");
        let before = ctx.data(|data| data.get_temp(id));
        ctx.data_mut(|data| data.insert_temp(id, self));
        before
    }

    pub const fn colors(&self) -> &'static Colors {
        colors(self.theme)
    }

    pub const fn kind(self, kind: BitKind) -> Color32 {
        egui_color(self.colors().bit_kind(kind))
    }
}

const fn colors(theme: Theme) -> &'static Colors {
    match theme {
        Theme::Light => &LIGHT,
        Theme::Dark => &DARK,
    }
}

pub const fn egui_color(Rgb(red, green, blue): Rgb) -> Color32 {
    Color32::from_rgb(red, green, blue)
}

/// Sets fonts, spacing and colours of an egui style.
pub fn set(style: &mut egui::Style, look: Look) {
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
    // High enough to show every entry of a list without scrolling.
    spacing.combo_height = 560.0;
    // Scrolled content fades at its end. The scroll bar is in the margin, never over the content.
    let scroll = &mut spacing.scroll;
    scroll.floating = true;
    scroll.bar_width = 6.0;
    scroll.floating_width = 4.0;
    scroll.dormant_handle_opacity = 0.4;
    // egui blends light translucent colours too dark. In the light theme the fade looks like a shadow, so it is short
    // and weak.
    (scroll.fade.strength, scroll.fade.size) = match look.theme {
        Theme::Light => (0.5, 10.0),
        Theme::Dark => (1.0, 28.0),
    };
    style.number_formatter = NumberFormatter::new(|value, decimals| match decimals.start() {
        0 if value.fract() == 0.0 => grouped(value),
        _ => emath::format_with_decimals_in_range(value, decimals),
    });
    style.interaction.selectable_labels = false;
    style.interaction.tooltip_delay = 0.4;
    // Lists open at once, at any frame rate.
    style.animation_time = 0.0;
    style.visuals = visuals(look);
}

fn visuals(look: Look) -> Visuals {
    let mut visuals = match look.theme {
        Theme::Light => Visuals::light(),
        Theme::Dark => Visuals::dark(),
    };
    // egui's text options for light themes make thin strokes pale.
    visuals.text_options = Visuals::dark().text_options;
    visuals.panel_fill = look.ground;
    visuals.window_fill = look.ground;
    visuals.window_stroke = Stroke::new(1.0, look.line);
    visuals.extreme_bg_color = look.sunken;
    visuals.weak_text_color = Some(look.muted);
    visuals.error_fg_color = look.error;
    visuals.warn_fg_color = look.warning;
    visuals.hyperlink_color = look.ink;
    visuals.disabled_alpha = 1.0;
    // Background of the selection, its text, and the focus ring.
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
    // egui blends the rounded corners of light colours too dark. A border hides that.
    widgets.inactive.bg_stroke = Stroke::new(1.0, look.line);
    for widget in [&mut widgets.hovered, &mut widgets.open] {
        widget.bg_stroke = Stroke::new(1.0, look.quiet);
    }
    // Border of pressed and of focused widgets.
    widgets.active.bg_stroke = Stroke::new(2.0, look.ink);
    widgets.noninteractive.weak_bg_fill = look.impossible[0];
    widgets.noninteractive.bg_stroke = Stroke::new(1.0, look.line);
    visuals
}

/// Returns the height of the page that is left below the drawn content, without scrolling.
pub fn page_left(ui: &Ui) -> f32 {
    ui.clip_rect().bottom() - ui.cursor().top()
}

/// Returns a row in a rectangle, from its left or from its right end.
pub fn row_in(ui: &mut Ui, rect: Rect, from: Align) -> Ui {
    let layout = match from {
        Align::Max => Layout::right_to_left(Align::Center),
        _ => Layout::left_to_right(Align::Center),
    };
    ui.new_child(UiBuilder::new().max_rect(rect).layout(layout))
}
