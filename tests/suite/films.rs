//! Videos of games. The tests that draw need a Vulkan driver such as Mesa's software driver, and are ignored by
//! default: `cargo test --workspace -- --ignored`.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use cubewire::game::desktop::film::{Film, FilmContent, Take};
use cubewire::game::desktop::series::{Series, episodes};
use cubewire::recording::{Outcome, ReplayCheck, Script};
use cubewire::theme::Theme;
use cubewire::view::{Overlay, PaneContent, Part, Quality};
use cubewire_codec::ladder::LADDER;

use crate::command_line::{cubewire, printed};
use crate::common::{eventually, names, resident_megabytes, script_path};
use crate::decode::read_mp4;
use crate::mistakes::complaint_of;
use crate::program;
use crate::replays::recorded;

fn short_film() -> Film {
    let episode = episodes(Series::Quick, Series::Quick.size()).remove(LADDER.len() - 1);
    Film { size: (160, 90).into(), frames: 12, ..episode.film }
}

/// Shows the simulation next to a lane, with changes of the lane's settings.
fn beside_simulation(lane: &str, switches: &[&str]) -> FilmContent {
    FilmContent::Halves {
        left: PaneContent::Simulation,
        right: lane.parse().unwrap(),
        switches: switches.iter().map(|switch| switch.parse().unwrap()).collect(),
    }
}

fn tiny_film() -> Film {
    Film { size: (64, 64).into(), skipped_ticks: 0, ..short_film() }
}

fn shoot(film: &Film, slowness: Duration) -> (Take, Vec<Vec<u8>>) {
    let mut frames = Vec::new();
    let take = film.shoot(|frame| {
        sleep(slowness);
        frames.push(frame);
        Ok(())
    });
    (take.unwrap(), frames)
}

