//! Sentences over the picture, and what is being recorded.

use bevy::prelude::*;

use super::{Dot, Label};
use crate::panel::{PanelState, sentence};
use crate::replication::{LaneSettings, Selected, UdpViewer, ViewerStatus};
use crate::view::Notices;

/// How long it says how to get the panel back: after that, the picture is left alone.
const HINT_SECONDS: f32 = 5.0;

/// Says how to get the panel back.
pub(in crate::view) fn hint(
    clock: Res<Time<Real>>,
    panel: Option<Res<PanelState>>,
    mut hidden_seconds: Local<f32>,
    mut notices: ResMut<Notices>,
) {
    let is_hidden = panel.is_some_and(|panel| !panel.visible);
    *hidden_seconds = if is_hidden {
        *hidden_seconds + clock.delta_secs()
    } else {
        0.0
    };
    notices.hint = (is_hidden && *hidden_seconds < HINT_SECONDS).then_some("F1 shows the panel");
}

pub(in crate::view) fn notice(
    time: Res<Time<Virtual>>,
    clock: Res<Time<Real>>,
    lane: Option<Single<&LaneSettings, With<Selected>>>,
    viewer: Option<Res<UdpViewer>>,
    mut said: ResMut<Notices>,
    mut labels: Query<(&Label, &mut Text)>,
) {
    let connection = viewer.and_then(|viewer| connection(&viewer));
    let paused = time
        .is_paused()
        .then_some("paused: P goes on, N steps a tick");
    let is_cut = lane.is_some_and(|settings| settings.link.cut);
    let cut = is_cut.then_some("the link is cut: L joins it");
    let notices = [connection.as_deref(), paused, cut, said.hint];
    let notices = notices.into_iter().flatten();
    let said = said.bypass_change_detection().at(clock.elapsed());
    let wanted = notices.chain(said).collect::<Vec<_>>().join("\n");
    for (&label, mut text) in &mut labels {
        if label == Label::Notice && text.0 != wanted {
            text.0.clone_from(&wanted);
        }
    }
}

/// Shows what is being recorded.
pub(in crate::view) fn record(
    notices: Res<Notices>,
    mut labels: Query<(&Label, &mut Text)>,
    mut dot: Single<&mut Visibility, With<Dot>>,
) {
    let wanted = notices.recording();
    dot.set_if_neq(if wanted.is_empty() {
        Visibility::Hidden
    } else {
        Visibility::Inherited
    });
    for (&label, mut text) in &mut labels {
        if label == Label::Recording && text.0 != wanted {
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
