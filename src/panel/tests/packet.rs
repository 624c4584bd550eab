//! The pages of the tab *Packet*.

use std::collections::HashSet;

use super::*;

#[test]
fn packet_and_selected_cube_are_described() {
    for rung in [ladder::RELATIVE_ORIENTATION, ladder::PREDICTED] {
        let mut harness = open(measured(Page::Packet, rung.stages));
        let packet = packet_of(rung.stages);
        let (bytes, cubes) = (packet.payload_bytes, packet.sent_bodies);
        assert!(says(&harness, &format!("Tick 399: {bytes} bytes for {cubes} of 901 cubes")));
        assert!(says(&harness, "Relative to the initial state."));
        assert!(!says(&harness, "Cube 1"));
        change(&mut harness, |panel| panel.selection.cube = Some(1));
        assert!(says(&harness, "Cube 1"));
        assert!(!says(&harness, "Up to date"));
        let up_to_date = vec![SendState::UpToDate { sent: None }; 2];
        change(&mut harness, |panel| panel.send_states.now = up_to_date);
        assert!(says(&harness, "Up to date"));
        for follows in [true, false] {
            click(&mut harness, "Follow");
            assert_eq!(harness.state().selection.follows, follows);
        }
        click(&mut harness, "Clear");
        assert_eq!(harness.state().selection, Selection::default());
    }
}

#[test]
fn a_packet_has_exactly_one_fate() {
    let fates = [
        "On its way; arrives in about 100 ms.",
        "Arrived after 6 ticks.",
        "Lost.",
        "no longer recorded",
        "recorded from the next packet on",
    ];
    let only = |panel: Panel, expected: usize| {
        let harness = open(panel);
        for (index, fate) in fates.into_iter().enumerate() {
            assert_eq!(says(&harness, fate), index == expected, "{fate}");
        }
    };
    let with = |moment, change: fn(&mut PacketRecord)| {
        let mut panel = measured(Page::Packet, ladder::DELTA.stages);
        let samples = panel.meter.samples().iter().cloned().map(|mut sample| {
            change(&mut sample.snapshots[0]);
            sample
        });
        panel.meter = LaneMeter::from_samples(samples.collect::<Vec<_>>());
        panel.past.moment = moment;
        panel
    };
    only(with(None, |_| {}), 0);
    only(with(Some(40), |_| {}), 1);
    only(with(Some(2), |packet| packet.arrival = None), 2);
    only(with(Some(79), |packet| packet.detail = None), 3);
    only(with(None, |packet| packet.detail = None), 4);
}

#[test]
fn packets_of_a_cube_end_at_the_moment() {
    let mut panel = measured(Page::Packet, ladder::CHANGED_FLAGS.stages);
    panel.selection.cube = Some(1);
    let mut harness = open(panel);
    assert!(says(&harness, "399, ") && !says(&harness, "400, "));
    let snapshots = vec![packet_of(ladder::CHANGED_FLAGS.stages)];
    let sample = Sample { tick: 400, snapshots, ..Sample::default() };
    change(&mut harness, |panel| panel.meter.begin(sample));
    assert!(says(&harness, "399, ") && says(&harness, "400, "));
    change(&mut harness, |panel| panel.past.moment = Some(140));
    assert!(says(&harness, "140, ") && !says(&harness, "399, "));
    // Cube 1 moved far and did not turn; cube 2 only turned; cube 9 is unchanged.
    for (cube, row, field) in [
        (1, "140, ", "position, cube 1, beyond: x 18, y 18, z 14 bits"),
        (2, "140, 0, ", "orientation, cube 2, "),
        (9, "140, 0, 0, ", "selection, cube 9: "),
    ] {
        change(&mut harness, |panel| panel.selection.cube = Some(cube));
        hover(&mut harness, row);
        assert!(says(&harness, field), "{cube}");
        point(&mut harness, Pos2::ZERO);
    }
}

