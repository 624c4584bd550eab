//! Damages packets at random, decodes them with what their receiver holds, and counts what becomes of them.
//!
//! The work is divided into jobs, each with a random generator of its own, so that the counts do not depend on
//! the number of threads.

mod damage;
mod tally;
mod victims;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cubewire_cli::Table;
use cubewire_codec::ladder::Rung;
use cubewire_codec::{Baseline, DecodeError, Decoder, Header};
use cubewire_recording::Recording;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use self::damage::Damage;
use self::tally::Tally;
use self::victims::{Victim, victims};
use crate::cli::MutateArgs;
use crate::error::LabError;
use crate::{print_json, progress};

/// Damaged packets in a job.
const JOB: u64 = 1000;

/// How often a slow packet is decoded again. The shortest time counts, which no other process has prolonged.
const REPEATS: usize = 3;

/// The packets of one rung.
struct Target {
    rung: Rung,
    decoder: Decoder,
    victims: Vec<Victim>,
}

/// Runs the command.
pub(crate) fn run(args: &MutateArgs, out: &mut impl Write) -> Result<(), LabError> {
    let recording = Recording::read(&args.file)?;
    let rungs = args.codec.in_scene(&recording.plan)?;
    let targets: Vec<Target> = rungs.iter().map(|rung| victims(&recording, rung)).collect();
    let tallies = count(&targets, args)?;

    if args.json {
        for (target, tally) in targets.iter().zip(&tallies) {
            print_json(&tally.row(target.rung.name), out)?;
        }
        return Ok(());
    }
    let mut table = Table::new(tally::header(args.times));
    for (target, tally) in targets.iter().zip(&tallies) {
        table.row(tally.cells(target.rung.name, args.times));
    }
    writeln!(
        out,
        "{}: {} damaged packets, seed {}\n",
        args.file.display(),
        args.count,
        args.seed
    )?;
    writeln!(out, "{table}")?;
    let passed: usize = tallies.iter().map(|tally| tally.passed.len()).sum();
    let stopped: usize = tallies.iter().map(|tally| tally.stopped.len()).sum();
    writeln!(
        out,
        "\nOf {} different packets with wrong bodies that reached the check, it let {passed} pass.",
        passed + stopped
    )?;
    Ok(())
}

/// Decodes all damaged packets. Returns a tally for each target.
fn count(targets: &[Target], args: &MutateArgs) -> Result<Vec<Tally>, LabError> {
    let jobs = args.count.div_ceil(JOB);
    let bar = progress(args.count as usize, "packets");
    let next = AtomicU64::new(0);
    let all = Mutex::new(vec![Tally::default(); targets.len()]);
    let work = || -> Result<(), LabError> {
        let mut decoders: Vec<Decoder> = targets.iter().map(|one| one.decoder.clone()).collect();
        let mut out = Baseline::default();
        loop {
            let job = next.fetch_add(1, Ordering::Relaxed);
            if job >= jobs {
                return Ok(());
            }
            let index = (job % targets.len() as u64) as usize;
            let size = JOB.min(args.count - job * JOB);
            let mut random = ChaCha8Rng::seed_from_u64(args.seed);
            random.set_stream(job);
            let mut damage = Damage { random, targets };
            // The decoder and `out` are not used again after a panic.
            let done = catch_unwind(AssertUnwindSafe(|| {
                let victim = job / targets.len() as u64;
                damage_one(
                    &mut damage,
                    index,
                    victim as usize,
                    size,
                    &mut decoders[index],
                    &mut out,
                )
            }));
            let tally = done.map_err(|_| {
                // The others need not go on.
                next.store(jobs, Ordering::Relaxed);
                LabError::Panicked {
                    codec: targets[index].rung.name,
                    first: job * JOB,
                    last: job * JOB + size - 1,
                    seed: args.seed,
                }
            })?;
            all.lock().expect("adding up does not panic")[index].add(&tally);
            bar.inc(size);
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut outcomes = threads
            .into_iter()
            .map(|thread| thread.join().expect("panics are caught"));
        outcomes.try_for_each(|outcome| outcome)
    })?;
    bar.finish_and_clear();
    Ok(all.into_inner().expect("adding up does not panic"))
}

/// A job: damages one packet in `size` ways.
fn damage_one(
    damage: &mut Damage<'_>,
    index: usize,
    victim: usize,
    size: u64,
    decoder: &mut Decoder,
    out: &mut Baseline,
) -> Tally {
    let target = &damage.targets[index];
    let victim = &target.victims[victim % target.victims.len()];
    let mut tally = Tally::default();
    tally.intact = shortest(decoder, &victim.bytes, victim, out);
    let (mut bytes, mut slowest) = (Vec::new(), (Duration::ZERO, Vec::new()));
    for _ in 0..size {
        damage.apply(index, victim, &mut bytes);
        let start = Instant::now();
        let outcome = decode(decoder, &bytes, victim, out);
        let time = start.elapsed();
        if time > slowest.0 {
            slowest = (time, bytes.clone());
        }
        tally.count(&bytes, outcome, out, damage.targets);
    }
    tally.slowest = shortest(decoder, &slowest.1, victim, out);
    tally
}

fn decode(
    decoder: &mut Decoder,
    bytes: &[u8],
    victim: &Victim,
    out: &mut Baseline,
) -> Result<Header, DecodeError> {
    let held = |sequence| {
        let mut held = victim.held.iter();
        held.find(|baseline| baseline.sequence() == sequence)
    };
    decoder.decode(bytes, held, out)
}

fn shortest(decoder: &mut Decoder, bytes: &[u8], victim: &Victim, out: &mut Baseline) -> Duration {
    let times = (0..REPEATS).map(|_| {
        let start = Instant::now();
        // The outcome is the same as before.
        let _ = decode(decoder, bytes, victim, out);
        start.elapsed()
    });
    times.min().unwrap_or_default()
}
