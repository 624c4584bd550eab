//! Text over the scene: the content of each half, and in large type its bandwidth or compression ratio.

mod caption;
mod card;
mod draw;
mod film;
mod headline;
mod legend;
mod outline;
mod text;

use std::time::Duration;

use bevy::prelude::*;
use bevy_egui::egui::Rect;

use super::side::Side;

pub use card::Card;
pub(super) use draw::draw;
pub use film::{Column, Curves, Flag, common, title_of_halves};

const TITLE_TIME: Duration = Duration::from_secs(2);

#[derive(Resource, Clone, Debug, Default)]
pub struct Overlay {
    /// Title of a film, `None` in a window. Films have a title bar, a graph and a credit.
    pub title: Option<String>,
    pub column: Option<Column>,
    /// Graph of a film.
    pub curves: Curves,
    /// Title card over the whole picture before the film starts.
    pub card: Option<Card>,
    pub hidden: Vec<Part>,
    /// Names of the halves that replace `Simulation` and `Replica`.
    pub names: [Option<String>; Side::ALL.len()],
    /// Title of the last switch in each half, and when it disappears on the simulation's clock.
    pub titles: [Option<(String, Duration)>; Side::ALL.len()],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_family = "wasm"), derive(clap::ValueEnum))]
pub enum Part {
    /// The title card, one second before an MP4.
    Card,
    /// Name of a half or column.
    Labels,
    /// Bandwidth and ratio in large type.
    Figures,
    /// Title of a film.
    Heading,
    /// Graph below a film, with the conditions and the credit.
    Graph,
    Rung,
    /// Network of a lane, its send rate and its interpolation.
    Link,
    /// Titles that announce changed settings.
    Titles,
}

impl Overlay {
    /// Shows a title in a half for two seconds and joins titles of the same tick. `now` is the simulation's clock.
    pub fn announce(&mut self, side: Side, title: String, now: Duration) {
        let until = now + TITLE_TIME;
        let shown = &mut self.titles[side as usize];
        let title = match shown.take() {
            Some((before, ends)) if ends == until => format!("{before}, {title}"),
            _ => title,
        };
        *shown = Some((title, until));
    }

    /// Returns the titles to show now and their areas. The title of a hidden half is prefixed with the half's name and
    /// covers the picture. A title that the headline already shows (`said`) is left out.
    fn titles(
        &self,
        now: Duration,
        picture: Rect,
        halves: [Option<Rect>; Side::ALL.len()],
        said: [Option<&str>; Side::ALL.len()],
    ) -> Vec<(String, Rect)> {
        let titles = Side::ALL.into_iter().filter_map(|side| {
            let (title, until) = self.titles[side as usize].as_ref()?;
            let shown = match halves[side as usize] {
                Some(half) => (title.clone(), half),
                None => (format!("{}: {title}", side.name()), picture),
            };
            let is_said = said[side as usize] == Some(title.as_str());
            (now < *until && !is_said).then_some(shown)
        });
        titles.collect()
    }

    pub fn shows(&self, part: Part) -> bool {
        !self.hidden.contains(&part)
    }
}

#[cfg(test)]
mod tests {
    use bevy_egui::egui::pos2;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn picture() -> (Rect, [Option<Rect>; 2]) {
        let picture = Rect::from_min_max(pos2(0.0, 0.0), pos2(1280.0, 720.0));
        let (left, right) = picture.split_left_right_at_fraction(0.5);
        (picture, [Some(left), Some(right)])
    }

    #[test]
    fn titles_of_one_tick_are_combined() {
        let (picture, halves) = picture();
        let title =
            |overlay: &Overlay| overlay.titles(SECOND, picture, halves, [None; 2])[0].0.clone();
        let mut overlay = Overlay::default();
        overlay.announce(Side::Right, "delta".to_owned(), SECOND);
        overlay.announce(Side::Right, "4G".to_owned(), SECOND);
        assert_eq!(title(&overlay), "delta, 4G");
        overlay.announce(Side::Right, "index".to_owned(), SECOND * 2);
        assert_eq!(title(&overlay), "index");
    }

    #[test]
    fn a_title_is_over_its_half_until_its_time_is_up() {
        let (picture, halves) = picture();
        let mut overlay = Overlay::default();
        overlay.announce(Side::Left, "delta".to_owned(), SECOND);
        overlay.announce(Side::Right, "index".to_owned(), SECOND * 2);
        let titles = |now, halves| overlay.titles(now, picture, halves, [None; 2]);
        let (left, right) = (halves[0].unwrap(), halves[1].unwrap());
        let both = [("delta".to_owned(), left), ("index".to_owned(), right)];
        assert_eq!(titles(SECOND * 2, halves), both);
        let said = [Some("index"), Some("index")];
        assert_eq!(overlay.titles(SECOND * 2, picture, halves, said), both[..1]);
        assert_eq!(titles(SECOND * 3, halves), both[1..]);
        assert_eq!(titles(SECOND * 4, halves), []);
        // Only the left half is visible, so the title of the right half has its name.
        let alone = titles(SECOND * 3, [Some(picture), None]);
        assert_eq!(alone, [("right: index".to_owned(), picture)]);
    }
}
