//! Chooses a palette of at most 255 colours for a frame.
//!
//! Colours are first rounded to a grid of [`STEP`]s. All used cells of the grid form one region. Then the
//! region with the largest squared error is split at its mean, along the channel with the largest error,
//! until there are enough regions. (As in Wu, "Efficient statistical computations for optimal color
//! quantization", Graphics Gems II, but splitting at the mean.) A frame of few colours keeps them exactly,
//! and a few pixels of text keep their colour beside a large sky.

/// A palette, with the index of every colour that it was made from.
#[derive(Debug)]
pub(super) struct Palette {
    colours: Vec<[u8; 3]>,
    /// Index of the colour, by cell of the grid.
    indices: Vec<u8>,
}

impl Palette {
    /// The palette of these pixels.
    pub(super) fn of(pixels: impl Iterator<Item = [u8; 3]>) -> Self {
        let mut grid = vec![Cell::default(); CELLS];
        for pixel in pixels {
            let cell = &mut grid[cell(pixel)];
            cell.pixels += 1;
            for (sum, channel) in cell.sums.iter_mut().zip(pixel) {
                *sum += u64::from(channel);
            }
        }
        let mut used: Vec<usize> = (0..CELLS).filter(|cell| grid[*cell].pixels > 0).collect();

        let mut regions = Vec::new();
        if !used.is_empty() {
            regions.push(Region::of(&mut used, &grid));
        }
        while regions.len() < MAX_COLOURS {
            // Of equals the last one, so that the result is deterministic.
            let worst =
                (0..regions.len()).max_by(|a, b| regions[*a].error.total_cmp(&regions[*b].error));
            let Some(worst) = worst.filter(|worst| regions[*worst].error > 0.0) else {
                break;
            };
            let (low, high) = regions.swap_remove(worst).split(&grid);
            regions.push(low);
            regions.push(high);
        }

        let mut indices = vec![0; CELLS];
        for (index, one) in regions.iter().enumerate() {
            for cell in one.cells.iter() {
                indices[*cell] = index as u8;
            }
        }
        Self {
            colours: regions
                .iter()
                .map(|one| one.mean.map(|mean| mean.round() as u8))
                .collect(),
            indices,
        }
    }

    /// The colours, at most 255.
    pub(super) fn colours(&self) -> &[[u8; 3]] {
        &self.colours
    }

    /// The index of the colour for a pixel, which must be one of those that the palette was made from.
    pub(super) fn index(&self, pixel: [u8; 3]) -> u8 {
        self.indices[cell(pixel)]
    }

    /// The index of transparent pixels: the one after the last colour.
    pub(super) fn transparent(&self) -> u8 {
        self.colours.len() as u8
    }
}

/// The pixels in one cell of the grid.
#[derive(Clone, Default)]
struct Cell {
    pixels: u64,
    sums: [u64; 3],
}

impl Cell {
    fn mean(&self, channel: usize) -> f64 {
        self.sums[channel] as f64 / self.pixels as f64
    }
}

/// Cells that share a colour.
struct Region<'a> {
    cells: &'a mut [usize],
    mean: [f64; 3],
    /// The channel with the largest error.
    channel: usize,
    /// The sum of squared distances from the mean in that channel, by pixel.
    error: f64,
}

impl<'a> Region<'a> {
    fn of(cells: &'a mut [usize], grid: &[Cell]) -> Self {
        let used = || cells.iter().map(|cell| &grid[*cell]);
        let pixels: u64 = used().map(|cell| cell.pixels).sum();
        let mean = [0, 1, 2].map(|channel| {
            let sum: u64 = used().map(|cell| cell.sums[channel]).sum();
            sum as f64 / pixels as f64
        });
        let errors = [0, 1, 2].map(|channel| {
            let error = |cell: &Cell| {
                let distance = cell.mean(channel) - mean[channel];
                cell.pixels as f64 * distance * distance
            };
            used().map(error).sum::<f64>()
        });
        let channel = if errors[1] >= errors[0] && errors[1] >= errors[2] {
            1
        } else if errors[0] >= errors[2] {
            0
        } else {
            2
        };
        // A single cell cannot be split, so rounding must not give it an error.
        let error = if cells.len() == 1 {
            0.0
        } else {
            errors[channel]
        };
        Self {
            cells,
            mean,
            channel,
            error,
        }
    }

    /// Splits the region, which must have at least two cells.
    fn split(self, grid: &[Cell]) -> (Self, Self) {
        let value = |cell: &usize| grid[*cell].mean(self.channel);
        self.cells
            .sort_unstable_by(|a, b| value(a).total_cmp(&value(b)).then(a.cmp(b)));
        let below = self
            .cells
            .partition_point(|cell| value(cell) < self.mean[self.channel]);
        // Rounding may put the mean outside of the values if all are equal.
        let below = below.clamp(1, self.cells.len() - 1);
        let (low, high) = self.cells.split_at_mut(below);
        (Self::of(low, grid), Self::of(high, grid))
    }
}

fn cell(pixel: [u8; 3]) -> usize {
    let [r, g, b] = pixel.map(|channel| usize::from(channel / STEP));
    (r * SIDE + g) * SIDE + b
}

/// The width of a cell, in each channel.
pub(super) const STEP: u8 = 4;
/// The number of cells in each channel.
const SIDE: usize = 256 / STEP as usize;
const CELLS: usize = SIDE * SIDE * SIDE;
/// A GIF has 256 indices; one is reserved for transparent pixels.
const MAX_COLOURS: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_are_kept_exactly() {
        let colours = [
            [214, 41, 31],
            [15, 82, 184],
            [204, 214, 224],
            [0, 0, 0],
            [255, 255, 255],
        ];
        let many = colours
            .iter()
            .flat_map(|colour| std::iter::repeat_n(*colour, 1000));
        let palette = Palette::of(many);
        assert_eq!(palette.colours().len(), colours.len());
        for colour in colours {
            assert_eq!(
                palette.colours()[usize::from(palette.index(colour))],
                colour
            );
        }
    }

    #[test]
    fn a_few_pixels_of_text_keep_their_colour_beside_many_others() {
        let noise =
            (0..1_000_000_u32).map(|n| [(n * 7 % 101) as u8, (n * 13 % 97) as u8, (n % 89) as u8]);
        let text = [250, 240, 30];
        let palette = Palette::of(noise.chain([text; 20]));
        assert_eq!(palette.colours().len(), MAX_COLOURS);
        assert_eq!(palette.colours()[usize::from(palette.index(text))], text);
    }

    #[test]
    fn the_palette_of_no_pixels_is_empty() {
        let palette = Palette::of(std::iter::empty());
        assert!(palette.colours().is_empty());
        assert_eq!(palette.transparent(), 0);
    }
}
