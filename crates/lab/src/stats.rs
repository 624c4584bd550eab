//! Differences between frames and their baselines, and their cost on each rung.
//!
//! The statistics are those of Glenn Fiedler, *Snapshot Compression* (2015).

use std::io::{self, Write};

use cubewire_cli::Table;
use cubewire_codec::ladder::{self, LADDER, Rung};
use cubewire_codec::stages::ChangedFlags;
use cubewire_codec::{
    BitKind, BitLedger, Encoder, Limits, Packet, Plan, QuantizedSnapshot, Snapshot,
};

use crate::pairs;
use crate::progress;
use crate::recording::Recording;

/// Differences of this size and above are counted together.
const MAX_DIFFERENCE: usize = 1024;

/// Statistics of a recording.
#[derive(Debug)]
pub(crate) struct Stats {
    /// Number of changed cubes, for each frame.
    changed: Vec<u32>,
    /// Changed positions by the largest component of their difference, in 1/512 m.
    position_differences: Differences,
    /// Changed orientations with an unchanged largest component, by the largest difference of the other
    /// three.
    orientation_differences: Differences,
    /// Cost on each rung with a baseline and without arithmetic coding.
    costs: Vec<Cost>,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    changed: u64,
    positions: u64,
    orientations: u64,
    same_largest: u64,
    only_position: u64,
    only_orientation: u64,
    only_interacting: u64,
}

/// A histogram of magnitudes.
#[derive(Debug)]
struct Differences {
    counts: Vec<u64>,
}

/// Cost of the fields of changed cubes on one rung.
#[derive(Debug)]
struct Cost {
    rung: Rung,
    /// Bits over the whole recording.
    ledger: BitLedger,
    /// Positions in the packets.
    positions: u64,
    /// Orientations in the packets.
    orientations: u64,
}

impl Cost {
    /// Encodes the whole recording, of which `counts` are the counts.
    fn count(&mut self, recording: &Recording, counts: &Counts, tick: impl Fn()) {
        let mut initial = Snapshot::default();
        recording.frames[0].dequantize(&mut initial);
        let mut encoder = Encoder::new(Plan::cubes(), initial, Limits::default())
            .expect("a recording's values are checked when it is read");
        let mut packet = Packet::default();
        let stages = self.rung.stages;
        pairs::for_each(recording, stages, |sequence, current, baseline| {
            let baseline = Some(baseline);
            encoder
                .encode(sequence, stages, current, baseline, &mut packet, None)
                .expect("rungs from `delta` on have a recording's precision");
            self.ledger.add(&packet.ledger);
            tick();
        });
        (self.positions, self.orientations) = match stages.changed_flags {
            ChangedFlags::Off => (counts.changed, counts.changed),
            ChangedFlags::Separate | ChangedFlags::Joint => (counts.positions, counts.orientations),
        };
    }
}

impl Differences {
    fn new() -> Self {
        Self {
            counts: vec![0; MAX_DIFFERENCE + 1],
        }
    }

    fn count(&mut self, difference: [i32; 3]) {
        let largest = difference.map(i32::unsigned_abs).into_iter().max();
        let magnitude = largest.unwrap_or(0).min(MAX_DIFFERENCE as u32);
        self.counts[magnitude as usize] += 1;
    }

    /// The fraction that is at most `magnitude`, which must be below [`MAX_DIFFERENCE`].
    fn fraction_up_to(&self, magnitude: usize) -> f64 {
        let within: u64 = self.counts[..=magnitude].iter().sum();
        within as f64 / self.counts.iter().sum::<u64>().max(1) as f64
    }
}

impl Stats {
    pub(crate) fn collect(recording: &Recording) -> Self {
        let mut stats = Self {
            changed: Vec::new(),
            position_differences: Differences::new(),
            orientation_differences: Differences::new(),
            costs: LADDER
                .into_iter()
                .skip_while(|rung| *rung != ladder::DELTA)
                // Their sizes depend on the whole chain of packets before.
                .filter(|rung| !rung.stages.delta.is_arithmetic())
                .map(|rung| Cost {
                    rung,
                    ledger: BitLedger::new(),
                    positions: 0,
                    orientations: 0,
                })
                .collect(),
            counts: Counts::default(),
        };
        let bar = progress(recording.packets() * (1 + stats.costs.len()), "frames");
        let mut changed = Vec::new();
        pairs::for_each(
            recording,
            ladder::POSITION.stages,
            |_, current, baseline| {
                current.compare(baseline.snapshot(), &mut changed);
                let frame = stats.count_frame(current, baseline.snapshot(), &changed);
                stats.changed.push(frame.changed as u32);
                stats.counts.add(&frame);
                bar.inc(1);
            },
        );
        for cost in &mut stats.costs {
            cost.count(recording, &stats.counts, || bar.inc(1));
        }
        bar.finish_and_clear();
        stats
    }

