//! The time of day as Kubernetes writes it.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970, printed as RFC 3339 in UTC (`metav1.Time`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UnixSeconds(pub(crate) u64);

// === impl UnixSeconds ===

impl UnixSeconds {
    /// Reads the clock; a clock before 1970 reads as 1970.
    pub(crate) fn now() -> Self {
        Self(
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |age| age.as_secs()),
        )
    }

    pub(crate) fn plus(self, seconds: u64) -> Self {
        Self(self.0.saturating_add(seconds))
    }
}

impl fmt::Display for UnixSeconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.0 / 86_400, self.0 % 86_400);
        let (year, month, day) = civil_date(days);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"
        )
    }
}

/// Year, month and day of a day counted from 1970-01-01.
///
/// Counts in years that begin in March, so that the leap day comes last
/// (Howard Hinnant, "chrono-compatible low-level date algorithms").
fn civil_date(days: u64) -> (u64, u64, u64) {
    let shifted = days.saturating_add(719_468);
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_print_as_rfc_3339() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (4_102_444_800, "2100-01-01T00:00:00Z"),
        ] {
            assert_eq!(UnixSeconds(seconds).to_string(), text);
        }
    }
}
