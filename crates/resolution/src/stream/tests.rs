use super::*;
use crate::LabelKey;
use lockstep_contract::fold::{Folded, Held, HeldSet, Told};
use lockstep_model::Text;
use proptest::prelude::*;

fn address(number: u32) -> SocketAddr {
    SocketAddr::new(std::net::Ipv4Addr::from(number).into(), 8080)
}

fn described(weight: u32) -> Arc<Described> {
    Arc::new(Described {
        weight,
        ..Described::bare()
    })
}

fn labels(service: &str) -> Labels {
    std::iter::once(("service".into(), service.into())).collect()
}

/// Endpoints by number, each with its weight.
fn weighted(endpoints: &[(u32, u32)]) -> EndpointSet {
    let endpoint = |(number, weight): &(u32, u32)| (address(*number), described(*weight));
    EndpointSet {
        labels: labels("web"),
        endpoints: endpoints.iter().map(endpoint).collect(),
    }
}

fn set(numbers: &[u32]) -> EndpointSet {
    let endpoints: Vec<(u32, u32)> = numbers.iter().map(|number| (*number, 1)).collect();
    weighted(&endpoints)
}

fn addresses(numbers: &[u32]) -> BTreeSet<SocketAddr> {
    numbers.iter().copied().map(address).collect()
}

fn present(numbers: &[u32]) -> Answer {
    Answer::Present(set(numbers).into())
}

fn stream_told(answers: &[Answer]) -> EndpointStream {
    let mut stream = EndpointStream::default();
    for answer in answers {
        let _ = stream.advance(answer.clone());
    }
    stream
}

#[test]
fn the_first_message_is_the_whole_set() {
    let updates = EndpointStream::default().advance(present(&[1, 2]));
    assert_eq!(updates, [Update::Add(set(&[1, 2]))]);
}

#[test]
fn an_empty_first_answer_is_said() {
    for (answer, exists) in [(present(&[]), true), (Answer::Absent, false)] {
        let updates = EndpointStream::default().advance(answer);
        assert_eq!(updates, [Update::NoEndpoints { exists }]);
    }
}

#[test]
fn before_the_first_sync_nothing_is_said_and_nothing_withdrawn() {
    assert_eq!(EndpointStream::default().advance(Answer::Unknown), []);
    let mut stream = stream_told(&[present(&[1])]);
    assert_eq!(stream.advance(Answer::Unknown), []);
    assert_eq!(stream.advance(present(&[1])), []);
}

#[test]
fn a_rollover_adds_before_it_removes() {
    let mut stream = stream_told(&[present(&[1, 2])]);
    let updates = stream.advance(present(&[3]));
    let expected = [Update::Add(set(&[3])), Update::Remove(addresses(&[1, 2]))];
    assert_eq!(updates, expected);
}

#[test]
fn a_changed_endpoint_is_added_again_and_not_removed() {
    let mut stream = stream_told(&[Answer::Present(weighted(&[(1, 1), (2, 1)]).into())]);
    let updates = stream.advance(Answer::Present(weighted(&[(1, 5), (2, 1)]).into()));
    assert_eq!(updates, [Update::Add(weighted(&[(1, 5)]))]);
}

#[test]
fn changed_labels_of_the_set_reach_every_endpoint() {
    let mut stream = stream_told(&[present(&[1, 2])]);
    let relabelled = EndpointSet {
        labels: labels("cart"),
        ..set(&[1, 2])
    };
    let updates = stream.advance(Answer::Present(relabelled.clone().into()));
    assert_eq!(updates, [Update::Add(relabelled)]);
}

#[test]
fn a_service_that_goes_away_is_removed_and_may_come_back() {
    let mut stream = stream_told(&[present(&[1, 2])]);
    assert_eq!(
        stream.advance(Answer::Absent),
        [Update::Remove(addresses(&[1, 2]))]
    );
    assert_eq!(stream.advance(present(&[])), []);
    assert_eq!(stream.advance(present(&[2])), [Update::Add(set(&[2]))]);
}

#[test]
fn streams_are_alike_that_were_told_one_set_or_nothing() {
    let answers = [present(&[1])];
    let nothing = EndpointStream::default();
    let (one, other) = (stream_told(&answers), stream_told(&answers));
    assert!(nothing.is_like(&EndpointStream::default()));
    assert!(one.is_like(&other));
    assert!(!one.is_like(&nothing) && !nothing.is_like(&one));
    assert!(!one.is_like(&stream_told(&[present(&[1])])));
}

#[test]
fn addresses_beyond_a_message_are_removed_in_several() {
    let numbers: Vec<u32> = (0..120_000).collect();
    let mut stream = stream_told(&[present(&numbers)]);
    let expected: Vec<Update> = numbers
        .chunks(REMOVE_ADDRESSES_MAX)
        .map(|chunk| Update::Remove(addresses(chunk)))
        .collect();
    assert_eq!(expected.len(), 3);
    assert_eq!(stream.advance(Answer::Absent), expected);
}

