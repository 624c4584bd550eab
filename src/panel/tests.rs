//! The panel as people use it: found by its labels, clicked and typed into, without a window.

mod tour;

use std::time::Duration;

use bevy::math::{Quat, vec3};
use bevy_egui::egui::accesskit::Role;
use bevy_egui::egui::{self, Modifiers};
use cubewire_codec::ladder::{self, LADDER};
use cubewire_codec::stages::{Orientation, Position};
use cubewire_codec::{
    BitLedger, CubeState, Encoder, Limits, Packet, QuantizedSnapshot, Sequence, Snapshot, Stages,
};
use cubewire_link::Preset;
use cubewire_protocol::{BaselineChoice, Interpolation};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::*;
use crate::replication::{
    Accounting, ConnectionStatus, PacketDetail, PacketRecord, PlayoutDelay, Sample, SocketTraffic,
};

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
    exports: Vec<Export>,
    typed: Vec<(Side, Half)>,
    shadow: Option<ShadowLadder>,
    ablation: Option<Ablation>,
    tick: Option<u64>,
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
        ..Sample::default()
    }))
}

/// A packet of ten cubes, of which the first moves a little, the second far, and the third turns.
pub(super) fn packet_of(stages: Stages) -> PacketRecord {
    let cube = |x: usize| CubeState {
        position: vec3(x as f32, 1.0, 2.0),
        ..CubeState::default()
    };
    let mut world = Snapshot {
        cubes: (0..10).map(cube).collect(),
    };
    let mut encoder = Encoder::new(world.clone(), Limits::default()).unwrap();
    world.cubes[0].position.x += 0.01;
    world.cubes[1].position.x += 10.0;
    world.cubes[2].orientation = Quat::from_rotation_x(0.3);
    let mut current = QuantizedSnapshot::new(stages.precision());
    current.quantize(&world, stages.precision()).unwrap();
    let mut packet = Packet {
        ledger: BitLedger::itemized(),
        ..Packet::default()
    };
    let header = encoder
        .encode(Sequence(7), stages, &current, None, &mut packet, None)
        .unwrap();
    let detail = PacketDetail::new(&packet, packet.bytes.clone().into());
    PacketRecord {
        header: Some(header),
        detail: Some(Box::new(detail)),
        ..PacketRecord::new(&packet, stages)
    }
}

const SIZE: egui::Vec2 = egui::vec2(1280.0, 720.0);

fn harness(tab: Tab) -> Harness<'static, Panel> {
    open(panel(tab))
}

fn panel(tab: Tab) -> Panel {
    Panel {
        state: PanelState {
            tab,
            ..PanelState::default()
        },
        meter: meter(),
        halves: Some(Halves {
            left_is_lane: false,
            selected: Side::Right,
            typed: None,
        }),
        status: Status {
            plays: true,
            ..Status::default()
        },
        ..Panel::default()
    }
}

fn open(panel: Panel) -> Harness<'static, Panel> {
    let show = |ui: &mut egui::Ui, panel: &mut Panel| {
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
            shadow,
            ablation,
            tick,
            ..
        } = panel;
        let sender = settings.sender;
        let peers = match (server, viewers) {
            (Some(connection), _) => Peers::Server {
                connection,
                reconnect: wants_reconnect,
            },
            (None, Some((serving, peer))) => Peers::Viewers {
                serving,
                viewers: vec![(peer, &sender, meter)],
            },
            (None, None) => Peers::None,
        };
        let is_compared = halves.as_ref().is_some_and(|halves| halves.left_is_lane);
        let mut shown = vec![Measured {
            side: Side::Right,
            meter,
            settings: Some(settings.clone()),
        }];
        if is_compared {
            let side = Side::Left;
            shown.insert(
                0,
                Measured {
                    side,
                    ..shown[0].clone()
                },
            );
        }
        let lane = LaneView {
            settings,
            side: Side::Right,
            meter,
            shadow: shadow.as_ref(),
            ablation: ablation.as_ref(),
            tick: *tick,
            divergence: None,
            past: Past::default(),
            selection,
            errors: &[],
            counts: None,
            tradeoffs,
            peers,
            shown,
            halves: halves.as_mut(),
            status: status.clone(),
        };
        let drawn = draw(ui.ctx(), state, lane);
        panel.drawn = drawn;
        panel.actions.extend(drawn.action);
        panel.exports.extend(drawn.export);
        let typed = panel.halves.as_mut().and_then(|halves| halves.typed.take());
        panel.typed.extend(typed);
    };
    let mut harness = Harness::builder()
        .with_size(SIZE)
        .build_ui_state(show, panel);
    harness.run();
    harness
}

