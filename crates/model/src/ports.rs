//! Sets of port numbers, as annotations write them: `25,587,4000-4100`.

use serde::{Deserialize, Serialize};

/// An inclusive range of port numbers, `first <= last`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PortRange {
    first: u16,
    last: u16,
}

/// Why a text is not a port or a range of ports.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither a port (0 to 65535) nor a range of ports such as `4000-4100`")]
pub struct InvalidPortRange(String);

impl PortRange {
    /// The range of one port.
    #[must_use]
    pub const fn single(port: u16) -> Self {
        Self {
            first: port,
            last: port,
        }
    }

    /// Whether `port` lies in the range.
    #[must_use]
    pub const fn contains(self, port: u16) -> bool {
        self.first <= port && port <= self.last
    }
}

impl std::str::FromStr for PortRange {
    type Err = InvalidPortRange;

    fn from_str(text: &str) -> Result<Self, InvalidPortRange> {
        let invalid = || InvalidPortRange(text.to_owned());
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let first = first.parse().map_err(|_| invalid())?;
        let last = last.parse().map_err(|_| invalid())?;
        if first <= last {
            Ok(Self { first, last })
        } else {
            Err(invalid())
        }
    }
}

/// A set of port numbers, kept as sorted ranges that do not overlap.
///
/// Source: the annotations `config.linkerd.io/opaque-ports` and
/// `config.linkerd.io/skip-inbound-ports`, and the default opaque ports.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PortSet(Vec<PortRange>);

impl PortSet {
    /// Whether `port` is in the set.
    #[must_use]
    pub fn contains(&self, port: u16) -> bool {
        self.0.iter().any(|range| range.contains(port))
    }

    /// Whether no port is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<PortRange> for PortSet {
    /// Merges ranges that touch, so that equal sets are equal values.
    fn from_iter<I: IntoIterator<Item = PortRange>>(ranges: I) -> Self {
        let mut sorted: Vec<PortRange> = ranges.into_iter().collect();
        sorted.sort_unstable();
        let mut merged: Vec<PortRange> = Vec::with_capacity(sorted.len());
        for range in sorted {
            match merged.last_mut() {
                Some(last) if range.first <= last.last.saturating_add(1) => {
                    last.last = last.last.max(range.last);
                }
                Some(_) | None => merged.push(range),
            }
        }
        Self(merged)
    }
}

impl std::str::FromStr for PortSet {
    type Err = InvalidPortRange;

    /// Parses a comma-separated list; blanks around items and one trailing
    /// comma are allowed, every other item must be a port or a range.
    fn from_str(text: &str) -> Result<Self, InvalidPortRange> {
        let list = text.trim().strip_suffix(',').unwrap_or(text.trim());
        if list.is_empty() {
            return Ok(Self::default());
        }
        list.split(',').map(|item| item.trim().parse()).collect()
    }
}

impl std::fmt::Display for PortSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (place, range) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            if range.first == range.last {
                write!(f, "{comma}{}", range.first)?;
            } else {
                write!(f, "{comma}{}-{}", range.first, range.last)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_ports_and_ranges_reads_back_merged() {
        let set: PortSet = " 25, 587,24 ,4000-4100,4101,".parse().unwrap();
        assert_eq!(set.to_string(), "24-25,587,4000-4101");
        assert!(set.contains(4050) && !set.contains(26));
        assert_eq!("".parse::<PortSet>(), Ok(PortSet::default()));
    }

    #[test]
    fn every_port_and_every_range_that_does_not_fall_reads_as_written() {
        for text in [
            "0",
            "33",
            "65535",
            "25-27",
            "0-65535",
            "25,443,587,3306,5432,11211",
            "25,443-447,3306,5432-5435,11211",
        ] {
            assert_eq!(text.parse::<PortSet>().unwrap().to_string(), text);
        }
        // As numbers are read where clients come from, and in their authorities.
        for text in ["23-23", "+23", "0023", "+23-0023"] {
            assert_eq!(text.parse(), Ok(PortRange::single(23)), "{text}");
        }
        let all: PortSet = "0-65535".parse().unwrap();
        assert!(all.contains(0) && all.contains(65535));
    }

    #[test]
    fn nonsense_is_named() {
        for item in [
            "http",
            "65536",
            "-1",
            "25-23",
            "-23",
            "++80",
            "1-2-3",
            "",
            "not-number",
            "23-notanumber",
            "-23-25",
            "65536-65539",
            "23-65536",
            "25-",
            "25 - 27",
        ] {
            let text = format!("80,{item},90");
            assert_eq!(
                text.parse::<PortSet>().unwrap_err().to_string(),
                format!(
                    "`{item}` is neither a port (0 to 65535) nor a range of ports such as `4000-4100`"
                ),
            );
        }
    }
}
