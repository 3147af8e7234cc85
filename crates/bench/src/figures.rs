//! Times as percentiles.

use serde_json::{Value, json};
use std::time::Duration;

/// What one benchmark measured, sorted.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    name: String,
    sorted: Vec<Duration>,
}

impl Figures {
    pub(crate) fn of(name: impl Into<String>, mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self {
            name: name.into(),
            sorted: times,
        }
    }

    /// The time that `permille` of all are not above; zero of none.
    fn quantile(&self, permille: usize) -> Duration {
        let last = self.sorted.len().saturating_sub(1);
        let place = last * permille / 1000;
        self.sorted.get(place).copied().unwrap_or_default()
    }

    pub(crate) fn header() -> String {
        format!(
            "{:<52} {:>6} {:>9} {:>9} {:>9} {:>9}",
            "milliseconds", "n", "p10", "p50", "p99", "max"
        )
    }

    pub(crate) fn row(&self) -> String {
        let [p10, p50, p99, max] =
            [100, 500, 990, 1000].map(|permille| ms(self.quantile(permille)));
        format!(
            "{:<52} {:>6} {p10:>9.3} {p50:>9.3} {p99:>9.3} {max:>9.3}",
            self.name,
            self.sorted.len()
        )
    }

    pub(crate) fn json(&self) -> Value {
        let [p10, p50, p99, max] =
            [100, 500, 990, 1000].map(|permille| ms(self.quantile(permille)));
        json!({ "name": self.name, "n": self.sorted.len(), "p10_ms": p10, "p50_ms": p50, "p99_ms": p99, "max_ms": max })
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_taken_from_the_sorted_times() {
        let times = (0..=100).rev().map(Duration::from_millis).collect();
        let figures = Figures::of("times", times);
        let quantiles = [0, 500, 990, 1000].map(|permille| figures.quantile(permille).as_millis());
        assert_eq!(quantiles, [0, 50, 99, 100]);
        assert_eq!(
            Figures::of("none", Vec::new()).quantile(500),
            Duration::ZERO
        );
    }
}
