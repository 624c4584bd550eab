//! Randomly damaged texts from outside. Each is refused with a reason, or gives a valid value that survives printing
//! and parsing.
//!
//! Readers of bytes are tested elsewhere: `crates/fuzz` fuzzes the readers in the crates, and `udp_hostile` sends
//! damaged datagrams. `CUBEWIRE_MUTATIONS` sets the number of damaged texts of each kind, and `CUBEWIRE_SEED` the seed.

use std::fmt::Display;
use std::fs;
use std::path::Path;
use std::time::Duration;

use cubewire::panel::{PanelState, STEPS};
use cubewire::recording::export::query;
use cubewire::recording::{MAX_SECONDS, Script, ScriptError, Switch};
use cubewire::replication::LaneSettings;
use cubewire::view::PaneContent;
use cubewire::web::Address;
use cubewire_bevy::udp::Key;
use cubewire_codec::ladder;
use cubewire_link::PRESETS;
use rand::RngExt;
use rand::seq::{IndexedRandom, IteratorRandom};
use rand_chacha::ChaCha8Rng;

use crate::common::{random, script_path};
use crate::replays::recorded;

const MUTATIONS: usize = 2_000;

/// Maximum processor time for reading a text.
const LONGEST: Duration = Duration::from_secs(5);

/// Texts do not grow above this size, bytes.
const MAX_BYTES: usize = 1 << 16;

/// Replacements for numbers. The first one is empty.
const NUMBERS: &str = " 0 -0 -1 0.5 4294967295 4294967296 18446744073709551615 18446744073709551616 1e-320 1e308 \
                       -1e999 NaN inf";

