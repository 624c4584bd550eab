//! What must hold, whatever attackers do.

#[cfg(test)]
mod tests;

use crate::figures::{Expectation, Figures, Phase};
use crate::newcomers::Newcomers;
use crate::wire::Tally;

/// Snapshots of all attacks together, against those of the quiet phase, which tells how fast the machine is.
const LEAST_SNAPSHOTS: f64 = 0.97;

/// As [`LEAST_SNAPSHOTS`], for each attack by itself.
const LEAST_SNAPSHOTS_IN_A_PHASE: f64 = 0.90;

/// Fraction of its ticks that the server must play.
const LEAST_TICKS: f64 = 0.97;

/// Share of the snapshots that the viewer must get next to many demanding ones: the server divides its time equally.
const LEAST_FAIR_SHARE: f64 = 0.30;

/// How long the honest viewer may see nothing new.
const LONGEST_GAP_MS: f64 = 1000.0;

/// Fraction of the snapshots sent that must reach the viewer behind the relay, which drops one in twenty on
/// purpose, and damages one in thirty.
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

type NewcomersOf = fn(&Phase) -> Newcomers;

/// Judges all figures but the expectations themselves. `pace` is the share that is expected of what depends on the
/// speed of the machine: 1 where it does nothing else.
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
    // First what may be the reason for everything else.
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
    // What the attackers themselves found wrong.
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
    /// The phases with attacks that are not fair, or the quiet phase if there are none.
    attacks: Vec<&'f Phase>,
    /// Duration of all attacks.
    seconds: f64,
    all: Vec<Expectation>,
}

impl Judge<'_> {
    fn expect(&mut self, is_met: bool, sentence: String) {
        self.all.push(Expectation { is_met, sentence });
    }

    /// Expects a share of at least `least`. The sentence is about its percentage.
    fn expect_share(&mut self, share: f64, least: f64, sentence: impl FnOnce(String) -> String) {
        let percent = format!("{:.1} %", 100.0 * share);
        let sentence = sentence(percent);
        let expected = 100.0 * least;
        self.expect(
            share >= least,
            format!("{sentence}, at least {expected} % are expected"),
        );
    }

    /// The least value of a figure among the attacks, and the name of that attack.
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
                "the honest viewer had {percent} of the snapshots per second that it had without attacks"
            )
        });
        let (rate, name) = self.worst(|phase| phase.watched.rate);
        let least = self.pace * LEAST_SNAPSHOTS_IN_A_PHASE;
        self.expect_share(rate / usual_rate, least, |percent| {
            format!("it had the fewest during {name}: {percent}")
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
                "it saw nothing new for {seen_ms:.0} ms during {}, and did not run itself for {stall_ms:.0} ms; at most \
                 {most_ms} ms more are expected",
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
            ("the one behind the relay", bystander),
        ] {
            let (wrong, decoded, sent) = (compared.wrong, compared.decoded, compared.sent);
            self.expect(
                wrong == 0 && sent > 0,
                format!(
                    "{who} decoded {wrong} of {decoded} snapshots to something else than was sent; the server wrote \
                     down {sent} of them"
                ),
            );
        }
        let (losses, why) = (bystander.losses.len(), why(&bystander.losses));
        // A server that dies leaves no digest.
        let share = match bystander.sent {
            0 => 0.0,
            sent => bystander.decoded as f64 / sent as f64,
        };
        self.expect(
            losses == 0 && share >= LEAST_THROUGH_RELAY,
            format!(
                "the viewer behind the relay lost its connection {losses} times{why}, and decoded {:.1} % of its \
                 snapshots, at least {} % are expected",
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

    /// Nonces, ticks and memory.
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
                "the server encrypted with {numbers} nonces under {keys} keys, and with {repeated} of them twice"
            ),
        );
        let attacks = self.attacks.iter();
        let ticks: f64 = attacks
            .map(|phase| phase.watched.ticks * phase.seconds)
            .sum();
        let share = ticks / self.seconds / self.quiet.watched.ticks.max(1.0);
        self.expect_share(share, self.pace * LEAST_TICKS, |percent| {
            format!(
                "the server played {percent} of the ticks per second that it played without attacks"
            )
        });
        let server = &self.figures.server;
        let grown = server.rss_max.saturating_sub(server.rss_quiet);
        let (megabytes, most) = (grown >> 20, MOST_GROWTH >> 20);
        self.expect(
            grown <= MOST_GROWTH,
            format!("the server's memory grew by {megabytes} MB, at most {most} are expected"),
        );
    }

    /// The newcomers of all attacks.
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

    /// The attacks during which not all newcomers were connected.
    fn left_out(&self, of: NewcomersOf) -> String {
        let attacks = self.attacks.iter();
        let phases = attacks.filter(|phase| of(phase).connected < of(phase).came);
        let names: Vec<_> = phases.map(|phase| phase.name).collect();
        if names.is_empty() {
            String::new()
        } else {
            format!("; not all during {}", names.join(", "))
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
                    "{connected} of {came} newcomers from {origin} were connected, at least {percent:.0} % are \
                     expected{left_out}"
                ),
            );
        }
        let near = self.came(|phase| phase.near);
        let share = f64::from(near.at_once) / f64::from(near.came.max(1));
        self.expect_share(share, self.pace * LEAST_AT_ONCE, |percent| {
            format!("{percent} of those from nearby within a second")
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
                "the server logged {lines} lines, at most {allowed:.0} are expected; {:.0} per second during {name}",
                -most
            ),
        );
    }

    /// Next to many viewers that are as honest, the viewer gets its share, and the game does not slow down.
    fn share_of(&mut self, phase: &Phase) {
        let (quiet, pace, name) = (self.quiet, self.pace, phase.name);
        let ticks = phase.watched.ticks / quiet.watched.ticks.max(1.0);
        self.expect_share(ticks, pace * LEAST_TICKS, |percent| {
            format!("during {name} the server played {percent} of the ticks")
        });
        let share = phase.watched.rate / quiet.watched.rate.max(1.0);
        self.expect_share(share, pace * LEAST_FAIR_SHARE, |percent| {
            format!("during {name} the honest viewer had {percent} of the snapshots")
        });
        let Newcomers {
            came, connected, ..
        } = phase.near;
        self.expect(
            f64::from(connected) >= pace * f64::from(came),
            format!("during {name} {connected} of {came} newcomers were connected"),
        );
    }
}

/// The first reason of several.
fn why(losses: &[String]) -> String {
    let first = losses.first();
    first.map_or_else(String::new, |first| format!(" ({first})"))
}
