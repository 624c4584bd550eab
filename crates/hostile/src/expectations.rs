//! What must hold, whatever attackers do.

#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::figures::{Compared, Figures, Phase};
use crate::newcomers::Newcomers;

/// A sentence that is true or not.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Expectation {
    pub(crate) is_met: bool,
    pub(crate) sentence: String,
}

/// Snapshots of all attacks together, against those of the quiet phase, which tells how fast the machine is.
const LEAST_SNAPSHOTS: f64 = 0.97;

/// The same for each attack by itself.
const LEAST_SNAPSHOTS_IN_A_PHASE: f64 = 0.90;

/// The server's ticks, likewise.
const LEAST_TICKS: f64 = 0.97;

/// Snapshots beside many demanding viewers: the server divides its time alike.
const LEAST_FAIR_SHARE: f64 = 0.30;

/// How long the honest viewer may see nothing new.
const LONGEST_GAP_MS: f64 = 1000.0;

/// Of the snapshots sent to the viewer behind the relay, which loses one in twenty on purpose, and damages
/// one in thirty.
const LEAST_THROUGH_RELAY: f64 = 0.80;

/// How much the server's memory may grow over that of the quiet phase, bytes.
const MOST_GROWTH: u64 = 128 << 20;

/// Newcomers that are connected before they give up.
const LEAST_FROM_NEARBY: f64 = 0.99;

/// Those with a long round trip: a flood of handshakes may displace theirs before it is completed.
const LEAST_FROM_AFAR: f64 = 0.90;

/// Newcomers from nearby that are connected within a second.
const LEAST_AT_ONCE: f64 = 0.90;

/// What the server may log: two lines for each newcomer, and these per second of attack.
const MOST_LOG_LINES: f64 = 10.0;

type Of = fn(&Phase) -> Newcomers;

