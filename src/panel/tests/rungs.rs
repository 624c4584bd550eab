//! The ladder and its columns.

use super::*;

#[test]
fn every_rung_is_selected_by_a_click() {
    let mut tops = Vec::new();
    for column in Column::ALL {
        let mut harness = open(measured(Page::Ladder, ladder::DELTA.stages));
        let [name, _, left, right] = column.texts();
        click(&mut harness, name);
        assert_eq!(harness.state().state.column, column);
        let toolbar = toolbar(&harness);
        let header = harness.get_by_label(&format!("rung, {left}, {right}")).rect();
        tops.push(header.top());
        let mut free = header.bottom();
        for rung in ladder::all() {
            let row = harness.get_all_by_label(rung.name).last().unwrap();
            let rect = row.rect();
            assert!(rect.max.y <= toolbar, "{}", rung.name);
            assert!(rect.height() >= 20.0);
            assert!(rect.min.y >= free, "{} is below the rung before", rung.name);
            free = rect.max.y;
            row.click();
            harness.run();
            assert_eq!(harness.state().settings.sender.stages, rung.stages);
        }
    }
    assert!(tops.iter().all(|top| *top == tops[0]), "none is scrolled");
}

#[test]
fn hovered_rung_is_described_below_the_ladder() {
    let mut harness = open(measured(Page::Ladder, ladder::DELTA.stages));
    let row = |harness: &Test| last(harness, "predicted");
    assert!(says(&harness, ladder::DELTA.summary));
    assert!(says(&harness, "at or below the target of 256 kbps"));
    let before = row(&harness);
    point(&mut harness, before.center());
    assert!(says(&harness, ladder::PREDICTED.summary));
    assert!(!says(&harness, ladder::DELTA.summary));
    assert_eq!(row(&harness), before);
    let options = StageOptions {
        orientation: Orientation::SmallestThree { bits: 7 },
        ..ladder::DELTA.stages.options()
    };
    harness.state_mut().settings.sender.stages = options.check().unwrap();
    point(&mut harness, Pos2::ZERO);
    assert!(says(&harness, "Custom: no rung has these stages."));
    assert_eq!(words(&harness, "custom").count(), 1, "the picker");
}

/// Clicks on the switch in the row of a rung, unless it is refused. Returns whether it was clicked.
fn switch(harness: &mut Test, rung: &Rung) -> bool {
    let label = format!("stage of {}", rung.name);
    let switch = harness.get_by_label(&label);
    let is_possible = !switch.accesskit_node().is_disabled();
    switch.click();
    harness.run();
    is_possible
}

#[test]
fn two_clicks_switch_a_stage_off_and_on() {
    for rung in ladder::all() {
        let mut harness = open(measured(Page::default(), rung.stages));
        let stages = |harness: &Test| harness.state().settings.sender.stages;
        let before = rung.stages;
        assert!(harness.query_by_label("stage of uncompressed").is_none());
        for other in ladder::all().skip(1) {
            let said = format!("{}: {}", rung.name, other.name);
            let is_possible = switch(&mut harness, &other);
            assert_eq!(stages(&harness) != before, is_possible, "{said}");
            assert_eq!(switch(&mut harness, &other), is_possible, "{said}");
            assert_eq!(stages(&harness), before, "{said}");
        }
    }
}

#[test]
fn refused_switch_says_why_and_names_select_rungs() {
    let mut harness = open(measured(Page::default(), ladder::CHANGED_FLAGS.stages));
    for (rung, reason) in [
        ("position", "Relative positions need quantized positions"),
        ("delta", "Relative positions need delta encoding"),
        ("arithmetic", "Arithmetic coding needs"),
    ] {
        harness.get_by_label(&format!("stage of {rung}")).hover();
        harness.run_steps(60);
        assert!(says(&harness, reason), "{rung}");
    }
    // Only this stage changes.
    assert!(switch(&mut harness, &ladder::RELATIVE_POSITION));
    let mut expected = *ladder::CHANGED_FLAGS.stages;
    expected.relative_position = cubewire_codec::stages::RelativePosition::Off;
    assert_eq!(*harness.state().settings.sender.stages, expected);
    point(&mut harness, Pos2::ZERO);
    assert!(says(&harness, "Custom: no rung has these stages."));
    click_last(&mut harness, "delta");
    assert_eq!(harness.state().settings.sender.stages, ladder::DELTA.stages);
}

