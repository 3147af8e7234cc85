//! Addresses that name the write they come from.

use std::net::{IpAddr, Ipv4Addr};

/// A number that no other write of the run has.
///
/// Range: 0 to 2^24 - 1, since it is the host part of an address in 10.0.0.0/8.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Serial(u32);

/// Why a number is no serial.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no serial; allowed are 0 to {MAX}", MAX = Serial::MAX.0)]
pub struct InvalidSerial(u32);

/// The first half of 10.0.0.0/8.
const NETWORK: u32 = 10 << 24;

/// Ports below are left to others.
const PORT_MIN: u16 = 1024;

// === impl Serial ===

impl Serial {
    /// The largest one.
    pub const MAX: Self = Self((1 << 24) - 1);

    /// The address that the write puts into its endpoint.
    #[must_use]
    pub fn ip(self) -> IpAddr {
        Ipv4Addr::from_bits(NETWORK | self.0).into()
    }

    /// The port that the write puts into its slice, if it is the slice's own serial. It is not
    /// unique, the address is.
    #[must_use]
    pub fn port(self) -> u16 {
        let ports = u32::from(u16::MAX - PORT_MIN);
        let above = self.0 % ports;
        // Always within the range, by the line before.
        PORT_MIN.saturating_add(above.try_into().unwrap_or(0))
    }

    /// The serial of an address that a write made.
    #[must_use]
    pub fn of(ip: IpAddr) -> Option<Self> {
        match ip {
            IpAddr::V4(ip) if ip.to_bits() & !Self::MAX.0 == NETWORK => {
                Some(Self(ip.to_bits() & Self::MAX.0))
            }
            IpAddr::V4(_) | IpAddr::V6(_) => None,
        }
    }
}

impl TryFrom<u32> for Serial {
    type Error = InvalidSerial;

    fn try_from(number: u32) -> Result<Self, InvalidSerial> {
        let serial = Self(number);
        (serial <= Self::MAX)
            .then_some(serial)
            .ok_or(InvalidSerial(number))
    }
}

#[cfg(test)]
mod tests {
    use super::Serial;

    #[test]
    fn an_address_gives_its_serial_back() {
        for number in [0, 1, 90_211, Serial::MAX.0] {
            let serial = Serial::try_from(number).unwrap();
            assert_eq!(Serial::of(serial.ip()), Some(serial));
            assert!(serial.port() >= 1024);
        }
        assert_eq!(Serial::of("192.168.0.1".parse().unwrap()), None);
        assert_eq!(Serial::of("fd00::1".parse().unwrap()), None);
    }

    #[test]
    fn a_number_too_large_is_refused() {
        let error = Serial::try_from(1 << 24).unwrap_err().to_string();
        assert_eq!(error, "16777216 is no serial; allowed are 0 to 16777215");
    }
}
