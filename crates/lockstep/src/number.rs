//! Whole numbers on the command line, in the configuration file and in the environment.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr};

/// Why a text is not the number that is asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from {min} to {max}")]
pub(crate) struct InvalidNumber {
    min: String,
    max: String,
}

/// A parser of whole numbers in `range`, for clap.
pub(crate) fn whole<T>(
    range: RangeInclusive<T>,
) -> impl Fn(&str) -> Result<T, InvalidNumber> + Clone + Send + Sync
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync,
{
    move |text| {
        let invalid = || InvalidNumber {
            min: range.start().to_string(),
            max: range.end().to_string(),
        };
        let number = text.parse().map_err(|_| invalid())?;
        if range.contains(&number) {
            Ok(number)
        } else {
            Err(invalid())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_of_the_range_is_refused_with_the_range() {
        let parse = whole(10_u16..=20);
        assert_eq!([parse("10"), parse("20")], [Ok(10), Ok(20)]);
        for text in ["", "9", "21", "-1", "1.5", "x", "65546", " 10"] {
            let error = parse(text).unwrap_err().to_string();
            assert_eq!(error, "must be a whole number from 10 to 20", "{text}");
        }
    }
}