/// llvmpipe kept several megabytes per frame while settings of a material were in a uniform.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs a Vulkan driver"]
fn a_longer_film_takes_no_more_memory() {
    for quality in [Quality::Low, Quality::High] {
        let mut film = Film { frames: 80, ..short_film() };
        film.look.quality = quality;
        let mut resident = Vec::new();
        let take = film.shoot(|_| {
            resident.push(resident_megabytes("self").unwrap());
            Ok(())
        });
        take.unwrap();
        let [early, late] = [resident[20], resident[79]];
        assert!(late < early + 60.0, "{early} MB, {late} MB later ({quality:?})");
    }
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn a_slow_machine_films_the_same_frames_as_a_fast_one() {
    let film = short_film();
    let (fast, fast_frames) = shoot(&film, Duration::ZERO);
    let (slow, slow_frames) = shoot(&film, Duration::from_millis(50));
    assert_eq!(fast.checksum, slow.checksum);
    assert!(fast_frames == slow_frames);
    assert_eq!(fast, slow);
    assert_eq!(fast.frames, 12);
    let moved = fast_frames.windows(2).all(|two| two[0] != two[1]);
    assert!(moved, "they are not all one frame");
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn a_replay_is_filmed_to_its_last_tick_at_any_rate() {
    let replay = recorded("katamari", 60, 60).0;
    for frames_per_second in [1, 4, 7, 25, 64] {
        let film = Film { frames_per_second, script: Some(replay.clone()), ..tiny_film() };
        let mut filming = film.set_up().unwrap().remove(0);
        for frame in 1..=frames_per_second {
            filming.frame().unwrap();
            let wanted = match frame < frames_per_second {
                true => Outcome::Unfinished,
                false => Outcome::Same,
            };
            let check = filming.app.world().resource::<ReplayCheck>();
            assert_eq!(check.outcome, wanted, "{frame} of {frames_per_second}");
        }
    }
    let mut other = replay;
    other.steps.clear();
    let film = Film { frames_per_second: 4, frames: 4, script: Some(other), ..tiny_film() };
    let (take, _) = shoot(&film, Duration::ZERO);
    assert!(matches!(take.replay, Some(Outcome::Different(_))));
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn a_mean_is_of_the_ticks_in_which_there_was_a_lane() {
    let text = r#"(ticks: 60, steps: [(at: 30, left: "rung:uncompressed")])"#;
    let film = Film {
        frames_per_second: 4,
        frames: 4,
        script: Some(Script::parse(text, Path::new("a.ron")).unwrap()),
        shown: beside_simulation("rung:smallest-three", &[]),
        ..tiny_film()
    };
    let (take, _) = shoot(&film, Duration::ZERO);
    let means = take.sent.iter().map(|sent| sent.mean_kbps().unwrap().round());
    assert!(means.eq([17_369.0, 12_017.0]));
}

#[test]
#[ignore = "needs a Vulkan driver and ffprobe"]
fn lanes_of_one_play_are_filmed_side_by_side_after_a_card() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("budgets.mp4");
    let mut record = cubewire(&["record", "--json", "--script"]);
    record.arg(script_path("katamari"));
    for kbps in [256, 64, 32] {
        record.arg("--lane");
        record.arg(format!("rung:predicted,budget:{kbps}kbps"));
    }
    record.args(["--skip", "4", "--seconds", "1", "--fps", "5", "--size"]);
    let said = printed(record.args(["640x360", "--out"]).arg(&path));
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
    let parts = report["parts"].as_array().unwrap();
    let of = |part: &serde_json::Value, what: &str| part[what].as_f64().unwrap();
    let kbps: Vec<_> = parts.iter().map(|part| of(part, "mean_kbps")).collect();
    let errors: Vec<_> = parts.iter().map(|part| of(part, "mean_error_mm")).collect();
    // No setting was switched.
    let switched = |part: &serde_json::Value| part["by_stages"] != serde_json::json!([]);
    assert!(!parts.iter().any(switched), "{said}");
    assert!(kbps[0] <= 256.0 && kbps[1] <= 64.0 && kbps[2] <= 32.0, "{kbps:?}");
    assert!(kbps[0] > kbps[1] && kbps[1] > kbps[2], "{kbps:?}");
    assert!(errors[0] < errors[1] && errors[1] < errors[2], "{errors:?}");

    // One second of the title card, then the whole game.
    let (info, frames) = read_mp4(&path).unwrap();
    assert_eq!((info.size, frames.len()), ((640, 360), 10));
    assert_eq!(report["frames"], 10);
    // A still picture varies a little after video compression.
    let changes = |frame: usize, columns: std::ops::Range<usize>| {
        let [before, after] = [frame - 1, frame].map(|frame| frames[frame].as_chunks::<3>().0);
        let pixels = (0..before.len()).filter(|index| columns.contains(&(index % 640)));
        let differs = |index: &usize| {
            let mut channels = before[*index].iter().zip(&after[*index]);
            channels.any(|(before, after)| before.abs_diff(*after) > 60)
        };
        pixels.filter(differs).count()
    };
    assert_eq!((1..5).map(|frame| changes(frame, 0..640)).sum::<usize>(), 0);
    for column in [0..210, 214..424, 430..640] {
        let changed = changes(9, column.clone());
        assert!(changed > 300, "{column:?}: {changed} pixels");
    }
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn a_column_is_switched_and_named_and_compared_with_the_first() {
    let film = |first: &str, labels: &[&str]| Film {
        size: (480, 270).into(),
        frames_per_second: 10,
        frames: 12,
        skipped_ticks: 120,
        shown: FilmContent::Columns {
            lanes: [first, "rung:predicted"].map(|lane| lane.parse().unwrap()).into(),
            labels: labels.iter().map(|&label| label.to_owned()).collect(),
            switches: vec!["1s:2.rung:index".parse().unwrap()],
        },
        overlay: Overlay { hidden: vec![Part::Graph], ..Overlay::default() },
        ..short_film()
    };
    let (take, dear) = shoot(&film("rung:uncompressed", &[]), Duration::ZERO);
    let switched = take.sent.iter().map(|sent| sent.kbps_of_stages().len());
    assert!(switched.eq([1, 2]));
    // The picture of the second column differs only in the ratio to the first.
    let (_, cheap) = shoot(&film("rung:smallest-three", &[]), Duration::ZERO);
    assert!(second_column(&dear[0]) != second_column(&cheap[0]));
    let (_, same) = shoot(&film("rung:uncompressed", &[]), Duration::ZERO);
    assert!(second_column(&dear[0]) == second_column(&same[0]));
    let (_, named) = shoot(&film("rung:uncompressed", &["a", "b"]), Duration::ZERO);
    assert!(second_column(&dear[0]) != second_column(&named[0]));
}

fn second_column(frame: &[u8]) -> Vec<&[u8]> {
    frame.chunks_exact(480 * 4).map(|row| &row[242 * 4..]).collect()
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn the_same_command_gives_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let runs = ["1.mp4", "2.mp4"].map(|name| {
        let path = folder.path().join(name);
        let mut record = cubewire(&["record", "--script"]);
        record
            .arg(script_path("katamari"))
            .args(["--left", "rung:changed-flags,link:4g"])
            .args(["--right", "rung:delta,link:hostile,rate:20,interpolation:none"])
            .args(["--skip", "4", "--seconds", "0.2", "--size", "160x90"])
            .args(["--at", "0.1s:rung:predicted", "--out"]);
        let said = printed(record.arg(&path));
        let checksum = said.lines().find(|line| line.starts_with("| crc32 "));
        let checksum = checksum.expect(&said).to_owned();
        (checksum, fs::read(path).unwrap())
    });
    assert_eq!(runs[0].0, runs[1].0);
    assert!(runs[0].1 == runs[1].1);
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn everything_over_the_scene_can_be_left_out() {
    // A smaller picture has no room for the graph.
    let size = (480, 270);
    let film = |hidden: &[Part]| {
        let mut film = Film {
            size: size.into(),
            frames: 1,
            overlay: Overlay { hidden: hidden.to_vec(), ..Overlay::default() },
            shown: beside_simulation("rung:predicted", &["0s:rate:30"]),
            ..short_film()
        };
        // Sky and floor are bright in the light theme.
        film.look.theme = Theme::Light;
        shoot(&film, Duration::ZERO).1.remove(0)
    };
    let all = film(&[]);
    let parts = [Part::Labels, Part::Figures, Part::Graph, Part::Rung, Part::Link, Part::Titles];
    for part in parts {
        assert!(film(&[part]) != all, "{part:?} is there, and can be left out");
    }
    // The figures' place shows the sky and the distant floor.
    let nothing = film(&[&parts[..], &[Part::Heading]].concat());
    let top = &nothing[..60 * size.0 as usize * 4];
    let dark = top.as_chunks::<4>().0.iter().filter(|pixel| pixel[0] < 120);
    assert_eq!(dark.count(), 0);
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn a_signal_finishes_the_file_and_what_a_killed_recording_left_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mp4");
    let length = || {
        let files = fs::read_dir(folder.path()).unwrap();
        files.map(|file| file.unwrap().metadata().unwrap().len()).sum::<u64>()
    };
    let until = |signal: &str| {
        let _ = fs::remove_file(&path);
        let before = length();
        let out = path.to_str().unwrap();
        let record = ["record", "--size", "160x90", "--seconds", "600", "--out"];
        let recording = program::start(&[], &[&record[..], &[out]].concat());
        eventually("frames", || (length() > before + 8_000).then_some(()));
        assert!(!path.exists(), "it has no name yet");
        program::send(signal, &recording.0);
        program::end(recording)
    };
    assert_eq!(until("KILL").0, None);
    assert!(!path.exists());
    assert_eq!(names(folder.path()).len(), 1);
    for (signal, code) in program::SIGNALS {
        let (ended, [_, said]) = until(signal);
        assert_eq!(ended, Some(code), "{signal}");
        assert!(said.contains("stopped after "), "{said}");
        let (info, frames) = read_mp4(&path).unwrap();
        assert!(!frames.is_empty() && frames.len() < 36_000);
        assert_eq!(info.starts.len(), frames.len());
        // The temporary file of the killed process is gone, too.
        assert_eq!(names(folder.path()), ["a.mp4"]);
    }
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn a_gif_and_numbered_pictures_have_the_frames_of_the_play() {
    let folder = tempfile::tempdir().unwrap();
    let record = |name: &str, fps: &str| {
        let out = folder.path().join(name);
        let mut record = cubewire(&["record", "--seconds", "0.3", "--size", "160x90"]);
        record.args(["--fps", fps, "--out"]).arg(&out);
        // Without a session directory, the graphics driver must not print warnings either.
        let output = record.env_remove("XDG_RUNTIME_DIR").output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        out
    };
    let gif = fs::File::open(record("a.gif", "20")).unwrap();
    let mut decoder = gif::DecodeOptions::new().read_info(gif).unwrap();
    let mut delays = Vec::new();
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        delays.push(frame.delay);
    }
    assert_eq!(delays, [5; 6]);

    record("cubes.png", "30");
    let mut pictures = names(folder.path());
    pictures.retain(|name| name.ends_with(".png"));
    assert!((0..9).map(|number| format!("cubes-{number:05}.png")).eq(pictures.iter().cloned()));
    for name in pictures {
        let picture = fs::File::open(folder.path().join(name)).unwrap();
        let info = png::Decoder::new(std::io::BufReader::new(picture)).read_info().unwrap();
        assert_eq!(info.info().size(), (160, 90));
    }
}

#[test]
fn without_a_driver_nothing_is_recorded_and_one_sentence_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let mut record = cubewire(&["record", "--seconds", "1", "--out"]);
    for variable in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        record.env(variable, "/nonexistent");
    }
    assert_eq!(
        complaint_of(record.arg(folder.path().join("a.mp4"))),
        "error: cannot record, because there is no graphics driver: install a Vulkan driver, which may be \
         a software renderer\n"
    );
    assert_eq!(names(folder.path()), [""; 0]);
}
