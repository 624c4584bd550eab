//! Linear regression for the weights of a blend.

use crate::entropy::{BLEND_UNIT, BLENDED, BlendWeights};

/// Normal equations of a weighted least-squares fit. Large residuals have smaller weights, because the cost of a
/// residual grows with its logarithm. Otherwise collisions would dominate the fit.
#[derive(Clone, Debug, Default)]
pub(super) struct Regression {
    matrix: [[f64; BLENDED]; BLENDED],
    vector: [f64; BLENDED],
    samples: f64,
}

impl Regression {
    /// Adds a sample: the differences of a body along one axis, the sum that would have been exact, and the error of
    /// the current blend.
    pub(super) fn add(&mut self, differences: [f32; BLENDED], actual: f32, residual: f32) {
        if actual.abs() > MAX_ACTUAL {
            return;
        }
        let differences = differences.map(f64::from);
        let spread = 4.0 + f64::from(residual).abs();
        let weight = 10.0 / (spread * spread.sqrt());
        for (row, a) in differences.into_iter().enumerate() {
            for (column, b) in differences.into_iter().enumerate() {
                self.matrix[row][column] += weight * a * b;
            }
            self.vector[row] += weight * a * f64::from(actual);
        }
        self.samples += 1.0;
    }

    /// Weights of the blend; zero if there are few samples.
    pub(super) fn weights(mut self) -> BlendWeights {
        if self.samples < MIN_SAMPLES {
            return [0; BLENDED];
        }
        // Ridge regression, because the differences are nearly linearly dependent.
        let ridge = 3.0 + self.samples * 1e-3;
        for (index, row) in self.matrix.iter_mut().enumerate() {
            row[index] += ridge;
        }
        let scale = 1.0 / f64::from(BLEND_UNIT);
        let limit = f64::from(i16::MAX);
        self.solve().map(|weight| (weight * scale).round().clamp(-limit, limit) as i16)
    }

    /// Gaussian elimination. The matrix is positive definite, so no pivot is zero.
    fn solve(mut self) -> [f64; BLENDED] {
        for pivot in 0..BLENDED {
            for row in pivot + 1..BLENDED {
                let factor = self.matrix[row][pivot] / self.matrix[pivot][pivot];
                for column in pivot..BLENDED {
                    self.matrix[row][column] -= factor * self.matrix[pivot][column];
                }
                self.vector[row] -= factor * self.vector[pivot];
            }
        }
        let mut solution = [0.0; BLENDED];
        for row in (0..BLENDED).rev() {
            let known: f64 =
                (row + 1..BLENDED).map(|column| self.matrix[row][column] * solution[column]).sum();
            solution[row] = (self.vector[row] - known) / self.matrix[row][row];
        }
        solution
    }
}

/// Larger sums are teleports, which are ignored.
const MAX_ACTUAL: f32 = 2000.0;
const MIN_SAMPLES: f64 = 200.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_an_exact_sum_are_found() {
        let mut regression = Regression::default();
        for sample in 0..400 {
            let mut differences = [0.0; BLENDED];
            differences[0] = (sample % 17) as f32 * 4.0 - 30.0;
            differences[1] = (sample % 13) as f32 * 5.0 - 20.0;
            let actual = 0.5 * differences[0] - 0.25 * differences[1];
            regression.add(differences, actual, 0.0);
        }
        let weights = regression.weights();
        assert!(weights[0].abs_diff(2048) < 8, "{weights:?}");
        assert!(weights[1].abs_diff(-1024) < 8, "{weights:?}");
        assert_eq!(weights[2..], [0; BLENDED - 2]);
    }
}