fn click(harness: &mut Harness<'_, Panel>, label: &str) {
    harness.get_by_label(label).click();
    harness.run();
}

#[test]
fn a_tab_opens_with_a_click_and_the_graph_stays() {
    let mut harness = harness(Tab::Ladder);
    for (title, tab) in [
        ("Savings", Tab::Savings),
        ("Stages", Tab::Stages),
        ("Bits", Tab::Bits),
        ("Network", Tab::Network),
        ("Playout", Tab::Playout),
        ("Halves", Tab::Halves),
        ("Keys", Tab::Keys),
        ("Ladder", Tab::Ladder),
    ] {
        click(&mut harness, title);
        assert_eq!(harness.state().state.tab, tab);
        assert!(harness.query_by_label("freeze").is_some(), "{title}");
        assert!(
            harness.query_by_label_contains("Reset").is_some(),
            "{title}"
        );
    }
    assert_eq!(harness.state().settings, LaneSettings::default());
}

#[test]
fn every_rung_is_in_sight_and_is_selected_by_a_click() {
    let mut harness = harness(Tab::Ladder);
    for rung in LADDER.iter().chain([&ladder::AFFINE]) {
        let row = harness.get_all_by_label(rung.name).last().unwrap();
        assert!(
            row.rect().max.y < SIZE.y - 50.0,
            "{} at {:?}",
            rung.name,
            row.rect()
        );
        row.click();
        harness.run();
        assert_eq!(harness.state().settings.sender.stages, rung.stages);
    }
}

#[test]
fn a_stage_is_switched_by_a_click_and_an_illegal_one_is_disabled() {
    let mut harness = harness(Tab::Stages);
    harness.state_mut().settings.sender.stages = ladder::POSITION.stages;
    harness.run();
    click(&mut harness, "changed bits");
    let stages = harness.state().settings.sender.stages;
    assert_eq!(ladder::rung_of(stages), Some(ladder::DELTA));
    harness.state_mut().settings.sender.stages = ladder::POSITION.stages;
    harness.run();
    let separate = harness.get_by_label("separate");
    assert!(separate.accesskit_node().is_disabled());
}

#[test]
fn the_bits_tab_names_every_kind_and_both_accountings() {
    let harness = harness(Tab::Bits);
    for kind in cubewire_codec::BitKind::ALL {
        assert!(harness.query_by_label(kind.name()).is_some(), "{kind}");
    }
    for name in [
        "snapshots, article accounting",
        "snapshots, on the wire",
        "acks of snapshots, on the wire",
        "the transport's own acks, on the wire",
    ] {
        assert!(harness.query_by_label(name).is_some(), "{name}");
    }
}

#[test]
fn the_bits_tab_exports_what_its_buttons_say() {
    let mut harness = harness(Tab::Bits);
    for export in Export::ALL {
        harness.get_by_label(export.name()).scroll_to_me();
        harness.run();
        click(&mut harness, export.name());
    }
    assert_eq!(harness.state().exports, Export::ALL);
}

