//! How long most, nearly all, and the slowest took.

use crate::clock::{length, real};

/// Quantiles of lengths of time. Unit: nanoseconds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quantiles {
    /// How many there were, at least 1.
    pub(crate) count: usize,
    /// Half were not longer.
    pub(crate) p50: u64,
    /// 99 of 100 were not longer.
    pub(crate) p99: u64,
    /// The longest.
    pub(crate) max: u64,
}

// === impl Quantiles ===

impl Quantiles {
    /// None of nothing.
    pub(crate) fn of(mut lengths: Vec<u64>) -> Option<Self> {
        lengths.sort_unstable();
        let count = lengths.len();
        let at = |percent: usize| {
            let rank = (count * percent).div_ceil(100).max(1);
            lengths.get(rank - 1).copied()
        };
        Some(Self {
            count,
            p50: at(50)?,
            p99: at(99)?,
            max: at(100)?,
        })
    }

    /// Each with its unit.
    pub(crate) fn shown(&self) -> String {
        let [p50, p99, max] = [self.p50, self.p99, self.max].map(|it| length(real(it)));
        format!("p50 {p50}, p99 {p99}, max {max}, of {}", self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::Quantiles;

    #[test]
    fn quantiles_are_values_that_were_there() {
        let lengths = (1..=200).rev().map(|ms| ms * 1_000_000).collect();
        let shown = Quantiles::of(lengths).map(|it| it.shown());
        let expected = "p50 100 ms, p99 198 ms, max 200 ms, of 200";
        assert_eq!(shown.as_deref(), Some(expected));
    }

    #[test]
    fn nothing_has_no_quantiles() {
        assert_eq!(Quantiles::of(Vec::new()), None);
    }
}
