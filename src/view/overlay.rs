//! Text over the picture: what each half shows, and the lane's bandwidth in large type.

use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use cubewire_codec::Stages;
use cubewire_codec::ladder;

use super::{Side, ViewMode};
use crate::panel::{PanelState, PanelWidth, sentence};
use crate::replication::{Accounting, LaneMeter, LaneSettings, Shown, UdpViewer, ViewerStatus};

const CYAN: Color = Color::srgb(0.0, 0.62, 0.75);
const INK: Color = Color::srgb(0.16, 0.18, 0.22);

/// How long it says how to get the panel back: after that, the picture is left alone.
const HINT_SECONDS: f32 = 5.0;

/// Covers the picture, as far as the panel; or one half of it, which has a [`Side`].
#[derive(Component, Clone, Copy, Debug)]
pub(super) struct Picture;

/// A piece of text.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    /// What a half shows.
    Of(Side),
    /// The lane's bandwidth.
    Bandwidth,
    /// How that is counted, and what it is counted otherwise.
    Accounting,
    /// Pause, cut link, and the like.
    Notice,
}

pub(super) fn spawn(mut commands: Commands) {
    let label = |label: Label, size: f32, colour: Color| {
        (
            label,
            Text::default(),
            TextFont {
                font_size: FontSize::Px(size),
                ..default()
            },
            TextColor(colour),
            TextLayout::justify(Justify::Center),
        )
    };
    let half = |side: Side| {
        (
            Picture,
            side,
            Node {
                width: percent(50),
                height: percent(100),
                justify_content: JustifyContent::FlexStart,
                align_items: AlignItems::FlexEnd,
                padding: UiRect::all(px(10)),
                ..default()
            },
            children![label(Label::Of(side), 18.0, INK)],
        )
    };
    commands.spawn((
        Picture,
        Node {
            height: percent(100),
            ..default()
        },
        children![
            half(Side::Simulation),
            half(Side::Replica),
            (
                Node {
                    position_type: PositionType::Absolute,
                    width: percent(100),
                    flex_direction: FlexDirection::Column,
                    align_items: AlignItems::Center,
                    padding: UiRect::all(px(4)),
                    ..default()
                },
                children![
                    label(Label::Bandwidth, 44.0, CYAN),
                    label(Label::Accounting, 14.0, INK),
                    label(Label::Notice, 18.0, INK),
                ],
            ),
        ],
    ));
}

/// Ends the picture where the panel begins, and hides the label of a half that is not shown.
pub(super) fn arrange(
    mode: Res<ViewMode>,
    panel: Res<PanelWidth>,
    window: Single<&Window, With<PrimaryWindow>>,
    mut pictures: Query<(Option<&Side>, &mut Node), With<Picture>>,
) {
    for (side, mut node) in &mut pictures {
        let (display, width) = match (*mode, side) {
            (_, None) => (Display::Flex, px((window.width() - panel.0).max(0.0))),
            // Both labels stand side by side where both worlds are seen.
            (ViewMode::Split | ViewMode::Difference, _) => (Display::Flex, percent(50)),
            (mode, Some(&side)) if mode.shows(side) => (Display::Flex, percent(100)),
            _ => (Display::None, percent(0)),
        };
        if node.display != display || node.width != width {
            node.display = display;
            node.width = width;
        }
    }
}

pub(super) fn write(
    mode: Res<ViewMode>,
    lane: Option<Single<(&LaneSettings, &LaneMeter), With<Shown>>>,
    mut labels: Query<(&Label, &mut Text)>,
) {
    let Some((settings, meter)) = lane.map(Single::into_inner) else {
        return;
    };
    for (label, mut text) in &mut labels {
        let wanted = match label {
            Label::Of(Side::Simulation) => "simulation".to_owned(),
            Label::Of(Side::Replica) => {
                let how = if *mode == ViewMode::Difference {
                    "replica over it"
                } else {
                    "replica"
                };
                format!("{how}: {}", name(settings.stages))
            }
            Label::Bandwidth => bandwidth(meter.kbps(Accounting::Article)),
            Label::Accounting => {
                let wire = bandwidth(meter.kbps(Accounting::Wire));
                format!("article accounting; wire {wire}")
            }
            Label::Notice => continue,
        };
        if text.0 != wanted {
            text.0 = wanted;
        }
    }
}

pub(super) fn notice(
    time: Res<Time<Virtual>>,
    clock: Res<Time<Real>>,
    panel: Res<PanelState>,
    mut hidden_seconds: Local<f32>,
    lane: Option<Single<&LaneSettings, With<Shown>>>,
    viewer: Option<Res<UdpViewer>>,
    mut labels: Query<(&Label, &mut Text)>,
) {
    *hidden_seconds = if panel.visible {
        0.0
    } else {
        *hidden_seconds + clock.delta_secs()
    };
    let connection = viewer.and_then(|viewer| connection(&viewer));
    let paused = time
        .is_paused()
        .then_some("paused: P goes on, N steps a tick");
    let is_cut = lane.is_some_and(|settings| settings.link.cut);
    let cut = is_cut.then_some("the link is cut: L joins it");
    let hidden = (*hidden_seconds < HINT_SECONDS && !panel.visible).then_some("F1 shows the panel");
    let notices = [connection.as_deref(), paused, cut, hidden];
    let wanted = notices.into_iter().flatten().collect::<Vec<_>>().join("\n");
    for (&label, mut text) in &mut labels {
        if label == Label::Notice && text.0 != wanted {
            text.0.clone_from(&wanted);
        }
    }
}

/// What there is to say of a connection that does not do its work.
fn connection(viewer: &UdpViewer) -> Option<String> {
    match viewer.status() {
        ViewerStatus::Connected => None,
        ViewerStatus::Connecting => Some(format!("connecting to {} …", viewer.server())),
        lost @ ViewerStatus::Lost(_) => Some(format!("{}\nEnter connects again.", sentence(&lost))),
    }
}

fn name(stages: Stages) -> &'static str {
    ladder::rung_of(stages).map_or("stages of your own", |rung| rung.name)
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
    fn small_figures_have_a_decimal_and_large_ones_none() {
        assert_eq!(bandwidth(15.84), "15.8 kbps");
        assert_eq!(bandwidth(17_368.8), "17369 kbps");
    }
}