#[test]
fn the_network_tab_cuts_resets_and_sets_rate_and_baseline() {
    let mut harness = harness(Tab::Network);
    click(&mut harness, "cut");
    assert!(harness.state().settings.link.conditions.cut);
    click(&mut harness, "20");
    click(&mut harness, "smallest");
    let sender = harness.state().settings.sender;
    assert_eq!(sender.snapshots_per_second(), 20);
    assert_eq!(sender.baseline, BaselineChoice::Smallest);
    click(&mut harness, "reset");
    assert_eq!(harness.state().settings.link, LaneSettings::default().link);
}

#[test]
fn every_preset_is_in_sight_in_its_list() {
    let mut harness = harness(Tab::Network);
    harness.get_by_value("50 ms each way").click();
    harness.run();
    for preset in &cubewire_link::PRESETS {
        let entry = harness.get_by_label(preset.title);
        assert!(entry.rect().max.y <= SIZE.y, "{}", preset.title);
    }
    click(&mut harness, "Satellite");
    let conditions = &harness.state().settings.link.conditions;
    assert_eq!(Preset::of(conditions).unwrap().name, "satellite");
}

#[test]
fn the_playout_tab_sets_interpolation_and_delay_and_warns_of_missing_velocities() {
    let mut harness = harness(Tab::Playout);
    click(&mut harness, "hermite");
    click(&mut harness, "adaptive");
    let playout = harness.state().settings.playout;
    assert_eq!(playout.interpolation, Interpolation::Hermite);
    assert_eq!(playout.delay, PlayoutDelay::Adaptive);
    assert!(
        harness
            .query_by_label_contains("hermite → linear")
            .is_some()
    );
    harness.state_mut().settings.sender.stages = ladder::AT_REST.stages;
    harness.run();
    assert!(harness.query_by_label_contains("→ linear").is_none());
}

#[test]
fn the_halves_tab_picks_a_second_lane_and_settings_of_each() {
    let mut harness = harness(Tab::Halves);
    click(&mut harness, "a lane");
    assert!(harness.state().halves.as_ref().unwrap().left_is_lane);
    harness.get_all_by_label("30").last().unwrap().click();
    harness.run();
    let (side, half) = harness.state().typed[0].clone();
    let Half::Lane(lane) = half else {
        panic!("a lane was picked");
    };
    assert_eq!(side, Side::Right);
    assert_eq!(lane.sender.snapshots_per_second(), 30);
}

#[test]
fn typed_lane_text_takes_effect_on_enter_and_an_error_is_shown_without_a_tooltip() {
    let mut harness = harness(Tab::Halves);
    let type_text = |harness: &mut Harness<'_, Panel>, text: &str| {
        harness.get_by_role(Role::TextInput).focus();
        harness.run();
        harness.key_press_modifiers(Modifiers::COMMAND, egui::Key::A);
        harness.event(egui::Event::Text(text.to_owned()));
        harness.run();
    };
    type_text(&mut harness, "rung:indxe");
    assert!(
        harness
            .query_by_label_contains("unknown rung `indxe`")
            .is_some()
    );
    let field = harness.get_by_role(Role::TextInput);
    field.hover();
    harness.run_steps(90);
    assert!(harness.query_by_label_contains("press Enter").is_none());
    harness.key_press(egui::Key::Enter);
    harness.run();
    assert!(harness.state().typed.is_empty());
    // A click elsewhere does not lose it, Esc does.
    click(&mut harness, "Ladder");
    click(&mut harness, "Halves");
    assert!(
        harness
            .query_by_label_contains("unknown rung `indxe`")
            .is_some()
    );
    harness.get_by_role(Role::TextInput).focus();
    harness.run();
    harness.key_press(egui::Key::Escape);
    harness.run();
    assert!(harness.query_by_label_contains("unknown rung").is_none());

    type_text(&mut harness, "rung:index,link:4g");
    harness.key_press(egui::Key::Enter);
    harness.run();
    let lane = "rung:index,link:4g".parse().unwrap();
    assert_eq!(harness.state().typed, [(Side::Right, lane)]);
}

