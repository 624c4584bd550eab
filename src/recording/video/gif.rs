//! Writes GIFs that loop endlessly.
//!
//! Each frame stores the smallest rectangle with all changed pixels. Unchanged pixels are transparent. Each frame has a
//! palette of the colours that it draws, because later colours are not known when the first frame is written.
//!
//! `NeuQuant` computes the palette of a frame with many colours, without dithering. Each colour is weighted by the
//! logarithm of its number of pixels, so that the few pixels of the player and of distant cubes keep their colours.
//! Channels are rounded, which keeps flat faces flat and compresses better.

use std::collections::BTreeMap;
use std::io;
use std::iter;
use std::ops::Range;
use std::path::{Path, PathBuf};

use ::gif::{Encoder, EncodingError, Frame, Repeat};

use super::{Encode, round, unsupported};
use crate::files::NewFile;

pub(super) struct Gif {
    size: (u16, u16),
    /// Duration of a frame in hundredths of a second.
    delay: u16,
    encoder: Encoder<NewFile>,
    /// Rounded pixels of the last frame. Empty before the first frame.
    shown: Vec<[u8; 3]>,
}

impl Gif {
    pub(super) fn create(path: &Path, size: (u32, u32), fps: u32) -> io::Result<Self> {
        let sides = (u16::try_from(size.0), u16::try_from(size.1));
        let (Ok(width @ 1..), Ok(height @ 1..)) = sides else {
            return Err(unsupported(size, "1x1 to 65535x65535"));
        };
        // Players treat a delay of 0 or 1 hundredths as an error and show the frame for longer.
        if !matches!(fps, 1 | 2 | 4 | 5 | 10 | 20 | 25 | 50) {
            return Err(io::Error::other(format!(
                "a GIF counts time in hundredths of a second, so it must have 1, 2, 4, 5, 10, 20, 25 or 50 frames \
                 a second, not {fps}"
            )));
        }
        let file = NewFile::create(path)?;
        let mut encoder = Encoder::new(file, width, height, &[]).map_err(reason)?;
        encoder.set_repeat(Repeat::Infinite).map_err(reason)?;
        Ok(Self { size: (width, height), delay: (100 / fps) as u16, encoder, shown: Vec::new() })
    }

    fn draw(&mut self, pixels: &[[u8; 4]]) -> Frame<'static> {
        let width = usize::from(self.size.0);
        let is_first = self.shown.is_empty();
        self.shown.resize(pixels.len(), [0; 3]);
        let rounded = pixels.iter().map(|&[r, g, b, _]| [r, g, b].map(round));
        let changed: Vec<bool> = rounded
            .zip(&mut self.shown)
            .map(|(pixel, shown)| std::mem::replace(shown, pixel) != pixel || is_first)
            .collect();
        // A frame cannot be empty, so a repeated picture draws one pixel.
        let (columns, rows) = bounds(&changed, width).unwrap_or((0..1, 0..1));
        let mut drawn = Vec::with_capacity(rows.len() * columns.len());
        for row in rows.clone() {
            let row = row * width + columns.start..row * width + columns.end;
            let pixels = self.shown[row.clone()].iter().zip(&changed[row]);
            drawn.extend(pixels.map(|(&pixel, changed)| changed.then_some(pixel)));
        }
        let (palette, of) = palette(&drawn);
        // Cannot overflow: at most the size of the picture, which fits in 16 bits.
        let [wide, high] = [&columns, &rows].map(|range| range.len() as u16);
        Frame {
            delay: self.delay,
            left: columns.start as u16,
            top: rows.start as u16,
            width: wide,
            height: high,
            buffer: drawn.iter().map(|pixel| of[pixel]).collect(),
            transparent: of.get(&None).copied(),
            palette,
            ..Frame::default()
        }
    }
}

impl Encode for Gif {
    fn add(&mut self, frame: &[u8]) -> io::Result<()> {
        let (pixels, _) = frame.as_chunks();
        let frame = self.draw(pixels);
        self.encoder.write_frame(&frame).map_err(reason)
    }

    fn finish(self: Box<Self>) -> io::Result<PathBuf> {
        self.encoder.into_inner().map_err(reason)?.finish()
    }

    fn path(&self) -> PathBuf {
        self.encoder.get_ref().path().to_owned()
    }
}

/// Colour of a pixel. `None` if it is transparent.
type Pixel = Option<[u8; 3]>;

