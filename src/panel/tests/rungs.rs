//! The tab about the ladder: what each rung costs, saves, and would cost without its stages.

use cubewire_codec::Stages;
use cubewire_codec::stages::StageOptions;

use super::network::{says, toolbar};
use super::*;

const PAGES: [Page; 4] = [
    Page::Ladder,
    Page::Savings,
    Page::OverTime,
    Page::WithoutEach,
];

/// A page with figures of a lane that has these stages.
fn measured(page: Page, stages: Stages) -> Panel {
    let mut panel = panel(page);
    panel.settings.sender.stages = stages;
    // The fourth rung costs more than the third.
    let bytes = |index: usize| 36_000 / (index + 1) + 6_000 * usize::from(index == 3);
    panel.shadow = Some(ShadowLadder::of_bytes(1_500, move |index, tick| {
        bytes(index) + tick as usize % 50
    }));
    panel.ablation = Some(Ablation::of_bytes(stages, 1_495, |index| 100 + 900 * index));
    panel.tick = Some(1_500);
    panel
}

#[test]
fn every_rung_is_in_sight_and_is_selected_by_a_click() {
    for page in [Page::Ladder, Page::Savings] {
        let mut harness = open(measured(page, ladder::DELTA.stages));
        let toolbar = toolbar(&harness);
        let affine = (page == Page::Ladder).then_some(&ladder::AFFINE);
        for rung in LADDER.iter().chain(affine) {
            let row = harness.get_all_by_label(rung.name).last().unwrap();
            assert!(row.rect().max.y <= toolbar, "{}", rung.name);
            assert!(row.rect().height() >= 20.0);
            row.click();
            harness.run();
            assert_eq!(harness.state().settings.sender.stages, rung.stages);
        }
    }
}

#[test]
fn below_the_ladder_is_told_what_a_rung_does_and_nothing_moves() {
    let mut harness = open(measured(Page::Ladder, ladder::DELTA.stages));
    let row = |harness: &Harness<'_, Panel>| {
        let row = harness.get_all_by_label("predicted").last().unwrap();
        row.rect()
    };
    assert!(says(&harness, ladder::DELTA.summary));
    assert!(says(&harness, "at or below the target of 256 kbps"));
    let before = row(&harness);
    let hovered = harness.get_all_by_label("predicted").last().unwrap();
    hovered.hover();
    harness.run();
    assert!(says(&harness, ladder::PREDICTED.summary));
    assert!(!says(&harness, ladder::DELTA.summary));
    assert_eq!(row(&harness), before);
    let options = StageOptions {
        orientation: Orientation::SmallestThree { bits: 7 },
        ..ladder::DELTA.stages.options()
    };
    harness.state_mut().settings.sender.stages = options.check().unwrap();
    harness.hover_at(egui::Pos2::ZERO);
    harness.run();
    assert!(says(&harness, "Stages of your own"));
}

#[test]
fn the_ladder_marks_the_rung_of_the_tick_that_the_views_show() {
    let mut panel = measured(Page::Ladder, ladder::DELTA.stages);
    panel.meter = LaneMeter::from_samples((0..400).map(|tick| Sample {
        tick,
        stages: match tick {
            ..200 => ladder::POSITION.stages,
            _ => ladder::DELTA.stages,
        },
        ..Sample::default()
    }));
    let mut harness = open(panel);
    for (moment, shown) in [
        (None, ladder::DELTA),
        (Some(100), ladder::POSITION),
        (Some(300), ladder::DELTA),
        (Some(9_000), ladder::DELTA),
    ] {
        harness.state_mut().past.moment = moment;
        harness.run();
        assert!(says(&harness, shown.summary), "{moment:?}");
        assert_eq!(harness.state().settings.sender.stages, ladder::DELTA.stages);
    }
}

#[test]
fn in_a_low_window_the_present_rung_is_scrolled_into_sight() {
    let mut panel = measured(Page::Ladder, ladder::UNCOMPRESSED.stages);
    panel.state.is_asked_for = true;
    let mut harness = open(panel);
    harness.set_size(egui::vec2(1280.0, 480.0));
    harness.run();
    let bottom = |harness: &Harness<'_, Panel>| {
        let row = harness.get_all_by_label("simulated").last().unwrap();
        row.rect().max.y
    };
    let toolbar = toolbar(&harness);
    assert!(bottom(&harness) > toolbar, "it is out of sight at first");
    harness.state_mut().settings.sender.stages = ladder::SIMULATED.stages;
    harness.run_steps(20);
    assert!(bottom(&harness) <= toolbar);
    let row = harness.get_all_by_label("simulated").last().unwrap();
    let kept = |data: &egui::util::IdTypeMap| data.get_temp::<f32>(egui::Id::new("present rung"));
    assert_eq!(harness.ctx.data(kept), Some(row.rect().center().y));
}

