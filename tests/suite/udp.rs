//! Viewers over UDP, on this machine: server and viewers in one process, each with a manual clock of
//! its own, and real sockets between them.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use bevy::prelude::*;
use cubewire::headless::HeadlessGame;
use cubewire::headless::serve;
use cubewire::headless::view::HeadlessViewer;
use cubewire::replication::{
    Accounting, Digest, HEADER_BYTES, Key, LaneMeter, LaneSettings, RemoteViewer, SEND_INTERVALS,
    Sample, Security, ServeError, ServerSettings, UdpServer, UdpViewer, ViewError, ViewerSettings,
    ViewerStatus,
};
use cubewire_codec::ladder;

use crate::common::script;

const LOOPBACK: &str = "127.0.0.1:0";

fn server(security: Security, max_viewers: usize) -> HeadlessGame {
    let settings = ServerSettings {
        bind: LOOPBACK.parse().unwrap(),
        public: Vec::new(),
        security,
        max_viewers,
    };
    let server = UdpServer::new(&settings).unwrap();
    let mut game = serve::game(Some(script("katamari")), server).unwrap();
    game.app.init_resource::<Digest>();
    game
}

fn address(game: &HeadlessGame) -> SocketAddr {
    udp(game).address()
}

fn udp(game: &HeadlessGame) -> &UdpServer {
    game.app.world().resource::<UdpServer>()
}

fn viewer_at(server: SocketAddr, security: Security, rung: &str) -> HeadlessViewer {
    let settings = ViewerSettings {
        server,
        security,
        timeout: Duration::from_secs(5),
    };
    let lane = LaneSettings {
        stages: ladder::rung(rung).unwrap().stages,
        link: cubewire_link::Conditions::PERFECT,
        ..LaneSettings::default()
    };
    let mut viewer = HeadlessViewer::new(UdpViewer::new(settings).unwrap(), lane);
    viewer.app.init_resource::<Digest>();
    viewer
}

fn step(game: &mut HeadlessGame, viewers: &mut [&mut HeadlessViewer], ticks: usize) {
    for _ in 0..ticks {
        game.step();
        for viewer in &mut *viewers {
            viewer.app.update();
        }
    }
}

fn lanes(game: &mut HeadlessGame) -> Vec<(RemoteViewer, LaneSettings, Vec<Sample>)> {
    let world = game.app.world_mut();
    let mut query = world.query::<(&RemoteViewer, &LaneSettings, &LaneMeter)>();
    query
        .iter(world)
        .map(|(viewer, settings, meter)| {
            let samples = meter.samples().iter().cloned().collect();
            (*viewer, settings.clone(), samples)
        })
        .collect()
}

/// Lines of the viewer's digest that the server's has, too; panics over one that it has not.
fn agreeing(game: &HeadlessGame, viewer: &HeadlessViewer) -> usize {
    let sent = game.app.world().resource::<Digest>().csv();
    let sent: std::collections::HashSet<&str> = sent.lines().collect();
    let decoded = viewer.app.world().resource::<Digest>().csv();
    for line in decoded.lines() {
        assert!(sent.contains(line), "{line} was not sent");
    }
    decoded.lines().count() - 1
}

#[test]
fn viewers_have_stages_of_their_own_and_decode_what_was_sent() {
    let mut game = server(Security::Insecure, 8);
    let at = address(&game);
    let rungs = ["uncompressed", "at-rest", "changed-flags", "affine"];
    let mut viewers = rungs.map(|rung| viewer_at(at, Security::Insecure, rung));
    step(&mut game, &mut viewers.each_mut(), 300);
    let mut served = lanes(&mut game);
    assert_eq!(served.len(), 4);
    for (viewer, rung) in viewers.iter().zip(rungs) {
        assert_eq!(viewer.status(), ViewerStatus::Connected);
        assert!(agreeing(&game, viewer) > 280, "{rung}");
        assert_eq!(viewer.meter().refused, 0);
        let client = viewer.app.world().resource::<UdpViewer>().client();
        let place = served.iter().position(|lane| Some(lane.0.client) == client);
        let (_, settings, samples) = served.remove(place.unwrap());
        assert_eq!(settings.stages, ladder::rung(rung).unwrap().stages);
        // The viewer's account is the sender's, made again.
        let newest = samples.last().unwrap();
        let seen = viewer.meter().samples().back().unwrap();
        assert_eq!(seen.ledger.total(), newest.ledger.total(), "{rung}");
        assert_eq!(seen.payload_bytes, newest.payload_bytes);
        if seen.reference_age_ticks.is_some() {
            assert_eq!(seen.changed_cubes, newest.changed_cubes);
        }
        assert_eq!(seen.wire_bytes, newest.wire_bytes);
    }
}

#[test]
fn a_viewer_changes_its_own_stages_and_rate_and_nobody_elses() {
    let mut game = server(Security::Insecure, 8);
    let at = address(&game);
    let mut first = viewer_at(at, Security::Insecure, "delta");
    let mut second = viewer_at(at, Security::Insecure, "delta");
    step(&mut game, &mut [&mut first, &mut second], 60);
    for (place, rung) in ladder::all().enumerate() {
        let interval = SEND_INTERVALS[place % SEND_INTERVALS.len()];
        let world = first.app.world_mut();
        let mut settings = world.get_mut::<LaneSettings>(first.lane).unwrap();
        settings.stages = rung.stages;
        settings.send_interval_ticks = interval;
        step(&mut game, &mut [&mut first, &mut second], 30);
        let served = lanes(&mut game);
        assert!(served.iter().any(|(_, settings, _)| {
            settings.stages == rung.stages && settings.send_interval_ticks == interval
        }));
        assert!(served.iter().any(|(_, settings, _)| {
            settings.stages == ladder::DELTA.stages && settings.send_interval_ticks == 1
        }));
    }
    assert!(agreeing(&game, &first) > 200);
    assert!(agreeing(&game, &second) > 400);
}