#[test]
fn endpoints_beyond_a_message_travel_in_several() {
    let long = Arc::new(Described {
        labels: std::iter::once(("pod".into(), "p".repeat(10_000).into())).collect(),
        ..Described::bare()
    });
    let endpoints = (0..500).map(|number| (address(number), long.clone()));
    let whole = EndpointSet {
        labels: Labels::new(),
        endpoints: endpoints.collect(),
    };
    let updates = EndpointStream::default().advance(Answer::Present(whole.clone().into()));
    let counts: Vec<usize> = updates
        .iter()
        .map(|update| match update {
            Update::Add(set) => set.endpoints.len(),
            Update::Remove(_) | Update::NoEndpoints { .. } => 0,
        })
        .collect();
    assert_eq!(counts, [201, 201, 98]);
    assert_eq!(obeyed(&updates), effective(&whole));
}

/// What a proxy believes of each address: what was said of it, with the labels
/// of the set that it came in.
type Belief = HeldSet<Arc<Described>>;

fn texts(labels: &Labels) -> BTreeMap<String, String> {
    let owned = |(key, value): (&LabelKey, &Text)| (key.to_string(), value.to_string());
    labels.iter().map(owned).collect()
}

fn effective(set: &EndpointSet) -> Belief {
    let held = |(address, endpoint): (&SocketAddr, &Arc<Described>)| {
        let (endpoint, labels) = (endpoint.clone(), texts(&set.labels));
        (*address, Held { endpoint, labels })
    };
    set.endpoints.iter().map(held).collect()
}

fn said(update: &Update) -> Told<Arc<Described>> {
    match update {
        Update::Add(set) => Told::Add {
            endpoints: set.endpoints.clone().into_iter().collect(),
            labels: texts(&set.labels),
        },
        Update::Remove(gone) => Told::Remove(gone.iter().copied().collect()),
        Update::NoEndpoints { exists } => Told::NoEndpoints { exists: *exists },
    }
}

/// A proxy that an earlier stream left with some endpoints.
fn reconnected() -> Folded<Arc<Described>> {
    let mut proxy = Folded::default();
    proxy.obey(said(&Update::Add(set(&[7, 8, 9]))));
    proxy.reconnect();
    proxy
}

fn obeyed(updates: &[Update]) -> Belief {
    let mut proxy = reconnected();
    updates.iter().for_each(|update| proxy.obey(said(update)));
    assert_eq!(proxy.violations(), []);
    proxy.set().cloned().unwrap_or_default()
}

fn truth(answer: &Answer) -> Belief {
    match answer {
        Answer::Unknown | Answer::Absent => Belief::new(),
        Answer::Present(set) => effective(set),
    }
}

/// The contract as one sentence: whatever the history, a proxy that does what
/// it is told ends up knowing exactly what is true.
fn a_proxy_that_obeys_knows_the_truth(history: &[Answer]) {
    let mut stream = EndpointStream::default();
    let mut proxy = reconnected();
    for answer in history {
        for update in stream.advance(answer.clone()) {
            proxy.obey(said(&update));
        }
        assert_eq!(proxy.violations(), []);
        assert_eq!(proxy.set(), Some(&truth(answer)));
    }
}

#[test]
fn a_proxy_that_obeys_knows_the_truth_of_every_short_history() {
    let answers = [
        Answer::Absent,
        present(&[]),
        present(&[1]),
        present(&[1, 2]),
        Answer::Present(weighted(&[(1, 2), (7, 1)]).into()),
        Answer::Present(
            EndpointSet {
                labels: labels("cart"),
                ..set(&[1, 7])
            }
            .into(),
        ),
    ];
    for first in &answers {
        for second in &answers {
            for third in &answers {
                a_proxy_that_obeys_knows_the_truth(&[first.clone(), second.clone(), third.clone()]);
            }
        }
    }
}

fn any_answer() -> impl Strategy<Value = Answer> {
    let endpoints = prop::collection::btree_map(0_u32..12, 1_u32..3, 0..8);
    let label = prop::sample::select(vec!["web", "cart"]);
    let present = (endpoints, label).prop_map(|(endpoints, label)| {
        let endpoints: Vec<(u32, u32)> = endpoints.into_iter().collect();
        Answer::Present(
            EndpointSet {
                labels: labels(label),
                ..weighted(&endpoints)
            }
            .into(),
        )
    });
    prop_oneof![1 => Just(Answer::Absent), 9 => present]
}

proptest! {
    #[test]
    fn a_proxy_that_obeys_knows_the_truth_of_any_history(
        history in prop::collection::vec(any_answer(), 1..12)
    ) {
        a_proxy_that_obeys_knows_the_truth(&history);
    }
}
