//! Starts the processes, runs the phases and collects the figures.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use cubewire_bevy::udp::Key;
use cubewire_codec::Stages;
use cubewire_files::NewFile;
use rand::RngExt;

use crate::attacks::Field;
use crate::captured::Captured;
use crate::cli::Cli;
use crate::client::Target;
use crate::figures::{BYSTANDER, Figures, NEWCOMERS, VIEWER, compare, read_digest};
use crate::judge::{GROWTH, LOG_RATE, judge};
use crate::phases::{self, Phase};
use crate::process::{END_PATIENCE, Failure, Process, at};
use crate::socket::{
    LOCALHOST, NONCES, RECEIVED, RECEIVED_BYTES, REPEATED, SENT, SENT_BYTES, Socket, Tally, get,
};
use crate::viewer::{Measuring, Notes, Snapshots};

/// Runs the attacks and prints the figures. Returns whether every expectation was met.
///
/// # Errors
/// If the measurement failed.
pub(crate) fn run(cli: &Cli, out: &mut impl Write) -> Result<bool, Failure> {
    // Create the file now, so that an unwritable path fails before the attacks.
    let json = match &cli.json {
        Some(path) => Some((path, NewFile::create(path).map_err(at(path))?)),
        None => None,
    };
    let figures = measure(cli)?;
    figures.print(out)?;
    if let Some((path, mut file)) = json {
        let text = serde_json::to_string_pretty(&figures).expect("figures are plain data");
        let written = writeln!(file, "{text}").and_then(|()| file.finish());
        written.map_err(at(path))?;
    }
    Ok(figures.expectations.iter().all(|expectation| expectation.is_met))
}

/// Script of the simulation, relative to the root of the repository.
const SCRIPT: &str = "assets/scripts/mix.ron";

/// Number of viewers that can connect, more than all attackers and newcomers use at a time.
const SLOTS: u32 = 64;

/// Simulated network of `cubewire view`: a round trip of 100 ms, jitter that reorders datagrams, and 5 % loss.
const NETWORK: &str = "article";

/// Extra round-trip time of newcomers from afar.
const FAR: Duration = Duration::from_millis(100);

fn measure(cli: &Cli) -> Result<Figures, Failure> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name);
    let (key_file, sent, decoded) = (path("key"), path("sent"), path("decoded"));
    let key = make_key(&key_file)?;
    // Of the honest viewer and the newcomers.
    let tally = Tally::default();
    let mut random = cli.random(0);
    let socket = Socket::bind(LOCALHOST, &tally)?;
    let seconds = cli.seconds + (END_PATIENCE + phases::READY).as_secs();
    let serve = format!(
        "serve --headless --json --seconds {seconds} --viewers {SLOTS} --script {SCRIPT} --bind 127.0.0.1:0"
    );
    let log = cli.log.clone().unwrap_or_else(|| path("server.log"));
    let mut serving = Process::start(&serve, [&key_file, &sent], log)?;
    let server = serving.address()?;
    let view = format!(
        "view --headless --seconds {seconds} --rung changed-flags --network {NETWORK} --connect {server}"
    );
    let viewing = Process::start(&view, [&key_file, &decoded], path("viewer.log"))?;
    let field = Field {
        target: Target { server, key },
        rate: cli.rate,
        stages: Stages::every_readable(|most| random.random_range(0..most)).collect(),
        random,
        captured: Captured::default(),
        as_viewer: socket.handle(),
        newest: Arc::default(),
        tally: tally.clone(),
    };
    let (phases, lost, notes) = attack(cli, field, socket, &serving, viewing)?;
    let mut figures = Figures {
        seconds: cli.seconds,
        seed: cli.seed,
        rate: cli.rate,
        phases,
        run: tally.counts(),
        reasons: notes.losses,
        ..Figures::default()
    };
    figures.run.insert("log lines", serving.log_lines() as f64);
    let served = serving.end();
    figures.run.insert("failures of the server", served.is_err().into());
    figures.run.insert("lost connections behind a bad network", lost.is_some().into());
    let report = served.as_deref().unwrap_or_default();
    figures.server = serde_json::from_str(report).unwrap_or_default();
    let failures = lost.into_iter().chain(served.err());
    figures.reasons.extend(failures.map(|failure| failure.to_string()));
    let sent = read(&sent)?;
    figures.run.extend(VIEWER.into_iter().zip(compare(&notes.seen, &sent)));
    figures.run.extend(BYSTANDER.into_iter().zip(compare(&read(&decoded)?, &sent)));
    sum_up(&mut figures);
    figures.expectations = judge(&figures, if cli.busy { 0.5 } else { 1.0 });
    Ok(figures)
}

