//! Exponential moving averages, for measurements that people read.

/// An exponential moving average. `None` before the first measurement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mean(pub(super) Option<f64>);

impl Mean {
    /// Weight of each new measurement.
    const WEIGHT: f64 = 0.05;

    pub(super) fn add(&mut self, measured: f64) {
        let before = self.0.unwrap_or(measured);
        self.0 = Some(before + Self::WEIGHT * (measured - before));
    }

    /// The average. 0 before the first measurement.
    pub(super) fn get(self) -> f64 {
        self.0.unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smoothed_figure_approaches_what_is_measured() {
        let mut mean = Mean::default();
        mean.add(4.0);
        assert_eq!(mean.get(), 4.0);
        for _ in 0..200 {
            mean.add(2.0);
        }
        assert!(mean.get() < 2.01);
    }
}
