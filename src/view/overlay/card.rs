//! Title card over the first picture of a film.

use bevy_egui::egui::{Align2, Rect, pos2, vec2};

use super::film::CREDIT;
use super::text::Pen;
use crate::view::side::Side;

/// Text of a title card, besides the program's name and the credit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Card {
    pub title: String,
    /// Contents from left to right, with their half, if there are halves.
    pub shown: Vec<(Option<Side>, String)>,
    pub play: Option<String>,
    pub common: Vec<String>,
}

/// Height of a row in multiples of the type size.
const ROW: f32 = 1.6;

impl Pen<'_> {
    /// Paints the card over `part`, a column or all of the `whole` film.
    pub(super) fn card(&self, [part, whole]: [Rect; 2], card: &Card) {
        let (colors, sizes) = (self.colors(), self.sizes);
        self.painter.rect_filled(part, 0.0, self.veil());
        let play = card.play.iter().map(|play| (play.as_str(), colors.muted));
        let shown = card.shown.iter().map(|(side, text)| {
            let color = side.map_or(colors.ink, |side| side.color_of(colors));
            (text.as_str(), color)
        });
        let width = whole.width() - 2.0 * sizes.margin;
        let mut common =
            (0..=card.common.len()).rev().map(|count| card.common[..count].join(" · "));
        let common = common.find(|common| self.width(common, sizes.small) <= width);
        let common = common.unwrap_or_default();
        let below: Vec<_> = play
            .chain(shown)
            .chain((!common.is_empty()).then_some((common.as_str(), colors.muted)))
            .collect();
        let rows = [
            ("Cubewire", sizes.line, colors.muted),
            (card.title.as_str(), sizes.headline, colors.ink),
        ];
        let rows =
            rows.into_iter().chain(below.iter().map(|&(text, color)| (text, sizes.title, color)));
        let rows: Vec<_> = rows.collect();
        let height: f32 = rows.iter().map(|(_, size, _)| ROW * size).sum();
        let mut y = whole.center().y - height / 2.0;
        for row in rows {
            let (text, size, color) = row;
            let at = pos2(whole.center().x, y + ROW * size / 2.0);
            let smaller = [size, sizes.title, sizes.small].into_iter();
            let mut smaller = smaller.filter(|&smaller| smaller <= size);
            let fitting = smaller.find(|&size| self.width(text, size) <= width);
            let fitting = fitting.unwrap_or(sizes.small);
            let text = self.words(text, fitting, width);
            self.write(at, Align2::CENTER_CENTER, (&text, fitting, color));
            y += ROW * size;
        }
        let at = whole.center_bottom() - vec2(0.0, sizes.margin);
        self.write(at, Align2::CENTER_BOTTOM, (CREDIT, sizes.small, colors.muted));
    }
}