/// Reads the texts and damaged copies of them. `check` tests every value that was read.
fn damage<T, E: Display>(
    texts: &[String],
    read: impl Fn(&str) -> Result<T, E>,
    mut check: impl FnMut(&str, T),
) {
    let mutations = std::env::var("CUBEWIRE_MUTATIONS")
        .map_or(MUTATIONS, |mutations| mutations.parse().expect("CUBEWIRE_MUTATIONS is a number"));
    let mut is_accepted = |text: &str| match read(text) {
        Ok(value) => {
            check(text, value);
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    };
    for text in texts {
        assert!(is_accepted(text), "refused: {text}");
    }
    let mut random = random();
    let mut accepted = 0;
    for _ in 0..mutations {
        let mut bytes = texts.choose(&mut random).unwrap().clone().into_bytes();
        for _ in 0..random.random_range(1..=4) {
            damage_once(&mut random, texts, &mut bytes);
        }
        let text = String::from_utf8_lossy(&bytes);
        let start = processor_time();
        accepted += usize::from(is_accepted(&text));
        assert!(processor_time() - start < LONGEST, "{text}");
    }
    println!("{accepted} of {mutations} damaged texts are accepted");
    assert!(accepted < mutations, "nothing is refused");
}

/// Returns the processor time of this thread without waiting time, if Linux reports it, else 0.
fn processor_time() -> Duration {
    let times = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = times.split(' ').next().and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(nanos.unwrap_or_default())
}

fn damage_once(random: &mut ChaCha8Rng, texts: &[String], bytes: &mut Vec<u8>) {
    let length = bytes.len();
    let at = random.random_range(0..=length);
    let run = at..length.min(at + random.random_range(1..=20));
    match random.random_range(0..8) {
        0 if at < length => bytes[at] ^= 1 << random.random_range(0..8),
        1 if at < length => bytes[at] = random.random(),
        2 => drop(bytes.drain(run)),
        3 => bytes.truncate(at),
        4 => {
            let more = bytes[run].to_vec();
            let times = *[1, 1, 2, 1000].choose(random).unwrap();
            if length < MAX_BYTES {
                bytes.splice(at..at, more.repeat(times));
            }
        }
        5 => {
            let other = texts.choose(random).unwrap().as_bytes();
            let from = random.random_range(0..=other.len());
            bytes.truncate(at);
            bytes.extend(&other[from..]);
        }
        _ => {
            let is_digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
            let Some(first) = bytes[at..].iter().position(is_digit) else { return };
            let first = at + first;
            let digits = bytes[first..].iter().take_while(|byte| is_digit(byte));
            let number = NUMBERS.split(' ').choose(random).unwrap().bytes();
            bytes.splice(first..first + digits.count(), number);
        }
    }
}

/// Lanes with every rung, preset and setting.
fn lanes() -> Vec<String> {
    let rungs = ladder::all().map(|rung| format!("rung:{}", rung.name));
    let stages = ladder::all().map(|rung| format!("stages:{},rate:30", rung.stages));
    let links = PRESETS.iter().map(|preset| {
        let link = preset.conditions.to_text().unwrap();
        format!("rung:delta,link:{link},interpolation:linear")
    });
    let more = [
        "rung:predicted,link:latency=50ms+jitter=log-normal/5ms/0.8+loss=bursts/0.05/3,playout:adaptive",
        "rung:index,link:loss=gilbert-elliott/0.1/0.5/0/1+reordering=0.1/1ms/20ms,playout:150.5ms",
        "rung:position,link:bandwidth=256000/64000+duplicate=0.1+cut,rate:10,baseline:smallest,seed:7",
    ];
    let more = more.map(str::to_owned);
    rungs.chain(stages).chain(links).chain(more).collect()
}

fn assert_comes_back(lane: &LaneSettings) {
    let text = lane.to_text().expect("no text is a trace");
    assert_eq!(text.parse().as_ref(), Ok(lane), "{text}");
    assert!(lane.link.conditions.check().is_ok(), "{text}");
    assert!([1, 2, 3, 6].contains(&lane.sender.send_interval_ticks));
}

#[test]
fn halves_and_lanes() {
    let texts = [lanes(), vec!["simulation".to_owned()]].concat();
    damage(&texts, str::parse, |text, content: PaneContent| match &content {
        PaneContent::Lane(lane) => assert_comes_back(lane),
        PaneContent::Simulation => assert_eq!(content.to_text().as_deref(), Some(text)),
    });
}

#[test]
fn switches() {
    let times = ["0s", "2.5s", "86400s"].into_iter().cycle();
    let sides = ["", "left.", "right."].into_iter().cycle();
    let texts = lanes().into_iter().zip(times.zip(sides.skip(1)));
    let texts: Vec<_> = texts.map(|(lane, (time, side))| format!("{time}:{side}{lane}")).collect();
    damage(&texts, str::parse, |_, switch: Switch| {
        assert!(switch.at <= MAX_SECONDS as u64 * 60);
        let mut lane = LaneSettings::default();
        switch.apply(&mut lane).expect("parsing checks the values");
        assert_comes_back(&lane);
    });
}

#[test]
fn addresses() {
    let lanes = lanes();
    let pairs = lanes.iter().zip(lanes.iter().rev());
    let mut texts: Vec<_> = pairs
        .map(|(left, right)| query(&left.parse().unwrap(), &right.parse().unwrap()).unwrap())
        .collect();
    texts.extend(
        [
            "rung=delta&network=4g&rate=20&interpolation=hermite&tour=3&theme=dark",
            "?left=simulation&script=katamari&calm&seconds=2.5&quality=low&panel=slim&report=no",
        ]
        .map(str::to_owned),
    );
    damage(&texts, str::parse, |_, address: Address| {
        assert!(address.seconds.is_none_or(|s| s > 0.0 && s <= MAX_SECONDS));
        assert!(address.tour.is_none_or(|step| step < STEPS.len()));
        if let (Some(left), Some(right)) = (&address.left, &address.right) {
            assert_comes_back(right);
            let again: Address = query(left, right).unwrap().parse().unwrap();
            assert_eq!((again.left, again.right), (address.left, address.right));
        }
    });
}

#[test]
fn keys() {
    let texts: Vec<_> = (0..4).map(|_| Key::random().to_hex()).collect();
    damage(&texts, str::parse, |text, key: Key| {
        assert_eq!(key.to_hex(), text.trim().to_lowercase());
    });
}

fn read_script(text: &str) -> Result<Script, ScriptError> {
    Script::parse(text, Path::new("a.ron"))
        .inspect_err(|error| assert!(error.to_string().starts_with("a.ron:"), "{error}"))
}

fn assert_script(script: &Script, saved: &Path) {
    assert!((1..=MAX_SECONDS as u64 * 60).contains(&script.ticks));
    assert!(script.lead_in < script.ticks);
    assert!(script.steps.is_sorted_by(|before, step| before.at < step.at));
    for step in &script.steps {
        assert!(step.at < script.ticks);
        let _ = script.keys_at(step.at);
    }
    script.save(saved).unwrap();
    assert_eq!(Script::load(saved).unwrap(), *script);
}

#[test]
fn scripts() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("saved.ron");
    let names = ["ball", "blow", "calm", "katamari", "mix", "rolling"];
    let texts = names.map(|name| fs::read_to_string(script_path(name)).unwrap());
    damage(&texts, read_script, |_, script| {
        assert_script(&script, &saved);
    });
}

#[test]
fn replays() {
    let (replay, _) = recorded("ball", 0, 80);
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("saved.ron");
    replay.save(&saved).unwrap();
    let text = fs::read_to_string(&saved).unwrap();
    damage(&[text], read_script, |text, script| {
        assert_script(&script, &saved);
        // The checksum refuses any other replay; without `recorded` it is a script.
        assert!(script.recorded.is_none() || script == replay, "{text}");
    });
}

#[test]
fn settings_of_the_panel() {
    let default = PanelState::default().to_text().unwrap();
    let texts =
        [default, "(graph_seconds: 33, scale: Some(1.5), theme: Dark, page: Link)".to_owned()];
    damage(&texts, PanelState::parse, |_, state| {
        assert!((10..=60).contains(&state.graph_seconds.0));
        let text = state.to_text().unwrap();
        assert_eq!(PanelState::parse(&text).unwrap(), state);
    });
}