/// Judges all figures but the expectations themselves. `pace` is the share that is expected of what depends on the
/// speed of the machine: 1 where it does nothing else.
pub(crate) fn of(figures: &Figures, pace: f64) -> Vec<Expectation> {
    let mut all = Vec::new();
    let mut expect = |is_met, sentence| all.push(Expectation { is_met, sentence });
    let (quiet, attacks) = figures.phases.split_first().expect("one phase is quiet");
    let (fair, mut attacks): (Vec<_>, Vec<_>) = attacks.iter().partition(|phase| phase.is_fair);
    if attacks.is_empty() {
        attacks.push(quiet);
    }

    let Figures {
        viewer,
        bystander,
        server,
        ..
    } = figures;
    let losses = viewer.losses.len();
    expect(
        losses == 0,
        format!(
            "the honest viewer lost its connection {losses} times{}",
            why(&viewer.losses)
        ),
    );
    let seconds: f64 = attacks.iter().map(|phase| phase.seconds).sum();
    let snapshots: u64 = attacks.iter().map(|phase| phase.watched.snapshots).sum();
    let share = snapshots as f64 / seconds / quiet.watched.rate.max(1.0);
    expect(
        share >= pace * LEAST_SNAPSHOTS,
        format!(
            "the honest viewer had {:.1} % of the snapshots per second that it had without attacks, at least {} % \
             are expected",
            100.0 * share,
            100.0 * pace * LEAST_SNAPSHOTS
        ),
    );
    let worst = |phases: &[&Phase], figure: fn(&Phase) -> f64| {
        let figures = phases.iter().map(|phase| (figure(phase), phase.name));
        figures
            .min_by(|one, other| one.0.total_cmp(&other.0))
            .unwrap_or_default()
    };
    let (rate, name) = worst(&attacks, |phase| phase.watched.rate);
    let share = rate / quiet.watched.rate.max(1.0);
    expect(
        share >= pace * LEAST_SNAPSHOTS_IN_A_PHASE,
        format!(
            "it had the fewest during {name}: {:.1} %, at least {} % are expected",
            100.0 * share,
            100.0 * pace * LEAST_SNAPSHOTS_IN_A_PHASE
        ),
    );
    let gap = |phase: &Phase| phase.watched.longest_gap_ms - phase.stall_ms;
    if let Some(phase) = attacks
        .iter()
        .max_by(|one, other| gap(one).total_cmp(&gap(other)))
    {
        let (seen_ms, stall_ms) = (phase.watched.longest_gap_ms, phase.stall_ms);
        expect(
            gap(phase) <= LONGEST_GAP_MS / pace,
            format!(
                "it saw nothing new for {seen_ms:.0} ms during {}, and did not run itself for {stall_ms:.0} ms; at most \
                 {} ms more are expected",
                phase.name,
                LONGEST_GAP_MS / pace
            ),
        );
    }
    for (who, compared) in [
        ("the honest viewer", viewer),
        ("the one behind the relay", bystander),
    ] {
        let Compared {
            wrong,
            decoded,
            sent,
            ..
        } = compared;
        expect(
            *wrong == 0 && *sent > 0,
            format!(
                "{who} decoded {wrong} of {decoded} snapshots to something else than was sent; the server wrote down \
                 {sent} of them"
            ),
        );
    }
    let losses = bystander.losses.len();
    let share = bystander.decoded as f64 / bystander.sent.max(1) as f64;
    expect(
        losses == 0 && share >= LEAST_THROUGH_RELAY,
        format!(
            "the viewer behind the relay lost its connection {losses} times{}, and decoded {:.1} % of its snapshots, at \
             least {} % are expected",
            why(&bystander.losses),
            100.0 * share,
            100.0 * LEAST_THROUGH_RELAY
        ),
    );
    let ticks: f64 = attacks
        .iter()
        .map(|phase| phase.watched.ticks * phase.seconds)
        .sum();
    let share = ticks / seconds / quiet.watched.ticks.max(1.0);
    expect(
        share >= pace * LEAST_TICKS,
        format!(
            "the server played {:.1} % of the ticks per second that it played without attacks, at least {} % are \
             expected",
            100.0 * share,
            100.0 * pace * LEAST_TICKS
        ),
    );
    let grown = server.rss_max.saturating_sub(server.rss_quiet);
    expect(
        grown <= MOST_GROWTH,
        format!(
            "the server's memory grew by {} MB, at most {} are expected",
            grown >> 20,
            MOST_GROWTH >> 20
        ),
    );
    let came = |of: Of| {
        let mut sums = Newcomers::default();
        for phase in &attacks {
            let newcomers = of(phase);
            sums.came += newcomers.came;
            sums.connected += newcomers.connected;
            sums.at_once += newcomers.at_once;
        }
        sums
    };
    let left_out = |of: Of| {
        let phases = attacks
            .iter()
            .filter(|phase| of(phase).connected < of(phase).came);
        let names: Vec<_> = phases.map(|phase| phase.name).collect();
        if names.is_empty() {
            String::new()
        } else {
            format!("; not all during {}", names.join(", "))
        }
    };
    let places: [(&str, Of, f64); 2] = [
        ("nearby", |phase| phase.near, pace * LEAST_FROM_NEARBY),
        ("afar", |phase| phase.far, pace * LEAST_FROM_AFAR),
    ];
    for (place, of, least) in places {
        let Newcomers {
            came, connected, ..
        } = came(of);
        expect(
            f64::from(connected) >= least * f64::from(came),
            format!(
                "{connected} of {came} newcomers from {place} were connected, at least {:.0} % are expected{}",
                100.0 * least,
                left_out(of)
            ),
        );
    }
    let near = came(|phase| phase.near);
    let share = f64::from(near.at_once) / f64::from(near.came.max(1));
    expect(
        share >= pace * LEAST_AT_ONCE,
        format!(
            "{:.1} % of those from nearby within a second, at least {} % are expected",
            100.0 * share,
            100.0 * pace * LEAST_AT_ONCE
        ),
    );
    let lines: u64 = attacks.iter().map(|phase| phase.log_lines).sum();
    let (most, name) = worst(&attacks, |phase| -(phase.log_lines as f64 / phase.seconds));
    let allowed =
        f64::from(2 * (near.came + came(|phase| phase.far).came)) + MOST_LOG_LINES * seconds;
    expect(
        lines as f64 <= allowed,
        format!(
            "the server logged {lines} lines, at most {allowed:.0} are expected; {:.0} per second during {name}",
            -most
        ),
    );
    expect(
        server.failure.is_none(),
        match &server.failure {
            None => "the server ran to the end".to_owned(),
            Some(why) => format!("the server failed: {why}"),
        },
    );
    for phase in fair {
        expect_a_share(phase, quiet, pace, &mut expect);
    }
    for phase in attacks {
        let failures = phase
            .attackers
            .iter()
            .flat_map(|attacker| &attacker.failures);
        for failure in failures {
            expect(false, format!("during {}: {failure}", phase.name));
        }
    }
    all
}

/// Beside many who are as honest, the viewer gets its share, and the game does not slow down.
fn expect_a_share(phase: &Phase, quiet: &Phase, pace: f64, expect: &mut impl FnMut(bool, String)) {
    let share = phase.watched.rate / quiet.watched.rate.max(1.0);
    let ticks = phase.watched.ticks / quiet.watched.ticks.max(1.0);
    expect(
        share >= pace * LEAST_FAIR_SHARE && ticks >= pace * LEAST_TICKS,
        format!(
            "during {} the server played {:.1} % of the ticks, at least {} % are expected, and the honest viewer had \
             {:.1} % of the snapshots, at least {} % are expected",
            phase.name,
            100.0 * ticks,
            100.0 * pace * LEAST_TICKS,
            100.0 * share,
            100.0 * pace * LEAST_FAIR_SHARE
        ),
    );
    let Newcomers {
        came, connected, ..
    } = phase.near;
    expect(
        f64::from(connected) >= pace * f64::from(came),
        format!(
            "during {} {connected} of {came} newcomers were connected",
            phase.name
        ),
    );
}

/// The first reason of several.
fn why(losses: &[String]) -> String {
    let first = losses.first();
    first.map_or_else(String::new, |first| format!(" ({first})"))
}
