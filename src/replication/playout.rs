//! Playout: the delay, the displayed state at each tick, and stalls.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_protocol::record::Sample;
use cubewire_scene::TICK;

use super::Replica;
use super::displayed::DisplayedState;
use super::meter::LaneMeter;
use super::settings::{PlayoutDelay, PlayoutSettings, SenderSettings};

/// Sets the playout delay and drops snapshots that have been played.
pub(super) fn advance(
    time: Res<Time>,
    mut lanes: Query<(&SenderSettings, &PlayoutSettings, &mut Replica)>,
) {
    for (sender, settings, mut replica) in &mut lanes {
        let delay = match settings.delay {
            PlayoutDelay::Rule => match settings.rule_delay(sender) {
                // Under a budget, packets are sent when they are full, so the send rate is unknown: adapt.
                rule if rule > Duration::ZERO && sender.budget.is_some() => None,
                rule => Some(rule),
            },
            PlayoutDelay::Fixed(delay) => Some(delay),
            PlayoutDelay::Adaptive => None,
        };
        replica.0.advance_playout(time.elapsed(), delay);
    }
}

type PlayedLane<'a> = (
    &'a SenderSettings,
    &'a PlayoutSettings,
    &'a Replica,
    &'a mut LaneMeter,
    Option<&'a mut DisplayedState>,
);

/// Samples the playout at this tick: buffer level, stalls, and the displayed state.
pub(super) fn sample(time: Res<Time>, mut lanes: Query<PlayedLane<'_>>) {
    let now = time.elapsed();
    for (sender, settings, replica, mut meter, displayed) in &mut lanes {
        let buffer = replica.0.playout();
        let waits = settings.effective_interpolation(sender.stages).waits();
        let starved =
            waits && buffer.sample(now).is_some_and(|playout| playout.starved_seconds > 0.0);
        let was_starved = meter.newest(2).next().is_some_and(Sample::is_starved);
        let sample = meter.current();
        sample.buffered = buffer.ahead(now);
        sample.playout_delay = buffer.delay();
        sample.starved = if starved { TICK } else { Duration::ZERO };
        sample.stalls = usize::from(starved && !was_starved);
        if let Some(mut displayed) = displayed {
            let kind = settings.interpolation;
            displayed.show(kind, kind.playout(buffer, now).as_ref());
        }
    }
}
