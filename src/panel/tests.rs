//! Tests that use the panel by its labels, with clicks and text input, without a window.

mod inspect;
mod labels;
mod network;
mod packet;
mod pages;
mod rungs;
mod stages;
mod tour;

mod whole;

use std::time::Duration;

use bevy::math::{Quat, vec3};
use bevy_egui::egui::accesskit::Role;
use bevy_egui::egui::epaint::TextShape;
use bevy_egui::egui::{self, Modifiers, Rect, Shape, Vec2, vec2};
use cubewire_codec::stages::{Orientation, Position};
use cubewire_codec::{BodyState, Snapshot};
use cubewire_link::Preset;
use cubewire_protocol::{
    BaselineChoice, FallbackReason, Interpolation, SendState, SyncStatus, Wait,
};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::lane::{Drawn, Halves, Past};
use super::layout::draw;
use super::pages::peers::Peers;
use super::prelude::*;
use super::*;
use crate::replication::{
    Ablation, ConnectionStatus, CubeError, LaneSync, LiveLadder, METER_TICKS, PacketArrival,
    PlayoutDelay, RemoteViewer, ReplicaError, Seat, SendStates, ServerLink, Serving, ablation,
    counted_ladder, itemized,
};

type Test = Harness<'static, Panel>;

#[derive(Default)]
struct Panel {
    state: PanelState,
    settings: LaneSettings,
    meter: LaneMeter,
    halves: Option<Halves>,
    status: Status<'static>,
    server: Option<ServerLink>,
    viewers: Option<(Serving, RemoteViewer)>,
    drawn: Drawn,
    selection: Selection,
    tradeoffs: Tradeoffs,
    actions: Vec<Action>,
    moments: Vec<u64>,
    sync: Option<LaneSync>,
    shadow: Option<LiveLadder>,
    ablation: Option<Ablation>,
    past: Past,
    send_states: SendStates,
    errors: Vec<CubeError>,
    /// Stages of the left lane, if they differ.
    left: Option<Stages>,
}

/// Returns a meter of `ticks` ticks with a packet in each. `change` adjusts them.
pub(super) fn meter_of(
    ticks: u64,
    packet: &PacketRecord,
    change: impl Fn(u64, &mut Sample, &mut PacketRecord),
) -> LaneMeter {
    LaneMeter::from_samples((0..ticks).map(|tick| {
        let mut packet = packet.clone();
        let mut sample = Sample { tick, ..Sample::default() };
        change(tick, &mut sample, &mut packet);
        sample.snapshots.push(packet);
        sample
    }))
}

pub(super) const ARRIVAL: PacketArrival = PacketArrival { after_ticks: 6, is_late: false };

fn meter() -> LaneMeter {
    meter_of(400, &PacketRecord::default(), |tick, sample, packet| {
        packet.payload_bytes = 500 + tick as usize % 40;
        packet.changed_bodies = 70;
        sample.acked_age_ticks = Some(6);
        sample.replica_error = ReplicaError {
            tick: Some(tick as f64),
            mean_m: 0.004,
            max_m: 0.085,
            ..ReplicaError::default()
        };
    })
}

/// Returns a packet of ten cubes. The first moves a little, the second far, and the third turns.
fn packet_of(stages: Stages) -> PacketRecord {
    let cube = |x: usize| BodyState { position: vec3(x as f32, 1.0, 2.0), ..BodyState::default() };
    let initial = Snapshot { bodies: (0..10).map(cube).collect() };
    let mut world = initial.clone();
    world.bodies[0].position.x += 0.01;
    world.bodies[1].position.x += 10.0;
    world.bodies[2].orientation = Quat::from_rotation_x(0.3);
    PacketRecord::new(0, &itemized(stages, &initial, &world), stages)
}

/// Returns a page of a lane with all measurements. Packets take six ticks. The fourth rung costs more than the third.
fn measured(page: Page, stages: Stages) -> Panel {
    let mut panel = panel(page);
    panel.settings.sender.stages = stages;
    panel.meter = meter_of(400, &packet_of(stages), |tick, sample, packet| {
        sample.stages = stages;
        packet.arrival = (tick < 394).then_some(ARRIVAL);
    });
    let bytes = |index: usize| 36_000 / (index + 1) + 6_000 * usize::from(index == 3);
    panel.shadow =
        Some(counted_ladder(1_500, move |index, tick| bytes(index) + tick as usize % 50));
    panel.ablation = Some(counted_ablation(stages, 394, |index| 100 + 900 * index));
    panel
}

/// An ablation that has counted a second up to `newest`, with `bytes` by index of the row.
fn counted_ablation(stages: Stages, newest: u64, bytes: impl Fn(usize) -> usize) -> Ablation {
    let ablation = ablation(stages, &Snapshot::default());
    ablation.of_bytes(newest - 59..newest + 1, |index, _| bytes(index))
}

fn table(column: Column, stages: Stages) -> Panel {
    let mut panel = measured(Page::Ladder, stages);
    panel.state.column = column;
    panel
}

const SIZE: Vec2 = vec2(1280.0, 720.0);
const LOW: Vec2 = vec2(800.0, 450.0);

fn harness(page: Page) -> Test {
    open(panel(page))
}

