//! Text over the scene: what each half shows, and the bandwidth of its lane in large type.

mod legend;
mod notice;
mod outline;
mod text;
mod wrap;

use std::time::Duration;

use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_egui::egui::{Color32, LayerId, Rect, pos2};
use bevy_egui::{EguiContexts, EguiTextureHandle};

use super::ViewMode;
use super::arrivals::Arrivals;
use super::costs::{Costs, CubeColors};
use super::notices::Notices;
use super::panes::Pane;
use super::side::{Selected, Side};
use crate::history::Moment;
use crate::named::Named;
use crate::replication::{
    Accounting, Lane, LaneMeter, LaneSettings, LaneSettingsQuery, LocalLane, Totals, millimetres,
};
use crate::theme::Theme;
use outline::Outlined;
use text::Pen;

pub(super) use notice::notice;

/// How long a title is shown.
const TITLE_TIME: Duration = Duration::from_secs(2);

/// Settings of the text over the scene.
#[derive(Resource, Clone, Debug, Default)]
pub struct Overlay {
    /// Parts that are hidden.
    pub hidden: Vec<Part>,
    /// Names of the halves, instead of `simulation` and `replica`.
    pub names: [Option<String>; Side::ALL.len()],
    /// What was switched in each half, and until when that is shown, by the simulation's clock.
    pub titles: [Option<(String, Duration)>; Side::ALL.len()],
}

/// A part of the overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The name of a half.
    Labels,
    /// The bandwidth in large type.
    Figures,
    /// A graph of the bandwidth over the last seconds.
    Graph,
    /// The rung of a lane.
    Rung,
    /// The network of a lane, its send rate and its interpolation.
    Link,
    /// Titles that announce changed settings.
    Titles,
}

impl Named for Part {
    const NAMES: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Labels, "labels", "The name of a half"),
        (Self::Figures, "figures", "The bandwidth in large type"),
        (
            Self::Graph,
            "graph",
            "A graph of the bandwidth over the last seconds",
        ),
        (Self::Rung, "rung", "The rung of a lane"),
        (
            Self::Link,
            "link",
            "The network of a lane, its send rate and its interpolation",
        ),
        (
            Self::Titles,
            "titles",
            "Titles that announce changed settings",
        ),
    ];
}

impl Overlay {
    /// Shows for a while what was switched in a half; titles of the same tick are combined. `now` is by the
    /// simulation's clock.
    pub fn announce(&mut self, side: Side, title: String, now: Duration) {
        let until = now + TITLE_TIME;
        let shown = &mut self.titles[side as usize];
        let title = match shown.take() {
            Some((before, ends)) if ends == until => format!("{before}\n{title}"),
            _ => title,
        };
        *shown = Some((title, until));
    }

    /// The titles that are shown now, and what they are over: their half, or with its name the whole
    /// picture if the half is hidden.
    fn titles(
        &self,
        now: Duration,
        picture: Rect,
        halves: [Option<Rect>; Side::ALL.len()],
    ) -> Vec<(String, Rect)> {
        let titles = Side::ALL.into_iter().filter_map(|side| {
            let (title, until) = self.titles[side as usize].as_ref()?;
            let shown = match halves[side as usize] {
                Some(half) => (title.clone(), half),
                None => (format!("{}: {title}", side.name()), picture),
            };
            (now < *until).then_some(shown)
        });
        titles.collect()
    }

    /// Whether this part is shown.
    #[must_use]
    pub fn shows(&self, part: Part) -> bool {
        !self.hidden.contains(&part)
    }

