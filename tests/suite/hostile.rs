//! Attacks a server in another process. It must survive, use bounded memory and time, and serve honest viewers as without
//! an attack. `crates/hostile/README.md` has the attacks.

use std::collections::HashSet;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::ChildStderr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use cubewire_hostile::attacks::Bound::{self, AtLeast, AtMost};
use cubewire_hostile::attacks::{ATTACKS, Attack, Field};
use cubewire_hostile::client::Target;
use cubewire_hostile::socket::{Counts, LOCALHOST, NONCES, REPEATED, Socket, Tally, get};
use cubewire_hostile::viewer::{FAR, HonestViewers, NEAR};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

use crate::common::{eventually, random, resident_megabytes, script_path, seconds};
use crate::program::{decoded_and_sent, finish, key, lines, serve, view};

#[derive(Default)]
struct Phase {
    name: &'static str,
    weight: u32,
    attacks: Vec<&'static Attack>,
    /// Counts of the honest viewers and of the server during the phase.
    counts: Counts,
    attackers: Vec<Counts>,
}

/// No attack, each unfair attack alone, all unfair attacks at once, each fair attack alone.
fn plan(attacks: impl Iterator<Item = &'static Attack>) -> Vec<Phase> {
    let phase = |name, weight, attacks| Phase { name, weight, attacks, ..Phase::default() };
    let alone = |attack: &'static Attack| phase(attack.name, attack.weight, vec![attack]);
    let (fair, unfair): (Vec<_>, Vec<_>) = attacks.partition(|attack| attack.is_fair);
    let mut phases = vec![phase("no attack", 4, Vec::new())];
    phases.extend(unfair.iter().copied().map(alone));
    if unfair.len() > 1 {
        phases.push(phase("all at once", 6, unfair));
    }
    phases.extend(fair.into_iter().map(alone));
    phases
}

#[test]
fn every_attack_comes_alone_and_the_unfair_ones_together() {
    let phases = plan(ATTACKS.iter());
    let names: Vec<_> = phases.iter().map(|phase| phase.name).collect();
    assert_eq!((names.len(), names[0]), (ATTACKS.len() + 2, "no attack"));
    assert_eq!(names[names.len() - 3..], ["all at once", "talkative", "demanding"]);
    let together = &phases[names.len() - 3].attacks;
    assert_eq!(together.len(), ATTACKS.len() - 2);
    assert!(together.iter().all(|attack| !attack.is_fair));
    assert_eq!(plan(ATTACKS[..1].iter()).len(), 2);
}

