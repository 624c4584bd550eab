//! Tracks whether both ends of a lane simulate the same world, on the rung [`simulated`](cubewire_codec::ladder::SIMULATED),
//! and can break this on purpose.

use bevy::prelude::*;
use cubewire_codec::BitKind;

use super::Rebuilds;
use super::lane::{LaneSync, LocalLane, Sender};
use super::meter::LaneMeter;
use super::receive::Decoded;
use super::remote::ServerLink;
use super::settings::SenderSettings;

/// Makes the receiver of a local lane lose its simulated world. Its packets are then encoded as on `predicted`, until it has
/// received a state of the scene.
#[derive(EntityEvent, Clone, Copy, Debug)]
pub struct ForceDesync {
    pub entity: Entity,
}

pub(super) fn force_desync(
    desync: On<ForceDesync>,
    mut lanes: Query<&mut Sender, With<LocalLane>>,
) {
    if let Ok(mut lane) = lanes.get_mut(desync.entity)
        && let Some(sender) = lane.0.sender_mut()
    {
        sender.force_desync();
    }
}

type ObservedLane<'a> = (
    &'a LaneMeter,
    &'a SenderSettings,
    Option<&'a mut Sender>,
    Option<&'a Decoded>,
    &'a mut LaneSync,
);

pub(super) fn observe(
    rebuilds: Option<Res<Rebuilds>>,
    server: Option<Res<ServerLink>>,
    mut lanes: Query<ObservedLane<'_>>,
) {
    let is_never_rebuilt = rebuilds.is_some_and(|rebuilds| rebuilds.never);
    let granted = server.and_then(|server| server.granted);
    for (meter, asked, mut sender, decoded, mut sync) in &mut lanes {
        let Some(sample) = meter.samples().back() else { continue };
        let packets = sample.snapshots.iter();
        let state_bits: f64 = packets.map(|packet| packet.ledger.kind(BitKind::State)).sum();
        sync.state_kilobits += state_bits / 1000.0;
        if let Some(sender) = &mut sender {
            sender.0.set_offers_state(!is_never_rebuilt);
        }
        if let Some(sender) = sender.as_deref()
            && let Some(protocol) = sender.snapshots()
        {
            sync.silent_ticks = sample.acked_age_ticks.map_or(0, u64::from);
            sync.tick = sample.tick - sync.silent_ticks;
            sync.status = protocol.sync();
            sync.desyncs = protocol.desyncs();
            sync.state_progress = protocol.state_progress();
            sync.awaits_reset = sender.0.awaits_reset();
        } else if let Some(Decoded(decoded)) = decoded {
            sync.silent_ticks = meter.silent_ticks.into();
            sync.awaits_reset = granted.is_some_and(|granted| asked.awaits_reset(&granted));
            for packet in decoded {
                sync.heard(packet.tick, packet.is_simulated);
            }
        }
    }
}