#[test]
fn the_copy_button_copies_and_says_so() {
    let mut harness = harness(Tab::Halves);
    harness.get_by_label("Copy for the command line").click();
    harness.step();
    let copied = harness
        .output()
        .platform_output
        .commands
        .iter()
        .any(|command| {
            matches!(command, egui::OutputCommand::CopyText(text)
            if text == "--left simulation --right rung:changed-flags")
        });
    assert!(copied);
    harness.step();
    assert!(harness.query_by_label("Copied").is_some());
}

#[test]
fn the_keys_tab_lists_every_key_and_sets_theme_and_size() {
    let mut harness = harness(Tab::Keys);
    for row in &crate::controls::BINDINGS {
        assert!(harness.query_by_label(row.about).is_some(), "{}", row.about);
    }
    click(&mut harness, "dark");
    assert_eq!(harness.state().state.theme, Theme::Dark);
    let before = harness.ctx.zoom_factor();
    harness.get_by_label("+").click();
    harness.run_steps(3);
    assert!(harness.ctx.zoom_factor() > before);
}

#[test]
fn every_button_of_the_toolbar_asks_for_its_action() {
    let mut harness = harness(Tab::Ladder);
    for (name, action) in [
        ("Pause", Action::Pause),
        ("Reset", Action::Reset),
        ("View: both", Action::NextView),
        ("Trails", Action::Trails),
        ("Cut link", Action::CutLink),
        ("Replay", Action::Replay),
        ("Video", Action::Video),
        ("Picture", Action::Screenshot),
        ("Colours", Action::CubeColors),
        ("Timeline", Action::Timeline),
        ("Camera", Action::ResetCamera),
        ("?", Action::Help),
    ] {
        harness.state_mut().actions.clear();
        harness.get_by_label_contains(name).click();
        harness.run();
        assert_eq!(harness.state().actions, [action], "{name}");
    }
}

#[test]
fn a_viewer_cannot_do_what_the_server_does() {
    let mut harness = harness(Tab::Ladder);
    harness.state_mut().status.plays = false;
    harness.run();
    for name in ["Pause", "Reset", "Replay"] {
        let button = harness.get_by_label_contains(name);
        assert!(button.accesskit_node().is_disabled(), "{name}");
    }
}

#[test]
fn the_panel_shrinks_to_a_bar_with_rung_and_graph_and_grows_again() {
    let mut harness = harness(Tab::Ladder);
    let whole = harness.state().drawn.inset;
    assert!(whole.right > 300.0 && whole.bottom == 0.0);
    click(&mut harness, "⬇");
    let slim = harness.state().drawn.inset;
    assert!(
        slim.right == 0.0 && (50.0..120.0).contains(&slim.bottom),
        "{slim:?}"
    );
    assert!(harness.query_by_label_contains("kbps").is_some());
    assert!(harness.query_by_value("changed-flags").is_some());
    click(&mut harness, "⬆");
    assert_eq!(harness.state().state.size, PanelSize::Whole);
    harness.state_mut().state.size = PanelSize::Hidden;
    harness.run();
    assert_eq!(harness.state().drawn.inset, Inset::default());
}

#[test]
fn the_graph_switches_accounting_scale_and_freezes() {
    let mut harness = harness(Tab::Ladder);
    click(&mut harness, "wire");
    click(&mut harness, "log");
    click(&mut harness, "freeze");
    let state = &harness.state().state;
    assert_eq!(state.accounting, Accounting::Wire);
    assert!(state.axis == Axis::Logarithmic && state.frozen.is_some());
    click(&mut harness, "freeze");
    assert!(harness.state().state.frozen.is_none());
}