/// Runs for `CUBEWIRE_SECONDS`, by default a minute, with the attacks in `CUBEWIRE_ATTACKS`, by default all. With
/// `CUBEWIRE_BUSY`, the limits that depend on time are halved, for a machine that does other work.
#[test]
#[ignore = "takes as long as it is told to"]
fn a_server_survives_every_attack() {
    let mut random = random();
    let mut fork = move || ChaCha8Rng::from_rng(&mut random);
    let folder = TempDir::new().unwrap();
    let [sent, decoded] = ["sent", "decoded"].map(|name| folder.path().join(name));
    let key_file = key(folder.path(), "key");
    let script = script_path("mix");
    // More viewers than all attackers and newcomers use at a time.
    let more = ["--bind", "127.0.0.1:0", "--viewers", "64", "--script", script.to_str().unwrap()];
    let (mut server, address) =
        serve(&[], &[&more[..], &["--key-file", &key_file]].concat(), &sent);
    // A round trip of 100 ms, jitter that reorders datagrams, and 5 % loss.
    let more = ["--network", "article", "--rung", "changed-flags", "--key-file", &key_file];
    let bystander = view(&[], &address, &more, &decoded);

    // Of the honest viewer and the newcomers.
    let tally = Tally::default();
    let socket = Socket::bind(LOCALHOST, &tally);
    let key = fs::read_to_string(&key_file).unwrap().parse().unwrap();
    let target = Target { server: address.parse().unwrap(), key };
    let field = Field::new(target, &socket, &tally, fork());
    let (log, process) = (server.0.stderr.take().unwrap(), server.0.id().to_string());
    let owner = Arc::new(());
    let honest = HonestViewers { field, phase: Mutex::default(), running: Arc::downgrade(&owner) };
    let honest = &honest;
    let (phases, seen) = thread::scope(|scope| {
        let (watched, near, far) = (fork(), fork(), fork());
        let watching = scope.spawn(move || honest.watch(socket, watched));
        eventually("a snapshot", || (honest.field.newest.load(Relaxed) > 0).then_some(()));
        thread::sleep(Duration::from_secs(1));
        scope.spawn(move || honest.come_and_go(NEAR, Duration::ZERO, near));
        scope.spawn(move || honest.come_and_go(FAR, Duration::from_millis(100), far));
        scope.spawn(move || count_lines(log, honest));
        scope.spawn(|| sample(&process, honest));
        let phases = run(&process, honest, fork);
        finish(bystander);
        drop(owner);
        let seen = watching.join().unwrap();
        println!("report of the server: {}", finish(server));
        (phases, seen)
    });

    let (sent, decoded) = (lines(&sent), lines(&decoded));
    let [in_time, due] = decoded_and_sent(&decoded, &sent).map(|ticks| ticks.len() as f64);
    let mut totals = tally.counts();
    let attackers = phases.iter().flat_map(|phase| &phase.attackers);
    for counts in attackers.clone() {
        for count in [NONCES, REPEATED] {
            *totals.entry(count).or_default() += get(counts, count);
        }
    }
    println!("all: {totals:.1?}");
    let wrong = |seen: &HashSet<String>| seen.difference(&sent).count() as f64;
    let mut missed = Vec::new();
    for (what, value, bound) in [
        (PANICS, get(&totals, PANICS), AtMost(0.0)),
        ("snapshots of the honest viewer", seen.len() as f64, AtLeast(1.0)),
        ("wrong snapshots of the honest viewer", wrong(&seen), AtMost(0.0)),
        ("wrong snapshots behind a bad network", wrong(&decoded), AtMost(0.0)),
        // The network drops one packet in 20, and late ones are useless.
        ("% decoded behind a bad network", percent(in_time, due), AtLeast(80.0)),
        (NONCES, get(&totals, NONCES), AtLeast(1.0)),
        (REPEATED, get(&totals, REPEATED), AtMost(0.0)),
    ] {
        expect(&mut missed, what, value, bound);
    }
    let pace = if env::var_os("CUBEWIRE_BUSY").is_some() { 0.5 } else { 1.0 };
    missed.extend(judge(&phases, pace));
    assert!(missed.is_empty(), "{missed:#?}");
}

const PANICS: &str = "panics of the server";
const LOG_LINES: &str = "log lines";
const MEGABYTES: &str = "MB";

/// Counts the server's log lines until it has ended.
fn count_lines(log: ChildStderr, honest: &HonestViewers) {
    for line in BufReader::new(log).lines().map_while(Result::ok) {
        honest.phase().add(LOG_LINES, 1.0);
        if line.contains("panicked at") {
            println!("{line}");
            honest.field.tally.add(PANICS, 1.0);
        }
    }
}

fn sample(process: &str, honest: &HonestViewers) {
    while honest.is_running()
        && let Some(megabytes) = resident_megabytes(process)
    {
        honest.phase().raise(MEGABYTES, megabytes);
        thread::sleep(Duration::from_millis(250));
    }
}