#[test]
fn the_pages_of_the_tab_are_chosen_by_a_click() {
    let mut harness = open(measured(Page::Savings, ladder::CHANGED_FLAGS.stages));
    assert!(says(&harness, "kbps: "));
    assert!(says(&harness, "kbps more than the rung before it, now."));
    assert!(!harness.state().state.shows(Page::WithoutEach));
    click(&mut harness, "Over time");
    assert!(says(&harness, "Point at a curve"));
    click(&mut harness, "Without each");
    for text in ["no changed flags", "5 ticks old", "CPU in the background"] {
        assert!(says(&harness, text), "{text}");
    }
    assert!(harness.state().state.shows(Page::WithoutEach));
    harness.state_mut().state.size = PanelSize::Slim;
    assert!(!harness.state().state.shows(Page::WithoutEach));
}

#[test]
fn a_curve_says_its_rung_and_rate_under_the_pointer() {
    let mut harness = open(measured(Page::OverTime, ladder::DELTA.stages));
    let plot = harness.get_by_label_contains("over time, kbps").rect();
    for x in [plot.center().x, plot.right() - 40.0] {
        harness.hover_at(egui::pos2(x, plot.top() + 4.0));
        harness.run();
        assert!(says(&harness, "uncompressed: 17"));
    }
}

#[test]
fn every_row_is_in_sight_on_every_rung() {
    let mut low = Vec::new();
    for page in PAGES {
        for rung in ladder::all() {
            let harness = open(measured(page, rung.stages));
            let last = match page {
                Page::Ladder => "at or below the target",
                Page::Savings => "kbps more than the rung before it",
                Page::OverTime => "over time, kbps",
                _ => "CPU in the background",
            };
            let bottom = harness.get_by_label_contains(last).rect().max.y;
            let toolbar = toolbar(&harness);
            if bottom > toolbar {
                low.push(format!("{page:?}, {}: {bottom} below {toolbar}", rung.name));
            }
        }
    }
    assert_eq!(low, Vec::<String>::new());
}

#[test]
fn without_each_has_the_stage_that_saves_most_first() {
    let harness = open(measured(Page::WithoutEach, ladder::CHANGED_FLAGS.stages));
    // The later in the list of stages, the more it saves here.
    let order = [
        "now: changed-flags",
        "no changed flags",
        "no relative orientation",
        "no relative position",
    ];
    let tops = order.map(|label| harness.get_by_label(label).rect().min.y);
    assert!(tops.is_sorted(), "{tops:?}");
}

#[test]
fn costs_are_measured_where_the_simulation_runs() {
    for page in PAGES {
        let text = match page {
            Page::Ladder => "Requested from the server.",
            _ => "This is measured where the simulation runs.",
        };
        assert!(says(&harness(page), text), "{page:?}");
    }
}

/// The ladder of a lane on the top rung.
fn simulated(sync: LaneSync) -> Harness<'static, Panel> {
    let mut panel = measured(Page::Ladder, ladder::SIMULATED.stages);
    panel.sync = Some(sync);
    open(panel)
}

#[test]
fn the_top_rung_says_whether_both_ends_are_in_sync_within_the_page() {
    let (mut synced, mut sending) = (LaneSync::default(), LaneSync::default());
    synced.tick = 800;
    synced.status = SyncStatus::Synced { since: 200 };
    sending.state_progress = Some((8, 21));
    for (sync, text) in [
        (synced, "In sync for 10.0 s"),
        (sending, "sending a state: 8 of 21 chunks"),
        (LaneSync::default(), "Predicted: waiting for a state"),
    ] {
        let harness = simulated(sync);
        assert!(says(&harness, text), "{text}");
        let bottom = harness.get_by_label("Nudge").rect().max.y;
        assert!(bottom <= toolbar(&harness), "{bottom}");
    }
    let mut harness = simulated(LaneSync::default());
    click(&mut harness, "Nudge");
    assert_eq!(harness.state().desyncs, 1);
    let harness = open(measured(Page::Ladder, ladder::PREDICTED.stages));
    assert!(!says(&harness, "Nudge"));
}