#[test]
fn no_tab_reaches_below_the_fold_with_what_matters() {
    for tab in Tab::USUAL {
        let harness = harness(tab);
        let last = match tab {
            Tab::Ladder => "affine",
            Tab::Stages => "joint",
            // Its views have a test of their own.
            Tab::Savings => "Ablation",
            Tab::Bits => "the transport's own acks, on the wire",
            Tab::Packet | Tab::Ranges => continue,
            Tab::Network => "smallest",
            Tab::Playout => "late in the last second",
            Tab::Halves => "Copy for the command line",
            Tab::Keys => "reset",
            Tab::Peers => continue,
        };
        let bottom = harness.get_all_by_label(last).last().unwrap().rect().max.y;
        let toolbar = harness.get_by_label_contains("Pause").rect().min.y;
        assert!(
            bottom <= toolbar,
            "{tab:?}: {last} ends at {bottom}, the toolbar begins at {toolbar}"
        );
    }
}

#[test]
fn the_explanation_says_what_is_seen_and_which_keys_there_are() {
    let mut harness = harness(Tab::Ladder);
    let says =
        |harness: &Harness<'_, Panel>, text: &str| harness.query_by_label_contains(text).is_some();
    assert!(!says(&harness, "What another machine sees"));
    harness.state_mut().state.explaining = true;
    harness.run();
    for text in [
        "The simulation",
        "What another machine sees",
        "some 140 ms later",
        "What it costs",
        "arrow keys roll",
        "F1 explains again",
    ] {
        assert!(says(&harness, text), "{text}");
    }
    harness.state_mut().status.view = ViewMode::Right;
    harness.run();
    assert!(!says(&harness, "The simulation"));
    harness.state_mut().status.plays_itself = true;
    harness.run();
    assert!(says(&harness, "Any key takes over"));
    assert!(!says(&harness, "What another machine sees"));
}

#[test]
fn a_server_lists_its_viewers() {
    let mut harness = harness(Tab::Peers);
    assert_eq!(
        harness.state().state.tab,
        Tab::Ladder,
        "there are no peers yet"
    );
    harness.state_mut().viewers = Some((
        Serving {
            address: "192.168.1.5:7000".to_owned(),
            traffic: SocketTraffic::default(),
        },
        Peer {
            id: 1,
            address: "192.168.1.9:41000".to_owned(),
            round_trip: Duration::from_millis(31),
            loss_fraction: 0.02,
        },
    ));
    harness.run();
    click(&mut harness, "Viewers");
    for text in [
        "192.168.1.9:41000",
        "31 ms, 2.0 %",
        "changed-flags, 60 a second",
    ] {
        assert!(harness.query_by_label_contains(text).is_some(), "{text}");
    }
}

#[test]
fn a_viewer_that_lost_its_server_reconnects_with_a_click() {
    let mut harness = harness(Tab::Ladder);
    harness.state_mut().halves = None;
    harness.state_mut().server = Some(ServerConnection {
        server: "192.168.1.5:7000".to_owned(),
        status: ConnectionStatus::Lost("the server closed the connection".to_owned()),
        round_trip: None,
        id: None,
    });
    harness.run();
    assert!(harness.query_by_label("Halves").is_none());
    click(&mut harness, "Server");
    let why = "The server closed the connection.";
    assert!(harness.query_by_label(why).is_some());
    click(&mut harness, "Reconnect");
    assert!(harness.state().wants_reconnect);
}

#[test]
fn the_panel_keeps_its_width_whatever_it_shows() {
    let mut wide = Vec::new();
    for width in [380.0, 408.0, 500.0] {
        for is_compared in [false, true] {
            for tab in Tab::USUAL {
                let mut panel = panel(tab);
                panel.state.width = width;
                panel.halves.as_mut().unwrap().left_is_lane = is_compared;
                panel.settings.sender.stages = ladder::RELATIVE_ORIENTATION.stages;
                panel.settings.playout.interpolation = Interpolation::Extrapolate;
                let harness = open(panel);
                let drawn = harness.state().drawn.inset.right;
                if drawn != width {
                    wide.push(format!(
                        "{tab:?} at {width}, two lanes: {is_compared}: {drawn}"
                    ));
                }
            }
        }
    }
    assert_eq!(wide, Vec::<String>::new());
}

