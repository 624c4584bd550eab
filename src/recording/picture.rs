//! PNG encoding.

use std::io::{self, Write};

use png::{BitDepth, ColorType, Compression, Encoder, EncodingError};

/// Writes a PNG of RGB pixels with one byte per channel.
pub(crate) fn write_rgb(
    out: impl Write,
    (width, height): (u32, u32),
    rgb: &[u8],
    compression: Compression,
) -> io::Result<()> {
    let mut encoder = Encoder::new(out, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(compression);
    let mut writer = encoder.write_header().map_err(reason)?;
    writer.write_image_data(rgb).map_err(reason)?;
    writer.finish().map_err(reason)
}

/// Unwraps I/O errors, so that a full disk is reported as such.
fn reason(error: EncodingError) -> io::Error {
    match error {
        EncodingError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