/// Runs the phases, each for its share of the time. Stops early if the server ends, as later phases would measure a dead
/// server.
fn run(process: &str, honest: &HonestViewers, mut fork: impl FnMut() -> ChaCha8Rng) -> Vec<Phase> {
    let only = env::var("CUBEWIRE_ATTACKS").unwrap_or_default();
    let is_wanted = |name: &str| only.is_empty() || only.split(',').any(|wanted| wanted == name);
    let mut phases = plan(ATTACKS.iter().filter(|attack| is_wanted(attack.name)));
    let share = Duration::from_secs(seconds()) / phases.iter().map(|phase| phase.weight).sum();
    let mut end = Instant::now();
    let mut ran = 0;
    for phase in &mut phases {
        end += share * phase.weight;
        let (start, tally) = (Instant::now(), Tally::default());
        *honest.phase.lock().unwrap() = tally.clone();
        phase.attackers = thread::scope(|scope| {
            let attackers = phase.attacks.iter().map(|attack| {
                let (random, tally) = (fork(), Tally::default());
                let mut field = Field { random, tally, ..honest.field.clone() };
                scope.spawn(move || attack.run(&mut field, end))
            });
            let attackers: Vec<_> = attackers.collect();
            attackers.into_iter().map(|attacker| attacker.join().unwrap()).collect()
        });
        // The phase without an attack has no threads.
        thread::sleep(end.saturating_duration_since(Instant::now()));
        tally.add("s", start.elapsed().as_secs_f64());
        phase.counts = tally.counts();
        println!("{}: {:.1?}", phase.name, phase.counts);
        for (attack, counts) in phase.attacks.iter().zip(&phase.attackers) {
            println!("    {}: {counts:.1?}", attack.name);
        }
        ran += 1;
        if resident_megabytes(process).is_none() {
            break;
        }
    }
    *honest.phase.lock().unwrap() = Tally::default();
    phases.truncate(ran);
    phases
}

/// Two counts, whether their ratio is relative to the one without an attack, and its least value in percent.
type Limit = (&'static str, &'static str, bool, f64);

/// Limits for all unfair attacks together. They depend on the speed of the machine.
const ALL: [Limit; 5] = [
    ("snapshots", "s", true, 97.0),
    ("ticks", "seconds of these ticks", true, 97.0),
    (NEAR[1], NEAR[0], false, 99.0),
    // A flood of handshakes may displace a pending one.
    (FAR[1], FAR[0], false, 90.0),
    (NEAR[2], NEAR[0], false, 90.0),
];
/// Limits for each of them.
const UNFAIR: [Limit; 1] = [("snapshots", "s", true, 90.0)];
const MAX_GAP_MS: f64 = 1000.0;
/// Limits for each fair attack, during which the server divides its time equally.
const FAIR: [Limit; 3] = [
    ("ticks", "seconds of these ticks", true, 97.0),
    ("snapshots", "s", true, 30.0),
    (NEAR[1], NEAR[0], false, 100.0),
];

fn percent(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 100.0 } else { 100.0 * part / whole }
}

/// Returns the limits that the phases missed. `pace` scales the limits that depend on the speed of the machine, and is 1 on
/// an idle machine.
fn judge(phases: &[Phase], pace: f64) -> Vec<String> {
    let (quiet, attacks) = phases.split_first().unwrap();
    let is_fair = |phase: &&Phase| phase.attacks.iter().any(|attack| attack.is_fair);
    let (fair, mut unfair): (Vec<_>, Vec<_>) = attacks.iter().partition(is_fair);
    if unfair.is_empty() {
        unfair.push(quiet);
    }
    let mut together = Counts::new();
    for (&name, count) in unfair.iter().flat_map(|phase| &phase.counts) {
        *together.entry(name).or_default() += count;
    }
    let mut missed = Vec::new();
    let mut check = |name: &str, counts: &Counts, limits: &[Limit]| {
        for &(part, whole, is_relative, least) in limits {
            let percent_in = |counts| percent(get(counts, part), get(counts, whole));
            let (value, of) = match is_relative {
                true => (percent(percent_in(counts), percent_in(&quiet.counts)), "quiet "),
                false => (percent_in(counts), ""),
            };
            let what = format!("{name}: {part}, % of {of}{whole}");
            expect(&mut missed, &what, value, AtLeast(least * pace));
        }
    };
    check("all attacks", &together, &ALL);
    unfair.iter().for_each(|phase| check(phase.name, &phase.counts, &UNFAIR));
    fair.iter().for_each(|phase| check(phase.name, &phase.counts, &FAIR));
    for Phase { name, counts, .. } in &unfair {
        let gap = get(counts, "gap ms") - get(counts, "stall ms");
        expect(
            &mut missed,
            &format!("{name}: gap ms less stall ms"),
            gap,
            AtMost(MAX_GAP_MS / pace),
        );
    }

    let megabytes = unfair.iter().map(|phase| get(&phase.counts, MEGABYTES)).fold(0.0, f64::max);
    let grown = megabytes - get(&quiet.counts, MEGABYTES);
    expect(&mut missed, "MB by which the memory of the server grew", grown, AtMost(128.0));
    let newcomers = get(&together, NEAR[0]) + get(&together, FAR[0]);
    let lines = (get(&together, LOG_LINES) - 2.0 * newcomers) / get(&together, "s");
    expect(&mut missed, "log lines/s besides two for each newcomer", lines, AtMost(10.0));
    for phase in phases {
        let is_alone = phase.attacks.len() == 1;
        for (attack, counts) in phase.attacks.iter().zip(&phase.attackers) {
            for limit in attack.limits.iter().filter(|limit| is_alone || !limit.only_alone) {
                let what = format!("{}: {}: {}", phase.name, attack.name, limit.count);
                expect(&mut missed, &what, get(counts, limit.count), limit.bound);
            }
        }
    }
    missed
}