/// Palette of a frame, and the palette index of each colour.
fn palette(pixels: &[Pixel]) -> (Option<Vec<u8>>, BTreeMap<Pixel, u8>) {
    let mut counts = BTreeMap::<Pixel, u32>::new();
    for &pixel in pixels {
        *counts.entry(pixel).or_default() += 1;
    }
    let weights = counts.iter().flat_map(|(&pixel, count)| {
        let weight = 1 + count.ilog2() * u32::from(pixel.is_some());
        iter::repeat_n(pixel, weight as usize)
    });
    let mut weighted: Vec<Pixel> = weights.collect();
    // Arrange the pixels in a rectangle, because the encoder's width and height have 16 bits.
    let height = weighted.len().div_ceil(WIDE);
    let width = weighted.len().div_ceil(height);
    weighted.resize(width * height, weighted[0]);
    let rgba = weighted.iter().map(|pixel| match *pixel {
        Some([r, g, b]) => [r, g, b, 255],
        None => [0; 4],
    });
    let mut rgba: Vec<u8> = rgba.flatten().collect();
    let frame = Frame::from_rgba_speed(width as u16, height as u16, &mut rgba, SPEED);
    let indices = weighted.into_iter().zip(frame.buffer.iter().copied());
    (frame.palette, indices.collect())
}

const WIDE: usize = u16::MAX as usize;

/// Columns and rows of the smallest rectangle that contains every true flag.
fn bounds(flags: &[bool], width: usize) -> Option<(Range<usize>, Range<usize>)> {
    let mut found: Option<(Range<usize>, Range<usize>)> = None;
    for (y, row) in flags.chunks_exact(width).enumerate() {
        let first = row.iter().position(|flag| *flag);
        let last = row.iter().rposition(|flag| *flag);
        if let (Some(first), Some(last)) = (first, last) {
            let (columns, rows) = found.get_or_insert((first..last + 1, y..y + 1));
            *columns = columns.start.min(first)..columns.end.max(last + 1);
            rows.end = y + 1;
        }
    }
    found
}

fn reason(error: EncodingError) -> io::Error {
    match error {
        EncodingError::Io(error) => error,
        other => io::Error::other(other),
    }
}

/// Sampling factor of `NeuQuant`, 1 to 30. At 1, it learns from every pixel.
const SPEED: i32 = 1;

#[cfg(test)]
mod tests {
    use std::fs::File;

    use ::gif::{ColorOutput, DecodeOptions, Decoder};

    use super::*;
    use crate::recording::video::Video;
    use crate::recording::video::tests::scene;

    const SIZE: (u32, u32) = (192, 128);

    fn written(frames: &[Vec<u8>]) -> (tempfile::TempDir, Decoder<File>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.gif");
        let mut video = Video::create(&path, SIZE, 25, None).unwrap();
        for frame in frames {
            video.add(frame).unwrap();
        }
        video.finish().unwrap();
        let mut options = DecodeOptions::new();
        options.set_color_output(ColorOutput::RGBA);
        let decoder = options.read_info(File::open(path).unwrap()).unwrap();
        (folder, decoder)
    }

    #[test]
    fn decoded_frames_are_close_to_their_source() {
        let frames: Vec<_> = (0..30).map(|n| scene(SIZE, n)).collect();
        let (_folder, mut decoder) = written(&frames);
        assert_eq!(decoder.repeat(), Repeat::Infinite);
        assert_eq!((decoder.width(), decoder.height()), (192, 128));
        let mut screen = vec![0; 192 * 128 * 4];
        for source in &frames {
            let frame = decoder.read_next_frame().unwrap().unwrap();
            assert_eq!(frame.delay, 4);
            let row = usize::from(frame.width) * 4;
            for (y, pixels) in frame.buffer.chunks_exact(row).enumerate() {
                let start = ((y + usize::from(frame.top)) * 192 + usize::from(frame.left)) * 4;
                let seen = screen[start..start + row].as_chunks_mut::<4>().0;
                for (seen, pixel) in seen.iter_mut().zip(pixels.as_chunks::<4>().0) {
                    if pixel[3] == 255 {
                        *seen = *pixel;
                    }
                }
            }
            let worst = screen.iter().zip(source).map(|(a, b)| a.abs_diff(*b)).max();
            // Differences caused by rounding.
            assert!(worst <= Some(3), "{worst:?}");
        }
        assert!(decoder.read_next_frame().unwrap().is_none());
    }

    #[test]
    fn a_frame_holds_only_the_rectangle_that_changed() {
        let first = scene(SIZE, 0);
        let mut second = first.clone();
        let at = (20 * 192 + 30) * 4;
        second[at..at + 3].copy_from_slice(&[0, 255, 0]);
        let (_folder, mut decoder) = written(&[first.clone(), first, second]);
        let mut next = || {
            let frame = decoder.read_next_frame().unwrap().unwrap();
            (frame.left, frame.top, frame.width, frame.height)
        };
        assert_eq!(next(), (0, 0, 192, 128));
        assert_eq!(next(), (0, 0, 1, 1));
        assert_eq!(next(), (30, 20, 1, 1));
    }
}
