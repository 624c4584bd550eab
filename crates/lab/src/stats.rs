//! Statistics of the differences between frames and baselines, and of their size on each rung.
//!
//! The statistics follow Glenn Fiedler, *Snapshot Compression* (2015).

use std::io::{self, Write};
use std::sync::Arc;

use cubewire_cli::{Table, number};
use cubewire_codec::entropy::TrainedModel;
use cubewire_codec::ladder::{self, LADDER, Rung};
use cubewire_codec::schema::Schema;
use cubewire_codec::stages::ChangedFlags;
use cubewire_codec::{BitKind, BitLedger, Packet, Plan, QuantizedSnapshot};
use cubewire_recording::Recording;

use crate::frames::Frames;
use crate::pairs;
use crate::progress;
use crate::rungs;

/// The last bin of the histograms holds all differences from this one up, in steps.
const MAX_DIFFERENCE: usize = 1024;

#[derive(Debug)]
pub(crate) struct Stats {
    plan: Arc<Plan>,
    /// Number of changed bodies per frame.
    changed: Vec<u32>,
    /// Changed positions, by the largest component of their difference in steps.
    position_differences: Differences,
    /// Changed orientations with the same largest component, by the largest difference of the three others.
    orientation_differences: Differences,
    /// Sizes on each rung that has a baseline and no arithmetic coding.
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
    only_fields: u64,
    born: u64,
    gone: u64,
    /// Number of changes of each field of the schema.
    fields: [u64; Schema::MAX_FIELDS],
}

/// Histogram of magnitudes.
#[derive(Debug)]
struct Differences {
    counts: Vec<u64>,
}

/// Size of the fields of changed bodies on one rung.
#[derive(Debug)]
struct Cost {
    rung: Rung,
    /// Bits of the whole recording.
    ledger: BitLedger,
}

impl Cost {
    fn count(&mut self, recording: &Recording, tick: impl Fn()) {
        let stages = self.rung.stages;
        let frames = Frames::new(recording, stages.precision());
        let (mut encoder, _) = frames.codecs(&TrainedModel::shipped());
        let mut packet = Packet::default();
        pairs::for_each(recording, stages, |sequence, current, baseline| {
            let baseline = Some(baseline);
            encoder
                .encode(sequence, stages, current, baseline, &mut packet, None)
                .expect("rungs from `delta` on have a recording's precision");
            self.ledger.add(&packet.ledger);
            tick();
        });
    }

    /// Returns the mean number of bits per value of a kind that was sent. `changed` is the number of these values
    /// that differ from the baseline.
    fn each(&self, kind: BitKind, counts: &Counts, changed: u64) -> String {
        let sent = match self.rung.stages.changed_flags {
            ChangedFlags::Off => counts.changed - counts.gone,
            ChangedFlags::Separate | ChangedFlags::Joint => counts.born + changed,
        };
        per(self.ledger.kind(kind), sent)
    }
}

