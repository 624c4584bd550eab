//! Reads an MP4: `shiguredo_mp4` demuxes it, `OpenH264` decodes it, and the BT.709 matrix converts it to RGB.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Duration;

use openh264::decoder::Decoder;
use openh264::formats::YUVSource;
use shiguredo_mp4::boxes::{AvccBox, SampleEntry};
use shiguredo_mp4::demux::{Input, Mp4FileDemuxer};

#[derive(Debug)]
pub(crate) struct Mp4Info {
    /// Width and height in pixels.
    pub(crate) size: (usize, usize),
    /// Start time of each frame.
    pub(crate) starts: Vec<Duration>,
    /// Total duration of the frames.
    pub(crate) duration: Duration,
    /// Indices of the keyframes, from 0.
    pub(crate) keyframes: Vec<usize>,
}

/// RGB with one byte per channel, rows from the top, without padding.
pub(crate) type Frames = Vec<Vec<u8>>;

/// Reads the video track of a file.
pub(crate) fn read_mp4(path: &Path) -> Result<(Mp4Info, Frames), Box<dyn Error>> {
    let bytes = fs::read(path)?;
    let mut demuxer = Mp4FileDemuxer::new();
    while let Some(required) = demuxer.required_input() {
        let start = usize::try_from(required.position)?.min(bytes.len());
        let end = required.size.map_or(bytes.len(), |size| (start + size).min(bytes.len()));
        let position = required.position;
        demuxer.handle_input(Input { position, data: &bytes[start..end] });
    }
    let track = demuxer.tracks()?.first().ok_or("there is no track")?;
    let timescale = f64::from(track.timescale.get());
    let seconds = |ticks: u64| Duration::from_secs_f64(ticks as f64 / timescale);
    let mut info = Mp4Info {
        size: (0, 0),
        starts: Vec::new(),
        duration: seconds(track.duration),
        keyframes: Vec::new(),
    };

    let mut decoder = Decoder::new()?;
    let mut frames = Vec::new();
    while let Some(sample) = demuxer.next_sample()? {
        let mut annex_b = Vec::new();
        if let Some(SampleEntry::Avc1(avc1)) = sample.sample_entry {
            info.size = (avc1.visual.width.into(), avc1.visual.height.into());
            annex_b = parameter_sets(&avc1.avcc_box);
        }
        if sample.keyframe {
            info.keyframes.push(frames.len());
        }
        info.starts.push(seconds(sample.timestamp));
        let start = usize::try_from(sample.data_offset)?;
        let mut data = &bytes[start..start + sample.data_size];
        while let Some((length, rest)) = data.split_first_chunk() {
            let (unit, rest) = rest.split_at(u32::from_be_bytes(*length) as usize);
            annex_b.extend([0, 0, 0, 1]);
            annex_b.extend(unit);
            data = rest;
        }
        let frame = decoder.decode(&annex_b)?.ok_or("a sample without a frame")?;
        if frame.dimensions() != info.size {
            return Err(format!("{:?} in a video of {:?}", frame.dimensions(), info.size).into());
        }
        frames.push(rgb(&frame));
    }
    Ok((info, frames))
}

fn parameter_sets(avcc: &AvccBox) -> Vec<u8> {
    let units = avcc.sps_list.iter().chain(&avcc.pps_list);
    units.flat_map(|unit| [&[0, 0, 0, 1], unit.as_slice()].concat()).collect()
}

fn rgb(frame: &impl YUVSource) -> Vec<u8> {
    let (width, height) = frame.dimensions();
    let strides = frame.strides();
    let mut rgb = Vec::with_capacity(width * height * 3);
    for row in 0..height {
        for column in 0..width {
            let y = f32::from(frame.y()[row * strides.0 + column]) - 16.0;
            let u = f32::from(frame.u()[row / 2 * strides.1 + column / 2]) - 128.0;
            let v = f32::from(frame.v()[row / 2 * strides.2 + column / 2]) - 128.0;
            let y = y * 255.0 / 219.0;
            let (u, v) = (u * 255.0 / 224.0, v * 255.0 / 224.0);
            let channels = [y + 1.5748 * v, y - 0.1873 * u - 0.4681 * v, y + 1.8556 * u];
            rgb.extend(channels.map(|channel| channel.round() as u8));
        }
    }
    rgb
}
