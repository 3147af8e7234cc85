//! Whether the answers of several replicas can all be true.

use lockstep_position::{HistoryId, Revision};

use super::Reply;
use crate::Exit;
use crate::check::AGREEMENT;
use crate::labels::Labels;
use crate::told::{Answer, Change, changes};

/// The verdict on a set of answers, with the sentences that explain it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) exit: Exit,
    /// One sentence each; never empty.
    pub(super) findings: Vec<String>,
}

/// One answer, or a refusal for good in its words, with the name of who gave it.
struct Given<'a> {
    name: String,
    labels: Labels,
    said: Result<&'a Answer, String>,
}

/// Compares every pair of answers.
///
/// Answers of one revision must be equal. Answers of different revisions may differ, and then
/// nothing is proved. Answers without a revision are compared as they are.
pub(super) fn compare(replies: &[Reply]) -> Comparison {
    let mut comparison = Comparison {
        exit: Exit::Yes,
        findings: Vec::new(),
    };
    let mut given = Vec::new();
    for reply in replies {
        let said = match &reply.first {
            Ok(first) => Ok(&first.answer),
            Err(error) if error.exit() == Exit::No => Err(error.reason()),
            Err(error) => {
                comparison.record(error.exit(), error.to_string());
                continue;
            }
        };
        given.push(Given {
            name: reply.name(),
            labels: reply.labels(),
            said,
        });
    }
    let mut rest = given.as_slice();
    while let Some((one, others)) = rest.split_first() {
        for other in others {
            compare_pair(one, other, &mut comparison);
        }
        rest = others;
    }
    conclude(&given, &mut comparison);
    comparison
}

