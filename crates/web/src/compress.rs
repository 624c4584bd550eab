//! Compresses the files of the page in advance, so that the server does not have to, and reports their sizes.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use brotli::CompressorWriter;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Name of a file, and its bytes: as it is, with gzip, and with brotli.
pub(crate) type Sizes = (String, [usize; 3]);

/// Extensions of files that compress well.
const EXTENSIONS: [&str; 6] = ["wasm", "js", "html", "css", "ron", "json"];

/// Extensions of compressed files.
pub(crate) const COMPRESSED: [&str; 2] = ["br", "gz"];

/// Appends an extension to a file name.
pub(crate) fn with_extension_added(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{extension}"));
    name.into()
}

/// Compresses every file with one of the [`EXTENSIONS`] to `FILE.br` and `FILE.gz`. Returns the sizes of all files.
///
/// # Errors
/// If a file cannot be read or written.
pub(crate) fn compress_all(folder: &Path) -> Result<Vec<Sizes>> {
    let mut all = Vec::new();
    for path in files(folder)? {
        let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
        let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if !extension.is_some_and(|extension| EXTENSIONS.contains(&extension)) {
            all.push((name, [bytes.len(); 3]));
            continue;
        }
        // Highest quality, and the largest window that browsers accept.
        let mut brotli = CompressorWriter::new(Vec::new(), 1 << 16, 11, 24);
        brotli.write_all(&bytes)?;
        let brotli = brotli.into_inner();
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(&bytes)?;
        let gzip = gzip.finish()?;
        for (extension, compressed) in COMPRESSED.into_iter().zip([&brotli, &gzip]) {
            let path = with_extension_added(&path, extension);
            fs::write(&path, compressed).with_context(|| path.display().to_string())?;
        }
        all.push((name, [bytes.len(), gzip.len(), brotli.len()]));
    }
    Ok(all)
}

/// All files in the folder and its subfolders, sorted.
///
/// # Errors
/// If a folder cannot be read.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        match path.is_dir() {
            true => files.extend(self::files(&path)?),
            false => files.push(path),
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_listed_and_pictures_stay_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.js", "b.png"] {
            fs::write(folder.path().join(name), [b'a'; 1000]).unwrap();
        }
        let sizes = compress_all(folder.path()).unwrap();
        let [(script, [1000, gzip, brotli]), picture] = &sizes[..] else {
            panic!("{sizes:?}");
        };
        assert!(script == "a.js" && *gzip < 100 && brotli < gzip);
        assert_eq!(*picture, ("b.png".to_owned(), [1000; 3]));
        let names = files(folder.path()).unwrap();
        let names = names.iter().map(|path| path.file_name().unwrap());
        assert_eq!(names.collect::<Vec<_>>(), ["a.js", "a.js.br", "a.js.gz", "b.png"]);
    }
}
