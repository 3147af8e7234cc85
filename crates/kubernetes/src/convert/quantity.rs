//! Quantities as Kubernetes writes them: `500m`, `2`, `1.5k`, `1Gi`, `3e2`.

/// A quantity, as far as it is needed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// In thousandths, rounded up; what is too large is `u64::MAX`.
    Milli(u64),
    /// Below zero.
    Negative,
}

/// Digits that are read of a number; further ones are beyond what Kubernetes keeps.
const DIGITS_MAX: u32 = 18;
/// The lowest number that has too many digits for one more.
const FULL: u128 = 10_u128.pow(DIGITS_MAX - 1);

/// A number without sign: `mantissa * 10^ten * 2^two`, or a little more.
struct Number {
    mantissa: u128,
    ten: i32,
    two: u32,
    /// Whether digits other than 0 were cut off.
    is_more: bool,
}

/// Reads a quantity; `None` for a text that is none.
pub(super) fn quantity(text: &str) -> Option<Quantity> {
    let (is_negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let milli = number(unsigned)?.milli();
    Some(match (is_negative, milli) {
        (true, 1..) => Quantity::Negative,
        (_, milli) => Quantity::Milli(milli),
    })
}

fn number(text: &str) -> Option<Number> {
    let mut number = Number {
        mantissa: 0,
        ten: 0,
        two: 0,
        is_more: false,
    };
    let end = text.find(|next: char| !next.is_ascii_digit() && next != '.');
    let (decimal, suffix) = text.split_at_checked(end.unwrap_or(text.len()))?;
    let (whole, fraction) = decimal.split_once('.').unwrap_or((decimal, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    for digit in whole.bytes() {
        number.push(digit, 1);
    }
    for digit in fraction.bytes() {
        number.push(digit, 0);
    }
    number.scale(suffix)?;
    Some(number)
}

impl Number {
    /// Adds a digit; `place` is what the exponent grows by if there is no room for it, as
    /// against one less if there is.
    fn push(&mut self, digit: u8, place: i32) {
        let digit = u128::from(digit.saturating_sub(b'0'));
        if self.mantissa < FULL {
            self.mantissa = self.mantissa.saturating_mul(10).saturating_add(digit);
            self.ten = self.ten.saturating_add(place - 1);
        } else {
            self.is_more |= digit != 0;
            self.ten = self.ten.saturating_add(place);
        }
    }

    fn scale(&mut self, suffix: &str) -> Option<()> {
        let (ten, two) = match suffix {
            "n" => (-9, 0),
            "u" => (-6, 0),
            "m" => (-3, 0),
            "" => (0, 0),
            "k" => (3, 0),
            "M" => (6, 0),
            "G" => (9, 0),
            "T" => (12, 0),
            "P" => (15, 0),
            "E" => (18, 0),
            "Ki" => (0, 10),
            "Mi" => (0, 20),
            "Gi" => (0, 30),
            "Ti" => (0, 40),
            "Pi" => (0, 50),
            "Ei" => (0, 60),
            _ => (suffix.strip_prefix(['e', 'E'])?.parse().ok()?, 0),
        };
        self.ten = self.ten.saturating_add(ten);
        self.two = two;
        Some(())
    }

    /// In thousandths, rounded up.
    fn milli(&self) -> u64 {
        let shifted = self.mantissa.saturating_mul(1 << self.two);
        let ten = self.ten.saturating_add(3);
        let power = 10_u128.checked_pow(ten.unsigned_abs());
        let rounded = match (shifted, power) {
            (0, _) => 0,
            (_, Some(power)) if ten >= 0 => shifted.saturating_mul(power),
            (_, None) if ten >= 0 => u128::MAX,
            (_, Some(power)) => {
                let is_more = u128::from(self.is_more);
                // Below the last digit there is at most one more.
                shifted.saturating_add(is_more).div_ceil(power)
            }
            (_, None) => 1,
        };
        u64::try_from(rounded).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_is_rounded_up_to_thousandths() {
        for (text, milli) in [
            ("0", 0),
            ("-0", 0),
            ("000", 0),
            ("1", 1_000),
            ("+1", 1_000),
            ("01.50", 1_500),
            (".5", 500),
            ("1.", 1_000),
            ("500m", 500),
            ("1m", 1),
            ("1.5m", 2),
            ("100u", 1),
            ("1000u", 1),
            ("1001u", 2),
            ("1n", 1),
            ("0.0001", 1),
            ("0.0010000000000000000000001", 2),
            ("1e-40", 1),
            ("0e400", 0),
            ("1k", 1_000_000),
            ("2M", 2_000_000_000),
            ("1G", 1_000_000_000_000),
            ("1T", 1_000_000_000_000_000),
            ("1P", 1_000_000_000_000_000_000),
            ("1E", u64::MAX),
            ("1Ki", 1_024_000),
            ("1Mi", 1_048_576_000),
            ("1Gi", 1_073_741_824_000),
            ("1Ti", 1_099_511_627_776_000),
            ("1Pi", 1_125_899_906_842_624_000),
            ("1Ei", u64::MAX),
            ("1e3", 1_000_000),
            ("1E3", 1_000_000),
            ("15e-1", 1_500),
            ("1e+2", 100_000),
            ("1e2147483647", u64::MAX),
            ("1e-2147483648", 1),
            ("99999999999999999999999999999999999999999999", u64::MAX),
            ("0.99999999999999999999999999999999999999999999", 1_000),
            ("00000000000000000000000000000000000000000000001", 1_000),
        ] {
            assert_eq!(quantity(text), Some(Quantity::Milli(milli)), "{text}");
        }
        for text in ["-1", "-1n", "-1E", "-0.0001"] {
            assert_eq!(quantity(text), Some(Quantity::Negative), "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_none() {
        for text in [
            "",
            "-",
            "+",
            ".",
            "m",
            "1x",
            "1 ",
            " 1",
            "1mm",
            "1mi",
            "1ki",
            "1K",
            "1e",
            "1e1.5",
            "1ei",
            "1Ee",
            "1.2.3",
            "--1",
            "+-1",
            "1e2147483648",
            "1e99999999999",
            "0x1",
            "NaN",
            "inf",
            "1\u{661}",
        ] {
            assert_eq!(quantity(text), None, "{text}");
        }
    }
}
