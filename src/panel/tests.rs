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
use bevy_egui::egui::{self, Modifiers, Shape};
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
    Ablation, Arrival, ConnectionStatus, LaneBudget, LaneCost, LaneMeter, LaneSettings, LaneSync,
    METER_TICKS, PacketRecord, Peer, PlayoutDelay, ReplicaError, Sample, ServerConnection, Serving,
    ShadowLadder, Standings,
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
    viewers: Option<(Serving, Peer)>,
    drawn: Drawn,
    selection: Selection,
    tradeoffs: Tradeoffs,
    /// The actions of all buttons that were pressed.
    actions: Vec<Action>,
    moments: Vec<u64>,
    typed: Vec<(Side, PaneContent)>,
    sync: Option<LaneSync>,
    shadow: Option<ShadowLadder>,
    ablation: Option<Ablation>,
    past: Past,
    standings: Standings,
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
    PacketRecord {
        header: Some(header),
        ..PacketRecord::new(&packet, stages)
    }
}

/// A page of a lane with these stages and everything that can be measured of it: packets that take six ticks, what each
/// rung costs, the fourth more than the third, and what the stages cost without each of them.
fn measured(page: Page, stages: Stages) -> Panel {
    let mut panel = panel(page);
    panel.settings.sender.stages = stages;
    let packet = packet_of(stages);
    panel.meter = LaneMeter::from_samples((0..400).map(|tick| Sample {
        tick,
        stages,
        snapshots: vec![PacketRecord {
            arrival: (tick < 394).then_some(Arrival {
                after_ticks: 6,
                is_late: false,
            }),
            ..packet.clone()
        }],
        ..Sample::default()
    }));
    let bytes = |index: usize| 36_000 / (index + 1) + 6_000 * usize::from(index == 3);
    panel.shadow = Some(ShadowLadder::of_bytes(1_500, move |index, tick| {
        bytes(index) + tick as usize % 50
    }));
    panel.ablation = Some(Ablation::of_bytes(stages, 394, |index| 100 + 900 * index));
    panel
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
    let sender = panel.settings.sender;
    let (cost, budget) = (LaneCost::default(), LaneBudget::default());
    let peers = match (&panel.server, &panel.viewers) {
        (Some(connection), _) => Peers::Server {
            connection,
            asked: &sender,
        },
        (None, Some((serving, peer))) => Peers::Viewers {
            serving,
            viewers: vec![(peer, &sender, &cost, &budget, &panel.meter)],
        },
        (None, None) => Peers::None,
    };
    // The left half may show the simulation.
    let is_lane = |side: &&Side| {
        let halves = panel.halves.as_ref();
        **side == Side::Right || halves.is_some_and(|halves| halves.left_is_lane)
    };
    let shown = Side::ALL.iter().filter(is_lane).map(|&side| Measured {
        side,
        meter: &panel.meter,
        settings: panel.settings.clone(),
    });
    let shown = shown.collect();
    let lane = LaneView {
        settings: &mut panel.settings,
        side: Side::Right,
        meter: &panel.meter,
        sync: panel.sync.as_ref(),
        shadow: panel.shadow.as_ref(),
        ablation: panel.ablation.as_ref(),
        past: panel.past,
        selection: &mut panel.selection,
        errors: &[],
        standings: Some(&panel.standings),
        counts: None,
        tradeoffs: &panel.tradeoffs,
        peers,
        shown,
        halves: panel.halves.as_mut(),
        status: panel.status.clone(),
    };
    let drawn = draw(ui.ctx(), &mut panel.state, lane);
    panel.drawn = drawn;
    panel.actions.extend(drawn.asked);
    panel.moments.extend(drawn.moment);
    if let Some(halves) = &mut panel.halves {
        panel.typed.append(&mut halves.typed);
    }
}

fn click(harness: &mut Harness<'_, Panel>, label: &str) {
    harness.get_by_label(label).click();
    harness.run();
}

/// Clicks on what has that label among others.
fn click_on(harness: &mut Harness<'_, Panel>, label: &str) {
    harness.get_by_label_contains(label).click();
    harness.run();
}

fn change(harness: &mut Harness<'_, Panel>, change: impl FnOnce(&mut Panel)) {
    change(harness.state_mut());
    harness.run();
}

/// Rests the pointer on what has that label, until its tooltip is shown.
fn hover(harness: &mut Harness<'_, Panel>, label: &str) {
    harness.get_by_label_contains(label).hover();
    harness.run_steps(60);
}

fn says(harness: &Harness<'_, Panel>, text: &str) -> bool {
    harness.query_all_by_label_contains(text).next().is_some()
}

/// Every shape of the frame, and the rectangle that it is clipped to.
fn clipped<'a>(harness: &'a Harness<'_, Panel>) -> impl Iterator<Item = (egui::Rect, &'a Shape)> {
    let shapes = harness.output().shapes.iter();
    shapes.flat_map(|clipped| {
        let shapes = match &clipped.shape {
            Shape::Vec(shapes) => &shapes[..],
            shape => std::slice::from_ref(shape),
        };
        shapes.iter().map(|shape| (clipped.clip_rect, shape))
    })
}

fn shapes<'a>(harness: &'a Harness<'_, Panel>) -> impl Iterator<Item = &'a Shape> {
    clipped(harness).map(|(_, shape)| shape)
}

/// The texts that are painted, and where each stands.
fn texts<'a>(harness: &'a Harness<'_, Panel>) -> impl Iterator<Item = (&'a str, egui::Rect)> {
    shapes(harness).filter_map(|shape| match shape {
        Shape::Text(text) => Some((text.galley.text(), text.visual_bounding_rect())),
        _ => None,
    })
}

fn paints(harness: &Harness<'_, Panel>, is_like: impl Fn(&str) -> bool) -> bool {
    texts(harness).any(|(text, _)| is_like(text))
}

fn is_disabled(harness: &Harness<'_, Panel>, label: &str) -> bool {
    harness
        .get_by_label_contains(label)
        .accesskit_node()
        .is_disabled()
}

/// Where the buttons below the page begin.
fn toolbar(harness: &Harness<'_, Panel>) -> f32 {
    harness.get_by_label_contains("Pause").rect().min.y
}

/// The lower end of what was drawn last with that label.
fn bottom(harness: &Harness<'_, Panel>, label: &str) -> f32 {
    let found = harness.get_all_by_label_contains(label).last().unwrap();
    found.rect().max.y
}

fn type_over(harness: &mut Harness<'_, Panel>, text: &str) {
    harness.key_press_modifiers(Modifiers::COMMAND, egui::Key::A);
    harness.event(egui::Event::Text(text.to_owned()));
    harness.run();
}

fn server(status: ConnectionStatus) -> ServerConnection {
    ServerConnection {
        server: "192.168.1.5:7000".to_owned(),
        status,
        round_trip: None,
        id: None,
        granted: None,
    }
}

/// Every page.
fn pages() -> impl Iterator<Item = Page> {
    Tab::ALL.into_iter().flat_map(Tab::pages).copied()
}
