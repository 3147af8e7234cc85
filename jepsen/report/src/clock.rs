//! Times as people read them.

/// Nanoseconds as a number that pictures can place. Exact below 2^53 ns, which is 104 days.
pub(crate) fn real(nanoseconds: u64) -> f64 {
    nanoseconds as f64
}

/// A length of time with a unit that fits and at most three digits before it.
pub(crate) fn length(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{} {unit}", short(value))
}

/// A number without digits that say nothing.
pub(crate) fn short(value: f64) -> String {
    let text = if value.abs() < 10.0 {
        format!("{value:.2}")
    } else if value.abs() < 100.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    };
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{length, short};

    #[test]
    fn lengths_have_the_unit_that_fits() {
        let shown = [0.0, 950.0, 1_500.0, 2_000_000.0, 3.25e9, 61e9].map(length);
        assert_eq!(
            shown,
            ["0 ns", "950 ns", "1.5 µs", "2 ms", "3.25 s", "61 s"]
        );
    }

    #[test]
    fn numbers_lose_no_zeros_that_count() {
        assert_eq!(
            [100.0, 10.0, 0.5, 1200.0].map(short),
            ["100", "10", "0.5", "1200"]
        );
    }
}
