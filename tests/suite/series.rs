//! The videos of the quick series. Drawing needs a Vulkan driver, so this is ignored by default, like [`films`](crate::films).

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use cubewire_codec::ladder::LADDER;
use cubewire_protocol::Interpolation;

use crate::command_line::{cubewire, printed};
use crate::common::names;
use crate::decode::read_mp4;
use crate::window::count;

const WIDTH: usize = 320;
const HEIGHT: usize = 180;
const FRAMES: usize = 6;

/// Number of rows at the top for the title and the figures.
const FIGURES: usize = 64;

/// Checks that each half shows cubes in three colours and that the lane's figures are in place. The player's cube
/// is hardly visible among the others.
fn check_frame(name: &str, frame: &[u8]) {
    let pixels = frame.as_chunks().0;
    for half in [0..WIDTH / 2, WIDTH / 2..WIDTH] {
        let rows = pixels.chunks_exact(WIDTH);
        let pixels: Vec<_> = rows.flat_map(|row| row[half.clone()].to_vec()).collect();
        let player = count(&pixels, |red, _, blue| blue > red + 60);
        let red = count(&pixels, |red, green, blue| red > green + 60 && red > blue + 60);
        let dark = count(&pixels, |red, green, blue| red + green + blue < 420);
        assert!(player > 5, "{name}, {half:?}: {player} pixels of the player");
        assert!(red > 40, "{name}, {half:?}: {red} pixels of red cubes");
        assert!(dark > 200, "{name}, {half:?}: {dark} pixels of shade");
    }
    // The figures have the colours of the halves; the sky is nearly grey.
    let figures = &pixels[..FIGURES * WIDTH];
    let type_pixels = count(figures, |red, _, blue| (red - blue).abs() > 60);
    assert!(type_pixels > 15, "{name}: {type_pixels} pixels of figures");
}

/// Checks the file with ffprobe, if it is installed.
fn ask_ffprobe(path: &Path) {
    let output = Command::new("ffprobe")
        .args(["-v", "error", "-count_frames", "-select_streams", "v:0"])
        .args(["-show_entries"])
        .arg("stream=codec_name,r_frame_rate,avg_frame_rate,nb_read_frames,duration")
        .args(["-of", "default=noprint_wrappers=1"])
        .arg(path)
        .output()
        .expect("ffprobe is installed");
    let said = String::from_utf8(output.stdout).unwrap();
    for wanted in [
        "codec_name=h264",
        "r_frame_rate=60/1",
        "avg_frame_rate=60/1",
        "duration=0.100000",
        "nb_read_frames=6",
    ] {
        let is_there = said.lines().any(|line| line == wanted);
        assert!(is_there, "{}: no {wanted} in\n{said}", path.display());
    }
}

#[test]
#[ignore = "needs a Vulkan driver and ffprobe"]
fn the_quick_series_shows_every_rung_and_every_interpolation() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("series");
    printed(cubewire(&["record", "--series", "quick", "--out"]).arg(&out));

    let page = fs::read_to_string(out.join("index.html")).unwrap();
    let mut films = names(&out);
    films.retain(|name| name != "index.html");
    assert_eq!(films.len(), LADDER.len() + Interpolation::ALL.len());
    for name in &films {
        assert!(page.contains(&format!("src=\"{name}\"")), "{name}");
        let path = out.join(name);
        ask_ffprobe(&path);
        let (info, frames) = read_mp4(&path).unwrap();
        assert_eq!(info.size, (WIDTH, HEIGHT), "{name}");
        assert_eq!(info.duration, Duration::from_millis(100), "{name}");
        assert_eq!(frames.len(), FRAMES, "{name}");
        check_frame(name, &frames[0]);
        check_frame(name, &frames[FRAMES - 1]);
        // The camera moves in every frame.
        let below = FIGURES * WIDTH * 3;
        let still = frames.windows(2).filter(|two| two[0][below..] == two[1][below..]);
        assert_eq!(still.count(), 0, "{name}: frames that stand still");
    }
    // The number next to a rung is its bandwidth.
    let wanted = "<span class=\"right\">uncompressed 17\u{2009}369 kbps</span>";
    assert!(page.contains(wanted), "{page}");
}
