//! The measurements of a phase and of a run.

use std::collections::HashMap;
use std::io::BufRead;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use crate::attacks::Outcome;
use crate::newcomers::Newcomers;
use crate::relay::Fates;
use crate::server::Sample;
use crate::viewer::Seen;
use crate::wire::Tally;

/// All figures of a run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figures {
    pub(crate) seconds: u64,
    pub(crate) seed: u64,
    pub(crate) rate: u32,
    pub(crate) phases: Vec<Phase>,
    /// The honest viewer.
    pub(crate) viewer: Compared,
    /// `cubewire view`, connected through the relay.
    pub(crate) bystander: Compared,
    pub(crate) relay: Fates,
    /// Datagrams that attackers, viewers and newcomers exchanged with the server.
    pub(crate) tally: Tally,
    pub(crate) server: ServerFigures,
    pub(crate) expectations: Vec<Expectation>,
}

/// A condition that is met or not, as a sentence.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Expectation {
    pub(crate) is_met: bool,
    pub(crate) sentence: String,
}

/// Measurements of a phase.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Phase {
    pub(crate) name: &'static str,
    /// Whether the attackers do only what every viewer may do.
    pub(crate) is_fair: bool,
    pub(crate) seconds: f64,
    pub(crate) attackers: Vec<Outcome>,
    pub(crate) watched: Watched,
    /// Longest pause of the viewer's own thread, for example on a busy machine, milliseconds.
    pub(crate) stall_ms: f64,
    /// Newcomers with the round trip of loopback.
    pub(crate) near: Newcomers,
    /// Newcomers with a round trip of [`FAR`](crate::newcomers::FAR).
    pub(crate) far: Newcomers,
    /// Maximum resident memory, bytes.
    pub(crate) rss: u64,
    /// Processor time, percent of one processor.
    pub(crate) cpu_percent: f64,
    pub(crate) log_lines: u64,
}

/// Snapshots of the honest viewer in a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Watched {
    pub(crate) snapshots: u64,
    /// Snapshots per second.
    pub(crate) rate: f64,
    /// Longest time without a snapshot, milliseconds.
    pub(crate) longest_gap_ms: f64,
    /// Number of gaps longer than [`LONG_GAP_MS`].
    pub(crate) long_gaps: u64,
    /// Server ticks per second, from the tick numbers of the snapshots.
    pub(crate) ticks: f64,
}

/// Longer than the playout delay at 60 snapshots per second.
pub(crate) const LONG_GAP_MS: f64 = 100.0;

/// Snapshots of a viewer, compared with the snapshots that the server sent to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Compared {
    /// Number of snapshots sent, up to the last one that was decoded.
    pub(crate) sent: u64,
    pub(crate) decoded: u64,
    /// Number of decoded snapshots that differ from the sent ones.
    pub(crate) wrong: u64,
    /// Number of packets that the decoder refused.
    pub(crate) refused: u64,
    /// Reasons for connections that ended before the viewer left.
    pub(crate) losses: Vec<String>,
}

/// Measurements of the server's process.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ServerFigures {
    /// Maximum memory before the first attack, bytes.
    pub(crate) rss_quiet: u64,
    /// Maximum memory during attacks that are not fair, bytes.
    pub(crate) rss_max: u64,
    pub(crate) log_lines: u64,
    /// Reason if the server failed.
    pub(crate) failure: Option<String>,
    /// The figures that the server printed.
    pub(crate) said: Value,
}

impl Watched {
    /// Evaluates the snapshots from `start` to `end`. `seen` is sorted by time.
    pub(crate) fn between(seen: &[Seen], start: Instant, end: Instant) -> Self {
        let from = seen.partition_point(|seen| seen.at < start);
        let to = seen.partition_point(|seen| seen.at < end);
        let seen = &seen[from..to];
        let times = [start].into_iter();
        let times = times.chain(seen.iter().map(|seen| seen.at)).chain([end]);
        let times: Vec<_> = times.collect();
        let gaps = times
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).as_secs_f64() * 1e3);
        let mut watched = Self {
            snapshots: seen.len() as u64,
            rate: seen.len() as f64 / (end - start).as_secs_f64(),
            ..Self::default()
        };
        for gap in gaps {
            watched.longest_gap_ms = watched.longest_gap_ms.max(gap);
            watched.long_gaps += u64::from(gap > LONG_GAP_MS);
        }
        if let [first, .., last] = seen {
            let ticks = last.tick.saturating_sub(first.tick);
            watched.ticks = ticks as f64 / (last.at - first.at).as_secs_f64().max(1e-3);
        }
        watched
    }
}

/// Returns the longest pause of the viewer that ended from `start` to `end`, milliseconds.
pub(crate) fn longest_stall(stalls: &[(Instant, Duration)], start: Instant, end: Instant) -> f64 {
    let within = stalls.iter().filter(|(at, _)| (start..end).contains(at));
    let longest = within.map(|(_, stall)| *stall).max();
    longest.unwrap_or_default().as_secs_f64() * 1e3
}

/// Returns the maximum memory in bytes and the processor time in percent of one processor, from `start` to `end`.
pub(crate) fn load(samples: &[Sample], start: Instant, end: Instant) -> (u64, f64) {
    let within = samples
        .iter()
        .filter(|sample| (start..end).contains(&sample.at));
    let within: Vec<_> = within.collect();
    let rss = within.iter().map(|sample| sample.rss).max().unwrap_or(0);
    let cpu = match within[..] {
        [first, .., last] => {
            let spent = last.cpu.saturating_sub(first.cpu);
            100.0 * spent.as_secs_f64() / (last.at - first.at).as_secs_f64().max(1e-3)
        }
        _ => 0.0,
    };
    (rss, cpu)
}

