//! The receiving half alone, in a viewer of a server in another process.
//!
//! A viewer has one lane. Its sender settings are requested from the server. The meter records the received packets, with the
//! bits by kind as the decoder counts them.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_codec::BitLedger;
use cubewire_protocol::FallbackReason;
use cubewire_protocol::record::Sample;
use cubewire_scene::TICKS_PER_SECOND;

use super::digest::{self, Digest};
use super::lane::LaneSync;
use super::meter::{Detailed, LaneMeter};
use super::receive::{self, Decoded};
use super::remote::{ServerConnection, Welcomed};
use super::settings::{PlayoutSettings, SenderSettings};
use super::transport::{End, TransportSystems};
use super::{Replica, ReplicationSystems, displayed, spawn, sync, text};

/// Runs the receiving lane. Needs a transport that connects to a server.
pub struct ViewerPlugin;

impl Plugin for ViewerPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Time::<Fixed>::from_hz(f64::from(TICKS_PER_SECOND)))
            .add_observer(welcome)
            .add_observer(spawn::change)
            .configure_sets(
                FixedUpdate,
                (
                    TransportSystems::Receive(End::Client),
                    ReplicationSystems::Receive,
                    TransportSystems::Flush(End::Client),
                    ReplicationSystems::Observe,
                )
                    .chain(),
            )
            .add_systems(
                FixedUpdate,
                (
                    (begin, account, receive::receive, displayed::advance)
                        .chain()
                        .in_set(ReplicationSystems::Receive),
                    (
                        sync::observe,
                        displayed::sample,
                        digest::of_decoded.run_if(resource_exists::<Digest>),
                    )
                        .chain()
                        .in_set(ReplicationSystems::Observe),
                ),
            );
        // Frames may take long with a software renderer, and a viewer's ticks are cheap.
        if let Some(mut time) = app.world_mut().get_resource_mut::<Time<Virtual>>() {
            time.set_max_delta(MAX_FRAME);
        }
    }
}

/// The fixed clock catches up completely after frames of up to this length.
const MAX_FRAME: Duration = Duration::from_secs(2);

/// Restarts the lane from the initial state in the server's welcome.
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
        Err(error) => return error!("invalid welcome from the server: {error}"),
    };
    *meter = LaneMeter::default();
    meter.fallback = welcomed.fallback;
    if let Some(text) = text::fallback(sender.stages, meter.fallback) {
        info!("{text}");
    }
    let receiving = (LaneSync::default(), Decoded::default(), replica);
    commands.entity(welcomed.entity).try_insert(receiving);
}

/// Begins the sample of a tick, numbered by the viewer. The sample's budget is the one granted by the server.
fn begin(
    mut tick: Local<u64>,
    server: Option<Res<ServerConnection>>,
    mut lanes: Query<(&SenderSettings, &mut LaneMeter)>,
) {
    *tick += 1;
    let granted = server.and_then(|server| server.granted);
    for (settings, mut meter) in &mut lanes {
        // Before the first packet, assume the stages that the server will use: the requested ones, or their fallback.
        let asked = meter.fallback.and(FallbackReason::instead_of(settings.stages));
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

/// Makes the decoder count the bits of each packet by kind, or item by item if the lane is [`Detailed`].
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
