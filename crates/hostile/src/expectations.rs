//! The limits that the measurements must meet under any attack.

#[cfg(test)]
mod tests;

use crate::figures::{Expectation, Figures, Phase};
use crate::newcomers::Newcomers;
use crate::wire::Tally;

/// Minimum rate of snapshots over all attacks, relative to the quiet phase, which measures the machine's speed.
const LEAST_SNAPSHOTS: f64 = 0.97;

/// Like [`LEAST_SNAPSHOTS`], for each attack alone.
const LEAST_SNAPSHOTS_IN_A_PHASE: f64 = 0.90;

/// Minimum rate of server ticks, relative to the quiet phase.
const LEAST_TICKS: f64 = 0.97;

/// Minimum rate of snapshots next to many demanding viewers. The server divides its time equally.
const LEAST_FAIR_SHARE: f64 = 0.30;

/// Maximum time without a new snapshot for the honest viewer.
const LONGEST_GAP_MS: f64 = 1000.0;

/// Minimum fraction of sent snapshots that the viewer behind the relay decodes. The relay drops one datagram in 20
/// and damages one in 30.
const LEAST_THROUGH_RELAY: f64 = 0.80;

/// Maximum growth of the server's memory over the quiet phase, bytes.
const MOST_GROWTH: u64 = 128 << 20;

/// Minimum fraction of nearby newcomers that are connected.
const LEAST_FROM_NEARBY: f64 = 0.99;

/// Minimum fraction of distant newcomers that are connected. A flood of handshakes may displace a pending one.
const LEAST_FROM_AFAR: f64 = 0.90;

/// Minimum fraction of nearby newcomers that are connected within a second.
const LEAST_AT_ONCE: f64 = 0.90;

/// Maximum number of log lines per second of attack, besides two lines for each newcomer.
const MOST_LOG_LINES: f64 = 10.0;

type NewcomersOf = fn(&Phase) -> Newcomers;

/// Evaluates all figures except the expectations. `pace` scales the expectations that depend on the machine's speed:
/// 1 if the machine does no other work.
pub(crate) fn of(figures: &Figures, pace: f64) -> Vec<Expectation> {
    let (quiet, attacks) = figures.phases.split_first().expect("one phase is quiet");
    let (fair, mut attacks): (Vec<_>, Vec<_>) = attacks.iter().partition(|phase| phase.is_fair);
    if attacks.is_empty() {
        attacks.push(quiet);
    }
    let mut judge = Judge {
        figures,
        pace,
        quiet,
        seconds: attacks.iter().map(|phase| phase.seconds).sum(),
        attacks,
        all: Vec::new(),
    };
    // The likely causes of later failures come first.
    judge.end_of_server();
    judge.honest_viewer();
    judge.longest_gap();
    judge.decoded_snapshots();
    judge.server();
    judge.newcomers();
    judge.log_lines();
    for phase in fair {
        judge.share_of(phase);
    }
    // Failures that the attackers found.
    for phase in judge.attacks.clone() {
        let attackers = phase.attackers.iter();
        for failure in attackers.flat_map(|attacker| &attacker.failures) {
            judge.expect(false, format!("during {}: {failure}", phase.name));
        }
    }
    judge.all
}

struct Judge<'f> {
    figures: &'f Figures,
    pace: f64,
    quiet: &'f Phase,
    /// The phases with unfair attacks, or else the quiet phase.
    attacks: Vec<&'f Phase>,
    /// Duration of all attacks, seconds.
    seconds: f64,
    all: Vec<Expectation>,
}