fn panel(page: Page) -> Panel {
    Panel {
        state: PanelState { page, ..PanelState::default() },
        meter: meter(),
        halves: Some(Halves { left_is_lane: false, selected: Side::Right }),
        status: Status { plays: true, ..Status::default() },
        ..Panel::default()
    }
}

fn open(panel: Panel) -> Test {
    open_in(SIZE, panel)
}

fn open_in(size: Vec2, panel: Panel) -> Test {
    let mut harness = Harness::builder().with_size(size).build_ui_state(show, panel);
    harness.run();
    harness
}

fn show(ui: &mut Ui, panel: &mut Panel) {
    let sender = panel.settings.sender;
    let peers = match (&panel.server, &panel.viewers) {
        (Some(connection), _) => Peers::Server { connection, asked: &sender },
        (None, Some((serving, peer))) => {
            Peers::Viewers { serving, viewers: vec![(peer, &sender, &panel.meter, Some(&Seat(1)))] }
        }
        (None, None) => Peers::None,
    };
    // Without a left lane, the left half shows the simulation.
    let has_left = panel.halves.as_ref().is_some_and(|halves| halves.left_is_lane);
    let measured = |side| Measured { side, meter: &panel.meter, settings: panel.settings.clone() };
    let mut shown: Vec<_> =
        Side::ALL[usize::from(!has_left)..].iter().copied().map(measured).collect();
    if let Some(stages) = panel.left.filter(|_| has_left) {
        shown[0].settings.sender.stages = stages;
    }
    let lane = LaneView {
        settings: &mut panel.settings,
        side: Side::Right,
        meter: &panel.meter,
        sync: panel.sync.as_ref(),
        shadow: panel.shadow.as_ref(),
        ablation: panel.ablation.as_ref(),
        past: panel.past,
        selection: &mut panel.selection,
        errors: &panel.errors,
        send_states: Some(&panel.send_states),
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
}

fn click(harness: &mut Test, label: &str) {
    harness.get_by_label(label).click();
    harness.run();
}

/// Returns the rectangle of the last element with the label.
fn last(harness: &Test, label: &str) -> Rect {
    harness.get_all_by_label(label).last().unwrap().rect()
}

fn click_last(harness: &mut Test, label: &str) {
    harness.get_all_by_label(label).last().unwrap().click();
    harness.run();
}

fn point(harness: &mut Test, at: Pos2) {
    harness.hover_at(at);
    harness.run();
}

fn press(harness: &mut Test, key: Key) {
    harness.key_press(key);
    harness.run();
}

fn click_on(harness: &mut Test, label: &str) {
    harness.get_by_label_contains(label).click();
    harness.run();
}

fn change(harness: &mut Test, change: impl FnOnce(&mut Panel)) {
    change(harness.state_mut());
    harness.run();
}

/// Hovers the label until its tooltip is shown.
fn hover(harness: &mut Test, label: &str) {
    harness.get_by_label_contains(label).hover();
    harness.run_steps(60);
}

fn says(harness: &Test, text: &str) -> bool {
    harness.query_all_by_label_contains(text).next().is_some()
}

/// Returns the painted shapes with their clip rectangles.
fn shapes(harness: &Test) -> impl Iterator<Item = (Rect, &Shape)> {
    harness.output().shapes.iter().flat_map(|clipped| {
        let shapes = match &clipped.shape {
            Shape::Vec(shapes) => &shapes[..],
            shape => std::slice::from_ref(shape),
        };
        shapes.iter().map(|shape| (clipped.clip_rect, shape))
    })
}

fn painted(harness: &Test) -> impl Iterator<Item = (Rect, &TextShape)> {
    shapes(harness).filter_map(|(clip, shape)| match shape {
        Shape::Text(text) => Some((clip, text)),
        _ => None,
    })
}

/// Returns the painted texts that equal `said`.
fn words<'a>(harness: &'a Test, said: &'a str) -> impl Iterator<Item = (Rect, &'a TextShape)> {
    painted(harness).filter(move |(_, text)| text.galley.text() == said)
}

fn texts(harness: &Test) -> impl Iterator<Item = (&str, Rect)> {
    painted(harness).map(|(_, text)| (text.galley.text(), text.visual_bounding_rect()))
}

fn paints(harness: &Test, is_like: impl Fn(&str) -> bool) -> bool {
    texts(harness).any(|(text, _)| is_like(text))
}

fn is_disabled(harness: &Test, label: &str) -> bool {
    harness.get_by_label_contains(label).accesskit_node().is_disabled()
}

/// Returns the upper end of the buttons below the page.
fn toolbar(harness: &Test) -> f32 {
    harness.get_by_label_contains("Pause").rect().min.y
}

/// Returns the lower end of the last element with the label.
fn bottom(harness: &Test, label: &str) -> f32 {
    harness.get_all_by_label_contains(label).last().unwrap().rect().max.y
}

fn type_over(harness: &mut Test, text: &str) {
    harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    harness.event(egui::Event::Text(text.to_owned()));
    harness.run();
}

fn server(status: ConnectionStatus) -> ServerLink {
    let server = "192.168.1.5:7000".to_owned();
    ServerLink { server, status, ..ServerLink::default() }
}

fn pages() -> impl Iterator<Item = Page> {
    Tab::ALL.into_iter().flat_map(Tab::pages).copied()
}
