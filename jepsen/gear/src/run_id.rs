//! The name of one run, which everything that the run makes carries.

use std::fmt;
use std::net::Ipv4Addr;

/// Begins every name that a run gives to an interface, namespace, table or folder.
pub const PREFIX: &str = "ls";

/// Four hexadecimal digits by chance; printed with the prefix, for example `ls3fa2`.
///
/// Short, because the name of an interface has at most 15 characters.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RunId(u16);

impl RunId {
    /// An id that no other run is likely to have.
    ///
    /// # Errors
    ///
    /// When the system gives no random number.
    pub fn random() -> anyhow::Result<Self> {
        let number = getrandom::u32().map_err(|error| anyhow::anyhow!("no random id: {error}"))?;
        let [low, high, ..] = number.to_le_bytes();
        Ok(Self(u16::from_le_bytes([low, high])))
    }

    /// The name of a thing of this run, for example `ls3fa2-n1`.
    pub fn name(self, thing: &str) -> String {
        format!("{self}-{thing}")
    }

    /// A loopback address of this run, for what needs no network of its own.
    pub fn loopback(self, number: u8) -> Ipv4Addr {
        let [high, low] = self.0.to_be_bytes();
        // Not 127.0: other programs are there.
        Ipv4Addr::new(127, high | 0x80, low, number)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{PREFIX}{:04x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_into_the_name_of_an_interface() {
        let name = RunId(0x3fa).name("api1-a");
        assert_eq!(name, "ls03fa-api1-a");
        assert!(name.len() <= 15);
    }
}
