//! Fixed-width hexadecimal text of the ids and digests.

/// Why a text is not an id or a digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidHex {
    text: String,
    digits: usize,
}

impl std::fmt::Display for InvalidHex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "`{}` is not {} hexadecimal digits",
            self.text, self.digits
        )
    }
}

impl std::error::Error for InvalidHex {}

/// Parses exactly 32 hexadecimal digits, of either case.
pub(crate) fn parse_u128(text: &str) -> Result<u128, InvalidHex> {
    let digits = all_digits(text, 32)?;
    u128::from_str_radix(digits, 16).map_err(|_| invalid(text, 32))
}

/// Parses exactly 16 hexadecimal digits, of either case.
pub(crate) fn parse_u64(text: &str) -> Result<u64, InvalidHex> {
    let digits = all_digits(text, 16)?;
    u64::from_str_radix(digits, 16).map_err(|_| invalid(text, 16))
}

/// `from_str_radix` takes a sign and any length; an id takes neither.
fn all_digits(text: &str, digits: usize) -> Result<&str, InvalidHex> {
    let fits = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if fits {
        Ok(text)
    } else {
        Err(invalid(text, digits))
    }
}

fn invalid(text: &str, digits: usize) -> InvalidHex {
    InvalidHex {
        text: text.to_owned(),
        digits,
    }
}