    fn count_frame(
        &mut self,
        current: &QuantizedSnapshot,
        before: &QuantizedSnapshot,
        changed: &[bool],
    ) -> Counts {
        let mut counts = Counts::default();
        for cube in (0..current.len()).filter(|&cube| changed[cube]) {
            counts.changed += 1;
            let (position, was_at) = (current.position(cube), before.position(cube));
            let (turned, was_turned) = (current.smallest_three(cube), before.smallest_three(cube));
            match (position != was_at, turned != was_turned) {
                (true, false) => counts.only_position += 1,
                (false, true) => counts.only_orientation += 1,
                (false, false) => counts.only_interacting += 1,
                (true, true) => {}
            }
            if position != was_at {
                counts.positions += 1;
                let difference = std::array::from_fn(|axis| position[axis] - was_at[axis]);
                self.position_differences.count(difference);
            }
            if turned != was_turned {
                counts.orientations += 1;
                if turned.largest == was_turned.largest {
                    counts.same_largest += 1;
                    let [now, then] = [turned, was_turned].map(|q| q.components.map(i32::from));
                    let difference = std::array::from_fn(|slot| now[slot] - then[slot]);
                    self.orientation_differences.count(difference);
                }
            }
        }
        counts
    }

    pub(crate) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        self.print_changes(out)?;
        self.print_distributions(out)?;
        self.print_costs(out)
    }

    fn print_changes(&self, out: &mut impl Write) -> io::Result<()> {
        let counts = &self.counts;
        let percent = |part: u64, whole: u64| {
            let fraction = part as f64 / whole.max(1) as f64;
            format!("{:.1} %", fraction * 100.0)
        };
        let mean = counts.changed as f64 / self.changed.len().max(1) as f64;
        let extreme = |value: Option<&u32>| value.copied().unwrap_or(0).to_string();
        let mut table = Table::new(["compared with the baseline, six frames before", ""]);
        let rows = [
            ("frames", self.changed.len().to_string()),
            ("changed cubes a frame, mean", format!("{mean:.1}")),
            (
                "changed cubes a frame, minimum",
                extreme(self.changed.iter().min()),
            ),
            (
                "changed cubes a frame, maximum",
                extreme(self.changed.iter().max()),
            ),
            (
                "changed orientations with the same largest component",
                percent(counts.same_largest, counts.orientations),
            ),
            (
                "changed cubes with only the position changed",
                percent(counts.only_position, counts.changed),
            ),
            (
                "changed cubes with only the orientation changed",
                percent(counts.only_orientation, counts.changed),
            ),
            (
                "changed cubes with only interacting changed",
                percent(counts.only_interacting, counts.changed),
            ),
        ];
        for (name, value) in rows {
            table.row([name.to_owned(), value]);
        }
        writeln!(out, "{table}")
    }

    fn print_distributions(&self, out: &mut impl Write) -> io::Result<()> {
        let mut table = Table::new([
            "largest component of the difference, at most",
            "positions (1/512 m)",
            "smallest three (9 bits)",
        ]);
        for magnitude in [0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1023] {
            let percent = |differences: &Differences| {
                format!("{:.1} %", differences.fraction_up_to(magnitude) * 100.0)
            };
            table.row([
                magnitude.to_string(),
                percent(&self.position_differences),
                percent(&self.orientation_differences),
            ]);
        }
        writeln!(out)?;
        writeln!(out, "{table}")
    }

    fn print_costs(&self, out: &mut impl Write) -> io::Result<()> {
        let mut table = Table::new([
            "mean bits",
            "index, per changed cube",
            "position, each sent",
            "orientation, each sent",
            "changed cube, total",
        ]);
        let per = |bits: f64, count: u64| match count {
            0 => "–".to_owned(),
            _ => format!("{:.1}", bits / count as f64),
        };
        for cost in &self.costs {
            let ledger = &cost.ledger;
            table.row([
                cost.rung.name.to_owned(),
                per(ledger.kind(BitKind::Selection), self.counts.changed),
                per(ledger.kind(BitKind::Position), cost.positions),
                per(ledger.kind(BitKind::Orientation), cost.orientations),
                per(ledger.content(), self.counts.changed),
            ]);
        }
        writeln!(out)?;
        writeln!(out, "{table}")
    }
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.changed += other.changed;
        self.positions += other.positions;
        self.orientations += other.orientations;
        self.same_largest += other.same_largest;
        self.only_position += other.only_position;
        self.only_orientation += other.only_orientation;
        self.only_interacting += other.only_interacting;
    }
}
