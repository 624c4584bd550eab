//! Counts what becomes of damaged packets.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher};
use std::time::Duration;

use cubewire_codec::{Baseline, DecodeError, Header};
use serde_json::{Value, json};

use super::Target;

/// What can become of a damaged packet.
const OUTCOMES: [&str; 8] = [
    "exact",
    "wrong",
    "end",
    "header",
    "reference",
    "value",
    "bins",
    "check",
];

/// The columns of the table.
pub(super) fn header(with_times: bool) -> impl Iterator<Item = &'static str> {
    let times: &[&str] = if with_times { &TIMES } else { &[] };
    ["codec", "packets"]
        .into_iter()
        .chain(OUTCOMES)
        .chain(times.iter().copied())
}

const TIMES: [&str; 2] = ["slowest µs", "undamaged µs"];

/// Counts of one rung.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    outcomes: [u64; OUTCOMES.len()],
    /// Hashes of the packets that decoded to another frame although they had a check. The same damage may
    /// occur more than once, mostly to small packets, and would count as often.
    pub(super) passed: HashSet<u64>,
    /// Hashes of those that did not match their check.
    pub(super) stopped: HashSet<u64>,
    /// The longest time to decode a damaged packet.
    pub(super) slowest: Duration,
    /// The longest time to decode an undamaged packet.
    pub(super) intact: Duration,
}

impl Tally {
    /// Counts a packet that was decoded into `out`.
    pub(super) fn count(
        &mut self,
        bytes: &[u8],
        outcome: Result<Header, DecodeError>,
        out: &Baseline,
        targets: &[Target],
    ) {
        let outcome = match outcome {
            Ok(_) => {
                let is_exact = is_sent(out, targets);
                if !is_exact && out.stages().delta.is_arithmetic() {
                    self.passed.insert(hash(bytes));
                }
                if is_exact { "exact" } else { "wrong" }
            }
            Err(error) => match error {
                DecodeError::Truncated { .. }
                | DecodeError::TrailingBytes { .. }
                | DecodeError::Padding { .. } => "end",
                DecodeError::UnusedCode { .. }
                | DecodeError::UsualParameters { .. }
                | DecodeError::Stages(_) => "header",
                DecodeError::UnknownBaseline(_)
                | DecodeError::BaselinePrecision(_)
                | DecodeError::NeedlessBaseline(_)
                | DecodeError::Desync(_) => "reference",
                DecodeError::BodyIndex { .. }
                | DecodeError::Absent { .. }
                | DecodeError::OutOfRange { .. }
                | DecodeError::NotFinite { .. }
                | DecodeError::NoDirection { .. }
                | DecodeError::TooManyBodies(_) => "value",
                DecodeError::NonCanonical { .. } => "bins",
                DecodeError::Check(_) => {
                    self.stopped.insert(hash(bytes));
                    "check"
                }
            },
        };
        let index = OUTCOMES.iter().position(|name| *name == outcome);
        self.outcomes[index.expect("it is one of them")] += 1;
    }

    /// Adds the counts of another job.
    pub(super) fn add(&mut self, other: &Self) {
        for (sum, count) in self.outcomes.iter_mut().zip(other.outcomes) {
            *sum += count;
        }
        self.passed.extend(&other.passed);
        self.stopped.extend(&other.stopped);
        self.slowest = self.slowest.max(other.slowest);
        self.intact = self.intact.max(other.intact);
    }

    /// The row for `--json`.
    pub(super) fn row(&self, codec: &str) -> Value {
        let mut row = json!({
            "codec": codec,
            "packets": self.packets(),
            "different_passed_check": self.passed.len(),
            "different_stopped_by_check": self.stopped.len(),
            "slowest_us": micros(self.slowest),
            "undamaged_us": micros(self.intact),
        });
        for (name, count) in OUTCOMES.into_iter().zip(self.outcomes) {
            row[name] = count.into();
        }
        row
    }

    /// The row of the table.
    pub(super) fn cells(&self, codec: &str, with_times: bool) -> Vec<String> {
        let counts = [self.packets()].into_iter().chain(self.outcomes);
        let mut cells = vec![codec.to_owned()];
        cells.extend(counts.map(|count| count.to_string()));
        if with_times {
            cells.extend([self.slowest, self.intact].map(|time| format!("{:.1}", micros(time))));
        }
        cells
    }

    fn packets(&self) -> u64 {
        self.outcomes.iter().sum()
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Whether some packet carries this frame. Of two packets joined the other one may be left, which may be of another
/// rung.
fn is_sent(decoded: &Baseline, targets: &[Target]) -> bool {
    let stages = decoded.stages();
    let mut targets = targets.iter();
    let target = targets.find(|target| target.rung.stages == stages);
    let mut sent = target.iter().flat_map(|target| &target.victims);
    sent.any(|victim| {
        victim.decoded.sequence() == decoded.sequence()
            && victim.decoded.snapshot() == decoded.snapshot()
    })
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use cubewire_codec::Plan;
    use cubewire_codec::ladder::{CHANGED_FLAGS, POSITION, PREDICTED};
    use cubewire_codec::quantize::SmallestThree;
    use cubewire_codec::{QuantizedBody, QuantizedSnapshot};

    use super::super::decode;
    use super::super::victims::victims;
    use super::*;
    use cubewire_recording::{CUBES, Recording};

    /// Cube 0 moves with every frame.
    fn recording() -> Recording {
        let frame = |x: i32| {
            let orientation = SmallestThree {
                largest: 3,
                components: [256; 3],
            };
            let cubes = (0..CUBES).map(|cube| QuantizedBody {
                orientation,
                position: [if cube == 0 { x } else { 5 }, 7, 102],
                interacting: false,
            });
            let mut frame = QuantizedSnapshot::new(Plan::cubes(), POSITION.stages.precision());
            frame.assign(9, cubes).unwrap();
            frame
        };
        Recording {
            plan: Plan::cubes(),
            frames: [0; 6].into_iter().chain(0..70).map(frame).collect(),
        }
    }

    #[test]
    fn only_a_frame_that_was_sent_is_exact_whichever_rung_carries_it() {
        let recording = recording();
        let rungs = [CHANGED_FLAGS, PREDICTED];
        let targets = rungs.map(|rung| victims(&recording, &rung));
        let mut out = Baseline::default();
        let mut count = |bytes: &[u8]| {
            let mut decoder = targets[0].decoder.clone();
            let outcome = decode(&mut decoder, bytes, &targets[0].victims[0], &mut out);
            let mut tally = Tally::default();
            tally.count(bytes, outcome, &out, &targets);
            tally.outcomes
        };
        let [changed, predicted] = [0, 1].map(|target| targets[target].victims[0].bytes.clone());
        for packet in [&changed, &predicted] {
            assert_eq!(count(packet), [1, 0, 0, 0, 0, 0, 0, 0]);
        }
        // Another number: without a check nothing is noticed.
        let mut wrong = changed;
        wrong[0] ^= 1;
        assert_eq!(count(&wrong), [0, 1, 0, 0, 0, 0, 0, 0]);
        let mut stopped = predicted;
        stopped[0] ^= 1;
        assert_eq!(count(&stopped), [0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(count(&[]), [0, 0, 1, 0, 0, 0, 0, 0]);
    }
}
