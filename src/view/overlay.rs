//! Text over the scene: what each half shows, and the bandwidth of its lane in large type.

mod notice;
mod text;

use std::time::Duration;

use bevy::prelude::*;
use bevy_egui::EguiContexts;
use bevy_egui::egui::{LayerId, Rect};
use clap::ValueEnum;

use super::{Inset, Notices, Side, ViewMode};
use crate::replication::{
    Accounting, Lane, LaneMeter, LaneSettings, LaneSettingsQueryReadOnly, LocalLane,
};

pub(super) use notice::notice;

/// How long a title is shown.
const TITLE_TIME: Duration = Duration::from_secs(2);

/// Settings of the text over the picture.
#[derive(Resource, Clone, Debug, Default)]
pub struct Overlay {
    /// Parts that are hidden.
    pub hidden: Vec<Part>,
    /// Names of the halves, instead of `simulation` and `replica`.
    pub names: [Option<String>; Side::ALL.len()],
    /// A text in large type, shown until this time of the simulation's clock.
    pub title: Option<(String, Duration)>,
}

/// A part of the overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
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

impl Overlay {
    /// Shows a title for a while; titles of the same tick are combined. `now` is by the simulation's clock.
    pub fn announce(&mut self, title: String, now: Duration) {
        let until = now + TITLE_TIME;
        let title = match self.title.take() {
            Some((before, ends)) if ends == until => format!("{before}\n{title}"),
            _ => title,
        };
        self.title = Some((title, until));
    }

    /// Whether this part is shown.
    #[must_use]
    pub fn shows(&self, part: Part) -> bool {
        !self.hidden.contains(&part)
    }

    /// The name of a half, with the rung and the link of its lane, or with the real network that `is_remote`
    /// lanes have in addition.
    fn caption(
        &self,
        mode: ViewMode,
        side: Side,
        lane: Option<&LaneSettings>,
        is_remote: bool,
    ) -> String {
        let usual = match (lane, mode, side) {
            (None, ..) => "simulation",
            (Some(_), ViewMode::Difference, Side::Right) => "replica over it",
            _ => "replica",
        };
        let label = self.names[side as usize].as_deref().unwrap_or(usual);
        let label = self.shows(Part::Labels).then_some(label);
        let rung = lane.filter(|_| self.shows(Part::Rung));
        let rung = rung.map(LaneSettings::rung_name);
        let first = [label, rung].into_iter().flatten().collect::<Vec<_>>();
        let link = lane.filter(|_| self.shows(Part::Link));
        let link = link.map(|lane| match is_remote {
            true => lane.describe_over_real_network(),
            false => lane.describe(),
        });
        let lines = [Some(first.join(": ")), link].into_iter().flatten();
        let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
        lines.join("\n")
    }
}

type ShownLane = (
    &'static Side,
    LaneSettingsQueryReadOnly,
    Has<LocalLane>,
    &'static LaneMeter,
);
type Lanes<'w, 's> = Query<'w, 's, ShownLane, With<Lane>>;

/// Draws the text over the picture, below the panel.
pub(super) fn draw(
    mut contexts: EguiContexts,
    time: Res<Time<Fixed>>,
    mode: Res<ViewMode>,
    overlay: Res<Overlay>,
    inset: Res<Inset>,
    notices: Res<Notices>,
    lanes: Lanes<'_, '_>,
) {
    let Ok(ctx) = contexts.ctx_mut() else {
        // No camera exists yet, or its window is minimized.
        return;
    };
    let mut picture = ctx.viewport_rect();
    let inset = inset.scaled(1.0 / ctx.zoom_factor());
    picture.max.x = (picture.max.x - inset.right).max(picture.min.x);
    picture.max.y = (picture.max.y - inset.bottom).max(picture.min.y);
    let painter = ctx
        .layer_painter(LayerId::background())
        .with_clip_rect(picture);
    let lane = |side: Side| lanes.iter().find(|(other, ..)| **other == side);
    let is_split = matches!(*mode, ViewMode::Split | ViewMode::Difference);
    let is_compared = lane(Side::Left).is_some();
    for side in Side::ALL {
        let half = half_of(picture, side);
        if is_split || mode.shows(side) {
            let shown = lane(side);
            let is_remote = shown.as_ref().is_some_and(|(.., is_local, _)| !is_local);
            let settings = shown.map(|(_, settings, ..)| settings.get());
            let caption = overlay.caption(*mode, side, settings.as_ref(), is_remote);
            text::caption(
                &painter,
                if is_split { half } else { picture },
                side,
                &caption,
            );
        }
        if let Some((.., meter)) = lane(side)
            && overlay.shows(Part::Figures)
            && (is_split || mode.shows(side))
        {
            let over = if is_compared && is_split {
                half
            } else {
                picture
            };
            let [article, wire] = Accounting::ALL.map(|accounting| meter.kbps(accounting));
            text::figures(&painter, over, &bandwidth(article), &bandwidth(wire));
        }
    }
    text::recording(&painter, picture, &notices.recording());
    text::notices(&painter, picture, &notices.text());
    if let Some((title, until)) = &overlay.title
        && time.elapsed() < *until
        && overlay.shows(Part::Titles)
    {
        text::title(&painter, picture, title);
    }
}

fn half_of(picture: Rect, side: Side) -> Rect {
    let (left, right) = picture.split_left_right_at_fraction(0.5);
    match side {
        Side::Left => left,
        Side::Right => right,
    }
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

    #[test]
    fn titles_of_one_tick_are_combined() {
        let title = |overlay: &Overlay| overlay.title.as_ref().unwrap().0.clone();
        let mut overlay = Overlay::default();
        let second = Duration::from_secs(1);
        overlay.announce("delta".to_owned(), second);
        overlay.announce("left: 4G".to_owned(), second);
        assert_eq!(title(&overlay), "delta\nleft: 4G");
        overlay.announce("index".to_owned(), second * 2);
        assert_eq!(title(&overlay), "index");
    }

    #[test]
    fn a_caption_says_what_the_picture_is_and_whether_the_network_is_real() {
        let lane: LaneSettings = "rung:predicted,link:perfect,interpolation:extrapolate"
            .parse()
            .unwrap();
        let caption = |is_remote| {
            Overlay::default().caption(ViewMode::Split, Side::Right, Some(&lane), is_remote)
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
    fn bandwidths_below_100_kbps_have_one_decimal() {
        assert_eq!(bandwidth(15.84), "15.8 kbps");
        assert_eq!(bandwidth(17_368.8), "17369 kbps");
    }
}
