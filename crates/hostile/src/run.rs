//! Starts the processes, runs the phases and collects the figures.

use std::collections::HashSet;
use std::env;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use cubewire_files::NewFile;
use serde_json::Value;

use crate::bystander;
use crate::caller::Target;
use crate::cli::{Cli, free_address, stream};
use crate::error::HostileError;
use crate::expectations;
use crate::figures::{Compared, Figures, Hashes, Phase, ServerFigures, compare, read_digest};
use crate::newcomers::{self, FAR, Newcomer};
use crate::phases::{Scene, Span, joined, least_seconds};
use crate::relay::Relay;
use crate::report;
use crate::server::{Sample, Server, ServerOptions, make_key};
use crate::viewer::{self, Notes};
use crate::wire::Tally;

/// Runs the attacks and prints the figures. Returns whether every expectation was met.
///
/// # Errors
/// [`HostileError`] if the measurement failed.
pub(crate) fn run(cli: &Cli, out: &mut impl Write) -> Result<bool, HostileError> {
    let (given, least) = (cli.seconds, least_seconds(cli.attacks()));
    if given < least {
        return Err(HostileError::TooShort { given, least });
    }
    // Create the file now, so that an unwritable path fails before the attacks.
    let json = cli.json.as_deref().map(|path| {
        let file = NewFile::create(path).map_err(HostileError::file(path))?;
        Ok((path, file))
    });
    let json = json.transpose()?;
    let figures = measure(cli)?;
    report::print(&figures, out).map_err(HostileError::Output)?;
    if let Some((path, mut file)) = json {
        let text = serde_json::to_string_pretty(&figures).expect("figures are plain data");
        let written = writeln!(file, "{text}").and_then(|()| file.finish());
        written.map_err(HostileError::file(path))?;
    }
    Ok(figures
        .expectations
        .iter()
        .all(|expectation| expectation.is_met))
}

/// Time limit for the honest viewer to connect.
const READY: Duration = Duration::from_secs(60);

/// Time limit for processes to end.
const END_PATIENCE: Duration = Duration::from_secs(60);

/// Interval between samples of memory and processor time.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(250);

fn measure(cli: &Cli) -> Result<Figures, HostileError> {
    let cubewire = next_to_this_program()?;
    let folder = tempfile::tempdir().map_err(HostileError::Folder)?;
    let [key_file, sent, decoded] = ["key", "sent", "decoded"].map(|name| folder.path().join(name));
    let key = make_key(&key_file).map_err(HostileError::Folder)?;
    let address = free_address().map_err(HostileError::Socket)?.into();
    let relay = Relay::new(address, &mut cli.random(stream::RELAY_SOCKETS));
    let mut relay = relay.map_err(HostileError::Socket)?;
    let relay_address = relay.address().map_err(HostileError::Socket)?;
    let seconds = cli.seconds + END_PATIENCE.as_secs() + READY.as_secs();
    let server = Server::start(&ServerOptions {
        cubewire: &cubewire,
        bind: address,
        relay: relay_address,
        key_file: &key_file,
        digest: &sent,
        seconds,
        log: cli.log.as_deref(),
    })?;
    let bystander = bystander::start(&cubewire, relay_address, &key_file, &decoded, seconds)?;
    let target = Target {
        server: address,
        key,
    };
    let scene = Scene {
        cli,
        target,
        captured: relay.captured.clone(),
        as_viewer: relay.as_viewer().map_err(HostileError::Socket)?,
        progress: Arc::default(),
    };
    let relay_should_stop = Arc::new(AtomicBool::new(false));
    let relaying = {
        let (should_stop, random) = (relay_should_stop.clone(), cli.random(stream::RELAY));
        thread::spawn(move || relay.run(&should_stop, random))
    };
    let watching = {
        let (progress, random) = (scene.progress.clone(), cli.random(stream::VIEWER));
        thread::spawn(move || viewer::watch(target, &progress, random))
    };
    scene.wait_until_ready(READY)?;
    let course = attack(&scene, &server)?;
    scene.progress.should_stop.store(true, Ordering::Relaxed);
    let notes = joined(watching.join())?;
    let lost = bystander::finish(bystander, END_PATIENCE)?;
    relay_should_stop.store(true, Ordering::Relaxed);
    let (fates, mut tally) = joined(relaying.join());
    for one in [notes.tally].into_iter().chain(course.tallies()) {
        tally += one;
    }
    let phases = course.phases(&notes);
    let server = finish(server, &phases);
    let (viewer, bystander) = compared(&sent, &decoded, &notes, lost)?;
    let mut figures = Figures {
        seconds: cli.seconds,
        seed: cli.seed,
        rate: cli.rate,
        viewer,
        bystander,
        relay: fates,
        tally,
        server,
        phases,
        expectations: Vec::new(),
    };
    figures.expectations = expectations::of(&figures, if cli.busy { 0.5 } else { 1.0 });
    Ok(figures)
}

