//! The files of the page beside themselves, compressed, so that a server need not do it; and their sizes.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use brotli::CompressorWriter;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::error::WebError;

/// Of one file, bytes.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    pub(crate) name: String,
    pub(crate) plain: u64,
    pub(crate) gzip: u64,
    pub(crate) brotli: u64,
}

/// What compresses well.
const EXTENSIONS: [&str; 6] = ["wasm", "js", "html", "css", "ron", "json"];

/// The extensions of compressed files.
pub(crate) const COMPRESSED: [&str; 2] = ["br", "gz"];

/// The name of a file with another extension behind it.
pub(crate) fn beside(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{extension}"));
    name.into()
}

/// Compresses every file of the folder with one of these [`EXTENSIONS`], as `FILE.br` and `FILE.gz`.
///
/// # Errors
/// If a file cannot be read or written.
pub(crate) fn compress_all(folder: &Path) -> Result<Vec<Sizes>, WebError> {
    let mut all = Vec::new();
    for path in files(folder)? {
        let extension = path.extension().and_then(|extension| extension.to_str());
        if !extension.is_some_and(|extension| EXTENSIONS.contains(&extension)) {
            continue;
        }
        let bytes = fs::read(&path).map_err(WebError::file(&path))?;
        let [br, gz] = COMPRESSED;
        let brotli = write(&path, br, |file| {
            // Quality and window: the most that browsers take.
            let mut writer = CompressorWriter::new(file, 1 << 16, 11, 24);
            writer.write_all(&bytes)?;
            writer.flush()
        })?;
        let gzip = write(&path, gz, |file| {
            let mut writer = GzEncoder::new(file, Compression::best());
            writer.write_all(&bytes)?;
            writer.finish().map(drop)
        })?;
        let name = path.strip_prefix(folder).unwrap_or(&path);
        all.push(Sizes {
            name: name.display().to_string(),
            plain: bytes.len() as u64,
            gzip,
            brotli,
        });
    }
    Ok(all)
}

/// Writes beside a file, and returns the length.
fn write(
    path: &Path,
    extension: &str,
    compress: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<u64, WebError> {
    let path = beside(path, extension);
    let file = File::create(&path).map_err(WebError::file(&path))?;
    let mut file = BufWriter::new(file);
    compress(&mut file)
        .and_then(|()| file.flush())
        .map_err(WebError::file(&path))?;
    Ok(fs::metadata(&path).map_err(WebError::file(&path))?.len())
}

/// Every file in the folder and in those inside it, sorted.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>, WebError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(WebError::file(folder))? {
        let path = entry.map_err(WebError::file(folder))?.path();
        match path.is_dir() {
            true => files.extend(self::files(&path)?),
            false => files.push(path),
        }
    }
    files.sort();
    Ok(files)
}