#[test]
fn every_option_and_rung_explains_itself_under_the_pointer() {
    for (tab, label, text) in [
        (Tab::Stages, "joint", "One bit for the usual case"),
        (Tab::Stages, "growing ranges", "ranges that grow"),
        (Tab::Ladder, "delta", ladder::DELTA.summary),
        (Tab::Network, "smallest", "encodes against each"),
    ] {
        let mut panel = panel(tab);
        panel.settings.sender.stages = ladder::PREDICTED_POSITION.stages;
        let mut harness = open(panel);
        harness.get_by_label(label).hover();
        harness.run_steps(60);
        let tooltip = harness.query_by_label_contains(text);
        assert!(tooltip.is_some(), "{label}");
    }
}

/// The panel with the packets of `stages`.
fn inspecting(stages: Stages) -> Harness<'static, Panel> {
    let mut panel = panel(Tab::Packet);
    panel.settings.sender.stages = stages;
    panel.meter = LaneMeter::from_samples((0..80).map(|tick| Sample {
        tick,
        stages,
        snapshots: vec![packet_of(stages)],
        ..Sample::default()
    }));
    open(panel)
}

#[test]
fn the_packet_is_shown_in_words_and_a_cube_with_its_packets() {
    for rung in [ladder::RELATIVE_ORIENTATION, ladder::PREDICTED] {
        let mut harness = inspecting(rung.stages);
        let bytes = packet_of(rung.stages).payload_bytes;
        assert!(
            harness
                .query_by_label_contains(&format!("{bytes} bytes"))
                .is_some()
        );
        assert!(
            harness
                .query_by_label_contains("Header: sequence 7")
                .is_some()
        );
        assert!(harness.query_by_label_contains("Cube 1").is_none());
        harness.state_mut().selection.cube = Some(1);
        harness.run();
        assert!(harness.query_by_label_contains("Cube 1").is_some());
        click(&mut harness, "follow");
        assert!(harness.state().selection.follows);
        click(&mut harness, "clear");
        assert_eq!(harness.state().selection, Selection::default());
    }
}

/// The page of savings, with figures of a lane that has these stages.
fn savings(view: SavingsView, stages: Stages) -> Panel {
    let mut panel = panel(Tab::Savings);
    panel.state.savings = view;
    panel.settings.sender.stages = stages;
    // The fourth rung costs more than the third.
    let bytes = |place: usize| 36_000 / (place + 1) + 6_000 * usize::from(place == 3);
    panel.shadow = Some(ShadowLadder::of_bytes(1_500, move |place, tick| {
        bytes(place) + tick as usize % 50
    }));
    panel.ablation = Some(Ablation::of_bytes(stages, 1_495, |place| 100 + 900 * place));
    panel.tick = Some(1_500);
    panel
}

const SAVINGS: [SavingsView; 3] = [
    SavingsView::Steps,
    SavingsView::OverTime,
    SavingsView::Ablation,
];

#[test]
fn the_views_of_savings_are_chosen_by_a_click() {
    let mut harness = open(savings(SavingsView::Steps, ladder::CHANGED_FLAGS.stages));
    let says = |harness: &Harness<'_, Panel>, text: &str| {
        let found = harness.query_all_by_label_contains(text).next();
        assert!(found.is_some(), "{text}");
    };
    says(&harness, "In all: ");
    says(&harness, "at-rest costs more than the rung before, now.");
    assert!(!harness.state().state.shows_ablation());
    click(&mut harness, "Over time");
    says(&harness, "mean of a second, kbps, log");
    click(&mut harness, "Ablation");
    says(&harness, "without changed flags");
    says(&harness, "5 ticks old");
    says(&harness, "CPU beside the game");
    assert!(harness.state().state.shows_ablation());
    harness.state_mut().state.size = PanelSize::Slim;
    assert!(!harness.state().state.shows_ablation());
}

