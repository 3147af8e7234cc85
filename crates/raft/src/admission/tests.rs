//! Every kind of answer against every kind of membership.

use super::*;

const GROUP: [(u64, &str); 3] = [(1, "a"), (2, "b"), (3, "c")];

fn peer(name: &str) -> PeerAddress {
    PeerAddress {
        name: name.to_owned(),
        address: format!("{name}:4100"),
    }
}

fn member(name: &str) -> Member {
    let PeerAddress { name, address } = peer(name);
    Member { name, address }
}

fn ids(ids: &[u64]) -> BTreeSet<ReplicaId> {
    ids.iter().copied().map(ReplicaId::from_u64).collect()
}

fn membership(voters: &[&[u64]], members: &[(u64, &str)]) -> Membership {
    let members = members.iter();
    let members: BTreeMap<ReplicaId, Member> = members
        .map(|(id, name)| (ReplicaId::from_u64(*id), member(name)))
        .collect();
    Membership::new(voters.iter().map(|voters| ids(voters)).collect(), members).unwrap()
}

fn hears(name: &str, id: u64) -> Heard {
    Heard {
        peer: peer(name),
        id: ReplicaId::from_u64(id),
        votes: false,
    }
}

/// What replica 1 decides at index 5,000.
fn decided(membership: &Membership, matched: &[(u64, u64)], heard: &[Heard]) -> Step {
    let matched = matched
        .iter()
        .map(|(id, index)| (ReplicaId::from_u64(*id), *index))
        .collect();
    let standing = Standing {
        own: ReplicaId::from_u64(1),
        membership,
        is_committed: true,
        last: 5_000,
        matched: &matched,
    };
    decide(&standing, heard)
}

#[test]
fn a_lost_replica_follows_first_and_votes_when_it_has_caught_up() {
    let group = membership(&[&[1, 2, 3]], &GROUP);
    let heard = [hears("b", 2), hears("c", 4)];
    let admit = Step::Admit(ReplicaId::from_u64(4), member("c"));
    assert_eq!(decided(&group, &[], &heard), admit);

    let members = [GROUP[0], GROUP[1], GROUP[2], (4, "c")];
    let group = membership(&[&[1, 2, 3]], &members);
    assert_eq!(decided(&group, &[], &heard), Step::Rest);
    assert_eq!(decided(&group, &[(4, 3_975)], &heard), Step::Rest);
    let replace = Step::Replace(ids(&[1, 2, 4]));
    assert_eq!(decided(&group, &[(4, 3_976)], &heard), replace);

    let group = membership(&[&[1, 2, 4]], &[GROUP[0], GROUP[1], (4, "c")]);
    assert_eq!(decided(&group, &[(4, 5_000)], &heard), Step::Rest);
}

#[test]
fn new_names_follow_first_and_vote_together_when_they_have_caught_up() {
    let group = membership(&[&[1, 2, 3]], &GROUP);
    let heard = [hears("b", 2), hears("d", 4), hears("e", 5)];
    let admit = |id, name| Step::Admit(ReplicaId::from_u64(id), member(name));
    assert_eq!(decided(&group, &[], &heard), admit(4, "d"));

    let members = [GROUP[0], GROUP[1], GROUP[2], (4, "d")];
    let group = membership(&[&[1, 2, 3]], &members);
    // The second one is taken in before the first one votes.
    assert_eq!(decided(&group, &[(4, 5_000)], &heard), admit(5, "e"));

    let members = [GROUP[0], GROUP[1], GROUP[2], (4, "d"), (5, "e")];
    let group = membership(&[&[1, 2, 3]], &members);
    assert_eq!(decided(&group, &[], &heard), Step::Rest);
    let both = Step::Promote(ids(&[1, 2, 3, 4, 5]));
    assert_eq!(decided(&group, &[(4, 5_000), (5, 4_000)], &heard), both);
    // One that does not catch up, or that does not answer, keeps the other waiting for nothing.
    let first = Step::Promote(ids(&[1, 2, 3, 4]));
    assert_eq!(decided(&group, &[(4, 5_000), (5, 40)], &heard), first);
    let all = [(4, 5_000), (5, 5_000)];
    assert_eq!(decided(&group, &all, &heard[..2]), first);
}