/// Creates a random key and writes it to a file.
fn make_key(file: &Path) -> io::Result<Key> {
    let key = Key::random();
    let mut private = NewFile::create_private(file)?;
    writeln!(private, "{}", key.to_hex())?;
    private.finish().map(|_| key)
}

/// Runs the phases after the honest viewer has connected. At the same time, newcomers connect and the memory of the
/// server is sampled. Also returns the failure of the viewer behind a bad network.
fn attack(
    cli: &Cli,
    field: Field,
    socket: Socket,
    server: &Process,
    bystander: Process,
) -> Result<(Vec<Phase>, Option<Failure>, Notes), Failure> {
    let (phase, should_stop) = (Mutex::default(), AtomicBool::new(false));
    let measuring = &Measuring { field, phase, should_stop };
    let (mut phases, lost, notes) = thread::scope(|scope| {
        let watching = scope.spawn(|| measuring.watch(socket, cli.random(2)));
        let ready = phases::wait_until_ready(&measuring.field);
        scope.spawn(|| measuring.sample(server));
        let [near, far] = NEWCOMERS;
        let newcomers = [(near, 3, Duration::ZERO), (far, 4, FAR)].map(|(names, stream, delay)| {
            scope.spawn(move || measuring.come_and_go(names, delay, cli.random(stream)))
        });
        let phases = ready.and_then(|()| phases::run(cli, server, measuring));
        let lost = bystander.end().err();
        measuring.should_stop.store(true, Ordering::Relaxed);
        for newcomers in newcomers {
            newcomers.join().expect("no thread panics")?;
        }
        let notes = watching.join().expect("no thread panics")?;
        Ok::<_, Failure>((phases?, lost, notes))
    })?;
    phases.iter_mut().for_each(Phase::evaluate);
    Ok((phases, lost, notes))
}

/// Reads a digest. The file is missing if the program failed before it wrote the digest.
fn read(path: &Path) -> Result<Snapshots, Failure> {
    read_digest(&fs::read_to_string(path).unwrap_or_default()).map_err(at(path))
}

/// Adds the attackers' datagrams and nonces, the growth of the memory and the rate of log lines to the run's counts.
fn sum_up(figures: &mut Figures) {
    for counts in figures.phases.iter().flat_map(|phase| phase.attackers.values()) {
        for count in [SENT, SENT_BYTES, RECEIVED, RECEIVED_BYTES, NONCES, REPEATED] {
            *figures.run.entry(count).or_default() += get(counts, count);
        }
    }
    let (quiet, attacks) = figures.phases.split_first().expect("one phase is quiet");
    let attacks: Vec<_> = attacks.iter().filter(|phase| !phase.is_fair).collect();
    let most = attacks.iter().map(|phase| phase.get("MB")).fold(0.0, f64::max);
    let sum = |figure| attacks.iter().map(|phase| phase.get(figure)).sum::<f64>();
    let lines = sum("log lines") - 2.0 * (sum("near") + sum("far"));
    let grown = (most - quiet.get("MB")).max(0.0);
    figures.run.extend([(GROWTH, grown), (LOG_RATE, lines.max(0.0) / sum("s").max(1.0))]);
}
