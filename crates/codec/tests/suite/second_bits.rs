//! Bit reader of the second decoder. It reads one bit at a time.
//!
//! Section numbers in comments refer to `WIRE.md`.

/// Returns an error unless `holds` (section 11).
pub(crate) fn check(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

/// The single with these 32 bits.
pub(crate) fn single(word: i64) -> f32 {
    f32::from_bits(word as u32)
}

/// The bits of a packet, read one after another (section 1).
pub(crate) struct Bits<'a> {
    pub(crate) bytes: &'a [u8],
    /// Index of the next bit.
    pub(crate) at: usize,
}

impl<'a> Bits<'a> {
    pub(crate) fn bit(&mut self) -> Result<bool, String> {
        let byte = self.bytes.get(self.at / 8).ok_or("it ends before the last field")?;
        let bit = (byte >> (7 - self.at % 8)) & 1;
        self.at += 1;
        Ok(bit == 1)
    }

    /// Reads an unsigned number, most significant bit first. No field is wider than 32 bits.
    pub(crate) fn number(&mut self, width: u32) -> Result<i64, String> {
        let mut number = 0;
        for _ in 0..width {
            number = 2 * number + i64::from(self.bit()?);
        }
        Ok(number)
    }

    /// Reads which of the growing ranges a number is in (section 8).
    fn range(&mut self, widths: &[u32]) -> Result<usize, String> {
        let mut range = 0;
        while range + 1 < widths.len() && !self.bit()? {
            range += 1;
        }
        Ok(range)
    }

    /// Reads an unsigned number in growing ranges (section 8).
    pub(crate) fn unsigned_in(&mut self, widths: &[u32]) -> Result<i64, String> {
        let range = self.range(widths)?;
        let start: i64 = widths[..range].iter().map(|width| 1 << width).sum();
        Ok(start + self.number(widths[range])?)
    }

    /// Reads a signed number in growing ranges (section 8).
    pub(crate) fn signed_in(&mut self, widths: &[u32]) -> Result<i64, String> {
        let range = self.range(widths)?;
        let start: i64 = widths[..range].iter().map(|width| 1 << (width - 1)).sum();
        let half = 1 << (widths[range] - 1);
        let number = self.number(widths[range])?;
        Ok(if number >= half {
            start + (number - half)
        } else {
            let magnitude = start + (half - 1 - number);
            -magnitude - 1
        })
    }

    /// Reads the words of finite singles (sections 2 and 11).
    pub(crate) fn singles<const COUNT: usize>(&mut self) -> Result<[i64; COUNT], String> {
        let mut words = [0; COUNT];
        for word in &mut words {
            *word = self.number(32)?;
            check(single(*word).is_finite(), "a single is NaN or infinite")?;
        }
        Ok(words)
    }

    /// Reads the words of a quaternion that has a direction (sections 2 and 11).
    pub(crate) fn quaternion(&mut self) -> Result<[i64; 4], String> {
        let words = self.singles()?;
        let length = length(words.map(|word| f64::from(single(word))));
        check(length >= 1e-6, "a quaternion has no direction")?;
        Ok(words)
    }

    /// Reads the padding, and returns the bytes after it (section 4).
    pub(crate) fn after_padding(&mut self) -> Result<&'a [u8], String> {
        while !self.at.is_multiple_of(8) {
            check(!self.bit()?, "the padding is not zeros")?;
        }
        Ok(&self.bytes[self.at / 8..])
    }

    /// Reads the padding and checks that the packet ends (section 4).
    pub(crate) fn finish(&mut self) -> Result<(), String> {
        check(self.after_padding()?.is_empty(), "it goes on")
    }
}

pub(crate) fn length(quaternion: [f64; 4]) -> f64 {
    let [x, y, z, w] = quaternion;
    (x * x + y * y + z * z + w * w).sqrt()
}

/// *bits(n)*: the number of binary digits (section 1).
pub(crate) fn binary_digits(n: u64) -> u32 {
    u64::BITS - n.leading_zeros()
}
