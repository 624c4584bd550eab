//! Playout: when snapshots are displayed, the displayed state at each tick, and stalls.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_protocol::AdaptiveDelay;
use cubewire_scene::TICKS_PER_SECOND;

use super::Replica;
use super::displayed::DisplayedState;
use super::lane::Lane;
use super::meter::LaneMeter;
use super::settings::{PlayoutDelay, PlayoutSettings, SenderSettings};
use super::transport::ReceiverMail;

/// State of a lane's playout between ticks.
#[derive(Component, Debug)]
#[require(Lane, ReceiverMail)]
pub(super) struct Playback {
    pub(super) adaptive: AdaptiveDelay,
    starved: bool,
}

impl Playback {
    pub(super) fn new(delay: Duration) -> Self {
        Self {
            adaptive: AdaptiveDelay::new(TICKS_PER_SECOND, delay),
            starved: false,
        }
    }
}

/// Sets the playout delay, and drops snapshots that have been played.
pub(super) fn advance(
    time: Res<Time>,
    mut lanes: Query<(
        &SenderSettings,
        &PlayoutSettings,
        &mut Playback,
        &mut Replica,
    )>,
) {
    for (sender, settings, mut playback, mut replica) in &mut lanes {
        let now = time.elapsed();
        let adapted = playback.adaptive.update(now);
        let delay = match settings.delay {
            PlayoutDelay::Rule => match settings.rule_delay(sender) {
                // Packets come when they are full, at a rate that is not known.
                rule if rule > Duration::ZERO && sender.budget.is_some() => adapted,
                rule => rule,
            },
            PlayoutDelay::Fixed(delay) => delay,
            PlayoutDelay::Adaptive => adapted,
        };
        replica.0.advance_playout(now, delay);
    }
}

type PlayedLane<'a> = (
    &'a SenderSettings,
    &'a PlayoutSettings,
    &'a Replica,
    &'a mut Playback,
    &'a mut LaneMeter,
    Option<&'a mut DisplayedState>,
);

/// Samples the playout of this tick: the buffer's fill, stalls, and the displayed state.
pub(super) fn sample(time: Res<Time>, mut lanes: Query<PlayedLane<'_>>) {
    let now = time.elapsed();
    for (sender, settings, replica, mut playback, mut meter, displayed) in &mut lanes {
        let buffer = replica.0.playout();
        let waits = settings.effective_interpolation(sender.stages).waits();
        let starved = waits
            && buffer
                .sample(now)
                .is_some_and(|playout| playout.starved_seconds > 0.0);
        let sample = meter.current();
        sample.buffered = buffer.ahead(now);
        sample.playout_delay = buffer.delay();
        sample.starved = starved;
        if starved && !playback.starved {
            meter.stalls += 1;
        }
        playback.starved = starved;
        if let Some(mut displayed) = displayed {
            let kind = settings.interpolation;
            displayed.show(kind, kind.playout(buffer, now).as_ref());
        }
    }
}
