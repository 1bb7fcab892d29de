//! Least squares: the straight line that is nearest to some points.

/// A straight line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LinearTrend {
    /// What it rises by where x rises by 1.
    pub(super) slope: f64,
    /// Its value where x is 0.
    pub(super) at_zero: f64,
}

impl LinearTrend {
    /// Returns the line through these points (x, y); flat where there are fewer than two places.
    pub(super) fn of(points: &[(f64, f64)]) -> Self {
        let count = f64::from(u32::try_from(points.len()).unwrap_or(u32::MAX)).max(1.0);
        let mean = |value: fn(&(f64, f64)) -> f64| points.iter().map(value).sum::<f64>() / count;
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        let spread: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
        let rise: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
        let slope = if spread > 0.0 { rise / spread } else { 0.0 };
        Self { slope, at_zero: y - slope * x }
    }

    /// Returns its value at a place.
    pub(super) fn at(self, x: f64) -> f64 {
        self.at_zero + self.slope * x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_line_is_found() {
        assert_eq!(LinearTrend::of(&[(1.0, 5.0), (3.0, 9.0)]), LinearTrend { slope: 2.0, at_zero: 3.0 });
        let noisy = LinearTrend::of(&[(0.0, 1.0), (1.0, 0.0), (2.0, 3.0), (3.0, 2.0)]);
        assert!((noisy.slope - 0.6).abs() < 1e-9 && (noisy.at(1.5) - 1.5).abs() < 1e-9, "{noisy:?}");
        assert_eq!(LinearTrend::of(&[(7.0, 4.0)]), LinearTrend { slope: 0.0, at_zero: 4.0 });
        assert_eq!(LinearTrend::of(&[]), LinearTrend { slope: 0.0, at_zero: 0.0 });
    }
}