#[test]
fn pointing_at_bits_hovers_their_cube() {
    let mut harness = open(measured(Page::Packet, ladder::RELATIVE_ORIENTATION.stages));
    let total = harness.get_by_label_contains("by kind");
    let chart = total.rect();
    assert!(chart.height() >= 20.0);
    // A click changes the order below, and another click changes it back.
    total.click();
    harness.run();
    click_on(&mut harness, "in order");
    let labels = |harness: &Test| harness.query_all_by_label_contains("").count();
    let before = labels(&harness);
    // Positions in the row of the cubes, and in the bytes below the chart.
    for below in [32.0, 70.0] {
        let mut cubes = HashSet::new();
        for step in 0..60 {
            let x = chart.left() + 2.0 + step as f32 * 6.0;
            point(&mut harness, pos2(x, chart.bottom() + below));
            cubes.extend(harness.state().selection.hovered);
        }
        assert!([0, 1].iter().all(|cube| cubes.contains(cube)), "{below}: {cubes:?}");
        harness.run_steps(60);
        assert_eq!(labels(&harness), before, "{below}");
    }
}

#[test]
fn header_of_a_resting_packet_is_labelled() {
    let mut panel = panel(Page::Packet);
    let cubes = Snapshot { bodies: vec![BodyState::default(); 10] };
    let stages = ladder::CHANGED_FLAGS.stages;
    let packet = PacketRecord::new(9, &itemized(stages, &cubes, &cubes), stages);
    assert!(packet.payload_bytes < 7, "{}", packet.payload_bytes);
    panel.meter = meter_of(9, &packet, |_, _, _| {});
    assert!(paints(&open(panel), |text| text == BitKind::Header.name()));
}

#[test]
fn every_kind_keeps_its_row_on_every_rung() {
    let mut tops = Vec::new();
    for rung in ladder::all() {
        let mut harness = open(measured(Page::Kinds, rung.stages));
        let packet = packet_of(rung.stages);
        for kind in BitKind::DEMO {
            let is_used = packet.ledger.kind(kind) > 0.0;
            let is_unused = says(&harness, &format!("{kind}: not used here"));
            assert!(says(&harness, &format!("{kind}: ")), "{}: {kind}", rung.name);
            assert_eq!(is_unused, !is_used, "{}: {kind}", rung.name);
        }
        tops.push(harness.get_by_label("form").rect().top());
        // The layout is the same before the first second with these stages.
        change(&mut harness, |panel| panel.meter = LaneMeter::default());
        assert!(says(&harness, "Measuring"));
        tops.push(harness.get_by_label("form").rect().top());
    }
    assert!(tops.iter().all(|top| *top == tops[0]), "{tops:?}");
}

#[test]
fn clicks_choose_colours_and_fix_the_scale() {
    let mut harness = harness(Page::Kinds);
    for colors in CubeColors::ALL {
        click(&mut harness, colors.name());
        assert_eq!(harness.state().state.colors, colors);
        let has_scale = harness.query_by_label("fixed").is_some();
        assert_eq!(has_scale, colors.has_scale(), "{colors:?}");
    }
    click(&mut harness, CubeColors::Bits.name());
    for expected in [true, false] {
        click(&mut harness, "fixed");
        assert_eq!(harness.state().state.fixed_scale, expected);
    }
}

#[test]
fn viewer_lacks_colours_that_need_the_sender() {
    let mut harness = harness(Page::Kinds);
    change(&mut harness, |panel| {
        panel.server = Some(server(ConnectionStatus::Connected));
        panel.status.plays = false;
    });
    assert!(!says(&harness, "Newest ack"));
    for (name, is_shown) in [("form", true), ("error", false), ("wait", false)] {
        assert_eq!(harness.query_by_label(name).is_some(), is_shown, "{name}");
    }
    let keyed = [CubeColors::Interaction, CubeColors::Bits, CubeColors::Form];
    assert_eq!(keyed.map(|colors| colors.next(false)), [keyed[1], keyed[2], keyed[0]]);
}