/// Hashes of snapshots, by viewer and tick.
pub(crate) type Hashes = HashMap<(u64, u64), u64>;

/// Reads the lines `viewer,tick,hash` of a digest, for the viewers that are wanted.
pub(crate) fn read_digest(
    digest: impl BufRead,
    is_wanted: impl Fn(u64) -> bool,
) -> std::io::Result<Hashes> {
    let mut hashes = Hashes::new();
    for line in digest.lines().skip(1) {
        let line = line?;
        let mut fields = line.split(',');
        let mut next = |radix| u64::from_str_radix(fields.next()?, radix).ok();
        let parsed = (|| Some((next(10)?, next(10)?, next(16)?)))();
        let invalid = || std::io::Error::new(std::io::ErrorKind::InvalidData, line.clone());
        let (viewer, tick, hash) = parsed.ok_or_else(invalid)?;
        if is_wanted(viewer) {
            hashes.insert((viewer, tick), hash);
        }
    }
    Ok(hashes)
}

/// Compares decoded snapshots with those sent to the same viewers. If `sent` is empty it is unknown, and no snapshot
/// counts as wrong.
pub(crate) fn compare(decoded: &Hashes, sent: &Hashes) -> Compared {
    let mut last: HashMap<u64, u64> = HashMap::new();
    for &(viewer, tick) in decoded.keys() {
        let last = last.entry(viewer).or_default();
        *last = tick.max(*last);
    }
    let was_seen = |(viewer, tick): &&(u64, u64)| last.get(viewer).is_some_and(|last| tick <= last);
    let wrong = decoded
        .iter()
        .filter(|(key, hash)| !sent.is_empty() && sent.get(key) != Some(hash));
    Compared {
        sent: sent.keys().filter(was_seen).count() as u64,
        decoded: decoded.len() as u64,
        wrong: wrong.count() as u64,
        ..Compared::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(start: Instant, ticks: impl IntoIterator<Item = u64>) -> Vec<Seen> {
        let seen = ticks.into_iter().map(|tick| Seen {
            at: start + Duration::from_millis(10 * tick),
            viewer: 1,
            tick,
            hash: tick,
        });
        seen.collect()
    }

    #[test]
    fn gaps_count_to_the_ends_of_the_phase() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let all = seen(start, 0..300);
        let watched = Watched::between(&all, start, start + second);
        assert_eq!((watched.snapshots, watched.long_gaps), (100, 0));
        assert!((watched.ticks - 100.0).abs() < 0.1 && (watched.rate - 100.0).abs() < 0.1);
        // Nothing from 0.2 s to 0.5 s, and nothing from 0.8 s on.
        let some = seen(start, (0..20).chain(50..80));
        let watched = Watched::between(&some, start, start + second);
        assert_eq!((watched.snapshots, watched.long_gaps), (50, 2));
        assert!((watched.longest_gap_ms - 310.0).abs() < 0.1);
        let nothing = Watched::between(&[], start, start + second);
        assert_eq!((nothing.snapshots, nothing.long_gaps), (0, 1));
    }

    #[test]
    fn the_load_is_of_the_phase_alone() {
        let start = Instant::now();
        let at = |tenths: u32| start + Duration::from_millis(100) * tenths;
        let samples = (0..30).map(|tenths| Sample {
            at: at(tenths),
            rss: u64::from(tenths),
            cpu: Duration::from_millis(50) * tenths,
        });
        let samples: Vec<_> = samples.collect();
        let (rss, cpu) = load(&samples, at(10), at(20));
        assert_eq!(rss, 19);
        assert!((cpu - 50.0).abs() < 0.1);
        assert_eq!(load(&[], at(10), at(20)), (0, 0.0));
    }

    #[test]
    fn the_longest_stall_is_of_the_phase_alone() {
        let start = Instant::now();
        let ms = Duration::from_millis;
        let stalls = [
            (start, ms(30)),
            (start + ms(500), ms(40)),
            (start + ms(1500), ms(90)),
        ];
        assert!((longest_stall(&stalls, start, start + ms(1000)) - 40.0).abs() < 0.1);
        assert!(longest_stall(&[], start, start + ms(1000)).abs() < 0.1);
    }

    #[test]
    fn wrong_and_lost_snapshots_are_found() {
        let sent = "viewer,tick,hash\n7,1,a\n7,2,b\n7,3,c\n7,4,d\n8,1,e\n";
        let all = read_digest(sent.as_bytes(), |_| true).unwrap();
        assert_eq!(all.len(), 5);
        let of_seven = read_digest(sent.as_bytes(), |viewer| viewer == 7).unwrap();
        let decoded = Hashes::from([((7, 1), 0xa), ((7, 3), 0xc)]);
        let good = compare(&decoded, &of_seven);
        assert_eq!((good.sent, good.decoded, good.wrong), (3, 2, 0));
        let decoded = Hashes::from([((7, 1), 0xa), ((7, 3), 0xb), ((9, 1), 0xa)]);
        assert_eq!(compare(&decoded, &of_seven).wrong, 2);
        let unknown = compare(&decoded, &Hashes::new());
        assert_eq!((unknown.sent, unknown.wrong), (0, 0));
        assert!(read_digest("header\n1,x,2".as_bytes(), |_| true).is_err());
    }
}
