//! The receiving half of a lane.

use bevy::ecs::query::QueryData;
use bevy::prelude::*;
use cubewire_bevy::{Clocks, ConnectionClock};
use cubewire_codec::{Baseline, Coverage};
use cubewire_protocol::PacketOutcome;
use cubewire_protocol::record::PacketRecord;

use super::Replica;
use super::inputs;
use super::lane::{Lane, LaneSync, Sender};
use super::meter::LaneMeter;
use super::remote::ServerLink;
use super::settings::{PlayAt, PlayoutSettings, SenderSettings};
use super::transport::ReceiverBuffer;
use crate::clock;
use crate::simulation::HeldKeys;

/// Snapshots decoded in this tick.
#[derive(Component, Default)]
#[require(Lane, ReceiverBuffer)]
pub(super) struct Decoded(pub(super) Vec<DecodedPacket>);

pub(super) struct DecodedPacket {
    pub(super) tick: u64,
    pub(super) is_late: bool,
    pub(super) is_simulated: bool,
}

#[derive(QueryData)]
#[query_data(mutable)]
pub(super) struct ReceivingLane {
    sender: &'static SenderSettings,
    playout: &'static PlayoutSettings,
    buffer: &'static mut ReceiverBuffer,
    replica: &'static mut Replica,
    decoded: &'static mut Decoded,
    meter: &'static mut LaneMeter,
    sync: &'static mut LaneSync,
    clock: &'static ConnectionClock,
}

/// Records the arrivals of a local lane's packets in its meter.
pub(super) fn record_arrivals(mut lanes: Query<(&Decoded, &mut LaneMeter), With<Sender>>) {
    for (decoded, mut meter) in &mut lanes {
        for packet in &decoded.0 {
            meter.on_arrival(packet.tick, packet.is_late);
        }
    }
}

/// Decodes and acknowledges the received snapshots. Viewers use frame time, because a socket is read once per frame: the first
/// tick of a long frame gets all packets of the frame.
pub(super) fn receive(
    clocks: Clocks,
    held: Option<Res<HeldKeys>>,
    server: Option<Res<ServerLink>>,
    mut lanes: Query<ReceivingLane>,
) {
    // A viewer needs a seat.
    let plays = server.is_none_or(|server| server.player.is_some());
    for mut lane in &mut lanes {
        let now = clocks.now(lane.clock);
        if let Some(HeldKeys(keys)) = held.as_deref()
            && lane.playout.play_at == PlayAt::Client
            && plays
        {
            inputs::push(&mut lane.replica.0, now, keys[0]);
        }
        let waits = lane.playout.effective_interpolation(lane.sender.stages).waits();
        let meter = &mut lane.meter;
        lane.decoded.0.clear();
        let newest_before = lane.replica.receiver().newest();
        for datagram in lane.buffer.incoming.datagrams.drain(..) {
            let message = lane.replica.0.packet(now, datagram);
            let receiver = lane.replica.receiver_mut();
            let newest = receiver.newest();
            let simulated_ticks = receiver.engine().simulated_ticks();
            let started = clock::now();
            let arrival = receiver.on_packet(now, &message);
            let took = started.elapsed();
            match arrival {
                Ok(PacketOutcome::Decoded { tick, late, .. }) => {
                    // Without a playout delay, only a snapshot newer than the last is displayed.
                    let is_late = if waits { late } else { Some(tick) < newest };
                    lane.sync.decoded(receiver, tick, simulated_ticks, took);
                    let baseline = receiver.get(tick);
                    lane.decoded.0.push(DecodedPacket {
                        tick,
                        is_late,
                        is_simulated: baseline.and_then(Baseline::origin).is_some(),
                    });
                    let packet = receiver.decoder().packet(message);
                    if let (Some(mut packet), Some(baseline)) = (packet, baseline) {
                        let sample = meter.current();
                        let stages = baseline.stages();
                        // The decoder compares such packets with the initial state, so its count does not measure motion.
                        let before = newest.filter(|_| !stages.uses_baseline());
                        let before = before.and_then(|before| receiver.get(before));
                        if let Some(before) = before.map(Baseline::snapshot)
                            && before.has_form_of(baseline.snapshot())
                        {
                            let differs = |&body: &usize| baseline.snapshot().differs(before, body);
                            packet.changed_bodies = (0..before.len()).filter(differs).count();
                        }
                        // Coverage varies from packet to packet and is not a setting of the lane.
                        let complete = stages.with_coverage(Coverage::Complete);
                        sample.stages = complete.expect("all stages support complete packets");
                        let packet = PacketRecord::received(tick, &packet, stages, is_late);
                        sample.snapshots.push(packet);
                    }
                    meter.received += 1;
                    meter.current().late += usize::from(is_late);
                }
                Ok(PacketOutcome::Duplicate { .. }) => meter.duplicates += 1,
                Ok(PacketOutcome::OutOfWindow { .. }) => meter.out_of_window += 1,
                Err(error) => {
                    meter.refused += 1;
                    meter.last_refusal = Some(error);
                }
            }
        }
        meter.silent_ticks = match lane.replica.receiver().newest() == newest_before {
            true => meter.silent_ticks + 1,
            false => 0,
        };
        lane.buffer.outgoing.datagrams.extend(lane.replica.0.datagrams());
    }
}

/// Results of comparing decoded snapshots with the sent ones, cube by cube, since this component was added to a local lane.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneCheck {
    pub compared: u64,
    pub wrong: u64,
}

pub(super) fn check(mut lanes: Query<(&Sender, &Replica, &Decoded, &mut LaneCheck)>) {
    for (sender, replica, decoded, mut check) in &mut lanes {
        for &DecodedPacket { tick, .. } in &decoded.0 {
            // The sender drops its copy after a while.
            if let Some(sent) = sender.snapshots().and_then(|sender| sender.get(tick)) {
                let received = replica.receiver().get(tick).map(|held| held.snapshot());
                check.compared += 1;
                check.wrong += u64::from(received != Some(sent.snapshot()));
            }
        }
    }
}
