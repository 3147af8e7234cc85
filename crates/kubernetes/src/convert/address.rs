//! Addresses as objects write them.

use std::{net::IpAddr, str::FromStr};

use super::Skipped;

/// Reads an address of the family `A`; a text that is none is skipped. `expected` says what
/// should stand there.
pub(super) fn address<A: FromStr + Into<IpAddr>>(
    field: &'static str,
    text: &str,
    expected: &'static str,
    skipped: &mut Vec<Skipped>,
) -> Option<IpAddr> {
    let address = text.parse::<A>().ok().map(Into::into);
    if address.is_none() {
        skipped.push(Skipped::Address {
            field,
            text: text.to_owned(),
            expected,
        });
    }
    address
}

/// Reads an address of any family; a text that is none is skipped.
pub(super) fn ip(field: &'static str, text: &str, skipped: &mut Vec<Skipped>) -> Option<IpAddr> {
    address::<IpAddr>(field, text, "an IP address", skipped)
}
