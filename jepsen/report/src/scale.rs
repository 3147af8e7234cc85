//! From values to places on an axis, and which of them get a number.

use crate::clock::{length, short};

/// How values become places from 0 to 1.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum Scale {
    /// Seconds from 0 to this many; equal steps.
    Seconds(f64),
    /// Lengths of time between these, in nanoseconds; equal factors. Shorter ones lie on the edge.
    Lengths(f64, f64),
}

/// The shortest length that an axis tells from nothing.
const SHORTEST: f64 = 1e5;

// === impl Scale ===

impl Scale {
    /// From 0 to the largest value. Unit: seconds.
    pub(crate) fn seconds(largest: f64) -> Self {
        Self::Seconds(largest.max(1.0))
    }

    /// From 0.1 ms to a power of ten that is not below the largest value. Unit: nanoseconds.
    pub(crate) fn lengths(values: impl IntoIterator<Item = f64>) -> Self {
        let largest = values.into_iter().fold(SHORTEST * 100.0, f64::max);
        Self::Lengths(SHORTEST, 10_f64.powf(largest.log10().ceil()))
    }

    /// The place of a value, from 0 to 1; what is outside lies on the edge.
    pub(crate) fn place(self, value: f64) -> f64 {
        let place = match self {
            Self::Seconds(largest) => value / largest,
            Self::Lengths(from, to) => (value.max(from) / from).log10() / (to / from).log10(),
        };
        place.clamp(0.0, 1.0)
    }

    /// The values that get a number, and the number.
    pub(crate) fn marks(self) -> Vec<(f64, String)> {
        match self {
            Self::Seconds(largest) => {
                let step = round_step(largest / 8.0);
                let marks = (0..=100).map(|count| f64::from(count) * step);
                let marks = marks.take_while(|value| *value <= largest);
                marks
                    .map(|value| (value, format!("{} s", short(value))))
                    .collect()
            }
            Self::Lengths(from, to) => {
                let marks = (0..20).map(|power| from * 10_f64.powi(power));
                let marks = marks.take_while(|value| *value <= to * 1.01);
                let mut marks: Vec<(f64, String)> =
                    marks.map(|value| (value, length(value))).collect();
                // Shorter ones lie there too.
                if let Some((_, text)) = marks.first_mut() {
                    text.insert_str(0, "≤ ");
                }
                marks
            }
        }
    }
}

/// The next of 1, 2, 5 times a power of ten.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let factors = [1.0, 2.0, 5.0];
    let factor = factors.into_iter().find(|factor| factor * power >= least);
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::Scale;

    #[test]
    fn seconds_get_round_numbers() {
        let marks = Scale::seconds(95.0).marks();
        let shown: Vec<&str> = marks.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(shown, ["0 s", "20 s", "40 s", "60 s", "80 s"]);
        assert_eq!(Scale::seconds(95.0).place(190.0), 1.0);
    }

    #[test]
    fn lengths_get_powers_of_ten() {
        let scale = Scale::lengths([2e9]);
        let shown: Vec<String> = scale.marks().into_iter().map(|(_, text)| text).collect();
        assert_eq!(
            shown,
            ["≤ 100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]
        );
        assert_eq!(scale.place(0.0), 0.0);
        assert!((scale.place(1e8) - 0.6).abs() < 1e-9);
    }
}
