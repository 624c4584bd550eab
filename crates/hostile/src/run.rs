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
use crate::cli::Cli;
use crate::client::Target;
use crate::error::HostileError;
use crate::figures::{BYSTANDER, Figures, NEWCOMERS, VIEWER, compare, read_digest};
use crate::judge::{GROWTH, LOG_RATE, judge};
use crate::phases::{self, Phase, least_seconds};
use crate::process::{END_PATIENCE, Process};
use crate::relay::Relay;
use crate::socket::{NONCES, RECEIVED, RECEIVED_BYTES, REPEATED, SENT, SENT_BYTES, Tally, get};
use crate::viewer::{Measuring, Notes, Snapshots};

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
    let json = match &cli.json {
        Some(path) => Some((path, NewFile::create(path).map_err(HostileError::file(path))?)),
        None => None,
    };
    let figures = measure(cli)?;
    figures.print(out)?;
    if let Some((path, mut file)) = json {
        let text = serde_json::to_string_pretty(&figures).expect("figures are plain data");
        let written = writeln!(file, "{text}").and_then(|()| file.finish());
        written.map_err(HostileError::file(path))?;
    }
    let mut expectations = figures.expectations.iter();
    Ok(expectations.all(|expectation| expectation.is_met))
}

/// Script of the simulation, relative to the root of the repository.
const SCRIPT: &str = "assets/scripts/mix.ron";

/// Number of viewers that can connect, more than all attackers and newcomers use at a time.
const SLOTS: u32 = 64;

/// Time limit for the honest viewer to connect.
const READY: Duration = Duration::from_secs(60);

/// Extra round-trip time of newcomers from afar.
const FAR: Duration = Duration::from_millis(100);

fn measure(cli: &Cli) -> Result<Figures, HostileError> {
    let folder = tempfile::tempdir()?;
    let [key_file, sent, decoded] = ["key", "sent", "decoded"].map(|name| folder.path().join(name));
    let key = make_key(&key_file)?;
    // Of the relay, the honest viewer and the newcomers.
    let tally = Tally::default();
    let mut random = cli.random(0);
    let relay = Relay::new(&tally, &mut random)?;
    let relay_address = relay.address()?;
    let seconds = cli.seconds + END_PATIENCE.as_secs() + READY.as_secs();
    let mut serving = Process::start(
        &format!(
            "serve --headless --json --seconds {seconds} --viewers {SLOTS} --script {SCRIPT} --bind 127.0.0.1:0 \
             --public {relay_address}"
        ),
        [&key_file, &sent],
        cli.log.as_deref(),
    )?;
    let server = serving.wait_for_address()?;
    let viewing = Process::start(
        &format!(
            "view --headless --seconds {seconds} --rung changed-flags --connect {relay_address}"
        ),
        [&key_file, &decoded],
        None,
    )?;
    let field = Field {
        target: Target { server, key },
        rate: cli.rate,
        stages: Stages::every_readable(|most| random.random_range(0..most)).collect(),
        random,
        captured: relay.captured.clone(),
        as_viewer: relay.as_viewer(),
        newest: Arc::default(),
        tally: tally.clone(),
    };
    let should_stop = AtomicBool::new(false);
    let (course, viewed) = thread::scope(|scope| {
        scope.spawn(|| relay.run(server, &should_stop, cli.random(1)));
        let course = attack(cli, field, &serving);
        let viewed = viewing.end();
        should_stop.store(true, Ordering::Relaxed);
        (course, viewed)
    });
    let (phases, notes) = course?;
    let mut figures = Figures {
        seconds: cli.seconds,
        seed: cli.seed,
        rate: cli.rate,
        phases,
        run: tally.counts(),
        reasons: notes.losses,
        ..Figures::default()
    };
    let log_lines = serving.log_lines() as f64;
    let served = serving.end();
    figures.run.extend([
        ("log lines", log_lines),
        ("failures of the server", served.is_err().into()),
        ("lost connections behind the relay", viewed.is_err().into()),
    ]);
    figures.reasons.extend(viewed.err().map(|error| error.to_string()));
    match served {
        // The first line says where it listens.
        Ok(out) => {
            let (_, report) = out.split_once('\n').unwrap_or_default();
            figures.server = serde_json::from_str(report).unwrap_or_default();
        }
        Err(error) => figures.reasons.push(error.to_string()),
    }
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
/// server is sampled.
fn attack(
    cli: &Cli,
    mut field: Field,
    server: &Process,
) -> Result<(Vec<Phase>, Notes), HostileError> {
    let newest = field.newest.clone();
    let measuring = &Measuring {
        target: field.target,
        tally: field.tally.clone(),
        phase: Mutex::default(),
        should_stop: AtomicBool::new(false),
    };
    let (mut phases, notes) = thread::scope(|scope| {
        let watching = scope.spawn(|| measuring.watch(&newest, cli.random(2)));
        let ready = phases::wait_until_ready(&mut field, READY);
        scope.spawn(|| measuring.sample(server));
        let [near, far] = NEWCOMERS;
        let newcomers = [(near, 3, Duration::ZERO), (far, 4, FAR)].map(|(names, stream, delay)| {
            scope.spawn(move || measuring.come_and_go(names, delay, cli.random(stream)))
        });
        let phases = ready.and_then(|()| phases::run(cli, &field, server, measuring));
        measuring.should_stop.store(true, Ordering::Relaxed);
        for newcomers in newcomers {
            newcomers.join().expect("no thread panics")?;
        }
        let notes = watching.join().expect("no thread panics")?;
        Ok::<_, HostileError>((phases?, notes))
    })?;
    phases.iter_mut().for_each(Phase::evaluate);
    Ok((phases, notes))
}

/// Reads a digest. The file is missing if the program failed before it wrote the digest.
fn read(path: &Path) -> Result<Snapshots, HostileError> {
    let digest = fs::read_to_string(path).unwrap_or_default();
    read_digest(&digest).map_err(HostileError::file(path))
}

/// Adds the attackers' datagrams and nonces, the growth of the memory and the rate of log lines to the run's counts.
fn sum_up(figures: &mut Figures) {
    for counts in figures.phases.iter().flat_map(|phase| phase.attackers.values()) {
        for count in [SENT, SENT_BYTES, RECEIVED, RECEIVED_BYTES, NONCES, REPEATED] {
            *figures.run.entry(count).or_default() += get(counts, count);
        }
    }
    let (quiet, attacks) = figures.phases.split_first().expect("one phase is quiet");
    let attacks = attacks.iter().filter(|phase| !phase.is_fair);
    let all = |figure: &'static str| attacks.clone().map(move |phase| phase.get(figure));
    let sum = |figure| all(figure).sum::<f64>();
    let grown = all("MB").fold(0.0, f64::max) - quiet.get("MB");
    let lines = sum("log lines") - 2.0 * (sum("near") + sum("far"));
    figures.run.extend([(GROWTH, grown.max(0.0)), (LOG_RATE, lines.max(0.0) / sum("s").max(1.0))]);
}
