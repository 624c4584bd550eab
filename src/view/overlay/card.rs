//! The title card before a film.

use bevy_egui::egui::{Align2, Rect, pos2, vec2};

use super::film::CREDIT;
use super::text::Pen;
use crate::theme::egui_color;
use crate::view::side::Side;

/// What a title card says, with the program and the credit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Card {
    /// The title of the film.
    pub title: String,
    /// What is shown, from left to right, with the half that it is in, if there are halves.
    pub shown: Vec<(Option<Side>, String)>,
    /// What is played.
    pub play: Option<String>,
}

/// Between rows, in multiples of the type's size.
const ROW: f32 = 1.6;

impl Pen<'_> {
    /// Paints the card over everything.
    pub(super) fn card(&self, whole: Rect, card: &Card) {
        let (colors, sizes) = (self.colors(), self.sizes);
        self.painter
            .rect_filled(whole, 0.0, egui_color(colors.ground));
        let play = card.play.iter().map(|play| (play.as_str(), colors.muted));
        let shown = card.shown.iter().map(|(side, text)| {
            let color = side.map_or(colors.ink, |side| side.color_of(colors));
            (text.as_str(), color)
        });
        let below: Vec<_> = play.chain(shown).collect();
        let credit = CREDIT.join(" ");
        let rows = [
            ("Cubewire", sizes.line, colors.muted),
            (card.title.as_str(), sizes.headline, colors.ink),
        ];
        let rows = rows.into_iter().chain(
            below
                .iter()
                .map(|&(text, color)| (text, sizes.title, color)),
        );
        let rows: Vec<_> = rows.collect();
        let width = whole.width() - 2.0 * sizes.margin;
        let height: f32 = rows.iter().map(|(_, size, _)| ROW * size).sum();
        let mut y = whole.center().y - height / 2.0;
        for row in rows {
            let line = self.line(&[row], width);
            let at = pos2(whole.center().x, y + ROW * row.1 / 2.0);
            let at = Align2::CENTER_CENTER.anchor_size(at, line.size()).min;
            self.painter.galley(at, line, egui_color(row.2));
            y += ROW * row.1;
        }
        let line = self.line(&[(&credit, sizes.small, colors.muted)], width);
        let at = whole.center_bottom() - vec2(0.0, sizes.margin);
        let at = Align2::CENTER_BOTTOM.anchor_size(at, line.size()).min;
        self.painter.galley(at, line, egui_color(colors.muted));
    }
}
