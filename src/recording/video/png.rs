//! Writes frames as numbered PNG files, each one atomically.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ::png::Compression;

use super::{Encode, unsupported};
use crate::files::NewFile;
use crate::recording::picture::write_rgb;

/// Numbered PNGs: RGB, one byte per channel.
pub(super) struct Pngs {
    path: PathBuf,
    size: (u32, u32),
    written: u64,
}

impl Pngs {
    /// `path` is the path of the files without their numbers.
    pub(super) fn create(path: &Path, size: (u32, u32)) -> io::Result<Self> {
        let sides = 1..=0xffff;
        if !sides.contains(&size.0) || !sides.contains(&size.1) {
            return Err(unsupported(size, "1x1 to 65535x65535"));
        }
        // Report errors now and not only at the first frame.
        NewFile::create(&numbered(path, 0))?;
        Ok(Self { path: path.to_owned(), size, written: 0 })
    }
}

/// Writes a picture as a PNG file: RGB, one byte per channel. `frame` is as for [`Video::add`](super::Video::add).
pub fn write_png(
    path: &Path,
    size: (u32, u32),
    frame: &[u8],
    compression: Compression,
) -> io::Result<()> {
    let (pixels, _) = frame.as_chunks::<4>();
    let rgb: Vec<_> = pixels.iter().map(|&[r, g, b, _]| [r, g, b]).collect();
    let mut file = NewFile::create(path)?;
    write_rgb(&mut file, size, rgb.as_flattened(), compression)?;
    file.finish().map(drop)
}

impl Encode for Pngs {
    fn add(&mut self, frame: &[u8]) -> io::Result<()> {
        write_png(&self.path(), self.size, frame, Compression::Fast)?;
        self.written += 1;
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<PathBuf> {
        // Remove the remaining files of an earlier, longer video.
        for number in self.written.. {
            match fs::remove_file(numbered(&self.path, number)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                removed => removed?,
            }
        }
        Ok(self.path)
    }

    fn path(&self) -> PathBuf {
        numbered(&self.path, self.written)
    }
}

/// Path of a file. The number has at least five digits.
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
    use crate::recording::video::Video;
    use crate::recording::video::tests::{scene, write as write_video};

    #[test]
    fn every_frame_is_a_numbered_file_that_decodes_to_the_same_pixels() {
        let folder = tempfile::tempdir().unwrap();
        write_video(&folder.path().join("a.cubes.PNG"), (96, 64), 0, 3);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
        for n in 0..3 {
            let file = File::open(folder.path().join(format!("a.cubes-0000{n}.png"))).unwrap();
            let mut reader = ::png::Decoder::new(BufReader::new(file)).read_info().unwrap();
            let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
            let info = reader.next_frame(&mut rgb).unwrap();
            assert_eq!((info.width, info.height), (96, 64));
            let source = scene((96, 64), n);
            let rgba = source.as_chunks::<4>().0;
            assert!(rgb.as_chunks::<3>().0.iter().eq(rgba.iter().map(|[rgb @ .., _]| rgb)));
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
            write_video(&folder.path().join("a.png"), (16, 16), 1, frames);
        }
        assert_eq!(names(), ["a-00000.png", "a-00001.png", "a-1.png"]);
    }

    #[test]
    fn a_frame_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let later = folder.path().join("later");
        let path = later.join("a.png");
        assert!(Video::create(&path, (16, 16), 1, None).is_err());
        fs::create_dir(&later).unwrap();
        let mut video = Video::create(&path, (16, 16), 1, None).unwrap();
        fs::remove_dir(&later).unwrap();
        let error = video.add(&scene((16, 16), 0)).unwrap_err().to_string();
        assert!(error.contains("later/a-00000.png: "), "{error}");
    }
}