    /// The name of a half; and its caption, which starts with the name and adds the rung and the link of the
    /// lane, or the real network that `is_remote` lanes have in addition.
    fn caption(
        &self,
        mode: ViewMode,
        side: Side,
        lane: Option<&LaneSettings>,
        is_remote: bool,
    ) -> (String, String) {
        let usual = match (lane, mode, side) {
            (None, ..) => "simulation",
            (Some(_), ViewMode::Difference, Side::Right) => "replica over it",
            _ => "replica",
        };
        let name = self.names[side as usize].as_deref().unwrap_or(usual);
        let name = self.shows(Part::Labels).then_some(name);
        let rung = lane.filter(|_| self.shows(Part::Rung));
        let rung = rung.map(LaneSettings::describe_rung);
        let first = [name, rung.as_deref()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>();
        let link = lane.filter(|_| self.shows(Part::Link));
        let link = link.map(|lane| match is_remote {
            true => lane.describe_over_real_network(),
            false => lane.describe(),
        });
        let lines = [Some(first.join(": ")), link].into_iter().flatten();
        let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
        (name.unwrap_or_default().to_owned(), lines.join("\n"))
    }
}

/// A lane in a half.
type LaneInHalf = (
    &'static Side,
    LaneSettingsQuery,
    Has<LocalLane>,
    &'static LaneMeter,
    Has<Selected>,
);

/// What the text is about.
#[derive(SystemParam)]
pub(super) struct Shown<'w, 's> {
    ticks: Res<'w, Time<Fixed>>,
    frames: Res<'w, Time<Virtual>>,
    mode: Res<'w, ViewMode>,
    theme: Res<'w, Theme>,
    colors: Res<'w, CubeColors>,
    costs: Res<'w, Costs>,
    overlay: Res<'w, Overlay>,
    notices: Res<'w, Notices>,
    moment: Res<'w, Moment>,
    arrivals: Res<'w, Arrivals>,
    window: Option<Single<'w, 's, (), With<PrimaryWindow>>>,
    lanes: Query<'w, 's, LaneInHalf, With<Lane>>,
    outlined: Outlined<'w, 's>,
}

/// Draws the images of the cameras, and text over them, below the panel.
pub(super) fn draw(mut contexts: EguiContexts, panes: Query<(&Side, &Pane)>, shown: Shown<'_, '_>) {
    let images = panes.iter().map(|(&side, pane)| {
        let handle = EguiTextureHandle::Strong(pane.image.clone());
        (side, contexts.add_image(handle), pane.area)
    });
    let mut images: Vec<_> = images.collect();
    images.retain(|(.., area)| !area.is_empty());
    let Ok(ctx) = contexts.ctx_mut() else {
        // No camera exists yet, or its window is minimized.
        return;
    };
    let in_points = |area: URect| {
        let point = |pixel: UVec2| {
            let at = pixel.as_vec2() / ctx.pixels_per_point();
            pos2(at.x, at.y)
        };
        Rect::from_min_max(point(area.min), point(area.max))
    };
    let areas = images.iter().map(|&(.., area)| in_points(area));
    let Some(picture) = areas.reduce(Rect::union) else {
        return;
    };
    let painter = ctx.layer_painter(LayerId::background());
    let painter = painter.with_clip_rect(picture);
    for &(_, image, area) in &images {
        let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
        painter.image(image, in_points(area), whole, Color32::WHITE);
    }
    let (left, right) = picture.split_left_right_at_fraction(0.5);
    let pane = |side: Side| {
        let found = images.iter().find(|&&(other, ..)| other == side);
        found.map(|&(.., area)| in_points(area))
    };
    let halves = match *shown.mode {
        ViewMode::Split => Side::ALL.map(pane),
        ViewMode::Left => [Some(picture), None],
        ViewMode::Right => [None, Some(picture)],
        ViewMode::Difference => [Some(left), Some(right)],
    };
    let pen = Pen {
        painter: &painter,
        theme: *shown.theme,
    };
    for &(side, _, area) in &images {
        pen.outlines(side, in_points(area), &shown.outlined);
    }
    shown.draw(&pen, picture, halves);
}

impl Shown<'_, '_> {
    /// Draws the text over the scene. `halves` are the parts that captions and figures are over; none for
    /// what is hidden.
    fn draw(&self, pen: &Pen<'_>, picture: Rect, halves: [Option<Rect>; Side::ALL.len()]) {
        let mut figures_end = picture.min.y;
        // Of the half at the left.
        let mut legend_top = picture.min.y;
        for (side, half) in Side::ALL.into_iter().zip(halves) {
            let Some(half) = half else {
                continue;
            };
            let lane = self.lanes.iter().find(|(other, ..)| **other == side);
            let settings = lane.as_ref().map(|(_, settings, ..)| settings.get());
            let is_remote = lane.as_ref().is_some_and(|&(_, _, is_local, ..)| !is_local);
            let (name, caption) =
                self.overlay
                    .caption(*self.mode, side, settings.as_ref(), is_remote);
            // A ghost is all over the picture.
            let framed = match *self.mode {
                ViewMode::Difference => picture,
                _ => half,
            };
            let warning = settings.as_ref().and_then(|settings| {
                let is_selected = lane.as_ref().is_some_and(|&(.., selected)| selected);
                self.warning(side, settings.link.conditions.cut, is_selected)
            });
            if warning.is_some() {
                pen.frame(framed);
            }
            pen.caption(half, side, &name, &caption);
            if let Some((.., meter, _)) = lane
                && self.overlay.shows(Part::Figures)
            {
                let rate = |accounting| {
                    let kbps = meter.kbps_until(self.moment.0, accounting);
                    kbps.map_or_else(|| "…".to_owned(), bandwidth)
                };
                let [article, wire] = Accounting::ALL.map(rate);
                let accounting = format!("article accounting; wire {wire}");
                let lines = [Some(accounting), error(meter, self.moment.0)];
                let details = lines.into_iter().flatten().collect::<Vec<_>>().join("\n");
                let end = pen.figures(half, side, &article, &details);
                figures_end = figures_end.max(end);
                if half.min.x == picture.min.x {
                    legend_top = end;
                }
            }
            if let Some(warning) = warning {
                pen.warning(half, figures_end, &warning);
            }
        }
        let end = pen.legend(picture, legend_top, *self.colors, &self.costs);
        pen.recording(picture, end, &self.notices.recording());
        let mut end = pen.notice(picture, figures_end, &self.notices.text());
        if !self.overlay.shows(Part::Titles) {
            return;
        }
        for (title, over) in self.overlay.titles(self.ticks.elapsed(), picture, halves) {
            let title_end = pen.notice(over, end, &title);
            if over == picture {
                end = title_end;
            }
        }
    }

