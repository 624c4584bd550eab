//! The tab *Network*: link, playout and remote peers.

use super::*;

#[test]
fn every_network_is_chosen_by_a_click() {
    let mut harness = harness(Page::Link);
    for preset in &cubewire_link::PRESETS {
        click(&mut harness, preset.title);
        let conditions = &harness.state().settings.link.conditions;
        assert_eq!(Preset::of(conditions).unwrap().name, preset.name);
        assert!(says(&harness, preset.summary));
    }
    click(&mut harness, "Default");
    assert_eq!(harness.state().settings.link, LaneSettings::default().link);
}

#[test]
fn typed_values_are_conditions_of_the_link() {
    let mut harness = harness(Page::Link);
    for (name, typed) in [("Delay", "8"), ("Lost", "4"), ("Burst", "6"), ("Jitter, mean", "12")] {
        harness.get_all_by_label(name).last().unwrap().focus();
        harness.run();
        type_over(&mut harness, typed);
        press(&mut harness, Key::Enter);
    }
    let link = &harness.state().settings.link.conditions;
    assert_eq!(link.latency, Duration::from_millis(8));
    assert!((link.loss.mean_fraction() - 0.04).abs() < 1e-9);
    let cubewire_link::Jitter::LogNormal { median, sigma } = link.jitter else {
        panic!("{:?}", link.jitter);
    };
    let mean_ms = 1_000.0 * median.as_secs_f64() * (sigma * sigma / 2.0).exp();
    assert!((mean_ms - 12.0).abs() < 1e-3, "{mean_ms}");
}

#[test]
fn high_window_shows_the_whole_link_page() {
    let high = open_in(vec2(1280.0, 900.0), panel(Page::Link));
    let (baseline, error) = ("Baseline", "off by 4.0 mm");
    assert!(bottom(&high, baseline) < bottom(&high, error));
    assert!(bottom(&high, error) <= toolbar(&high));
}

#[test]
fn arrivals_are_counted_in_the_plotted_time() {
    let mut panel = panel(Page::Link);
    panel.meter = meter_of(3_000, &PacketRecord::default(), |tick, sample, packet| {
        packet.arrival = (tick % 10 > 0).then_some(ARRIVAL);
        sample.lost = usize::from(tick % 10 == 0);
    });
    let mut harness = open(panel);
    let twenty_seconds = "1\u{2009}080 in time; 0 late, 0.0 %; 120 lost, 10.0 %";
    assert!(says(&harness, twenty_seconds));
    change(&mut harness, |panel| panel.meter.link_since = 2_900);
    assert!(says(&harness, twenty_seconds));
}

#[test]
fn viewer_reconnects_to_a_lost_server() {
    let mut harness = harness(Page::Link);
    assert!(says(&harness, "Satellite"));
    harness.state_mut().halves = None;
    let lost = ConnectionStatus::Lost("the server at `10.0.0.1:7000` is full".to_owned());
    change(&mut harness, |panel| panel.server = Some(server(lost)));
    assert!(!says(&harness, "Satellite"), "the network is a real one");
    assert!(says(&harness, "The server at 10.0.0.1:7000 is full."));
    click(&mut harness, "Reconnect Enter");
    assert_eq!(harness.state().actions, [Action::Reconnect]);
}