#[test]
fn ladder_marks_the_rung_of_the_displayed_tick() {
    let mut panel = measured(Page::Ladder, ladder::DELTA.stages);
    panel.meter = meter_of(400, &PacketRecord::default(), |tick, sample, _| {
        sample.stages = match tick {
            ..200 => ladder::POSITION.stages,
            _ => ladder::DELTA.stages,
        };
    });
    let mut harness = open(panel);
    for (moment, shown) in [
        (None, ladder::DELTA),
        (Some(100), ladder::POSITION),
        (Some(300), ladder::DELTA),
        (Some(9_000), ladder::DELTA),
    ] {
        change(&mut harness, |panel| panel.past.moment = moment);
        assert!(says(&harness, shown.summary), "{moment:?}");
        assert_eq!(harness.state().settings.sender.stages, ladder::DELTA.stages);
    }
}

#[test]
fn rung_of_the_other_lane_costs_its_bandwidth() {
    for (left_is_lane, rows) in [(false, 1), (true, 2)] {
        let mut panel = measured(Page::Ladder, ladder::DELTA.stages);
        let kbps = rounded(panel.meter.kbps(Accounting::PayloadAndUdp));
        panel.left = Some(ladder::PREDICTED.stages);
        panel.halves.as_mut().unwrap().left_is_lane = left_is_lane;
        assert_eq!(words(&open(panel), &kbps).count(), rows);
    }
}

#[test]
fn low_window_scrolls_to_the_present_rung() {
    let mut panel = measured(Page::Ladder, ladder::UNCOMPRESSED.stages);
    panel.state.size_if_narrow = Some(PanelSize::Whole);
    let mut harness = open_in(LOW, panel);
    let rows = (toolbar(&harness) - last(&harness, "uncompressed").top()) / 20.0;
    assert!(rows > 12.0, "{rows} are in sight");
    harness.set_size(vec2(1280.0, 480.0));
    harness.run();
    let row = |harness: &Test| last(harness, "simulated");
    let toolbar = toolbar(&harness);
    assert!(row(&harness).max.y > toolbar, "it is out of sight at first");
    harness.state_mut().settings.sender.stages = ladder::SIMULATED.stages;
    harness.run_steps(20);
    assert!(row(&harness).max.y <= toolbar);
    // Also when the page is opened, and after the window became lower.
    change(&mut harness, |panel| panel.state.page = Page::Help);
    harness.set_size(SIZE);
    harness.state_mut().state.page = Page::Ladder;
    harness.run_steps(20);
    harness.set_size(vec2(1280.0, 480.0));
    harness.run_steps(20);
    let row = row(&harness);
    assert!(row.max.y <= toolbar, "{row}");
    let kept = |data: &egui::util::IdTypeMap| data.get_temp::<f32>(Id::new("present rung"));
    assert_eq!(harness.ctx.data(kept), Some(row.center().y));
}

fn last_figure(harness: &Test, rung: Rung) -> String {
    let row = last(harness, rung.name);
    let figures = texts(harness).filter(|(_, rect)| row.contains(rect.center()));
    figures.max_by(|a, b| a.1.right().total_cmp(&b.1.right())).unwrap().0.to_owned()
}

