//! Sets of ports, as annotations write them: `25,587,4000-4100`.

use serde::{Deserialize, Serialize};
use std::{fmt, ops::RangeInclusive, str::FromStr};

/// Ports, as inclusive ranges. Written as a text such as `25,4000-4100`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Ports(Vec<RangeInclusive<u16>>);

/// Why a text is no set of ports.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither a port (0 to 65535) nor a range such as `4000-4100`")]
pub struct InvalidPorts(String);

// === impl Ports ===

impl Ports {
    /// Whether `port` is one of them.
    #[must_use]
    pub fn contains(&self, port: u16) -> bool {
        self.0.iter().any(|range| range.contains(&port))
    }

    /// Adds one port.
    pub fn insert(&mut self, port: u16) {
        self.0.push(port..=port);
    }

    /// Reads what it can of an annotation: bad items are skipped (A13.1), and a word is
    /// looked up among the named ports.
    #[must_use]
    pub fn of_annotation(text: &str, named: impl Fn(&str) -> Option<u16>) -> Self {
        let items = text.split(',').map(str::trim);
        let ranges = items.filter_map(|item| {
            let by_name = || named(item).map(|port| port..=port);
            range(item).or_else(by_name)
        });
        Self(ranges.collect())
    }
}

impl FromIterator<u16> for Ports {
    fn from_iter<I: IntoIterator<Item = u16>>(ports: I) -> Self {
        Self(ports.into_iter().map(|port| port..=port).collect())
    }
}

impl FromStr for Ports {
    type Err = InvalidPorts;

    fn from_str(text: &str) -> Result<Self, InvalidPorts> {
        let items = text
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty());
        items
            .map(|item| range(item).ok_or_else(|| InvalidPorts(item.to_owned())))
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl TryFrom<String> for Ports {
    type Error = InvalidPorts;

    fn try_from(text: String) -> Result<Self, InvalidPorts> {
        text.parse()
    }
}

impl From<Ports> for String {
    fn from(ports: Ports) -> Self {
        ports.to_string()
    }
}

impl fmt::Display for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, range) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            match (range.start(), range.end()) {
                (first, last) if first == last => write!(f, "{comma}{first}")?,
                (first, last) => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

fn range(item: &str) -> Option<RangeInclusive<u16>> {
    let (first, last) = item.split_once('-').unwrap_or((item, item));
    let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (first <= last).then_some(first..=last)
}

#[cfg(test)]
mod tests {
    use super::Ports;

    #[test]
    fn a_set_reads_back() {
        let ports: Ports = "25, 4000-4100,".parse().unwrap();
        assert_eq!(ports.to_string(), "25,4000-4100");
        assert!(ports.contains(25) && ports.contains(4050) && !ports.contains(26));
    }

    #[test]
    fn a_word_is_no_port() {
        let error = "25,http".parse::<Ports>().unwrap_err().to_string();
        assert_eq!(
            error,
            "`http` is neither a port (0 to 65535) nor a range such as `4000-4100`"
        );
    }

    #[test]
    fn an_annotation_skips_what_it_cannot_read() {
        let named = |name: &str| (name == "db").then_some(5432);
        let ports = Ports::of_annotation("25, nothing, db,9-7,", named);
        assert_eq!(ports.to_string(), "25,5432");
    }
}
