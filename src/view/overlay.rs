//! Text over the picture: what each half shows, and the bandwidth of its lane in large type.

mod notice;

use std::time::Duration;

use bevy::prelude::*;
use clap::ValueEnum;

use super::{Canvas, ViewMode};
use crate::panel::PanelWidth;
use crate::replication::{Accounting, LaneMeter, LaneSettings, Side};

pub(super) use notice::{hint, notice, record};

const CYAN: Color = Color::srgb(0.0, 0.62, 0.75);
const INK: Color = Color::srgb(0.16, 0.18, 0.22);
const RED: Color = Color::srgb(0.85, 0.1, 0.1);
const VEIL: Color = Color::srgba(0.95, 0.96, 0.97, 0.6);

/// How long it says what was switched.
const TITLE_TIME: Duration = Duration::from_secs(2);

/// Points at the top that the figures take.
const FIGURES_END: f32 = 80.0;

/// What is written over the picture.
#[derive(Resource, Clone, Debug, Default)]
pub struct Overlay {
    /// What is left out.
    pub hidden: Vec<Part>,
    /// What each half is called, instead of `simulation` and `replica`.
    pub names: [Option<String>; Side::ALL.len()],
    /// In large type, in the middle, until the simulation's clock shows that time.
    pub title: Option<(String, Duration)>,
}

/// A part of what is written over the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// What a half is called.
    Labels,
    /// Kilobits a second in large type.
    Figures,
    /// Kilobits a second over the newest seconds.
    Graph,
    /// The rung that a lane sends with.
    Rung,
    /// The network of a lane, its send rate and its interpolation.
    Link,
    /// What was switched just now.
    Titles,
}

impl Overlay {
    /// Shows a title for a while; `now` is by the simulation's clock.
    pub fn announce(&mut self, title: String, now: Duration) {
        let until = now + TITLE_TIME;
        let title = match self.title.take() {
            Some((before, ends)) if ends == until => format!("{before}\n{title}"),
            _ => title,
        };
        self.title = Some((title, until));
    }

    /// Whether that part is there.
    #[must_use]
    pub fn shows(&self, part: Part) -> bool {
        !self.hidden.contains(&part)
    }

    /// What a half is called, and what its lane does.
    fn caption(&self, mode: ViewMode, side: Side, lane: Option<&LaneSettings>) -> String {
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
        let link = link.map(LaneSettings::in_words);
        let lines = [Some(first.join(": ")), link].into_iter().flatten();
        let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
        lines.join("\n")
    }
}

/// Covers the picture, as far as the panel.
#[derive(Component, Clone, Copy, Debug)]
pub(super) struct Picture;

/// Covers one half of it, which has a [`Side`].
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HalfNode {
    /// Holds what the half is called, at the bottom.
    Caption,
    /// Holds the figures of its lane, at the top; of the whole picture, if it is the only one.
    Figures,
}

/// A piece of text.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    /// What a half shows.
    Of(Side),
    /// The bandwidth of its lane.
    Bandwidth(Side),
    /// How that is counted, and what it is counted otherwise.
    Accounting(Side),
    /// Pause, cut link, and the like.
    Notice,
    /// What was switched.
    Title,
    /// What is being recorded.
    Recording,
}

/// The red dot beside it.
#[derive(Component, Clone, Copy, Debug)]
pub(super) struct Dot;

pub(super) fn spawn(mut commands: Commands) {
    let label = |label: Label, size: f32, colour: Color, justify: Justify| {
        (
            label,
            Text::default(),
            TextFont {
                font_size: FontSize::Px(size),
                ..default()
            },
            TextColor(colour),
            TextLayout::justify(justify),
        )
    };
    let column = |top: f32| Node {
        position_type: PositionType::Absolute,
        width: percent(100),
        flex_direction: FlexDirection::Column,
        align_items: AlignItems::Center,
        padding: UiRect::all(px(4)).with_top(px(top)),
        ..default()
    };
    // At the outer edges, so that there is room between them.
    let caption = |side: Side| {
        let (outside, justify) = match side {
            Side::Left => (JustifyContent::FlexStart, Justify::Left),
            Side::Right => (JustifyContent::FlexEnd, Justify::Right),
        };
        (
            HalfNode::Caption,
            side,
            Node {
                width: percent(50),
                height: percent(100),
                justify_content: outside,
                align_items: AlignItems::FlexEnd,
                padding: UiRect::all(px(10)),
                ..default()
            },
            children![(
                label(Label::Of(side), 18.0, INK, justify),
                BackgroundColor(VEIL),
                Node {
                    // Between the two there is a graph in videos.
                    max_width: percent(72),
                    padding: UiRect::horizontal(px(4)),
                    ..default()
                },
            )],
        )
    };
    let figures = |side: Side| {
        (
            HalfNode::Figures,
            side,
            column(4.0),
            children![
                label(Label::Bandwidth(side), 44.0, CYAN, Justify::Center),
                label(Label::Accounting(side), 14.0, INK, Justify::Center),
            ],
        )
    };
    commands.spawn((
        Picture,
        Node {
            height: percent(100),
            ..default()
        },
        children![
            caption(Side::Left),
            caption(Side::Right),
            figures(Side::Left),
            figures(Side::Right),
            (
                Node {
                    position_type: PositionType::Absolute,
                    top: px(FIGURES_END),
                    align_items: AlignItems::Center,
                    padding: UiRect::all(px(10)),
                    column_gap: px(8),
                    ..default()
                },
                children![
                    (
                        Dot,
                        Visibility::Hidden,
                        BackgroundColor(RED),
                        Node {
                            width: px(14),
                            height: px(14),
                            border_radius: BorderRadius::MAX,
                            ..default()
                        },
                    ),
                    label(Label::Recording, 16.0, INK, Justify::Left),
                ],
            ),
            (
                column(FIGURES_END),
                children![label(Label::Notice, 18.0, INK, Justify::Center)],
            ),
            (
                Node {
                    height: percent(60),
                    justify_content: JustifyContent::Center,
                    ..column(FIGURES_END)
                },
                children![(
                    label(Label::Title, 30.0, INK, Justify::Center),
                    BackgroundColor(VEIL),
                )],
            ),
        ],
    ));
}

