//! The pages of the tab Packet.

use std::collections::HashSet;

use cubewire_codec::BitKind;

use super::*;
use crate::replication::Arrival;
use crate::view::CubeColors;

/// The panel with packets of `stages`, each of which takes six ticks.
fn inspected(stages: Stages) -> Panel {
    let mut panel = panel(Page::Packet);
    panel.settings.sender.stages = stages;
    panel.meter = LaneMeter::from_samples((0..80).map(|tick| Sample {
        tick,
        stages,
        snapshots: vec![PacketRecord {
            arrival: (tick < 74).then_some(Arrival {
                after_ticks: 6,
                is_late: false,
            }),
            ..packet_of(stages)
        }],
        ..Sample::default()
    }));
    panel
}

fn inspecting(stages: Stages) -> Harness<'static, Panel> {
    open(inspected(stages))
}

fn says(harness: &Harness<'_, Panel>, text: &str) -> bool {
    harness.query_all_by_label_contains(text).next().is_some()
}

/// The tooltip after the pointer has rested on what is named so.
fn hover(harness: &mut Harness<'_, Panel>, label: &str) {
    harness.get_by_label_contains(label).hover();
    harness.run_steps(60);
}

fn remote(panel: &mut Panel) {
    panel.server = Some(ServerConnection {
        server: "192.168.1.5:7000".to_owned(),
        status: ConnectionStatus::Connected,
        round_trip: None,
        id: None,
        granted: None,
    });
}

#[test]
fn the_packet_is_shown_in_words_and_a_cube_with_its_packets() {
    for rung in [ladder::RELATIVE_ORIENTATION, ladder::PREDICTED] {
        let mut harness = inspecting(rung.stages);
        let packet = packet_of(rung.stages);
        let (bytes, cubes) = (packet.payload_bytes, packet.sent_cubes);
        let title = format!("Tick 79: {bytes} bytes for {cubes} of 901 cubes");
        assert!(says(&harness, &title));
        assert!(says(&harness, "Relative to the initial state."));
        assert!(!says(&harness, "Cube 1"));
        harness.state_mut().selection.cube = Some(1);
        harness.run();
        assert!(says(&harness, "Cube 1"));
        assert!(!says(&harness, "Up to date"));
        harness.state_mut().standings = vec![Standing::UpToDate { sent: None }; 2];
        harness.run();
        assert!(says(&harness, "Up to date"));
        click(&mut harness, "Follow");
        assert!(harness.state().selection.follows);
        click(&mut harness, "Follow");
        assert!(!harness.state().selection.follows);
        click(&mut harness, "Clear");
        assert_eq!(harness.state().selection, Selection::default());
    }
}

#[test]
fn a_packet_is_on_its_way_or_arrived_or_lost_or_not_recorded_and_never_two_of_these() {
    let fates = [
        "On its way; arrives in about 100 ms.",
        "Arrived after 6 ticks.",
        "Lost.",
        "not recorded any more",
        "recorded from the next one on",
    ];
    let only = |panel: Panel, expected: usize| {
        let harness = open(panel);
        for (index, fate) in fates.into_iter().enumerate() {
            assert_eq!(says(&harness, fate), index == expected, "{fate}");
        }
    };
    let stages = ladder::DELTA.stages;
    only(inspected(stages), 0);
    let mut looking_back = inspected(stages);
    looking_back.past.moment = Some(40);
    only(looking_back, 1);
    let without = |moment, change: fn(&mut PacketRecord)| {
        let mut panel = inspected(stages);
        let samples = panel.meter.samples().iter().cloned().map(|mut sample| {
            change(&mut sample.snapshots[0]);
            sample
        });
        panel.meter = LaneMeter::from_samples(samples.collect::<Vec<_>>());
        panel.past.moment = moment;
        panel
    };
    only(without(Some(2), |packet| packet.arrival = None), 2);
    only(without(Some(79), |packet| packet.detail = None), 3);
    only(without(None, |packet| packet.detail = None), 4);
}

#[test]
fn the_packets_of_a_cube_end_with_the_newest_or_with_that_of_the_moment() {
    let mut panel = inspected(ladder::CHANGED_FLAGS.stages);
    panel.selection.cube = Some(1);
    let mut harness = open(panel);
    assert!(says(&harness, "79, ") && !says(&harness, "80, "));
    harness.state_mut().meter.begin(Sample {
        tick: 80,
        snapshots: vec![packet_of(ladder::CHANGED_FLAGS.stages)],
        ..Sample::default()
    });
    harness.run();
    assert!(says(&harness, "79, ") && says(&harness, "80, "));
    harness.state_mut().past.moment = Some(40);
    harness.run();
    assert!(says(&harness, "40, ") && !says(&harness, "79, "));
    assert!(!says(&harness, "40, 0, "));
    harness.state_mut().selection.cube = Some(2);
    harness.run();
    // It has only turned.
    assert!(says(&harness, "40, 0, "));
}

#[test]
fn a_click_on_the_total_changes_the_order_below() {
    let mut harness = inspecting(ladder::RELATIVE_ORIENTATION.stages);
    for order in ["by kind", "in order", "by kind"] {
        let total = harness.get_by_label_contains(order);
        assert!(total.rect().height() >= 20.0);
        total.click();
        harness.run();
    }
}

