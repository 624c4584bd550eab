//! Converts RGBA to the planes of H.264: BT.709, limited range, 4:2:0.
//!
//! `OpenH264`'s conversion is not used. It follows BT.601, which players may interpret as BT.709 at these sizes, and
//! rounds down, which tints grey faces green.

use openh264::formats::YUVSlices;

/// A picture with one byte of luma per pixel, and two bytes of chroma per 2×2 pixels.
pub(super) struct Yuv {
    size: (usize, usize),
    y: Vec<u8>,
    u: Vec<u8>,
    v: Vec<u8>,
}

impl Yuv {
    pub(super) fn new((width, height): (u32, u32)) -> Self {
        let (width, height) = (width as usize, height as usize);
        Self {
            size: (width, height),
            y: vec![0; width * height],
            u: vec![0; width * height / 4],
            v: vec![0; width * height / 4],
        }
    }

    /// Converts a frame of width × height × 4 bytes.
    pub(super) fn read(&mut self, rgba: &[u8]) -> YUVSlices<'_> {
        let (pixels, _) = rgba.as_chunks::<4>();
        for (y, pixel) in self.y.iter_mut().zip(pixels) {
            *y = luma(*pixel);
        }
        let width = self.size.0;
        let chroma = self.u.chunks_exact_mut(width / 2).zip(self.v.chunks_exact_mut(width / 2));
        for (rows, (us, vs)) in pixels.chunks_exact(2 * width).zip(chroma) {
            let (above, below) = rows.split_at(width);
            let squares = above.as_chunks().0.iter().zip(below.as_chunks().0);
            for ((above, below), (u, v)) in squares.zip(us.iter_mut().zip(vs)) {
                (*u, *v) = chroma_of(above, below);
            }
        }
        YUVSlices::new((&self.y, &self.u, &self.v), self.size, (width, width / 2, width / 2))
    }
}

/// Luma of a pixel, 16 to 235.
fn luma([r, g, b, _]: [u8; 4]) -> u8 {
    let sum = weigh(LUMA, [r.into(), g.into(), b.into()]);
    ((sum + (16 << 16) + (1 << 15)) >> 16) as u8
}

/// Chroma (blue, red) of 2×2 pixels, 16 to 240 each.
fn chroma_of(above: &[[u8; 4]; 2], below: &[[u8; 4]; 2]) -> (u8, u8) {
    let sum = |channel: usize| {
        [above[0], above[1], below[0], below[1]].map(|pixel| i32::from(pixel[channel])).iter().sum()
    };
    let rgb = [sum(0), sum(1), sum(2)];
    // Shift by two more bits, because the sum is over four pixels.
    let round = |sum| ((sum + (128 << 18) + (1 << 17)) >> 18) as u8;
    (round(weigh(BLUE, rgb)), round(weigh(RED, rgb)))
}

fn weigh([r, g, b]: [i32; 3], rgb: [i32; 3]) -> i32 {
    r * rgb[0] + g * rgb[1] + b * rgb[2]
}

// Weights of BT.709 in 65536ths, times 219 / 255 for luma and 224 / 255 for chroma. The chroma weights are rounded so
// that their sum is 0 and grey stays grey.
const LUMA: [i32; 3] = [11_966, 40_254, 4_064];
const BLUE: [i32; 3] = [-6_596, -22_189, 28_785];
const RED: [i32; 3] = [28_785, -26_145, -2_640];

#[cfg(test)]
mod tests {
    use openh264::formats::YUVSource;

    use super::*;

    fn planes(rgb: [u8; 3]) -> [u8; 3] {
        let mut yuv = Yuv::new((2, 2));
        let [r, g, b] = rgb;
        let planes = yuv.read(&[r, g, b, 255].repeat(4));
        [planes.y()[0], planes.u()[0], planes.v()[0]]
    }

    #[test]
    fn colours_match_the_standard() {
        assert_eq!(planes([0, 0, 0]), [16, 128, 128]);
        assert_eq!(planes([255, 255, 255]), [235, 128, 128]);
        assert_eq!(planes([255, 0, 0]), [63, 102, 240]);
        assert_eq!(planes([0, 255, 0]), [173, 42, 26]);
        assert_eq!(planes([0, 0, 255]), [32, 240, 118]);
        for grey in 0..=255 {
            assert_eq!(planes([grey; 3])[1..], [128, 128]);
        }
    }

    #[test]
    fn chroma_is_the_mean_of_four_pixels() {
        let mut yuv = Yuv::new((4, 2));
        let (red, black) = ([255, 0, 0, 255], [0, 0, 0, 255]);
        let rgba = [red, black, black, black, black, red, black, black].concat();
        let yuv = yuv.read(&rgba);
        assert_eq!(yuv.y(), [63, 16, 16, 16, 16, 63, 16, 16]);
        assert_eq!((yuv.u()[0], yuv.v()[0]), (115, 184));
        assert_eq!((yuv.u()[1], yuv.v()[1]), (128, 128));
    }
}
