//! Text over the scene: what each half shows, and how many times less its lane costs, in large type.

mod caption;
mod card;
mod film;
mod headline;
mod legend;
mod outline;
mod shown;
mod text;

use std::time::Duration;

use bevy::prelude::*;
use bevy_egui::egui::Rect;

use super::side::Side;

pub use card::Card;
pub use film::{Column, Flag, common, peak_kbps};
pub(super) use shown::draw;

/// How long a title is shown.
const TITLE_TIME: Duration = Duration::from_secs(2);

/// Settings of the text over the scene.
#[derive(Resource, Clone, Debug, Default)]
pub struct Overlay {
    /// The title of a film; none in a window. A film has a title bar, a graph and a credit.
    pub title: Option<String>,
    /// Which column of that film this is, if it has columns.
    pub column: Option<Column>,
    /// The largest bandwidth that the graphs of that film have shown, kilobits a second.
    pub peak_kbps: f64,
    /// The switches in the course of that film, in ascending order of their ticks.
    pub flags: Vec<Flag>,
    /// What is over all of a film before it begins.
    pub card: Option<Card>,
    /// Parts that are hidden.
    pub hidden: Vec<Part>,
    /// Names of the halves, instead of `Simulation` and `Replica`.
    pub names: [Option<String>; Side::ALL.len()],
    /// What was switched in each half, and until when that is shown, by the simulation's clock.
    pub titles: [Option<(String, Duration)>; Side::ALL.len()],
}

/// A part of the overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_family = "wasm"), derive(clap::ValueEnum))]
pub enum Part {
    /// The second of a title card before an MP4.
    Card,
    /// The name of a half.
    Labels,
    /// The bandwidth and the ratio in large type.
    Figures,
    /// The title of a film.
    Heading,
    /// The graph below a film, with the conditions and the credit.
    Graph,
    /// The rung of a lane.
    Rung,
    /// The network of a lane, its send rate and its interpolation.
    Link,
    /// Titles that announce changed settings.
    Titles,
}

impl Overlay {
    /// Shows for a while what was switched in a half; titles of the same tick are combined. `now` is by the
    /// simulation's clock.
    pub fn announce(&mut self, side: Side, title: String, now: Duration) {
        let until = now + TITLE_TIME;
        let shown = &mut self.titles[side as usize];
        let title = match shown.take() {
            Some((before, ends)) if ends == until => format!("{before}, {title}"),
            _ => title,
        };
        *shown = Some((title, until));
    }

    /// The titles that are shown now, and what they are over: their half, or with its name the whole
    /// picture if the half is hidden. One that is `said` in large type over its half is left out.
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

    /// Whether this part is shown.
    #[must_use]
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
        let title = |overlay: &Overlay| {
            overlay.titles(SECOND, picture, halves, [None; 2])[0]
                .0
                .clone()
        };
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
        // The left half alone: the title of the right one says whose it is.
        let alone = titles(SECOND * 3, [Some(picture), None]);
        assert_eq!(alone, [("right: index".to_owned(), picture)]);
    }
}
