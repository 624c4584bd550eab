//! The vertical axis of the bandwidth graph, linear or logarithmic.

use std::ops::RangeInclusive;

use egui_plot::{GridInput, GridMark, uniform_grid_spacer};

/// Maps rates to heights on the plot: unchanged, or as their common logarithm.
#[derive(Clone, Copy, Debug)]
pub(in crate::panel) struct Scale {
    pub(in crate::panel) logarithmic: bool,
}

impl Scale {
    /// The height of a rate.
    pub(in crate::panel) fn height(self, kbps: f64) -> f64 {
        if self.logarithmic {
            kbps.max(MIN_LOGARITHMIC_KBPS).log10()
        } else {
            kbps
        }
    }

    /// The rate at a height.
    pub(in crate::panel) fn kbps(self, height: f64) -> f64 {
        if self.logarithmic {
            10_f64.powf(height)
        } else {
            height
        }
    }

    /// The range of the axis: from a round number below the smallest rate, 0 if the scale is linear, to a
    /// round number above the largest.
    pub(super) fn heights(self, smallest_kbps: f64, largest_kbps: f64) -> RangeInclusive<f64> {
        if self.logarithmic {
            let bottom = self.height(smallest_kbps).floor();
            let top = self.height(largest_kbps * HEADROOM).ceil();
            bottom..=top.max(bottom + 1.0)
        } else {
            let step = round_step(largest_kbps);
            0.0..=(largest_kbps * HEADROOM / step).ceil() * step
        }
    }

    pub(in crate::panel) fn marks(self, input: GridInput) -> Vec<GridMark> {
        let (bottom, top) = input.bounds;
        if !self.logarithmic {
            let step = round_step(top);
            return uniform_grid_spacer(move |_| [step, 5.0 * step, 10.0 * step])(input);
        }
        let decades = bottom.floor() as i32..=top.ceil() as i32;
        decades
            .flat_map(|decade| {
                (1..=9_i32).map(move |digit| GridMark {
                    value: f64::from(decade) + f64::from(digit).log10(),
                    step_size: match digit {
                        1 => 1.0,
                        2 | 5 => 0.3,
                        _ => 0.05,
                    },
                })
            })
            .filter(|mark| (bottom..=top).contains(&mark.value))
            .collect()
    }
}

/// A step of 1, 2 or 5 times a power of ten, such that `largest` is two to five steps.
fn round_step(largest: f64) -> f64 {
    let power = 10_f64.powi(largest.max(1.0).log10().floor() as i32);
    let digits = largest.max(1.0) / power;
    if digits < 2.0 {
        power / 2.0
    } else if digits < 5.0 {
        power
    } else {
        power * 2.0
    }
}

/// The lower end of a logarithmic axis, at least.
const MIN_LOGARITHMIC_KBPS: f64 = 1.0;

/// Factor of the largest rate that the axis reaches at least.
const HEADROOM: f64 = 1.05;

#[cfg(test)]
mod tests {
    use super::*;

    const LINEAR: Scale = Scale { logarithmic: false };
    const LOGARITHMIC: Scale = Scale { logarithmic: true };

    #[test]
    fn heights_convert_back_to_rates() {
        for kbps in [1.0, 15.0, 256.0, 17_368.8] {
            assert_eq!(LINEAR.kbps(LINEAR.height(kbps)), kbps);
            let back = LOGARITHMIC.kbps(LOGARITHMIC.height(kbps));
            assert!((back - kbps).abs() < kbps * 1e-9);
        }
        assert_eq!(LOGARITHMIC.height(0.0), 0.0);
    }

    #[test]
    fn the_axis_ends_at_round_numbers() {
        assert_eq!(LINEAR.heights(15.0, 256.0), 0.0..=300.0);
        assert_eq!(LINEAR.heights(15.0, 17_368.0), 0.0..=20_000.0);
        assert_eq!(LOGARITHMIC.heights(15.0, 256.0), 1.0..=3.0);
        assert_eq!(LOGARITHMIC.heights(0.0, 256.0), 0.0..=3.0);
    }

    #[test]
    fn an_axis_has_two_to_five_steps() {
        for largest in [1.0, 9.9, 10.0, 256.0, 300.0, 499.0, 999.0, 20_000.0] {
            let steps = largest / round_step(largest);
            assert!((2.0..6.0).contains(&steps), "{steps} steps to {largest}");
        }
    }

    #[test]
    fn decades_are_marked() {
        let marks = LOGARITHMIC.marks(GridInput {
            bounds: (1.0, 3.0),
            base_step_size: 0.1,
        });
        for decade in [1.0, 2.0, 3.0] {
            assert!(marks.iter().any(|mark| mark.value == decade));
        }
        assert_eq!(marks.len(), 19);
    }
}
