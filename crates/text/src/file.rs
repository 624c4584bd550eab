//! Reads text files of any editor and operating system.

use std::io::{self, BufRead, BufReader, Cursor, Read};

/// Returns a reader of the text in a file. It skips the UTF-8 byte-order mark that Windows editors write.
///
/// # Errors
/// If the file cannot be read, or is UTF-16 ([`Unsupported`](io::ErrorKind::Unsupported)).
pub fn reader(mut file: impl Read) -> io::Result<impl BufRead> {
    let mut start = Vec::new();
    file.by_ref().take(MARK.len() as u64).read_to_end(&mut start)?;
    match &start[..] {
        MARK => start.clear(),
        [0xff, 0xfe, _] | [0xfe, 0xff, _] => {
            let reason = "the text is UTF-16: save it as UTF-8";
            return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
        }
        _ => {}
    }
    Ok(Cursor::new(start).chain(BufReader::new(file)))
}

/// Reads a whole file as [`reader`] does, and replaces `\r\n` by `\n`.
///
/// # Errors
/// As [`reader`], if the file is longer than `max_bytes` ([`FileTooLarge`](io::ErrorKind::FileTooLarge)), or if it is
/// not UTF-8 ([`InvalidData`](io::ErrorKind::InvalidData)). No more than `max_bytes` + 1 bytes are read.
pub fn read(file: impl Read, max_bytes: u64) -> io::Result<String> {
    let mut file = file.take(max_bytes.saturating_add(1));
    let mut text = String::new();
    let read = reader(&mut file)?.read_to_string(&mut text);
    if file.limit() == 0 {
        return Err(too_long(max_bytes));
    }
    read?;
    Ok(if text.contains('\r') { text.replace("\r\n", "\n") } else { text })
}

/// Creates the error for a text longer than `max_bytes`.
pub fn too_long(max_bytes: u64) -> io::Error {
    let reason = format!("longer than {max_bytes} bytes");
    io::Error::new(io::ErrorKind::FileTooLarge, reason)
}

/// UTF-8 byte-order mark.
const MARK: &[u8] = "\u{feff}".as_bytes();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_windows_and_others_are_the_same() {
        for bytes in ["a\nb\n", "a\r\nb\r\n", "\u{feff}a\nb\n", "\u{feff}a\r\nb\r\n"] {
            assert_eq!(read(bytes.as_bytes(), 100).unwrap(), "a\nb\n");
        }
        for short in ["", "a", "ab", "\u{feff}"] {
            let text = read(short.as_bytes(), 100).unwrap();
            assert_eq!(text, short.trim_start_matches('\u{feff}'));
        }
    }

    #[test]
    fn other_encodings_are_named() {
        let wide = |bytes: fn(u16) -> [u8; 2]| {
            "\u{feff}(ticks: 9)".encode_utf16().flat_map(bytes).collect()
        };
        let files: [Vec<u8>; 2] = [wide(u16::to_le_bytes), wide(u16::to_be_bytes)];
        for file in files {
            let error = read(&*file, 100).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::Unsupported);
            assert!(error.to_string().contains("UTF-16"), "{error}");
        }
        let error = read(&b"caf\xe9"[..], 100).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn no_more_is_read_than_a_text_may_have() {
        assert_eq!(read(&b"0123"[..], 4).unwrap(), "0123");
        assert_eq!(read(&b"0123"[..], 3).unwrap_err().to_string(), "longer than 3 bytes");
        let mut endless = io::repeat(0xff).take(1 << 30);
        let error = read(&mut endless, 1000).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(endless.limit(), (1 << 30) - 1001);
    }
}
