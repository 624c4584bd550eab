//! Figures that are measured again and again, smoothed so that they can be read.

use std::time::Duration;

/// An exponential mean.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mean(Option<f64>);

impl Mean {
    /// The share of a new measurement.
    const WEIGHT: f64 = 0.05;

    pub(super) fn add(&mut self, measured: f64) {
        let before = self.0.unwrap_or(measured);
        self.0 = Some(before + Self::WEIGHT * (measured - before));
    }

    pub(super) fn get(self) -> f64 {
        self.0.unwrap_or(0.0)
    }
}

/// The exponential mean of a time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MeanTime(Mean);

impl MeanTime {
    pub(super) fn add(&mut self, time: Duration) {
        self.0.add(time.as_secs_f64());
    }

    /// Zero before the first time.
    pub(super) fn get(self) -> Duration {
        self.measured().unwrap_or_default()
    }

    /// None before the first time.
    pub(super) fn measured(self) -> Option<Duration> {
        self.0.0.map(Duration::from_secs_f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smoothed_time_approaches_what_is_measured() {
        let mut mean = MeanTime::default();
        mean.add(Duration::from_millis(4));
        assert_eq!(mean.get(), Duration::from_millis(4));
        for _ in 0..200 {
            mean.add(Duration::from_millis(2));
        }
        assert!(mean.get() < Duration::from_micros(2_010));
    }
}