/// Results of all phases.
struct Course {
    spans: Vec<Span>,
    /// Newcomers with a short round trip, and with a long one.
    newcomers: [Vec<Newcomer>; 2],
    /// Memory and processor time of the server.
    samples: Vec<Sample>,
}

impl Course {
    /// Iterates over the tallies of attackers and newcomers.
    fn tallies(&self) -> impl Iterator<Item = Tally> {
        let attackers = self.spans.iter().flat_map(|span| &span.attackers);
        let newcomers = self.newcomers.iter().flatten();
        let newcomers = newcomers.map(|newcomer| newcomer.tally);
        newcomers.chain(attackers.map(|attacker| attacker.tally))
    }

    fn phases(self, notes: &Notes) -> Vec<Phase> {
        let spans = self.spans.into_iter();
        spans
            .map(|span| span.measured(notes, &self.newcomers, &self.samples))
            .collect()
    }
}

/// Runs the phases. Newcomers connect and the server is sampled at the same time.
fn attack(scene: &Scene<'_>, server: &Server) -> Result<Course, HostileError> {
    let is_over = AtomicBool::new(false);
    let (spans, newcomers, samples) = thread::scope(|scope| {
        let sampler = scope.spawn(|| sample(server, &is_over));
        let newcomers =
            [(stream::NEAR, Duration::ZERO), (stream::FAR, FAR)].map(|(stream, far)| {
                let (is_over, random) = (&is_over, scene.cli.random(stream));
                scope.spawn(move || newcomers::come(scene.target, far, random, is_over))
            });
        let spans = scene.phases(server);
        is_over.store(true, Ordering::Relaxed);
        let newcomers = newcomers.map(|thread| joined(thread.join()));
        (spans, newcomers, joined(sampler.join()))
    });
    let [near, far] = newcomers;
    Ok(Course {
        spans: spans?,
        newcomers: [near?, far?],
        samples,
    })
}

/// Ends the server and collects its figures.
fn finish(server: Server, phases: &[Phase]) -> ServerFigures {
    let log_lines = server.log_lines();
    let panic = server.panic();
    let (said, failure) = match server.finish(END_PATIENCE) {
        Ok(said) => (said, panic),
        Err(error) => (
            Value::Null,
            Some(panic.unwrap_or_else(|| error.to_string())),
        ),
    };
    let rss = |phases: &[Phase]| {
        let unfair = phases.iter().filter(|phase| !phase.is_fair);
        unfair.map(|phase| phase.rss).max().unwrap_or(0)
    };
    ServerFigures {
        rss_quiet: rss(&phases[..1]),
        rss_max: rss(&phases[1..]),
        log_lines,
        failure,
        said,
    }
}

/// Returns the path of `cubewire` in this program's folder.
fn next_to_this_program() -> Result<PathBuf, HostileError> {
    let this = env::current_exe().map_err(HostileError::Folder)?;
    Ok(this.with_file_name(format!("cubewire{}", env::consts::EXE_SUFFIX)))
}

/// Samples memory and processor time until `should_stop` is set or the server has ended.
fn sample(server: &Server, should_stop: &AtomicBool) -> Vec<Sample> {
    let mut samples = Vec::new();
    while !should_stop.load(Ordering::Relaxed) {
        let Ok(sample) = server.sample() else {
            break;
        };
        samples.push(sample);
        thread::sleep(SAMPLE_INTERVAL);
    }
    samples
}

/// Compares the snapshots that both viewers decoded with the snapshots that the server sent.
fn compared(
    sent: &Path,
    decoded: &Path,
    notes: &Notes,
    lost: Option<String>,
) -> Result<(Compared, Compared), HostileError> {
    let read = |path: &Path, is_wanted: &dyn Fn(u64) -> bool| match File::open(path) {
        Ok(file) => read_digest(BufReader::new(file), is_wanted).map_err(HostileError::file(path)),
        // The program failed before it wrote the file.
        Err(_) => Ok(Hashes::default()),
    };
    let by_program = read(decoded, &|_| true)?;
    let noted = notes.seen.iter();
    let noted: Hashes = noted
        .map(|seen| ((seen.viewer, seen.tick), seen.hash))
        .collect();
    let is_viewer = |decoded: &Hashes| {
        let viewers: HashSet<u64> = decoded.keys().map(|(viewer, _)| *viewer).collect();
        move |viewer| viewers.contains(&viewer)
    };
    let viewer = compare(&noted, &read(sent, &is_viewer(&noted))?);
    let bystander = compare(&by_program, &read(sent, &is_viewer(&by_program))?);
    let viewer = Compared {
        refused: notes.refused,
        losses: notes.losses.clone(),
        ..viewer
    };
    let bystander = Compared {
        losses: lost.into_iter().collect(),
        ..bystander
    };
    Ok((viewer, bystander))
}