/// Prints a value, and adds it to those that missed their bounds if it did.
fn expect(missed: &mut Vec<String>, what: &str, value: f64, bound: Bound) {
    let line = format!("{what}: {value:.1} ({bound:?})");
    println!("{line}");
    if bound.margin(value) < 0.0 {
        missed.push(line);
    }
}

/// Counts of a good phase.
const GOOD: [(&str, f64); 12] = [
    ("s", 10.0),
    ("snapshots", 600.0),
    ("gap ms", 50.0),
    ("ticks", 540.0),
    ("seconds of these ticks", 9.0),
    (NEAR[0], 5.0),
    (NEAR[1], 5.0),
    (NEAR[2], 5.0),
    (FAR[0], 5.0),
    (FAR[1], 5.0),
    (LOG_LINES, 10.0),
    (MEGABYTES, 80.0),
];

#[test]
fn every_limit_of_phases_and_attacks_can_be_missed() {
    // The value that misses a bound by `by`.
    let missed = |bound, by| match bound {
        AtMost(most) => most + by,
        AtLeast(least) => least - by,
    };
    let mut phases = plan(ATTACKS.iter());
    for phase in &mut phases {
        phase.counts = GOOD.into();
        let limits = phase.attacks.iter().map(|attack| attack.limits.iter());
        let counts = limits.map(|it| it.map(|it| (it.count, missed(it.bound, 0.0))).collect());
        phase.attackers = counts.collect();
    }
    assert_eq!(judge(&phases, 1.0), [""; 0]);
    // Indices of a fair phase and of the phase with all unfair attacks.
    let (fair, unfair) = (phases.len() - 1, phases.len() - 3);
    for (phase, count, value) in [
        (unfair, "snapshots", 530.0),
        (unfair, "gap ms", 1051.0),
        (unfair, "ticks", 0.0),
        (unfair, NEAR[1], 4.0),
        (unfair, NEAR[2], -5.0),
        (unfair, FAR[1], -5.0),
        (unfair, LOG_LINES, 2000.0),
        (unfair, MEGABYTES, 209.0),
        (fair, "ticks", 520.0),
        (fair, "snapshots", 160.0),
        (fair, NEAR[1], 4.0),
    ] {
        let good = phases[phase].counts.insert(count, value).unwrap();
        assert!(!judge(&phases, 1.0).is_empty(), "{count}");
        phases[phase].counts.insert(count, good);
    }
    for phase in 0..phases.len() {
        for (index, attack) in phases[phase].attacks.clone().into_iter().enumerate() {
            let is_alone = phases[phase].attacks.len() == 1;
            for limit in attack.limits {
                let spoilt = missed(limit.bound, 1.0);
                let good = phases[phase].attackers[index].insert(limit.count, spoilt).unwrap();
                let is_met = judge(&phases, 1.0).is_empty();
                assert_eq!(is_met, limit.only_alone && !is_alone, "{limit:?}");
                phases[phase].attackers[index].insert(limit.count, good);
            }
        }
    }
    assert_eq!(judge(&phases, 1.0), [""; 0]);
}
