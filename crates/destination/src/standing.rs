//! Where in history an answer stands, as response metadata: what a person or a
//! checker compares between replicas. Proxies do not read it.

use http::{HeaderMap, HeaderName, HeaderValue};
use lockstep_position::Position;
use lockstep_resolution::{About, Freshness};

/// The names of the metadata, all with the prefix `lockstep-`.
pub mod header {
    /// The id of the replica that answers; 16 hexadecimal digits.
    pub const REPLICA: &str = "lockstep-replica";
    /// Its name for people; missing if it is no printable ASCII.
    pub const NAME: &str = "lockstep-name";
    /// The history in which the revision counts; 32 hexadecimal digits.
    pub const HISTORY: &str = "lockstep-history";
    /// The revision of the first message, such as `r41822`.
    pub const REVISION: &str = "lockstep-revision";
    /// The digest of the state at that revision; 32 hexadecimal digits.
    pub const DIGEST: &str = "lockstep-digest";
    /// `true` if no leader could say whether the state is the newest one.
    pub const STALE: &str = "lockstep-stale";
}

/// The metadata of an answer from the state at `position`.
pub(crate) fn metadata(about: &About, position: &Position, freshness: Freshness) -> HeaderMap {
    let stale = match freshness {
        Freshness::Fresh => "false",
        Freshness::Stale => "true",
    };
    [
        (header::REPLICA, about.replica.to_string()),
        (header::NAME, about.name.to_string()),
        (header::HISTORY, position.history.to_string()),
        (header::REVISION, position.revision.to_string()),
        (header::DIGEST, position.state_digest.to_string()),
        (header::STALE, stale.to_owned()),
    ]
    .into_iter()
    .filter_map(|(name, value)| {
        let value = HeaderValue::try_from(value).ok()?;
        Some((HeaderName::from_static(name), value))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_position::{Digest, HistoryId, ReplicaId, Revision};

    fn texts(name: &str, freshness: Freshness) -> Vec<(String, String)> {
        let about = About {
            replica: ReplicaId::from_u64(7),
            name: name.into(),
        };
        let position = Position {
            history: HistoryId::from_u128(8),
            revision: Revision::from_u64(9),
            state_digest: Digest::from_u128(10),
            ..Position::default()
        };
        let headers = metadata(&about, &position, freshness);
        let mut texts: Vec<(String, String)> = headers
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect();
        texts.sort();
        texts
    }

    fn expected(name: &[(&str, &str)], stale: &str) -> Vec<(String, String)> {
        let all = [
            &[
                ("lockstep-digest", "0000000000000000000000000000000a"),
                ("lockstep-history", "00000000000000000000000000000008"),
            ],
            name,
            &[
                ("lockstep-replica", "0000000000000007"),
                ("lockstep-revision", "r9"),
                ("lockstep-stale", stale),
            ],
        ];
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        all.concat().iter().map(owned).collect()
    }

    #[test]
    fn an_answer_says_where_it_stands() {
        let name = [("lockstep-name", "lockstep-0")];
        assert_eq!(
            texts("lockstep-0", Freshness::Fresh),
            expected(&name, "false")
        );
        assert_eq!(
            texts("lockstep-0", Freshness::Stale),
            expected(&name, "true")
        );
    }

    #[test]
    fn a_name_that_no_header_can_carry_is_left_out() {
        assert_eq!(
            texts("line\nbreak", Freshness::Fresh),
            expected(&[], "false")
        );
    }
}
