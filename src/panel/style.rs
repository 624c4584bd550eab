//! The style of the panel: fonts, spacing, and the colours of the theme.

use bevy_egui::egui::{
    self, Color32, FontFamily, FontId, Id, Margin, Stroke, TextStyle, Visuals, vec2,
};
use cubewire_palette::{Colors, Rgb};

use crate::theme::{Theme, egui_color, fonts};
use crate::view::Side;

/// Sets the style of `ctx`, once for each theme.
pub(super) fn apply(ctx: &egui::Context, theme: Theme) {
    let id = Id::new("style of the panel");
    let applied = ctx.data(|data| data.get_temp(id));
    if applied == Some(theme) {
        return;
    }
    if applied.is_none() {
        ctx.set_fonts(fonts());
    }
    ctx.data_mut(|data| data.insert_temp(id, theme));
    let egui_theme = match theme {
        Theme::Light => egui::Theme::Light,
        Theme::Dark => egui::Theme::Dark,
    };
    ctx.set_theme(egui_theme);
    ctx.style_mut_of(egui_theme, |style| {
        let family = |text: &TextStyle| match text {
            TextStyle::Monospace => FontFamily::Monospace,
            _ => FontFamily::Proportional,
        };
        for (text, size) in [
            (TextStyle::Small, 10.5),
            (TextStyle::Body, 12.5),
            (TextStyle::Button, 12.5),
            (TextStyle::Monospace, 12.0),
            (TextStyle::Heading, 17.0),
        ] {
            let font = FontId::new(size, family(&text));
            style.text_styles.insert(text, font);
        }
        let spacing = &mut style.spacing;
        spacing.item_spacing = vec2(6.0, 4.0);
        spacing.button_padding = vec2(5.0, 1.5);
        spacing.interact_size.y = 18.0;
        spacing.slider_width = 130.0;
        // Every entry of a list is visible without scrolling.
        spacing.combo_height = 400.0;
        // Next to the content, never over it.
        spacing.scroll.floating = true;
        spacing.scroll.content_margin = Margin {
            right: SCROLL_BAR as i8,
            ..Margin::ZERO
        };
        spacing.scroll.bar_width = SCROLL_BAR - 2.0;
        style.interaction.selectable_labels = false;
        style.interaction.tooltip_delay = 0.4;
        style.visuals = visuals(theme);
    });
}

/// Logical points kept free for the scroll bar.
pub(super) const SCROLL_BAR: f32 = 10.0;

fn visuals(theme: Theme) -> Visuals {
    let colors = theme.colors();
    let mut visuals = match theme {
        Theme::Light => Visuals::light(),
        Theme::Dark => Visuals::dark(),
    };
    let ink = egui_color(colors.ink);
    let surface = egui_color(colors.surface);
    visuals.panel_fill = surface;
    visuals.window_fill = surface;
    visuals.weak_text_color = Some(egui_color(colors.muted));
    visuals.error_fg_color = egui_color(colors.error);
    visuals.warn_fg_color = egui_color(colors.warning);
    visuals.hyperlink_color = half(colors, Side::Left);
    for widget in [
        &mut visuals.widgets.noninteractive,
        &mut visuals.widgets.inactive,
        &mut visuals.widgets.hovered,
        &mut visuals.widgets.active,
        &mut visuals.widgets.open,
    ] {
        widget.fg_stroke.color = ink;
    }
    // A disabled button is an outline.
    visuals.widgets.noninteractive.weak_bg_fill = surface;
    visuals.widgets.noninteractive.bg_fill = surface;
    visuals.disabled_alpha = 0.7;
    visuals.widgets.noninteractive.bg_stroke = Stroke::new(1.0, tint(colors, colors.ink, 0.15));
    visuals
}

/// The colour of a half.
pub(super) const fn half(colors: &Colors, side: Side) -> Color32 {
    egui_color(side.color_of(colors))
}

/// Marks what is selected with the colour of the half that it belongs to.
pub(super) fn select_with(ui: &mut egui::Ui, theme: Theme, side: Side) {
    let colors = theme.colors();
    let selection = &mut ui.visuals_mut().selection;
    let half = half(colors, side);
    selection.bg_fill = mix(egui_color(colors.surface), half, SELECTED);
    // The text of what is selected, and the ring around what has the focus.
    selection.stroke = Stroke::new(1.5, egui_color(colors.ink));
}

/// The height of the page below what was drawn so far, without scrolling.
pub(super) fn page_left(ui: &egui::Ui) -> f32 {
    ui.clip_rect().bottom() - ui.cursor().top()
}

/// Paints text over lines and bars, on a ground that keeps it readable. Returns its rectangle.
pub(super) fn text_over(
    painter: &egui::Painter,
    theme: Theme,
    at: egui::Pos2,
    align: egui::Align2,
    text: impl ToString,
    size: f32,
) -> egui::Rect {
    let colors = theme.colors();
    let ink = egui_color(colors.ink);
    let font = FontId::proportional(size);
    let galley = painter.layout_no_wrap(text.to_string(), font, ink);
    let rect = align.anchor_size(at, galley.size());
    let ground = egui_color(colors.surface).gamma_multiply(0.85);
    painter.rect_filled(rect.expand2(vec2(2.0, 0.0)), 0.0, ground);
    painter.galley(rect.min, galley, ink);
    rect
}

/// The surface with a share of a colour.
pub(super) fn tint(colors: &Colors, color: Rgb, share: f32) -> Color32 {
    mix(egui_color(colors.surface), egui_color(color), share)
}

fn mix(from: Color32, to: Color32, share: f32) -> Color32 {
    from.lerp_to_gamma(to, share)
}

/// Share of the half's colour in the background of what is selected.
const SELECTED: f32 = 0.22;

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance by WCAG 2.2.
    fn luminance(color: Color32) -> f32 {
        let linear = |byte: u8| egui::ecolor::linear_f32_from_gamma_u8(byte);
        0.2126 * linear(color.r()) + 0.7152 * linear(color.g()) + 0.0722 * linear(color.b())
    }

    fn contrast(a: Color32, b: Color32) -> f32 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_of_every_kind_has_a_contrast_of_4_5() {
        for theme in [Theme::Light, Theme::Dark] {
            let ctx = egui::Context::default();
            apply(&ctx, theme);
            let visuals = ctx.global_style().visuals.clone();
            let widgets = &visuals.widgets;
            let mut pairs = vec![
                (visuals.weak_text_color(), visuals.panel_fill),
                (visuals.error_fg_color, visuals.panel_fill),
                (visuals.warn_fg_color, visuals.panel_fill),
                (visuals.text_color(), visuals.extreme_bg_color),
                (visuals.weak_text_color(), visuals.extreme_bg_color),
            ];
            for widget in [
                &widgets.noninteractive,
                &widgets.inactive,
                &widgets.hovered,
                &widgets.active,
                &widgets.open,
            ] {
                pairs.push((widget.text_color(), widget.weak_bg_fill));
                pairs.push((widget.text_color(), visuals.panel_fill));
            }
            let colors = theme.colors();
            for side in Side::ALL {
                let half = half(colors, side);
                let selected = mix(egui_color(colors.surface), half, SELECTED);
                pairs.push((egui_color(colors.ink), selected));
                pairs.push((half, visuals.panel_fill));
            }
            for (text, behind) in pairs {
                let contrast = contrast(text, behind);
                assert!(
                    contrast >= 4.5,
                    "{theme:?}: {text:?} on {behind:?}: {contrast:.2}"
                );
            }
        }
    }
}
