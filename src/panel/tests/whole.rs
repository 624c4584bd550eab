//! The panel as a whole: its buttons, its sizes, its graph, and what explains it.

use super::*;

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
    assert_eq!(state.accounting, Accounting::OnTheWire);
    assert!(state.axis == Axis::Logarithmic && state.frozen.is_some());
    click(&mut harness, "freeze");
    assert!(harness.state().state.frozen.is_none());
}

#[test]
fn no_tab_reaches_below_the_fold_with_what_matters() {
    for tab in usual_tabs() {
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
fn a_lane_without_the_arithmetic_coding_that_was_chosen_says_why() {
    let mut harness = harness(Tab::Ladder);
    let text = "predicted-position instead of predicted: the two machines compute differently.";
    let says = |harness: &Harness<'_, Panel>| harness.query_by_label_contains(text).is_some();
    harness.state_mut().meter.fallback = Some(FallbackReason::Arithmetic);
    harness.run();
    assert!(!says(&harness), "it was not chosen");
    harness.state_mut().settings.sender.stages = ladder::PREDICTED.stages;
    for tab in ["Ladder", "Stages"] {
        click(&mut harness, tab);
        harness.run();
        assert!(says(&harness), "{tab}");
    }
    click(&mut harness, "Network");
    harness.run();
    assert!(!says(&harness));
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
            fallback: Some(FallbackReason::Model),
        },
    ));
    harness.run();
    click(&mut harness, "Viewers");
    for text in [
        "192.168.1.9:41000",
        "31 ms, 2.0 %",
        "changed-flags, 60 a second",
        "Without arithmetic coding: the two ends have different trained models.",
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
        granted: None,
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
            for tab in usual_tabs() {
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
fn every_option_and_rung_explains_itself_or_its_refusal_under_the_pointer() {
    for (tab, label, text) in [
        (Tab::Stages, "joint", "One bit for the usual case"),
        (Tab::Stages, "growing ranges", "ranges that grow"),
        (Tab::Stages, "arithmetic", "takes the place of"),
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