#[test]
fn rows_show_the_cost_without_each_stage() {
    let mut harness = open(table(Column::Without, ladder::CHANGED_FLAGS.stages));
    // Later stages in this list save more.
    let saved = [ladder::CHANGED_FLAGS, ladder::RELATIVE_ORIENTATION, ladder::RELATIVE_POSITION];
    let saved = saved.map(|rung| last_figure(&harness, rung));
    let kbps = saved.map(|more| more.strip_prefix('+').unwrap().replace('\u{2009}', ""));
    let kbps = kbps.map(|more| more.parse::<f64>().unwrap());
    assert!(kbps.is_sorted_by(|a, b| a > b), "{kbps:?}");
    assert_eq!(last_figure(&harness, ladder::ARITHMETIC), "arithmetic", "it has no figure");
    for (rung, said) in [
        (ladder::CHANGED_FLAGS, "No changed flags: "),
        (ladder::POSITION, "Full position and with it relative position: "),
    ] {
        harness.hover_at(last(&harness, rung.name).center());
        harness.run_steps(60);
        assert!(says(&harness, said), "{said}");
    }
    harness.hover_at(Pos2::ZERO);
    // On a slow machine, both pages show the age of the figures.
    for (page, old) in
        [(Page::Ladder, "one less, 5.1 s ago"), (Page::Stages, "saved kbps 5.1 s ago")]
    {
        let bytes = |index: usize| 100 + 900 * index;
        for (newest, is_old) in [(93, true), (394, false)] {
            let ablation = counted_ablation(ladder::CHANGED_FLAGS.stages, newest, bytes);
            change(&mut harness, |panel| {
                panel.state.page = page;
                panel.ablation = Some(ablation);
            });
            let warning = Look::new(egui::Theme::Dark).warning;
            let has_old = words(&harness, old).any(|(_, text)| {
                [text.galley.job.sections[0].format.color, text.fallback_color].contains(&warning)
            });
            assert_eq!(has_old, is_old, "{page:?}");
        }
    }
    change(&mut harness, |panel| panel.state.page = Page::Ladder);
    assert!(says(&harness, " of the ticks"));
    // The figures belong to the measured stages.
    change(&mut harness, |panel| panel.settings.sender.stages = ladder::DELTA.stages);
    assert!(
        says(&harness, "Measuring these stages") && !paints(&harness, |it| it.starts_with('+'))
    );
}

#[test]
fn no_ratio_without_arrivals_or_motion() {
    let resting = PacketRecord {
        arrival: Some(ARRIVAL),
        changed_bodies: 0,
        ..packet_of(ladder::SIMULATED.stages)
    };
    let lost = packet_of(ladder::SIMULATED.stages);
    let shown = [(Column::Cost, "×"), (Column::Savings, "×"), (Column::Savings, "less.")];
    for ((column, ratio), packet) in
        shown.into_iter().flat_map(|shown| [(shown, &lost), (shown, &resting)])
    {
        let mut harness = open(table(column, ladder::SIMULATED.stages));
        let has_ratio = |harness: &Test| paints(harness, |text| text.ends_with(ratio));
        assert!(has_ratio(&harness), "{column:?}");
        for tick in 400..520 {
            let (stages, snapshots) = (ladder::SIMULATED.stages, vec![packet.clone()]);
            let sample = Sample { tick, stages, snapshots, ..Sample::default() };
            harness.state_mut().meter.begin(sample);
        }
        harness.run();
        assert!(!has_ratio(&harness), "{column:?}");
    }
}

#[test]
fn within_a_budget_ratios_compare_costs_without_it() {
    let mut held = table(Column::Cost, ladder::PREDICTED.stages);
    held.settings.sender.budget = Some(64);
    held.meter = meter_of(400, &packet_of(ladder::PREDICTED.stages), |_, sample, packet| {
        sample.stages = ladder::PREDICTED.stages;
        sample.budget_kbps = Some(64);
        sample.traffic.wire_bytes = 130;
        packet.arrival = Some(ARRIVAL);
    });
    assert_eq!(held.meter.second(None).unwrap().held_to_kbps(), Some(64));
    let free = table(Column::Cost, ladder::DELTA.stages);
    let [held, free] = [held, free].map(|panel| last_figure(&open(panel), ladder::PREDICTED));
    assert!(held == free && held.ends_with('×'), "{held}, {free}");
}

#[test]
fn top_rung_says_whether_ends_are_in_sync() {
    let status = SyncStatus::Synced { since: 200 };
    let synced = LaneSync { tick: 800, status, ..LaneSync::default() };
    let sending = LaneSync { state_progress: Some((8, 21)), ..LaneSync::default() };
    for (sync, text) in [
        (synced, "In sync for 10.0 s"),
        (sending, "Predicted; sending a state: 8 of 21 chunks."),
        (LaneSync::default(), "Predicted: waiting for a state."),
    ] {
        let mut panel = measured(Page::Ladder, ladder::SIMULATED.stages);
        panel.sync = Some(sync);
        let harness = open(panel);
        assert!(says(&harness, text), "{text}");
        let bottom = bottom(&harness, "ms a packet, no state sent");
        assert!(bottom <= toolbar(&harness), "{bottom}");
    }
    assert!(!says(&open(measured(Page::Ladder, ladder::PREDICTED.stages)), "ms a packet"));
}
