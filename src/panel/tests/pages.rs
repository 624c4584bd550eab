//! Tests of every page of the panel.

use cubewire_codec::stages::Delta;

use super::*;
use crate::replication::{PlayAt, Predict};

#[test]
fn tabs_and_pages_open_with_a_click() {
    let mut harness = harness(Page::Help);
    for tab in Tab::ALL {
        harness.get_by_label(tab.title()).click();
        while harness.state().state.page.tab() != tab {
            harness.step();
        }
        // The tab of a page is marked in its first frame.
        let first = harness.get_all_by_label(tab.title()).next().unwrap();
        let marked = first.accesskit_node().toggled();
        assert_eq!(marked, Some(egui::accesskit::Toggled::True), "{tab:?}");
        harness.run();
        for page in tab.pages() {
            if tab.pages().len() > 1 {
                click_last(&mut harness, page.texts()[0]);
            }
            assert!(harness.state().state.shows(*page));
            assert!(says(&harness, "freeze"), "{page:?}");
        }
    }
    click(&mut harness, "Packet");
    assert_eq!(harness.state().state.page, Page::Kinds, "it was open last");
    assert_eq!(harness.state().settings, LaneSettings::default());
    harness.state_mut().state.size = PanelSize::Slim;
    assert!(!harness.state().state.shows(Page::Kinds));
}

type Case = (Page, &'static str, fn(&Panel) -> bool);

#[test]
fn a_click_sets_what_its_label_says() {
    let cases: [Case; 10] = [
        (Page::Playing, "client", |it| it.settings.playout.play_at == PlayAt::Client),
        (Page::Playing, "own", |it| it.settings.playout.predict == Predict::Own),
        (Page::Help, "light", |it| it.state.theme == Theme::Light),
        (Page::Help, "Read the article", |it| it.actions == [Action::Open(STEPS[0].address)]),
        (Page::Link, "20", |it| it.settings.sender.snapshots_per_second() == 20),
        (Page::Link, "smallest", |it| it.settings.sender.baseline == BaselineChoice::Smallest),
        (Page::Link, "on", |it| {
            let limit = it.settings.link.conditions.bandwidth;
            limit.is_some_and(|limit| limit.bits_per_second == 256_000)
        }),
        (Page::Link, "adaptive", |it| it.settings.playout.delay == PlayoutDelay::Adaptive),
        (Page::Link, "fixed", |it| matches!(it.settings.playout.delay, PlayoutDelay::Fixed(_))),
        (Page::Stages, "bits", |it| it.settings.sender.stages.delta == Delta::ChangedBits),
    ];
    for (page, label, is_set) in cases {
        let mut harness = open_in(vec2(1280.0, 900.0), panel(page));
        assert!(!is_set(harness.state()), "{page:?}: {label}");
        click(&mut harness, label);
        assert!(is_set(harness.state()), "{page:?}: {label}");
    }
}

#[test]
fn pages_end_above_the_toolbar_on_every_rung() {
    let mut low = Vec::new();
    for (page, column, last) in [
        (Page::Ladder, Column::Cost, "at or below the target"),
        (Page::Ladder, Column::Savings, "more than the rung"),
        (Page::Ladder, Column::Without, " tick"),
        (Page::Packet, Column::Cost, "397, "),
        (Page::Kinds, Column::Cost, "Payload: "),
        (Page::Stages, Column::Cost, "joint"),
        (Page::Link, Column::Cost, " stalls, 0"),
        (Page::Playing, Column::Cost, "Time to predict"),
        (Page::Help, Column::Cost, "All keys"),
    ] {
        for rung in ladder::all() {
            let mut panel = table(column, rung.stages);
            panel.state.page = page;
            panel.state.colors = CubeColors::Bits;
            panel.selection.cube = Some(1);
            panel.send_states.now = vec![SendState::UpToDate { sent: None }; 10];
            let harness = open(panel);
            let (bottom, toolbar) = (bottom(&harness, last), toolbar(&harness));
            if bottom > toolbar {
                low.push(format!("{page:?}, {}: {bottom} below {toolbar}", rung.name));
            }
        }
    }
    assert_eq!(low, Vec::<String>::new());
}

#[test]
fn no_page_repeats_what_is_elsewhere() {
    for page in pages() {
        let mut panel = measured(page, ladder::SIMULATED.stages);
        panel.sync = Some(LaneSync::default());
        let harness = open_in(vec2(1280.0, 900.0), panel);
        for label in ["Copy command", "Nudge", "Kind of jitter"] {
            assert!(!says(&harness, label), "{page:?}: {label}");
        }
    }
}

#[test]
fn scrolling_page_fades_at_its_end() {
    for (page, goes_on) in [(Page::Ranges, true), (Page::Stages, false)] {
        let is_faded = shapes(&harness(page)).any(|(_, shape)| matches!(shape, Shape::Mesh(_)));
        assert_eq!(is_faded, goes_on, "{page:?}");
    }
}

/// A page, a change that hides all texts, a change that shows all texts, and the texts.
type Said = (Page, fn(&mut Panel), fn(&mut Panel), &'static [&'static str]);