    /// What is wrong with the link of a side's lane.
    fn warning(&self, side: Side, is_cut: bool, is_selected: bool) -> Option<String> {
        let frame = self.frames.delta();
        let stale = self.arrivals.stale(side, self.ticks.elapsed(), frame);
        let stale = stale.map(|stale| {
            let seconds = stale.age.as_secs_f64();
            if stale.has_any {
                format!("last snapshot {seconds:.1} s ago")
            } else {
                format!("no snapshot for {seconds:.1} s")
            }
        });
        // A film has no keys.
        let key = if is_selected && self.window.is_some() {
            "\nL restores it"
        } else {
            ""
        };
        let cut = is_cut.then(|| format!("the link of the {} lane is cut{key}", side.name()));
        let lines: Vec<_> = [stale, cut].into_iter().flatten().collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// How far the replica is from the simulation, mean of a second, where that is measured.
fn error(meter: &LaneMeter, moment: Option<u64>) -> Option<String> {
    let totals = Totals::of(meter.second_until(moment));
    let [mean, max] = [totals.mean_error_m()?, totals.max_error_m.into()].map(millimetres);
    Some(format!("error {mean}, {max} at most"))
}

fn bandwidth(kbps: f64) -> String {
    if kbps < 100.0 {
        format!("{kbps:.1} kbps")
    } else {
        format!("{kbps:.0} kbps")
    }
}

#[cfg(test)]
mod tests {
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
        let title = |overlay: &Overlay| overlay.titles(SECOND, picture, halves)[0].0.clone();
        let mut overlay = Overlay::default();
        overlay.announce(Side::Right, "delta".to_owned(), SECOND);
        overlay.announce(Side::Right, "4G".to_owned(), SECOND);
        assert_eq!(title(&overlay), "delta\n4G");
        overlay.announce(Side::Right, "index".to_owned(), SECOND * 2);
        assert_eq!(title(&overlay), "index");
    }

    #[test]
    fn a_caption_says_what_the_picture_is_and_whether_the_network_is_real() {
        let lane: LaneSettings = "rung:predicted,link:perfect,interpolation:extrapolate"
            .parse()
            .unwrap();
        let caption = |is_remote| {
            let overlay = Overlay::default();
            let right = Side::Right;
            overlay
                .caption(ViewMode::Split, right, Some(&lane), is_remote)
                .1
        };
        assert_eq!(
            caption(false),
            "replica: predicted\nPerfect, extrapolate → linear: needs velocity"
        );
        assert_eq!(
            caption(true),
            "replica: predicted\nreal network, nothing added, extrapolate → linear: needs velocity"
        );
    }

    #[test]
    fn a_caption_names_the_budget_with_the_rung() {
        let lane = |text: &str| text.parse::<LaneSettings>().unwrap();
        let caption = |text: &str| {
            let overlay = Overlay::default();
            let caption = overlay.caption(ViewMode::Split, Side::Right, Some(&lane(text)), false);
            caption.1.lines().next().unwrap().to_owned()
        };
        assert_eq!(
            caption("rung:predicted,budget:64kbps"),
            "replica: predicted, 64 kbps"
        );
        // It carries every cube, or none.
        assert_eq!(
            caption("rung:uncompressed,budget:64kbps"),
            "replica: uncompressed"
        );
    }

    #[test]
    fn a_title_is_over_its_half_until_its_time_is_up() {
        let (picture, halves) = picture();
        let mut overlay = Overlay::default();
        overlay.announce(Side::Left, "delta".to_owned(), SECOND);
        overlay.announce(Side::Right, "index".to_owned(), SECOND * 2);
        let titles = |now, halves| overlay.titles(now, picture, halves);
        let (left, right) = (halves[0].unwrap(), halves[1].unwrap());
        let both = [("delta".to_owned(), left), ("index".to_owned(), right)];
        assert_eq!(titles(SECOND * 2, halves), both);
        assert_eq!(titles(SECOND * 3, halves), both[1..]);
        assert_eq!(titles(SECOND * 4, halves), []);
        // The left half alone: the title of the right one says whose it is.
        let alone = titles(SECOND * 3, [Some(picture), None]);
        assert_eq!(alone, [("right: index".to_owned(), picture)]);
    }

    #[test]
    fn bandwidths_below_100_kbps_have_one_decimal() {
        assert_eq!(bandwidth(15.84), "15.8 kbps");
        assert_eq!(bandwidth(17_368.8), "17369 kbps");
    }
}