#[test]
fn an_id_that_still_answers_is_not_replaced() {
    let group = membership(&[&[1, 2, 3]], &GROUP);
    let mut old = hears("c", 3);
    assert_eq!(decided(&group, &[], std::slice::from_ref(&old)), Step::Rest);
    old.votes = true;
    assert_eq!(decided(&group, &[], &[old]), Step::Rest);
    assert_eq!(decided(&group, &[], &[]), Step::Rest);
}

#[test]
fn a_learner_that_nobody_answers_for_any_more_is_forgotten() {
    let members = [GROUP[0], GROUP[1], GROUP[2], (4, "c")];
    let group = membership(&[&[1, 2, 3]], &members);
    let forget = Step::Forget(ReplicaId::from_u64(4));
    // Lost again, or its old folder was brought back.
    for id in [5, 3] {
        assert_eq!(decided(&group, &[(4, 5_000)], &[hears("c", id)]), forget);
    }
    assert_eq!(decided(&group, &[(4, 5_000)], &[]), Step::Rest);
}

#[test]
fn a_leader_replaces_neither_itself_nor_anybody_while_a_change_is_open() {
    let group = membership(&[&[1, 2, 3]], &GROUP);
    assert_eq!(decided(&group, &[], &[hears("a", 4)]), Step::Rest);

    let members = [GROUP[0], GROUP[1], GROUP[2], (4, "c")];
    let joint = membership(&[&[1, 2, 3], &[1, 2, 4]], &members);
    let finish = Step::Finish(ids(&[1, 2, 4]));
    assert_eq!(decided(&joint, &[], &[hears("b", 5)]), finish);
    let uncommitted = Standing {
        own: ReplicaId::from_u64(1),
        membership: &joint,
        is_committed: false,
        last: 5_000,
        matched: &BTreeMap::new(),
    };
    assert_eq!(decide(&uncommitted, &[hears("c", 4)]), Step::Rest);
    assert_eq!(
        decided(&Membership::default(), &[], &[hears("c", 4)]),
        Step::Rest
    );
}

#[test]
fn who_must_not_be_taken_in_is_named_and_keeps_nobody_out() {
    let group = membership(&[&[1, 2, 3]], &GROUP);
    let voter = Heard {
        votes: true,
        ..hears("b", 9)
    };
    let refuse = |what: &str| Step::Refuse(what.to_owned());
    assert_eq!(
        decided(&group, &[], std::slice::from_ref(&voter)),
        refuse(
            "`b` at b:4100 answers as 0000000000000009, which has a vote in another group or was \
             replaced: its data folder must be moved away"
        )
    );
    assert_eq!(
        decided(&group, &[], &[hears("c", 2)]),
        refuse("`c` at c:4100 answers as 0000000000000002, which is `b`")
    );
    let admit = Step::Admit(ReplicaId::from_u64(4), member("c"));
    assert_eq!(decided(&group, &[], &[voter, hears("c", 4)]), admit);
}

#[test]
fn an_answer_counts_only_under_the_configured_name_and_in_the_own_history() {
    let history = |history: u128| bytes::Bytes::copy_from_slice(&history.to_be_bytes());
    let answer = wire::HelloResponse {
        id: 4,
        name: "c".to_owned(),
        initialized: false,
        history: bytes::Bytes::new(),
        learner: true,
    };
    let ours = Some(HistoryId::from_u128(7));
    let read = |answer: &wire::HelloResponse, ours| heard(peer("c"), answer, ours);
    assert_eq!(read(&answer, ours), Some(hears("c", 4)));
    assert_eq!(read(&answer, None), Some(hears("c", 4)));

    let with = |bytes| wire::HelloResponse {
        history: bytes,
        ..answer.clone()
    };
    assert_eq!(read(&with(history(7)), ours), Some(hears("c", 4)));
    assert_eq!(read(&with(history(8)), ours), None);
    assert_eq!(read(&with(history(7)), None), None);
    assert_eq!(read(&with(bytes::Bytes::from_static(b"x")), ours), None);
    assert_eq!(heard(peer("b"), &answer, ours), None);

    for (initialized, learner, votes) in [
        (false, false, false),
        (false, true, false),
        (true, true, false),
        (true, false, true),
    ] {
        let answer = wire::HelloResponse {
            initialized,
            learner,
            ..answer.clone()
        };
        assert_eq!(read(&answer, ours).unwrap().votes, votes);
    }
}