fn conclude(given: &[Given<'_>], comparison: &mut Comparison) {
    let refusals: Vec<&String> = given
        .iter()
        .filter_map(|given| given.said.as_ref().err())
        .collect();
    match refusals.split_first() {
        Some((refusal, others)) if refusals.len() == given.len() => {
            if others.iter().all(|other| other == refusal) {
                let counted = counted(given, "refusal");
                comparison.record(Exit::No, format!("{counted}: {refusal}"));
            }
        }
        Some(_) | None => {}
    }
    if comparison.exit == Exit::Yes {
        comparison.findings.push(all_equal(given));
    }
}

fn compare_pair(one: &Given<'_>, other: &Given<'_>, comparison: &mut Comparison) {
    let names = format!("{} and {}", one.name, other.name);
    let places = (one.labels.place(), other.labels.place());
    let comparable = places.0 == places.1;
    let at = if comparable {
        place_text(places.0)
    } else {
        String::new()
    };
    let digests = one.labels.digest.zip(other.labels.digest);
    if comparable && digests.is_some_and(|(one, other)| one != other) {
        comparison.record(
            Exit::No,
            format!("{names} hold different states{at}: {AGREEMENT}"),
        );
    }
    let Some(difference) = difference(one, other) else {
        return;
    };
    if comparable {
        comparison.record(
            Exit::No,
            format!("{names} answer differently{at}: {difference}"),
        );
    } else {
        let sentence = "answer differently, at different revisions: that proves nothing, ask again";
        comparison.record(Exit::Unknown, format!("{names} {sentence}"));
    }
}

/// How two answers differ, in words; `None` when a proxy could not tell them apart.
fn difference(one: &Given<'_>, other: &Given<'_>) -> Option<String> {
    let (left, right) = match (&one.said, &other.said) {
        (Ok(left), Ok(right)) => (left, right),
        (Err(left), Err(right)) => return (left != right).then(|| format!("{left}; {right}")),
        (Err(refusal), Ok(_)) => return Some(format!("{} refuses, {refusal}", one.name)),
        (Ok(_), Err(refusal)) => return Some(format!("{} refuses, {refusal}", other.name)),
    };
    let (left, right) = match (left, right) {
        (Answer::Present(left), Answer::Present(right)) => (left, right),
        (Answer::Absent, Answer::Absent) => return None,
        (Answer::Absent, Answer::Present(_)) => return Some(only_one_knows(&other.name)),
        (Answer::Present(_), Answer::Absent) => return Some(only_one_knows(&one.name)),
    };
    let parts: Vec<_> = changes(left, right)
        .iter()
        .map(|change| change_text(change, one, other))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn only_one_knows(name: &str) -> String {
    format!("the service exists only on {name}")
}

fn change_text(change: &Change, one: &Given<'_>, other: &Given<'_>) -> String {
    match change {
        Change::Added(endpoint) => format!("{} only on {}", endpoint.address, other.name),
        Change::Changed(endpoint) => format!("{} with other metadata", endpoint.address),
        Change::Removed(address) => format!("{address} only on {}", one.name),
    }
}

fn place_text(place: Option<(HistoryId, Revision)>) -> String {
    place
        .map(|(_, revision)| format!(" at {revision}"))
        .unwrap_or_default()
}

fn all_equal(given: &[Given<'_>]) -> String {
    let counted = counted(given, "answer");
    match given.len() {
        1 => counted,
        _ => format!("{counted}: equal"),
    }
}

/// `3 answers at r4`.
fn counted(given: &[Given<'_>], noun: &str) -> String {
    let revisions = given.iter().filter_map(|given| given.labels.revision);
    let (oldest, newest) = (revisions.clone().min(), revisions.max());
    let at = match oldest.zip(newest) {
        None => String::new(),
        Some((oldest, newest)) if oldest == newest => format!(" at {newest}"),
        Some((oldest, newest)) => format!(" at {oldest} to {newest}"),
    };
    match given.len() {
        1 => format!("1 {noun}{at}"),
        many => format!("{many} {noun}s{at}"),
    }
}

impl Comparison {
    fn record(&mut self, exit: Exit, finding: String) {
        self.exit = self.exit.and(exit);
        self.findings.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::AskError;
    use crate::proxy::FirstAnswer;
    use linkerd2_proxy_api::destination::{WeightedAddr, WeightedAddrSet};
    use linkerd2_proxy_api::net::TcpAddress;
    use lockstep_position::Digest;
    use std::net::IpAddr;
    use tonic::Code;

    fn present(lasts: &[u8], weight: u32) -> Answer {
        let ip = |last| Some(IpAddr::from([10, 0, 0, last]).into());
        let addr = |last| {
            Some(TcpAddress {
                ip: ip(last),
                port: 80,
            })
        };
        let told = |last: &u8| WeightedAddr {
            addr: addr(*last),
            weight,
            ..Default::default()
        };
        let addrs = lasts.iter().map(told).collect();
        let set = WeightedAddrSet {
            addrs,
            ..WeightedAddrSet::default()
        };
        Answer::Present(crate::endpoint::endpoints(set))
    }

    fn reply(number: u16, revision: u64, answer: Answer) -> Reply {
        let labels = Labels {
            name: Some(format!("replica-{number}")),
            history: Some(HistoryId::from_u128(1)),
            revision: Some(Revision::from_u64(revision)),
            digest: Some(Digest::from_u128(revision.into())),
            ..Labels::default()
        };
        Reply {
            address: address(),
            first: Ok(FirstAnswer { labels, answer }),
        }
    }

    fn address() -> crate::Address {
        "127.0.0.1:8286".parse().unwrap()
    }

    fn assert_finds(replies: &[Reply], exit: Exit, finding: &str) {
        let expected = Comparison {
            exit,
            findings: vec![finding.to_owned()],
        };
        assert_eq!(compare(replies), expected);
    }

    #[test]
    fn equal_answers_are_equal_whatever_the_revision() {
        let at = |revision| reply(1, revision, present(&[1, 2], 1));
        assert_finds(&[at(4), at(4), at(4)], Exit::Yes, "3 answers at r4: equal");
        assert_finds(&[at(4), at(6)], Exit::Yes, "2 answers at r4 to r6: equal");
        assert_finds(&[at(4)], Exit::Yes, "1 answer at r4");
    }

    #[test]
    fn a_difference_at_one_revision_names_who_says_what() {
        assert_finds(
            &[
                reply(1, 4, present(&[1, 2], 1)),
                reply(2, 4, present(&[2, 3], 1)),
            ],
            Exit::No,
            "replica-1 and replica-2 answer differently at r4: 10.0.0.3:80 only on replica-2, \
             10.0.0.1:80 only on replica-1",
        );
        assert_finds(
            &[reply(1, 4, present(&[1], 1)), reply(2, 4, present(&[1], 2))],
            Exit::No,
            "replica-1 and replica-2 answer differently at r4: 10.0.0.1:80 with other metadata",
        );
        assert_finds(
            &[reply(1, 4, Answer::Absent), reply(2, 4, present(&[], 1))],
            Exit::No,
            "replica-1 and replica-2 answer differently at r4: the service exists only on replica-2",
        );
    }

    #[test]
    fn a_difference_between_revisions_proves_nothing() {
        assert_finds(
            &[reply(1, 4, present(&[1], 1)), reply(2, 5, present(&[], 1))],
            Exit::Unknown,
            "replica-1 and replica-2 answer differently, at different revisions: that proves \
             nothing, ask again",
        );
    }

    #[test]
    fn other_digests_at_one_revision_break_agreement() {
        let mut other = reply(2, 4, Answer::Absent);
        if let Ok(first) = &mut other.first {
            first.labels.digest = Some(Digest::from_u128(99));
        }
        assert_finds(
            &[reply(1, 4, Answer::Absent), other],
            Exit::No,
            "replica-1 and replica-2 hold different states at r4: Two replicas at the same \
             revision hold the same state, shown by the same digest, whatever restarts, snapshots \
             and versions lie behind.",
        );
    }

    #[test]
    fn answers_without_a_revision_are_compared_as_they_are() {
        let plain = |lasts: &[u8]| {
            let first = FirstAnswer {
                labels: Labels::default(),
                answer: present(lasts, 1),
            };
            Reply {
                address: address(),
                first: Ok(first),
            }
        };
        assert_finds(&[plain(&[1]), plain(&[1])], Exit::Yes, "2 answers: equal");
        assert_finds(
            &[plain(&[1]), plain(&[])],
            Exit::No,
            "127.0.0.1:8286 and 127.0.0.1:8286 answer differently: 10.0.0.1:80 only on \
             127.0.0.1:8286",
        );
    }

    fn refused(revision: u64, code: Code) -> Reply {
        let labels = reply(3, revision, Answer::Absent).labels();
        let (message, labels) = ("why".to_owned(), Box::new(labels));
        let error = AskError::Refused {
            address: address(),
            code,
            message,
            labels,
        };
        Reply {
            address: address(),
            first: Err(error),
        }
    }

    #[test]
    fn who_cannot_answer_leaves_it_open() {
        assert_finds(
            &[reply(1, 4, Answer::Absent), refused(4, Code::Unavailable)],
            Exit::Unknown,
            "127.0.0.1:8286 answers Unavailable: why",
        );
    }

    #[test]
    fn a_refusal_is_compared_like_an_answer() {
        let answered = || reply(1, 4, present(&[], 1));
        assert_finds(
            &[answered(), refused(4, Code::NotFound)],
            Exit::No,
            "replica-1 and replica-3 answer differently at r4: replica-3 refuses, NotFound: why",
        );
        assert_finds(
            &[answered(), refused(3, Code::NotFound)],
            Exit::Unknown,
            "replica-1 and replica-3 answer differently, at different revisions: that proves \
             nothing, ask again",
        );
    }

    #[test]
    fn when_all_refuse_alike_that_is_one_sentence() {
        let both = [refused(4, Code::NotFound), refused(3, Code::NotFound)];
        assert_finds(&both, Exit::No, "2 refusals at r3 to r4: NotFound: why");
    }

    #[test]
    fn when_all_refuse_in_other_words_the_difference_is_named() {
        let both = [
            refused(4, Code::NotFound),
            refused(4, Code::InvalidArgument),
        ];
        assert_finds(
            &both,
            Exit::No,
            "replica-3 and replica-3 answer differently at r4: NotFound: why; InvalidArgument: why",
        );
    }
}