/// Ends the picture where the panel begins, and gives each half its part.
pub(super) fn arrange(
    mode: Res<ViewMode>,
    panel: Res<PanelWidth>,
    canvas: Res<Canvas>,
    lanes: Query<&Side, With<LaneSettings>>,
    mut picture: Single<&mut Node, (With<Picture>, Without<HalfNode>)>,
    mut halves: Query<(&HalfNode, &Side, &mut Node)>,
) {
    let width = px((canvas.logical_size().x - panel.0).max(0.0));
    if picture.width != width {
        picture.width = width;
    }
    let is_compared = lanes.iter().any(|&side| side == Side::Left);
    for (half, &side, mut node) in &mut halves {
        let beside = match half {
            // Both labels stand side by side where both worlds are seen.
            HalfNode::Caption => matches!(*mode, ViewMode::Split | ViewMode::Difference),
            HalfNode::Figures => is_compared && !matches!(*mode, ViewMode::Left | ViewMode::Right),
        };
        let is_shown = match half {
            HalfNode::Caption => beside || mode.shows(side),
            HalfNode::Figures => match side {
                Side::Left => is_compared && *mode != ViewMode::Right,
                Side::Right => !is_compared || *mode != ViewMode::Left,
            },
        };
        let (display, left, width) = match (is_shown, beside, side) {
            (false, ..) => (Display::None, percent(0), percent(0)),
            (true, true, Side::Right) if *half == HalfNode::Figures => {
                (Display::Flex, percent(50), percent(50))
            }
            (true, true, _) => (Display::Flex, percent(0), percent(50)),
            (true, false, _) => (Display::Flex, percent(0), percent(100)),
        };
        if node.display != display || node.left != left || node.width != width {
            node.display = display;
            node.left = left;
            node.width = width;
        }
    }
}

pub(super) fn write(
    time: Res<Time<Fixed>>,
    mode: Res<ViewMode>,
    overlay: Res<Overlay>,
    lanes: Query<(&Side, &LaneSettings, &LaneMeter)>,
    mut labels: Query<(&Label, &mut Text)>,
) {
    let lane = |side: Side| lanes.iter().find(|&(&other, ..)| other == side);
    let kbps = |side: Side, accounting| {
        let (.., meter) = lane(side).filter(|_| overlay.shows(Part::Figures))?;
        Some(bandwidth(meter.kbps(accounting)))
    };
    for (&label, mut text) in &mut labels {
        let wanted = match label {
            Label::Of(side) => {
                let lane = lane(side).map(|(_, settings, _)| settings);
                overlay.caption(*mode, side, lane)
            }
            Label::Bandwidth(side) => kbps(side, Accounting::Article).unwrap_or_default(),
            Label::Accounting(side) => kbps(side, Accounting::Wire)
                .map(|wire| format!("article accounting; wire {wire}"))
                .unwrap_or_default(),
            Label::Title => {
                let title = overlay.title.as_ref();
                let title = title.filter(|(_, until)| time.elapsed() < *until);
                let title = title.filter(|_| overlay.shows(Part::Titles));
                title.map_or_else(String::new, |(title, _)| title.clone())
            }
            Label::Notice | Label::Recording => continue,
        };
        if text.0 != wanted {
            text.0 = wanted;
        }
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
    fn titles_of_one_moment_stand_together() {
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
    fn small_figures_have_a_decimal_and_large_ones_none() {
        assert_eq!(bandwidth(15.84), "15.8 kbps");
        assert_eq!(bandwidth(17_368.8), "17369 kbps");
    }
}