impl Judge<'_> {
    fn expect(&mut self, is_met: bool, sentence: String) {
        self.all.push(Expectation { is_met, sentence });
    }

    /// Adds the expectation that a share is at least `least`. `sentence` receives the percentage.
    fn expect_share(&mut self, share: f64, least: f64, sentence: impl FnOnce(String) -> String) {
        let percent = format!("{:.1} %", 100.0 * share);
        let sentence = sentence(percent);
        let expected = 100.0 * least;
        self.expect(
            share >= least,
            format!("{sentence} (expected: at least {expected} %)"),
        );
    }

    /// Returns the minimum of a figure over the attacks, and the name of that attack.
    fn worst(&self, figure: fn(&Phase) -> f64) -> (f64, &'static str) {
        let figures = self.attacks.iter().map(|phase| (figure(phase), phase.name));
        figures
            .min_by(|one, other| one.0.total_cmp(&other.0))
            .unwrap_or_default()
    }

    fn honest_viewer(&mut self) {
        let viewer = &self.figures.viewer;
        let (losses, why) = (viewer.losses.len(), why(&viewer.losses));
        self.expect(
            losses == 0,
            format!("the honest viewer lost its connection {losses} times{why}"),
        );
        let attacks = self.attacks.iter();
        let snapshots: u64 = attacks.map(|phase| phase.watched.snapshots).sum();
        let usual_rate = self.quiet.watched.rate.max(1.0);
        let share = snapshots as f64 / self.seconds / usual_rate;
        self.expect_share(share, self.pace * LEAST_SNAPSHOTS, |percent| {
            format!(
                "snapshots per second of the honest viewer: {percent} of the rate without attacks"
            )
        });
        let (rate, name) = self.worst(|phase| phase.watched.rate);
        let least = self.pace * LEAST_SNAPSHOTS_IN_A_PHASE;
        self.expect_share(rate / usual_rate, least, |percent| {
            format!("lowest snapshot rate of the honest viewer, during {name}: {percent}")
        });
    }

    fn longest_gap(&mut self) {
        let gap = |phase: &Phase| phase.watched.longest_gap_ms - phase.stall_ms;
        let longest = self.attacks.iter().max_by(|a, b| gap(a).total_cmp(&gap(b)));
        let Some(phase) = longest.copied() else {
            return;
        };
        let (seen_ms, stall_ms) = (phase.watched.longest_gap_ms, phase.stall_ms);
        let most_ms = LONGEST_GAP_MS / self.pace;
        self.expect(
            gap(phase) <= most_ms,
            format!(
                "the honest viewer had no new snapshot for {seen_ms:.0} ms during {}, and this program stalled for \
                 {stall_ms:.0} ms (expected: a difference of at most {most_ms} ms)",
                phase.name
            ),
        );
    }

    fn decoded_snapshots(&mut self) {
        let Figures {
            viewer, bystander, ..
        } = self.figures;
        for (who, compared) in [
            ("the honest viewer", viewer),
            ("the viewer behind the relay", bystander),
        ] {
            let (wrong, decoded, sent) = (compared.wrong, compared.decoded, compared.sent);
            self.expect(
                wrong == 0 && sent > 0,
                format!(
                    "{who} decoded {wrong} of {decoded} snapshots incorrectly; the server recorded {sent} sent \
                     snapshots"
                ),
            );
        }
        let (losses, why) = (bystander.losses.len(), why(&bystander.losses));
        // A server that died leaves no digest.
        let share = match bystander.sent {
            0 => 0.0,
            sent => bystander.decoded as f64 / sent as f64,
        };
        self.expect(
            losses == 0 && share >= LEAST_THROUGH_RELAY,
            format!(
                "the viewer behind the relay lost its connection {losses} times{why}, and decoded {:.1} % of its \
                 snapshots (expected: at least {} %)",
                100.0 * share,
                100.0 * LEAST_THROUGH_RELAY
            ),
        );
    }

    fn end_of_server(&mut self) {
        let failure = &self.figures.server.failure;
        let sentence = match failure {
            None => "the server ran to the end".to_owned(),
            Some(why) => format!("the server failed: {why}"),
        };
        self.expect(failure.is_none(), sentence);
    }

    /// Checks nonces, ticks and memory.
    fn server(&mut self) {
        let Tally {
            keys,
            numbers,
            repeated,
            ..
        } = self.figures.tally;
        self.expect(
            repeated == 0 && numbers > 0,
            format!(
                "the server used {numbers} nonces with {keys} keys, {repeated} of them more than once"
            ),
        );
        let attacks = self.attacks.iter();
        let ticks: f64 = attacks
            .map(|phase| phase.watched.ticks * phase.seconds)
            .sum();
        let share = ticks / self.seconds / self.quiet.watched.ticks.max(1.0);
        self.expect_share(share, self.pace * LEAST_TICKS, |percent| {
            format!("ticks per second of the server: {percent} of the rate without attacks")
        });
        let server = &self.figures.server;
        let grown = server.rss_max.saturating_sub(server.rss_quiet);
        let (megabytes, most) = (grown >> 20, MOST_GROWTH >> 20);
        self.expect(
            grown <= MOST_GROWTH,
            format!("the server's memory grew by {megabytes} MB (expected: at most {most} MB)"),
        );
    }

    /// Sums up the newcomers of all attacks.
    fn came(&self, of: NewcomersOf) -> Newcomers {
        let mut sums = Newcomers::default();
        for phase in &self.attacks {
            let newcomers = of(phase);
            sums.came += newcomers.came;
            sums.connected += newcomers.connected;
            sums.at_once += newcomers.at_once;
        }
        sums
    }

    /// Names the attacks during which some newcomers were not connected.
    fn left_out(&self, of: NewcomersOf) -> String {
        let attacks = self.attacks.iter();
        let phases = attacks.filter(|phase| of(phase).connected < of(phase).came);
        let names: Vec<_> = phases.map(|phase| phase.name).collect();
        if names.is_empty() {
            String::new()
        } else {
            format!("; some failed during {}", names.join(", "))
        }
    }

    fn newcomers(&mut self) {
        let origins: [(&str, NewcomersOf, f64); 2] = [
            ("nearby", |phase| phase.near, LEAST_FROM_NEARBY),
            ("afar", |phase| phase.far, LEAST_FROM_AFAR),
        ];
        for (origin, of, least) in origins {
            let least = self.pace * least;
            let Newcomers {
                came, connected, ..
            } = self.came(of);
            let (left_out, percent) = (self.left_out(of), 100.0 * least);
            self.expect(
                f64::from(connected) >= least * f64::from(came),
                format!(
                    "{connected} of {came} newcomers from {origin} connected (expected: at least \
                     {percent:.0} %){left_out}"
                ),
            );
        }
        let near = self.came(|phase| phase.near);
        let share = f64::from(near.at_once) / f64::from(near.came.max(1));
        self.expect_share(share, self.pace * LEAST_AT_ONCE, |percent| {
            format!("{percent} of the newcomers from nearby connected within a second")
        });
    }

    fn log_lines(&mut self) {
        let lines: u64 = self.attacks.iter().map(|phase| phase.log_lines).sum();
        let (most, name) = self.worst(|phase| -(phase.log_lines as f64 / phase.seconds));
        let came = self.came(|phase| phase.near).came + self.came(|phase| phase.far).came;
        let allowed = f64::from(2 * came) + MOST_LOG_LINES * self.seconds;
        self.expect(
            lines as f64 <= allowed,
            format!(
                "the server logged {lines} lines (expected: at most {allowed:.0}), up to {:.0} per second during \
                 {name}",
                -most
            ),
        );
    }

    /// During a fair attack, checks that the viewer gets its share and that the game does not slow down.
    fn share_of(&mut self, phase: &Phase) {
        let (quiet, pace, name) = (self.quiet, self.pace, phase.name);
        let ticks = phase.watched.ticks / quiet.watched.ticks.max(1.0);
        self.expect_share(ticks, pace * LEAST_TICKS, |percent| {
            format!("ticks per second of the server during {name}: {percent} of the rate without attacks")
        });
        let share = phase.watched.rate / quiet.watched.rate.max(1.0);
        self.expect_share(share, pace * LEAST_FAIR_SHARE, |percent| {
            format!("snapshots per second of the honest viewer during {name}: {percent} of the rate without attacks")
        });
        let Newcomers {
            came, connected, ..
        } = phase.near;
        self.expect(
            f64::from(connected) >= pace * f64::from(came),
            format!("{connected} of {came} newcomers connected during {name}"),
        );
    }
}

/// Returns the first of several reasons in parentheses, or an empty text.
fn why(losses: &[String]) -> String {
    let first = losses.first();
    first.map_or_else(String::new, |first| format!(" ({first})"))
}
