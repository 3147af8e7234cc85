//! Where in history an answer stands, as response metadata: what a person or a
//! checker compares between replicas. Proxies do not read it.

use http::{HeaderMap, HeaderName, HeaderValue};
use lockstep_position::Position;
use lockstep_resolution::{About, Claim, Freshness};

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
    /// `true` if the state may lack what was committed: no leader could say in
    /// time what that is, or none has for longer than the limit.
    pub const STALE: &str = "lockstep-stale";
    /// The age of the state when the headers were written, at most, in
    /// milliseconds; missing before it was known for the first time.
    pub const AGE: &str = "lockstep-age-ms";
    /// `true` if the leader's view of the source may be older than its limit.
    pub const SOURCE_STALE: &str = "lockstep-source-stale";
}

/// The metadata of an answer from the state at `position`.
pub(crate) fn metadata(about: &About, position: &Position, claim: &Claim) -> HeaderMap {
    let age = claim
        .age
        .map(|age| (header::AGE, age.as_millis().to_string()));
    [
        (header::REPLICA, about.replica.to_string()),
        (header::NAME, about.name.to_string()),
        (header::HISTORY, position.history.to_string()),
        (header::REVISION, position.revision.to_string()),
        (header::DIGEST, position.state_digest.to_string()),
        (header::STALE, is_stale(claim.copy)),
        (header::SOURCE_STALE, is_stale(claim.source)),
    ]
    .into_iter()
    .chain(age)
    .filter_map(|(name, value)| {
        let value = HeaderValue::try_from(value).ok()?;
        Some((HeaderName::from_static(name), value))
    })
    .collect()
}

fn is_stale(freshness: Freshness) -> String {
    match freshness {
        Freshness::Fresh => "false",
        Freshness::Stale => "true",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_position::{Digest, HistoryId, ReplicaId, Revision};
    use lockstep_resolution::Admission;
    use std::time::Duration;

    const FRESH: Claim = Claim {
        copy: Freshness::Fresh,
        source: Freshness::Fresh,
        age: Some(Duration::from_micros(212_900)),
        admission: Admission::Open,
    };

    fn texts(name: &str, claim: &Claim) -> Vec<String> {
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
        let headers = metadata(&about, &position, claim);
        let text = |(name, value): (&HeaderName, &HeaderValue)| {
            format!("{name}: {}", value.to_str().unwrap())
        };
        let mut texts: Vec<String> = headers.iter().map(text).collect();
        texts.sort();
        texts
    }

    #[test]
    fn an_answer_says_where_it_stands_and_how_old_it_may_be() {
        let expected = [
            "lockstep-age-ms: 212",
            "lockstep-digest: 0000000000000000000000000000000a",
            "lockstep-history: 00000000000000000000000000000008",
            "lockstep-name: lockstep-0",
            "lockstep-replica: 0000000000000007",
            "lockstep-revision: r9",
            "lockstep-source-stale: false",
            "lockstep-stale: false",
        ];
        assert_eq!(texts("lockstep-0", &FRESH), expected);
    }

    #[test]
    fn the_copy_and_the_source_are_marked_each_for_itself() {
        let marked = |copy, source| {
            let texts = texts(
                "",
                &Claim {
                    copy,
                    source,
                    ..FRESH
                },
            );
            let is_true = |name: &str| texts.contains(&format!("{name}: true"));
            (is_true("lockstep-stale"), is_true("lockstep-source-stale"))
        };
        use Freshness::{Fresh, Stale};
        assert_eq!(marked(Stale, Fresh), (true, false));
        assert_eq!(marked(Fresh, Stale), (false, true));
        assert_eq!(marked(Stale, Stale), (true, true));
    }

    #[test]
    fn what_is_not_known_or_no_header_can_carry_is_left_out() {
        let claim = Claim { age: None, ..FRESH };
        let names: Vec<String> = texts("line\nbreak", &claim)
            .iter()
            .map(|text| text.split(':').next().unwrap().to_owned())
            .collect();
        assert!(!names.contains(&header::NAME.to_owned()));
        assert!(!names.contains(&header::AGE.to_owned()));
        assert_eq!(names.len(), 6);
    }
}
