//! Contents of MP4 files.

use std::fs;
use std::path::Path;
use std::time::Duration;

use cubewire::recording::video::Video;

use crate::decode::{Frames, Mp4Info, read_mp4};

const SIZE: (u32, u32) = (320, 180);
const COLOURS: [[u8; 3]; 4] = [[214, 41, 31], [15, 82, 184], [128, 128, 128], [204, 214, 224]];

/// Returns a picture with four bands of colour. The top band has a white box that moves 3 pixels a frame.
fn frame(n: usize) -> Vec<u8> {
    let (width, height) = (SIZE.0 as usize, SIZE.1 as usize);
    let mut rgba = Vec::new();
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        let boxed = (8..24).contains(&y) && (3 * n..3 * n + 16).contains(&x);
        let [r, g, b] = if boxed { [255; 3] } else { COLOURS[y * 4 / height] };
        rgba.extend([r, g, b, 255]);
    }
    rgba
}

fn pixel(rgb: &[u8], x: usize, y: usize) -> [u8; 3] {
    rgb.as_chunks().0[y * SIZE.0 as usize + x]
}

fn distance(a: [u8; 3], b: [u8; 3]) -> u8 {
    a.iter().zip(b).map(|(a, b)| a.abs_diff(b)).max().unwrap()
}

fn made(fill: impl FnOnce(&Path)) -> (Mp4Info, Frames) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mp4");
    fill(&path);
    // The sample table comes before the samples.
    assert_eq!(boxes(&fs::read(&path).unwrap()), ["ftyp", "free", "moov", "mdat"]);
    read_mp4(&path).unwrap()
}

/// Makes a video of the first pictures.
fn made_of(frames_per_second: u32, count: usize) -> (Mp4Info, Frames) {
    made(|path| {
        let mut video = Video::create(path, SIZE, frames_per_second, None).unwrap();
        (0..count).for_each(|n| video.add(&frame(n)).unwrap());
        video.finish().unwrap();
    })
}

#[test]
fn every_frame_is_there_at_its_time_with_its_colours() {
    let (info, frames) = made_of(60, 30);
    assert_eq!(info.size, (320, 180));
    assert_eq!(info.duration, Duration::from_millis(500));
    assert_eq!(info.keyframes, [0]);
    let starts = (0..30).map(|n| Duration::from_secs_f64(f64::from(n) / 60.0));
    assert!(info.starts.iter().copied().eq(starts), "{:?}", info.starts);
    assert_eq!(frames.len(), 30);
    for (n, rgb) in frames.iter().enumerate() {
        for (band, colour) in COLOURS.iter().enumerate() {
            let seen = pixel(rgb, 300, band * 45 + 35);
            assert!(distance(seen, *colour) <= 3, "{seen:?} for {colour:?} in frame {n}");
        }
        for (x, colour) in [(3 * n + 8, [255; 3]), (3 * n + 24, COLOURS[0])] {
            let seen = pixel(rgb, x, 16);
            assert!(distance(seen, colour) <= 8, "{seen:?} for {colour:?} in frame {n}");
        }
    }
}

/// Returns the types of a file's boxes.
fn boxes(file: &[u8]) -> Vec<String> {
    let mut types = Vec::new();
    let mut rest = file;
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        types.push(String::from_utf8(after[..4].to_vec()).unwrap());
        let length = match u32::from_be_bytes(*length) {
            1 => u64::from_be_bytes(after[4..12].try_into().unwrap()),
            length => length.into(),
        };
        rest = &rest[length as usize..];
    }
    types
}

#[test]
fn a_limited_video_keeps_to_its_data_rate_and_a_simple_one_stays_below() {
    const FRAMES: u32 = 120;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mp4");
    let bytes_at = |fps, picture: fn(u32) -> Vec<u8>, max_bps| {
        let mut video = Video::create(&path, SIZE, fps, max_bps).unwrap();
        for n in 0..FRAMES {
            video.add(&picture(n)).unwrap();
        }
        video.finish().unwrap();
        fs::metadata(&path).unwrap().len()
    };
    let bytes = |picture, max_bps| bytes_at(60, picture, max_bps);
    let free = bytes(texture, None);
    for fps in [60, 120, 240] {
        let max_bps = free / 3 * 8 * u64::from(fps) / u64::from(FRAMES);
        let limited = bytes_at(fps, texture, Some(max_bps as u32));
        assert!(limited <= free / 3 && limited > free / 4, "{limited} of {free} bytes at {fps}");
    }
    // The limit is not a target.
    let simple = bytes(|n| frame(n as usize), None);
    let limited = bytes(|n| frame(n as usize), Some(8_000_000));
    assert!(limited < 2 * simple, "{limited} of {simple} bytes");
}

/// Returns a picture with another grey in every square of 4 pixels, and in every frame.
fn texture(n: u32) -> Vec<u8> {
    let grey = |x: u32, y: u32| {
        let square = x / 4 * 31 + y / 4 * 17 + n * 7;
        square.wrapping_mul(2_654_435_769) >> 25
    };
    let rows = (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (x, y)));
    rows.flat_map(|(x, y)| [grey(x, y) as u8, grey(x, y) as u8, grey(x, y) as u8, 255]).collect()
}

#[test]
fn a_player_has_to_go_back_two_seconds_at_most() {
    let (info, frames) = made_of(10, 45);
    assert_eq!(frames.len(), 45);
    assert_eq!(info.keyframes, [0, 20, 40]);
}
