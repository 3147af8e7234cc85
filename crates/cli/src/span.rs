//! Lengths of time: on the command line (`500ms`, `5s`, `2m`), and in tables.

use std::time::Duration;

const SPAN_MAX: Duration = Duration::from_hours(1);

/// Why a text is not a length of time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a time from 1ms to 1h: write a whole number with ms, s, m or h, such as 5s")]
pub struct InvalidSpan(String);

/// Parses a whole number of milliseconds, seconds, minutes or hours, from 1 ms to 1 h.
pub(crate) fn parse_span(text: &str) -> Result<Duration, InvalidSpan> {
    let invalid = || InvalidSpan(text.to_owned());
    let unit_at = text
        .find(|char: char| !char.is_ascii_digit())
        .ok_or_else(invalid)?;
    let (number, unit) = text.split_at(unit_at);
    let number: u64 = number.parse().map_err(|_| invalid())?;
    let unit_ms = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(invalid()),
    };
    let span = Duration::from_millis(number.checked_mul(unit_ms).ok_or_else(invalid)?);
    if span.is_zero() || span > SPAN_MAX {
        Err(invalid())
    } else {
        Ok(span)
    }
}

/// A length of time in its two largest units: `12ms`, `4.2s`, `3m 5s`, `2h 10m`.
pub(crate) fn show_span(ms: u64) -> String {
    let seconds = Duration::from_millis(ms).as_secs();
    match seconds {
        0 => format!("{ms}ms"),
        1..60 => format!("{seconds}.{}s", ms % 1000 / 100),
        60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        3600.. => format!("{}h {}m", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_read() {
        for (text, ms) in [
            ("1ms", 1),
            ("5s", 5_000),
            ("2m", 120_000),
            ("1h", 3_600_000),
        ] {
            assert_eq!(parse_span(text), Ok(Duration::from_millis(ms)));
        }
    }

    #[test]
    fn anything_else_is_named_with_the_range() {
        for text in [
            "",
            "5",
            "s",
            "0s",
            "-1s",
            "1.5s",
            "61m",
            "5 s",
            "5d",
            "99999999999999999999s",
        ] {
            let expected = format!(
                "`{text}` is not a time from 1ms to 1h: write a whole number with ms, s, m or h, \
                 such as 5s"
            );
            assert_eq!(
                parse_span(text).map_err(|error| error.to_string()),
                Err(expected)
            );
        }
    }

    #[test]
    fn times_have_the_unit_that_fits() {
        for (ms, text) in [
            (0, "0ms"),
            (999, "999ms"),
            (4_250, "4.2s"),
            (185_000, "3m 5s"),
            (7_800_000, "2h 10m"),
        ] {
            assert_eq!(show_span(ms), text);
        }
    }
}
