//! Durations as Go writes them: `200ms`, `1m30s`, `-1.5h`.

/// What a text must be, in words.
pub(super) const DURATION: &str = "a duration such as `200ms`, `10s` or `1m30s`";

/// Reads a duration in nanoseconds; `None` for a text that Go's `ParseDuration` refuses.
pub(super) fn go_duration(text: &str) -> Option<i64> {
    let (is_negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let (nanoseconds, after) = part(rest)?;
        total = total.checked_add(nanoseconds)?;
        rest = after;
    }
    i64::try_from(if is_negative {
        total.checked_neg()?
    } else {
        total
    })
    .ok()
}

/// One number with its unit, and what follows it.
fn part(text: &str) -> Option<(i128, &str)> {
    let (whole, rest) = digits(text);
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => digits(rest),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let end = rest.find(|next: char| next == '.' || next.is_ascii_digit());
    let (unit, rest) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
    let unit = nanoseconds(unit)?;
    let whole: i128 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let total = whole.checked_mul(unit)?.checked_add(of(fraction, unit))?;
    Some((total, rest))
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|next: char| !next.is_ascii_digit());
    text.split_at_checked(end.unwrap_or(text.len()))
        .unwrap_or((text, ""))
}

/// A decimal fraction of a unit, rounded down; digits that cannot count do not.
fn of(fraction: &str, unit: i128) -> i128 {
    const DIGITS_MAX: usize = 18;
    let mut sum = 0_i128;
    let mut scale = 1_i128;
    for digit in fraction.bytes().take(DIGITS_MAX) {
        sum = sum
            .saturating_mul(10)
            .saturating_add(i128::from(digit.saturating_sub(b'0')));
        scale = scale.saturating_mul(10);
    }
    sum.saturating_mul(unit).checked_div(scale).unwrap_or(0)
}

fn nanoseconds(unit: &str) -> Option<i128> {
    match unit {
        "ns" => Some(1),
        // With the micro sign, and with the Greek letter.
        "us" | "\u{b5}s" | "\u{3bc}s" => Some(1_000),
        "ms" => Some(1_000_000),
        "s" => Some(1_000_000_000),
        "m" => Some(60 * 1_000_000_000),
        "h" => Some(3600 * 1_000_000_000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_reads_as_in_go() {
        for (text, nanoseconds) in [
            ("0", 0),
            ("-0", 0),
            ("0s", 0),
            ("7ns", 7),
            ("100us", 100_000),
            ("100\u{b5}s", 100_000),
            ("100\u{3bc}s", 100_000),
            ("200ms", 200_000_000),
            ("1.5s", 1_500_000_000),
            (".5s", 500_000_000),
            ("5.s", 5_000_000_000),
            ("+5s", 5_000_000_000),
            ("-5s", -5_000_000_000),
            ("1m30s", 90_000_000_000),
            ("1h2m3.5s", 3_723_500_000_000),
            ("0.100000000000000000000001h", 360_000_000_000),
            ("0.3333333333333333333h", 1_199_999_999_999),
            ("9223372036854775807ns", i64::MAX),
            ("-9223372036854775808ns", i64::MIN),
        ] {
            assert_eq!(go_duration(text), Some(nanoseconds), "{text}");
        }
    }

    #[test]
    fn what_go_refuses_is_no_duration() {
        for text in [
            "",
            "-",
            "+",
            "10",
            "bad",
            "s",
            ".s",
            ".",
            "1",
            "5 s",
            " 5s",
            "5s ",
            "5S",
            "1d",
            "--5s",
            "-+5s",
            "5s-3s",
            "1.2.3s",
            "9223372036854775808ns",
            "9223372036854775807h",
            "99999999999999999999999999999999999999999999999999s",
            "1\u{661}s",
        ] {
            assert_eq!(go_duration(text), None, "{text}");
        }
    }
}