/// Returns the mean number of bits as text, or a dash if `count` is 0.
fn per(bits: f64, count: u64) -> String {
    match count {
        0 => "–".to_owned(),
        _ => number(bits / count as f64, 1),
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

    /// Returns the fraction of differences up to `magnitude`, which must be less than [`MAX_DIFFERENCE`].
    fn fraction_up_to(&self, magnitude: usize) -> f64 {
        let within: u64 = self.counts[..=magnitude].iter().sum();
        within as f64 / self.counts.iter().sum::<u64>().max(1) as f64
    }
}

impl Stats {
    pub(crate) fn collect(recording: &Recording) -> Self {
        let mut stats = Self {
            plan: Arc::clone(&recording.plan),
            changed: Vec::new(),
            position_differences: Differences::new(),
            orientation_differences: Differences::new(),
            costs: LADDER
                .into_iter()
                .skip_while(|rung| *rung != ladder::DELTA)
                // With arithmetic coding, sizes depend on all packets before.
                .filter(|rung| !rung.stages.delta.is_arithmetic())
                .filter_map(|rung| rungs::in_scene(&rung, &recording.plan).ok())
                .map(|rung| Cost {
                    rung,
                    ledger: BitLedger::new(),
                })
                .collect(),
            counts: Counts::default(),
        };
        let bar = progress(recording.packets() * (1 + stats.costs.len()), "frames");
        let mut changed = Vec::new();
        let position = rungs::in_scene(&ladder::POSITION, &recording.plan);
        let stages = position.expect("every scene has this rung").stages;
        pairs::for_each(recording, stages, |_, current, baseline| {
            current.compare(baseline.snapshot(), &mut changed);
            let before = stats.counts.changed;
            stats.count_frame(current, baseline.snapshot(), &changed);
            stats.changed.push((stats.counts.changed - before) as u32);
            bar.inc(1);
        });
        for cost in &mut stats.costs {
            cost.count(recording, || bar.inc(1));
        }
        bar.finish_and_clear();
        stats
    }

    fn count_frame(
        &mut self,
        current: &QuantizedSnapshot,
        before: &QuantizedSnapshot,
        changed: &[bool],
    ) {
        let counts = &mut self.counts;
        for body in (0..current.len()).filter(|&body| changed[body]) {
            counts.changed += 1;
            let life = current.life(body);
            if life != before.life(body) {
                counts.born += u64::from(life.is_some());
                counts.gone += u64::from(life.is_none());
                continue;
            }
            for field in 0..self.plan.schema().fields.len() {
                let is_changed = current.value(body, field) != before.value(body, field);
                counts.fields[field] += u64::from(is_changed);
            }
            let (position, was_at) = (current.position(body), before.position(body));
            let (turned, was_turned) = (current.smallest_three(body), before.smallest_three(body));
            match (position != was_at, turned != was_turned) {
                (true, false) => counts.only_position += 1,
                (false, true) => counts.only_orientation += 1,
                (false, false) => counts.only_fields += 1,
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
    }

    pub(crate) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let tables = [self.changes(), self.distributions(), self.costs()];
        writeln!(
            out,
            "{}",
            tables.map(|table| table.to_string()).join("\n\n")
        )
    }

    fn changes(&self) -> Table {
        let counts = &self.counts;
        let percent = |part: u64, whole: u64| {
            let fraction = part as f64 / whole.max(1) as f64;
            format!("{:.1} %", fraction * 100.0)
        };
        let mean = counts.changed as f64 / self.changed.len().max(1) as f64;
        let extreme = |value: Option<&u32>| value.copied().unwrap_or(0).to_string();
        let mut table = Table::new(["compared with the baseline, six frames before", ""]);
        let lives = [("spawned", counts.born), ("removed", counts.gone)];
        let lives = lives.map(|(what, count)| (what, percent(count, counts.changed)));
        let rows = [
            ("frames", number(self.changed.len() as f64, 0)),
            ("changed bodies a frame, mean", format!("{mean:.1}")),
            (
                "changed bodies a frame, minimum",
                extreme(self.changed.iter().min()),
            ),
            (
                "changed bodies a frame, maximum",
                extreme(self.changed.iter().max()),
            ),
            (
                "changed orientations with the same largest component",
                percent(counts.same_largest, counts.orientations),
            ),
            (
                "changed bodies with only the position changed",
                percent(counts.only_position, counts.changed),
            ),
            (
                "changed bodies with only the orientation changed",
                percent(counts.only_orientation, counts.changed),
            ),
            (
                "changed bodies with only fields changed",
                percent(counts.only_fields, counts.changed),
            ),
        ];
        for (name, value) in rows {
            table.row([name.to_owned(), value]);
        }
        if self.plan.has_lives() {
            for (what, share) in lives {
                table.row([format!("changed bodies that were {what}"), share]);
            }
        }
        table
    }

    fn distributions(&self) -> Table {
        let [x, y, z] = self.plan.bounds().map(|bounds| bounds.steps_per_unit);
        let steps = match x == y && y == z {
            true => format!("positions (1/{x})"),
            false => "positions (steps)".to_owned(),
        };
        let components = format!(
            "smallest three ({} bits)",
            self.plan.schema().component_bits
        );
        let mut table = Table::new([
            "largest component of the difference, at most",
            &steps,
            &components,
        ]);
        for magnitude in [0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1023] {
            let percent = |differences: &Differences| {
                format!("{:.1} %", differences.fraction_up_to(magnitude) * 100.0)
            };
            table.row([
                number(magnitude as f64, 0),
                percent(&self.position_differences),
                percent(&self.orientation_differences),
            ]);
        }
        table
    }

    fn costs(&self) -> Table {
        let counts = &self.counts;
        let schema = self.plan.schema();
        let is_sent = |kind| self.costs.iter().any(|cost| cost.ledger.kind(kind) > 0.0);
        let poses = [
            (BitKind::Position, counts.positions),
            (BitKind::Orientation, counts.orientations),
        ];
        let fields = (0..).zip(counts.fields);
        let fields = fields.map(|(field, count)| (BitKind::field(field), count));
        let sent = poses.into_iter().chain(fields);
        let sent: Vec<_> = sent.filter(|&(kind, _)| is_sent(kind)).collect();
        let life = is_sent(BitKind::Life);

        let mut header = vec!["mean bits".to_owned(), "index, per changed body".to_owned()];
        header.extend(life.then(|| "life, each spawned or removed".to_owned()));
        let names = sent.iter().map(|(kind, _)| kind.name_in(schema));
        header.extend(names.map(|name| format!("{name}, each sent")));
        header.push("changed body, total".to_owned());
        let mut table = Table::new(header.iter().map(|name| &**name));
        for cost in &self.costs {
            let bits = |kind| cost.ledger.kind(kind);
            let mut row = vec![cost.rung.name.to_owned()];
            row.push(per(bits(BitKind::Selection), counts.changed));
            row.extend(life.then(|| per(bits(BitKind::Life), counts.born + counts.gone)));
            let sent = sent.iter();
            row.extend(sent.map(|&(kind, changed)| cost.each(kind, counts, changed)));
            row.push(per(cost.ledger.content(), counts.changed));
            table.row(row);
        }
        table
    }
}
