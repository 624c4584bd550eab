//! The receiving half alone, as it runs in a viewer of a server in another process.
//!
//! There is one lane. Its sender settings are requested from the server. The meter measures what arrives; the bits by
//! kind are those that the decoder counts.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::BitLedger;
use cubewire_protocol::FallbackReason;
use cubewire_protocol::record::Sample;
use cubewire_scene::TICKS_PER_SECOND;

use super::digest::{self, Digest};
use super::meter::{Detailed, LaneMeter};
use super::peer::{ServerConnection, Welcomed};
use super::playout;
use super::receive::{self, Decoded};
use super::settings::{PlayoutSettings, SenderSettings};
use super::sync::status::LaneSync;
use super::transport::{End, TransportSystems};
use super::{Replica, ReplicationSystems, spawn, sync, text};

/// Runs the receiving lane. Needs a transport that receives from a server.
#[derive(Debug)]
pub struct ViewerPlugin;

impl Plugin for ViewerPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Time::<Fixed>::from_hz(f64::from(TICKS_PER_SECOND)))
            .add_observer(welcome)
            .add_observer(spawn::change)
            .configure_sets(
                FixedUpdate,
                (
                    TransportSystems::Receive(End::Receiver),
                    ReplicationSystems::Receive,
                    TransportSystems::Flush(End::Receiver),
                    ReplicationSystems::Observe,
                )
                    .chain(),
            )
            .add_systems(
                FixedUpdate,
                (
                    (begin, account, receive::receive, playout::advance)
                        .chain()
                        .in_set(ReplicationSystems::Receive),
                    (
                        sync::observe,
                        playout::sample,
                        digest::of_decoded.run_if(resource_exists::<Digest>),
                    )
                        .chain()
                        .in_set(ReplicationSystems::Observe),
                ),
            );
        // Frames may take long with a software renderer, and the ticks of a viewer are cheap.
        if let Some(mut time) = app.world_mut().get_resource_mut::<Time<Virtual>>() {
            time.set_max_delta(MAX_FRAME);
        }
    }
}

/// Maximum length of a frame in which ticks keep pace with the sender's.
const MAX_FRAME: Duration = Duration::from_secs(2);

/// Restarts from the initial state that the server has sent.
fn welcome(
    welcomed: On<Welcomed>,
    time: Res<Time<Fixed>>,
    mut lanes: Query<(&SenderSettings, &PlayoutSettings, &mut LaneMeter)>,
    mut commands: Commands,
) {
    let Ok((sender, playout, mut meter)) = lanes.get_mut(welcomed.entity) else {
        return;
    };
    let welcome = welcomed.welcome.clone();
    let delay = playout.rule_delay(sender);
    let now = time.elapsed();
    let replica = match Replica::simulating(welcome, delay, now) {
        Ok(replica) => replica,
        Err(error) => return error!("the server's welcome is of no use: {error}"),
    };
    *meter = LaneMeter::default();
    meter.fallback = welcomed.fallback;
    if let Some(text) = text::fallback(sender.stages, meter.fallback) {
        info!("{text}");
    }
    let receiving = (LaneSync::default(), Decoded::default(), replica);
    commands.entity(welcomed.entity).try_insert(receiving);
}

/// Begins the sample of a tick, by the viewer's own count. The budget is the one that the server gives.
fn begin(
    mut tick: Local<u64>,
    server: Option<Res<ServerConnection>>,
    mut lanes: Query<(&SenderSettings, &mut LaneMeter)>,
) {
    *tick += 1;
    let granted = server.and_then(|server| server.granted);
    for (settings, mut meter) in &mut lanes {
        // Before the first packet, the requested stages: a server starts to send with them.
        let asked = meter
            .fallback
            .and(FallbackReason::instead_of(settings.stages));
        let asked = asked.unwrap_or(settings.stages);
        let last = meter.samples().back();
        let stages = last.map_or(asked, |sample| sample.stages);
        meter.begin(Sample {
            tick: *tick,
            stages,
            budget_kbps: granted.unwrap_or(*settings).kept_budget(),
            send_interval_ticks: settings.send_interval_ticks,
            ..Sample::default()
        });
    }
}

/// Counts the bits of packets, each of them while something shows them.
fn account(mut lanes: Query<(&mut Replica, Has<Detailed>)>) {
    for (mut replica, is_detailed) in &mut lanes {
        let ledger = replica.0.decoder().ledger();
        if ledger.map(|ledger| ledger.items().is_some()) != Some(is_detailed) {
            replica.0.set_ledger(Some(match is_detailed {
                true => BitLedger::itemized(),
                false => BitLedger::new(),
            }));
        }
    }
}
