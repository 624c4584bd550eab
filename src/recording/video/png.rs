//! Frames as numbered PNG files. Each is written atomically.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ::png::Compression;

use super::error::VideoError;
use super::{FrameSink, check_frame};
use crate::files::NewFile;
use crate::recording::picture::write_rgb;

/// Numbered PNGs: RGB, one byte per channel.
#[derive(Debug)]
pub(super) struct Pngs {
    path: PathBuf,
    size: (u32, u32),
    written: u64,
}

impl Pngs {
    /// `path` is the path of the files without their numbers.
    pub(super) fn create(path: &Path, size: (u32, u32)) -> Result<Self, VideoError> {
        let sides = 1..=0xffff;
        if !sides.contains(&size.0) || !sides.contains(&size.1) {
            return Err(VideoError::size(path, size, "1x1 to 65535x65535"));
        }
        // Fail now rather than at the first frame.
        let first = numbered(path, 0);
        NewFile::create(&first).map_err(VideoError::io(&first))?;
        Ok(Self {
            path: path.to_owned(),
            size,
            written: 0,
        })
    }
}

/// Writes a picture as a PNG file: RGB, one byte per channel. `frame` is as for [`FrameSink::add`].
///
/// # Errors
/// If the frame does not have this size, or the file cannot be written.
pub fn write_png(
    path: &Path,
    size: (u32, u32),
    frame: &[u8],
    compression: Compression,
) -> Result<(), VideoError> {
    check_frame(path, size, frame)?;
    let (pixels, _) = frame.as_chunks::<4>();
    let rgb: Vec<_> = pixels.iter().map(|&[r, g, b, _]| [r, g, b]).collect();
    let write = || {
        let mut file = NewFile::create(path)?;
        write_rgb(&mut file, size, rgb.as_flattened(), compression)?;
        file.finish()
    };
    write().map(drop).map_err(VideoError::io(path))
}

impl FrameSink for Pngs {
    fn add(&mut self, frame: &[u8]) -> Result<(), VideoError> {
        check_frame(&self.path, self.size, frame)?;
        let path = numbered(&self.path, self.written);
        write_png(&path, self.size, frame, Compression::Fast)?;
        self.written += 1;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), VideoError> {
        if self.written == 0 {
            return Err(VideoError::Empty { path: self.path });
        }
        // Remove the remaining files of an earlier, longer video.
        for number in self.written.. {
            let path = numbered(&self.path, number);
            match fs::remove_file(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                removed => removed.map_err(VideoError::io(&path))?,
            }
        }
        Ok(())
    }
}

/// The path of a file: at least five digits.
fn numbered(path: &Path, number: u64) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number:05}.png"));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::BufReader;

    use super::*;
    use crate::recording::video::open;
    use crate::recording::video::tests::scene;

    #[test]
    fn every_frame_is_a_numbered_file_that_decodes_to_the_same_pixels() {
        let folder = tempfile::tempdir().unwrap();
        let mut video = open(&folder.path().join("a.cubes.PNG"), (96, 64), 0).unwrap();
        for n in 0..3 {
            video.add(&scene((96, 64), n)).unwrap();
        }
        video.finish().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
        for n in 0..3 {
            let file = File::open(folder.path().join(format!("a.cubes-0000{n}.png"))).unwrap();
            let mut reader = ::png::Decoder::new(BufReader::new(file))
                .read_info()
                .unwrap();
            let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
            let info = reader.next_frame(&mut rgb).unwrap();
            assert_eq!((info.width, info.height), (96, 64));
            let source = scene((96, 64), n);
            let rgba = source.as_chunks::<4>().0;
            assert!(
                rgb.as_chunks::<3>()
                    .0
                    .iter()
                    .eq(rgba.iter().map(|[rgb @ .., _]| rgb))
            );
        }
    }

    #[test]
    fn files_of_an_earlier_longer_video_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let names = || {
            let files = fs::read_dir(folder.path()).unwrap();
            let mut names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
            names.sort();
            names
        };
        fs::write(folder.path().join("a-1.png"), "an unrelated file").unwrap();
        for frames in [4, 2] {
            let mut video = open(&folder.path().join("a.png"), (16, 16), 1).unwrap();
            for n in 0..frames {
                video.add(&scene((16, 16), n)).unwrap();
            }
            video.finish().unwrap();
        }
        assert_eq!(names(), ["a-00000.png", "a-00001.png", "a-1.png"]);
    }

    #[test]
    fn a_frame_that_cannot_be_written_does_not_use_up_its_number() {
        let folder = tempfile::tempdir().unwrap();
        let later = folder.path().join("later");
        let path = later.join("a.png");
        assert!(open(&path, (16, 16), 1).is_err());
        fs::create_dir(&later).unwrap();
        let mut video = open(&path, (16, 16), 1).unwrap();
        fs::remove_dir(&later).unwrap();
        let frame = scene((16, 16), 0);
        let error = video.add(&frame).unwrap_err().to_string();
        assert!(error.contains("later/a-00000.png: "), "{error}");
        fs::create_dir(&later).unwrap();
        video.add(&frame).unwrap();
        assert!(later.join("a-00000.png").exists());
    }
}