#[test]
fn every_row_of_the_savings_is_in_sight() {
    let mut low = Vec::new();
    for view in SAVINGS {
        for rung in ladder::all() {
            let harness = open(savings(view, rung.stages));
            let last = match view {
                SavingsView::Steps => "costs more than the rung before",
                SavingsView::OverTime => "mean of a second, kbps, log",
                SavingsView::Ablation => "CPU beside the game",
            };
            let bottom = harness.get_by_label_contains(last).rect().max.y;
            let toolbar = harness.get_by_label_contains("Pause").rect().min.y;
            if bottom > toolbar {
                low.push(format!("{view:?}, {}: {bottom} below {toolbar}", rung.name));
            }
            assert_eq!(harness.state().drawn.inset.right, 408.0, "{view:?}");
        }
    }
    assert_eq!(low, Vec::<String>::new());
}

#[test]
fn savings_are_measured_where_the_simulation_runs() {
    for view in SAVINGS {
        let mut panel = panel(Tab::Savings);
        panel.state.savings = view;
        let harness = open(panel);
        let text = "This is measured where the simulation runs.";
        assert!(harness.query_by_label(text).is_some(), "{view:?}");
    }
}

#[test]
fn pointing_at_bits_hovers_their_cube() {
    let mut harness = inspecting(ladder::RELATIVE_ORIENTATION.stages);
    // The third row of the chart has the cubes, by kind.
    let order = harness.get_by_label("by kind").rect();
    let mut cubes = std::collections::HashSet::new();
    for step in 0..40 {
        let x = order.left() + step as f32 * 9.0;
        harness.hover_at(egui::pos2(x, order.bottom() + 50.0));
        harness.run();
        cubes.extend(harness.state().selection.hovered);
    }
    assert!(
        [0, 1, 2].iter().all(|cube| cubes.contains(cube)),
        "{cubes:?}"
    );
}

#[test]
fn sliders_set_what_the_codec_accepts_and_are_disabled_without_their_stage() {
    let mut panel = panel(Tab::Ranges);
    panel.settings.sender.stages = ladder::RELATIVE_ORIENTATION.stages;
    let mut harness = open(panel);
    let stages = |harness: &Harness<'_, Panel>| harness.state().settings.sender.stages;
    // Left of the middle, in the rail of the slider.
    let drag = |harness: &mut Harness<'_, Panel>, text: &str, x: f32| {
        let slider = harness.get_by_role_and_label(Role::Slider, text).rect();
        harness.drag_at(egui::pos2(slider.left() + x, slider.center().y));
        harness.run();
        harness.drop_at(egui::pos2(slider.left() + x, slider.center().y));
        harness.run();
    };
    drag(&mut harness, "position, steps a metre", 4.0);
    let Position::Quantized { steps_per_metre } = stages(&harness).position else {
        panic!("still quantized");
    };
    assert_eq!(steps_per_metre, Position::MIN_STEPS);
    assert_eq!(ladder::rung_of(stages(&harness)), None);
    drag(&mut harness, "orientation, bits a component", 4.0);
    assert_eq!(
        stages(&harness).orientation,
        Orientation::SmallestThree { bits: 2 }
    );
    // Predicted positions have no such ranges, and no other steps.
    harness.state_mut().settings.sender.stages = ladder::PREDICTED_POSITION.stages;
    harness.run();
    drag(&mut harness, "position, steps a metre", 4.0);
    assert_eq!(stages(&harness), ladder::PREDICTED_POSITION.stages);
    let slider = harness.get_by_role_and_label(Role::Slider, "bits, position");
    assert!(slider.accesskit_node().is_disabled());
}
