//! The panel as people use it: found by its labels, clicked and typed into, without a window.

mod help;
mod inspect;
mod labels;
mod low;
mod network;
mod packet;
mod pages;
mod rungs;
mod tour;
mod tuning;
mod whole;

use std::time::Duration;

use bevy::math::{Quat, vec3};
use bevy_egui::egui::accesskit::Role;
use bevy_egui::egui::{self, Modifiers};
use cubewire_codec::ladder::{self, LADDER};
use cubewire_codec::stages::{Orientation, Position};
use cubewire_codec::{
    BitLedger, BodyState, Encoder, Limits, Packet, Plan, QuantizedSnapshot, Sequence, Snapshot,
    Stages,
};
use cubewire_link::Preset;
use cubewire_protocol::{
    BaselineChoice, FallbackReason, Interpolation, Standing, SyncStatus, Wait,
};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::*;
use crate::controls::Action;
use crate::history::Selection;
use crate::replication::{
    Ablation, ConnectionStatus, LaneBudget, LaneCost, LaneMeter, LaneSettings, LaneSync,
    METER_TICKS, PacketDetail, PacketRecord, Peer, PlayoutDelay, ReplicaError, Sample,
    ServerConnection, Serving, ShadowLadder, SocketTraffic,
};
use crate::view::{PaneContent, Side, ViewMode};

/// What the panel works on.
#[derive(Default)]
struct Panel {
    state: PanelState,
    settings: LaneSettings,
    meter: LaneMeter,
    halves: Option<Halves>,
    status: Status<'static>,
    server: Option<ServerConnection>,
    wants_reconnect: bool,
    viewers: Option<(Serving, Peer)>,
    drawn: Drawn,
    selection: Selection,
    tradeoffs: Tradeoffs,
    /// The actions of all buttons that were pressed.
    actions: Vec<Action>,
    moments: Vec<u64>,
    desyncs: usize,
    typed: Vec<(Side, PaneContent)>,
    sync: Option<LaneSync>,
    shadow: Option<ShadowLadder>,
    ablation: Option<Ablation>,
    tick: Option<u64>,
    past: Past,
    standings: Vec<Standing>,
}

fn meter() -> LaneMeter {
    LaneMeter::from_samples((0..400).map(|tick| Sample {
        tick,
        snapshots: vec![PacketRecord {
            payload_bytes: 500 + tick as usize % 40,
            changed_cubes: 70,
            ..PacketRecord::default()
        }],
        acked_age_ticks: Some(6),
        replica_error: ReplicaError {
            tick: Some(tick as f64),
            mean_m: 0.004,
            max_m: 0.085,
            ..ReplicaError::default()
        },
        ..Sample::default()
    }))
}

/// A packet of ten cubes, of which the first moves a little, the second far, and the third turns.
pub(super) fn packet_of(stages: Stages) -> PacketRecord {
    let cube = |x: usize| BodyState {
        position: vec3(x as f32, 1.0, 2.0),
        ..BodyState::default()
    };
    let mut world = Snapshot {
        bodies: (0..10).map(cube).collect(),
    };
    let mut encoder = Encoder::new(Plan::cubes(), world.clone(), Limits::default()).unwrap();
    world.bodies[0].position.x += 0.01;
    world.bodies[1].position.x += 10.0;
    world.bodies[2].orientation = Quat::from_rotation_x(0.3);
    let mut current = QuantizedSnapshot::new(Plan::cubes(), stages.precision());
    current.quantize(&world, stages.precision()).unwrap();
    let mut packet = Packet {
        ledger: BitLedger::itemized(),
        ..Packet::default()
    };
    let header = encoder
        .encode(Sequence(7), stages, &current, None, &mut packet, None)
        .unwrap();
    let detail = PacketDetail::new(&packet.ledger, packet.bytes.clone().into());
    PacketRecord {
        header: Some(header),
        detail: Some(Box::new(detail)),
        ..PacketRecord::new(&packet, stages)
    }
}

const SIZE: egui::Vec2 = egui::vec2(1280.0, 720.0);

fn harness(page: Page) -> Harness<'static, Panel> {
    open(panel(page))
}

fn panel(page: Page) -> Panel {
    Panel {
        state: PanelState {
            page,
            ..PanelState::default()
        },
        meter: meter(),
        halves: Some(Halves {
            left_is_lane: false,
            selected: Side::Right,
            typed: Vec::new(),
        }),
        status: Status {
            plays: true,
            ..Status::default()
        },
        ..Panel::default()
    }
}

fn open(panel: Panel) -> Harness<'static, Panel> {
    let mut harness = Harness::builder()
        .with_size(SIZE)
        .build_ui_state(show, panel);
    harness.run();
    harness
}

/// Draws the panel, and notes what the user asks for.
fn show(ui: &mut egui::Ui, panel: &mut Panel) {
    let Panel {
        state,
        settings,
        meter,
        halves,
        status,
        server,
        wants_reconnect,
        viewers,
        selection,
        tradeoffs,
        sync,
        shadow,
        ablation,
        tick,
        past,
        standings,
        ..
    } = panel;
    let sender = settings.sender;
    let (cost, budget) = (LaneCost::default(), LaneBudget::default());
    let peers = match (server, viewers) {
        (Some(connection), _) => Peers::Server {
            connection,
            asked: &sender,
            reconnect: wants_reconnect,
        },
        (None, Some((serving, peer))) => Peers::Viewers {
            serving,
            viewers: vec![(peer, &sender, &cost, &budget, meter)],
        },
        (None, None) => Peers::None,
    };
    let shown = in_halves(meter, settings, halves.as_ref());
    let lane = LaneView {
        settings,
        side: Side::Right,
        meter,
        sync: sync.as_ref(),
        shadow: shadow.as_ref(),
        ablation: ablation.as_ref(),
        tick: *tick,
        replica_error: None,
        past: *past,
        selection,
        errors: &[],
        standings,
        counts: None,
        tradeoffs,
        peers,
        shown,
        halves: halves.as_mut(),
        status: status.clone(),
    };
    let drawn = draw(ui.ctx(), state, lane);
    panel.drawn = drawn;
    panel.actions.extend(drawn.asked);
    panel.desyncs += usize::from(drawn.desyncs);
    panel.moments.extend(drawn.moment);
    if let Some(halves) = &mut panel.halves {
        panel.typed.append(&mut halves.typed);
    }
}

/// The lane in the right half, and in the left one if that shows a lane.
fn in_halves<'a>(
    meter: &'a LaneMeter,
    settings: &LaneSettings,
    halves: Option<&Halves>,
) -> Vec<Measured<'a>> {
    let is_compared = halves.is_some_and(|halves| halves.left_is_lane);
    let first = usize::from(!is_compared);
    let measured = |&side: &Side| Measured {
        side,
        meter,
        settings: Some(settings.clone()),
    };
    Side::ALL[first..].iter().map(measured).collect()
}

fn click(harness: &mut Harness<'_, Panel>, label: &str) {
    harness.get_by_label(label).click();
    harness.run();
}

/// Every page.
fn pages() -> impl Iterator<Item = Page> {
    Tab::ALL.into_iter().flat_map(Tab::pages).copied()
}