#[test]
fn pointing_at_bits_hovers_their_cube_without_a_tooltip() {
    let mut harness = inspecting(ladder::RELATIVE_ORIENTATION.stages);
    let chart = harness.get_by_label_contains("by kind").rect();
    let labels = |harness: &Harness<'_, Panel>| harness.query_all_by_label_contains("").count();
    let before = labels(&harness);
    // The row of the cubes, and the bytes below the chart.
    for below in [32.0, 70.0] {
        let mut cubes = HashSet::new();
        for step in 0..60 {
            let x = chart.left() + 2.0 + step as f32 * 6.0;
            harness.hover_at(egui::pos2(x, chart.bottom() + below));
            harness.run();
            cubes.extend(harness.state().selection.hovered);
        }
        assert!(
            [0, 1].iter().all(|cube| cubes.contains(cube)),
            "{below}: {cubes:?}"
        );
        harness.run_steps(60);
        assert_eq!(labels(&harness), before, "{below}");
    }
}

#[test]
fn every_kind_has_a_row_or_is_named_as_not_used() {
    for rung in ladder::all() {
        let mut panel = inspected(rung.stages);
        panel.state.page = Page::Kinds;
        let harness = open(panel);
        let packet = packet_of(rung.stages);
        for kind in BitKind::DEMO {
            let is_used = packet.ledger.kind(kind) > 0.0;
            assert_eq!(
                says(&harness, &format!("{kind}: ")),
                is_used,
                "{} {kind}",
                rung.name
            );
        }
        let unused = BitKind::DEMO.into_iter();
        let unused = unused.filter(|&kind| packet.ledger.kind(kind) == 0.0);
        let names: Vec<_> = unused.map(BitKind::name).collect();
        let words = format!("Not used here: {}.", names.join(", "));
        assert!(says(&harness, &words), "{}", rung.name);
    }
}

#[test]
fn the_acks_tell_their_parts_and_what_the_receiver_decoded() {
    let parts = [
        "Acks of snapshots",
        "Newest ack: 6 ticks, 100 ms old",
        "Baseline of the newest packet",
        "Decoded since the start",
        "Duplicates",
        "Rejected",
    ];
    let mut harness = harness(Page::Kinds);
    hover(&mut harness, "Acks, the other way");
    for part in parts {
        assert!(says(&harness, part), "{part}");
    }
    remote(harness.state_mut());
    harness.run();
    assert!(!says(&harness, "Newest ack"), "only the sender knows");
}

#[test]
fn the_colours_of_the_cubes_are_a_switch_and_their_scale_is_fixed_by_a_click() {
    let mut harness = harness(Page::Kinds);
    for (name, colors) in [
        ("bits", CubeColors::Bits),
        ("form", CubeColors::Form),
        ("error", CubeColors::Distance),
        ("angle", CubeColors::Angle),
        ("wait", CubeColors::Wait),
        ("as they are", CubeColors::Interaction),
    ] {
        click(&mut harness, name);
        assert_eq!(harness.state().state.colors, colors);
        let has_scale = harness.query_by_label("fixed").is_some();
        let is_amount = !matches!(colors, CubeColors::Form | CubeColors::Interaction);
        assert_eq!(has_scale, is_amount, "{name}");
    }
    click(&mut harness, "bits");
    for expected in [true, false] {
        click(&mut harness, "fixed");
        assert_eq!(harness.state().state.fixed_scale, expected);
    }
}

#[test]
fn a_viewer_cannot_colour_the_cubes_by_what_only_the_sender_knows() {
    let is_disabled = |harness: &Harness<'_, Panel>, name: &str| {
        let button = harness.get_by_label(name);
        button.accesskit_node().is_disabled()
    };
    let mut harness = harness(Page::Kinds);
    assert!(!is_disabled(&harness, "wait"));
    assert!(!says(&harness, "only the sender knows"));
    remote(harness.state_mut());
    harness.run();
    assert!(says(&harness, "only the sender knows"));
    for (name, expected) in [("form", false), ("error", true), ("wait", true)] {
        assert_eq!(is_disabled(&harness, name), expected, "{name}");
    }
    click(&mut harness, "wait");
    assert_eq!(harness.state().state.colors, CubeColors::Interaction);
}

#[test]
fn both_pages_end_above_the_toolbar_on_every_rung() {
    let mut low = Vec::new();
    for rung in ladder::all() {
        for (page, last) in [(Page::Kinds, "Payload: "), (Page::Packet, "77, ")] {
            let mut panel = inspected(rung.stages);
            panel.state.page = page;
            panel.state.colors = CubeColors::Bits;
            panel.selection.cube = Some(1);
            panel.standings = vec![Standing::UpToDate { sent: None }; 10];
            let harness = open(panel);
            let bottom = harness.get_by_label_contains(last).rect().max.y;
            let toolbar = harness.get_by_label_contains("Pause").rect().min.y;
            if bottom > toolbar - 9.0 {
                low.push(format!("{page:?}, {}: {bottom}, {toolbar}", rung.name));
            }
            assert_eq!(harness.state().drawn.inset.right, 408.0);
        }
    }
    assert_eq!(low, Vec::<String>::new());
}