#[test]
fn pages_explain_special_states() {
    const INSTEAD: &[&str] =
        &["predicted-position instead of predicted: the two machines compute different results."];
    const REQUESTED: &[&str] = &["Requested from the server."];
    let usual = |_: &mut Panel| {};
    let unchosen = |it: &mut Panel| it.meter.fallback = Some(FallbackReason::Arithmetic);
    let chosen = |it: &mut Panel| it.settings.sender.stages = ladder::PREDICTED.stages;
    let encoded = |it: &mut Panel| it.shadow = Some(counted_ladder(90, |_, _| 1_000));
    let remote = |it: &mut Panel| (it.shadow, it.status.plays) = (None, false);
    let steps: fn(&mut Panel) = |it| with(it, Column::Savings);
    let without: fn(&mut Panel) = |it| with(it, Column::Without);
    let hermite: fn(&mut Panel) = |it| {
        it.settings.playout.interpolation = Interpolation::Hermite;
        it.settings.sender.stages = ladder::AT_REST.stages;
    };
    let watching = |it: &mut Panel| it.server = Some(server(ConnectionStatus::Connected));
    let playing = |it: &mut Panel| {
        let connection = server(ConnectionStatus::Connected);
        it.server = Some(ServerLink { player: Some(2), knows_player: true, ..connection });
    };
    let asking = |it: &mut Panel| {
        it.settings.playout.play_at = PlayAt::Client;
        let connection = server(ConnectionStatus::Connected);
        it.server = Some(ServerLink { knows_player: true, ..connection });
    };
    let cases: [Said; 11] = [
        (Page::Ladder, unchosen, chosen, INSTEAD),
        (Page::Stages, unchosen, chosen, INSTEAD),
        (Page::Link, unchosen, chosen, INSTEAD),
        (Page::Ladder, encoded, remote, REQUESTED),
        (Page::Ladder, steps, remote, REQUESTED),
        (Page::Ladder, without, remote, REQUESTED),
        (Page::Link, hermite, chosen, &["hermite becomes linear"]),
        (Page::Link, usual, serve, &VIEWER),
        (Page::Playing, watching, playing, &["You play the green cube."]),
        (Page::Playing, playing, asking, &["No seat is free: you watch."]),
        // The meter has errors with these stages without a budget.
        (
            Page::Budget,
            |it| it.settings.sender.budget = Some(64),
            |it| it.settings.sender.stages = ladder::UNCOMPRESSED.stages,
            &["mm; 4.0 without"],
        ),
    ];
    for (page, before, then, texts) in cases {
        let mut panel = panel(page);
        before(&mut panel);
        let mut harness = open(panel);
        for text in texts {
            assert!(!says(&harness, text), "{page:?}: {text}");
        }
        change(&mut harness, then);
        for text in texts {
            assert!(says(&harness, text), "{page:?}: {text}");
        }
    }
}

fn with(panel: &mut Panel, column: Column) {
    panel.shadow = Some(counted_ladder(90, |_, _| 1_000));
    panel.state.column = column;
}

const VIEWER: [&str; 6] = [
    "192.168.1.9:41000",
    "1 viewer",
    "the yellow cube",
    "round trip 31 ms, loss 2.0 %",
    "changed-flags, 60 a second",
    "Without arithmetic coding: the two ends have different trained models.",
];

fn serve(panel: &mut Panel) {
    let traffic = cubewire_bevy::SocketTraffic::default();
    let serving = Serving { address: "192.168.1.5:7000".to_owned(), traffic };
    let peer = RemoteViewer {
        id: 1,
        address: VIEWER[0].to_owned(),
        round_trip: Duration::from_millis(31),
        loss_fraction: 0.02,
        fallback: Some(FallbackReason::Model),
        granted: None,
    };
    panel.viewers = Some((serving, peer));
}

#[test]
fn what_is_pointed_at_explains_itself() {
    let predicted = ladder::PREDICTED_POSITION.stages;
    for (page, label, texts) in [
        (Page::Help, "kbps", &["at the displayed tick: 4.0 mm"][..]),
        (Page::Link, " stalls, ", &["Snapshots that have arrived and wait"]),
        (
            Page::Kinds,
            "Acks, the other way",
            &[
                "Acks of snapshots",
                "Newest ack: 6 ticks, 100 ms old",
                "Baseline of the newest packet",
                "Decoded since the start",
                "Duplicates",
                "Rejected",
            ],
        ),
        (Page::Stages, "joint", &["One bit for the usual case"]),
        (Page::Stages, "growing", &["ranges grow"]),
        (
            Page::Stages,
            "arithmetic",
            &["and replaces relative positions", "A click also changes the conflicting stages"],
        ),
    ] {
        let mut panel = panel(page);
        if page == Page::Stages {
            panel.settings.sender.stages = predicted;
        }
        // Wide enough for the figures of the header.
        let mut harness = open_in(vec2(1600.0, 900.0), panel);
        hover(&mut harness, label);
        for text in texts {
            assert!(says(&harness, text), "{label}: {text}");
        }
    }
}
