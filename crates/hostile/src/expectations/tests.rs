//! Good figures meet each expectation, and bad ones fail it.

use super::*;
use crate::attacks::Outcome;
use crate::figures::{Compared, ServerFigures, Watched};

fn good() -> Figures {
    let newcomers = Newcomers {
        came: 5,
        connected: 5,
        at_once: 5,
        slowest_ms: 300.0,
    };
    let phase = |name: &'static str| Phase {
        name,
        is_fair: name == "demanding",
        seconds: 10.0,
        attackers: vec![Outcome::default()],
        watched: Watched {
            snapshots: 600,
            rate: 60.0,
            longest_gap_ms: 50.0,
            long_gaps: 0,
            ticks: 60.0,
        },
        stall_ms: 0.0,
        near: newcomers,
        far: newcomers,
        rss: 1 << 20,
        cpu_percent: 20.0,
        log_lines: 10,
    };
    let compared = Compared {
        sent: 1000,
        decoded: 990,
        ..Compared::default()
    };
    Figures {
        seconds: 30,
        seed: 1,
        rate: 1,
        phases: vec![
            phase("no attack"),
            phase("dead"),
            phase("all at once"),
            phase("demanding"),
        ],
        viewer: compared.clone(),
        bystander: compared,
        relay: crate::relay::Fates::default(),
        tally: Tally {
            numbers: 9,
            ..Tally::default()
        },
        server: ServerFigures::default(),
        expectations: Vec::new(),
    }
}

fn unmet(spoil: impl FnOnce(&mut Figures)) -> Vec<String> {
    let mut figures = good();
    spoil(&mut figures);
    let all = of(&figures, 1.0).into_iter();
    let unmet = all.filter(|expectation| !expectation.is_met);
    unmet.map(|expectation| expectation.sentence).collect()
}

type Spoil = fn(&mut Figures);

/// For each expectation, a change that breaks it and a part of its sentence.
const SPOILT: [(&str, Spoil); 18] = [
    ("lost its connection 1 times (late)", |figures| {
        figures.viewer.losses.push("late".to_owned());
    }),
    (
        "snapshots per second of the honest viewer: 95.0 %",
        |figures| {
            for phase in &mut figures.phases[1..3] {
                phase.watched.snapshots = 570;
            }
        },
    ),
    ("during dead: 50.0 %", |figures| {
        figures.phases[1].watched.rate = 30.0;
    }),
    (
        "no new snapshot for 1500 ms during all at once",
        |figures| {
            figures.phases[2].watched.longest_gap_ms = 1500.0;
        },
    ),
    ("the honest viewer decoded 1 of 990", |figures| {
        figures.viewer.wrong = 1;
    }),
    ("decoded 50.0 % of its snapshots", |figures| {
        figures.bystander.decoded = 500;
    }),
    ("1 of them more than once", |figures| {
        figures.tally.repeated = 1;
    }),
    ("used 0 nonces", |figures| figures.tally.numbers = 0),
    ("ticks per second of the server: 95.0 %", |figures| {
        for phase in &mut figures.phases[1..3] {
            phase.watched.ticks = 57.0;
        }
    }),
    ("grew by 200 MB", |figures| {
        figures.server.rss_max = 300 << 20;
        figures.server.rss_quiet = 100 << 20;
    }),
    (
        "9 of 10 newcomers from nearby connected (expected: at least 99 %); some failed during dead",
        |figures| figures.phases[1].near.connected = 4,
    ),
    (
        "8 of 10 newcomers from afar connected (expected: at least 90 %); some failed during all at once",
        |figures| figures.phases[2].far.connected = 3,
    ),
    (
        "80.0 % of the newcomers from nearby connected within a second",
        |figures| {
            figures.phases[1].near.at_once = 3;
        },
    ),
    (
        "ticks per second of the server during demanding: 90.0 %",
        |figures| {
            figures.phases[3].watched.ticks = 54.0;
        },
    ),
    ("honest viewer during demanding: 25.0 %", |figures| {
        figures.phases[3].watched.rate = 15.0;
    }),
    ("4 of 5 newcomers connected during demanding", |figures| {
        figures.phases[3].near.connected = 4;
    }),
    (
        "logged 1010 lines (expected: at most 240), up to 100 per second during dead",
        |figures| {
            figures.phases[1].log_lines = 1000;
        },
    ),
    ("the server failed: panicked", |figures| {
        figures.server.failure = Some("panicked".to_owned());
    }),
];

#[test]
fn each_expectation_can_be_missed() {
    assert_eq!(unmet(|_| {}), [""; 0]);
    for (part, spoil) in SPOILT {
        let unmet = unmet(spoil);
        assert_eq!(unmet.len(), 1, "{unmet:?}");
        assert!(unmet[0].contains(part), "{unmet:?}");
    }
    let failed = unmet(|figures| {
        let failures = &mut figures.phases[2].attackers[0].failures;
        failures.push("it was served".to_owned());
    });
    assert_eq!(failed, ["during all at once: it was served"]);
}

#[test]
fn a_lack_of_hashes_is_one_fault_and_a_lack_of_attacks_none() {
    let without_digest = unmet(|figures| figures.viewer.sent = 0);
    assert_eq!(without_digest.len(), 1, "{without_digest:?}");
    let fair_alone = unmet(|figures| drop(figures.phases.drain(1..3)));
    assert_eq!(fair_alone, [""; 0]);
}

#[test]
fn a_server_that_dies_is_the_first_fault_and_no_share_exceeds_the_whole() {
    let died = unmet(|figures| {
        figures.phases.truncate(2);
        figures.server.failure = Some("thread 'main' panicked at x.rs:1".to_owned());
        for compared in [&mut figures.viewer, &mut figures.bystander] {
            (compared.sent, compared.decoded) = (0, 589);
            compared.losses.push("timed out".to_owned());
        }
    });
    assert_eq!(
        died[0],
        "the server failed: thread 'main' panicked at x.rs:1"
    );
    let decoded = died
        .iter()
        .find(|sentence| sentence.contains("% of its snapshots"));
    assert!(
        decoded.unwrap().contains("decoded 0.0 % of its snapshots"),
        "{died:?}"
    );
}
