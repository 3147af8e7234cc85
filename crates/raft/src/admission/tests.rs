//! Every kind of answer against every kind of membership.

use super::*;

const NOW: u64 = 1_796_601_600_000;
const GROUP: [(u64, &str); 3] = [(1, "a"), (2, "b"), (3, "c")];

fn peer(name: &str) -> PeerAddress {
    PeerAddress {
        name: name.to_owned(),
        address: format!("{name}:4100"),
    }
}

fn member(name: &str) -> Member {
    let PeerAddress { name, address } = peer(name);
    Member {
        name,
        address,
        since_unix_ms: NOW,
        dismissed: BTreeMap::new(),
    }
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
        past: Past::NoVote,
    }
}

/// What replica 1 knows at index 5,000.
fn standing<'a>(membership: &'a Membership, matched: &'a BTreeMap<ReplicaId, u64>) -> Standing<'a> {
    Standing {
        own: ReplicaId::from_u64(1),
        membership,
        is_committed: true,
        last: 5_000,
        matched,
        lost: BTreeMap::new(),
        resting: BTreeSet::new(),
        gone: BTreeSet::new(),
        unix_ms: NOW,
    }
}

/// What replica 1 decides at index 5,000, and whom it refuses.
fn decision(membership: &Membership, matched: &[(u64, u64)], heard: &[Heard]) -> Decision {
    let matched = matched
        .iter()
        .map(|(id, index)| (ReplicaId::from_u64(*id), *index))
        .collect();
    decide(&standing(membership, &matched), heard)
}

/// What replica 1 does at index 5,000 about those whom it does not refuse.
fn decided(membership: &Membership, matched: &[(u64, u64)], heard: &[Heard]) -> Step {
    decision(membership, matched, heard).step
}

fn refused(heard: &Heard, remedy: Remedy, why: &str) -> Refusal {
    Refusal {
        peer: heard.peer.clone(),
        id: heard.id,
        why: why.to_owned(),
        remedy,
    }
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
    let replace = Step::Replace("c".to_owned(), ids(&[1, 2, 4]));
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
    old.past = Past::Votes;
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
    let matched = BTreeMap::new();
    let uncommitted = Standing {
        is_committed: false,
        ..standing(&joint, &matched)
    };
    let nothing = decide(&uncommitted, &[hears("c", 4)]);
    assert_eq!((nothing.step, nothing.refused), (Step::Rest, Vec::new()));
    assert_eq!(
        decided(&Membership::default(), &[], &[hears("c", 4)]),
        Step::Rest
    );
}

#[test]
fn who_must_not_be_taken_in_is_told_and_keeps_nobody_out() {
    let group = membership(&[&[1, 2, 3]], &GROUP);
    let with = |past, heard| Heard { past, ..heard };
    let foreign = with(Past::VotesElsewhere, hears("b", 9));
    let removed = with(Past::Votes, hears("d", 8));
    let borrowed = hears("c", 2);
    let heard = [foreign, removed, borrowed, hears("e", 7)];
    let [foreign, removed, borrowed, _] = &heard;
    let expected = Decision {
        step: Step::Admit(ReplicaId::from_u64(7), member("e")),
        refused: vec![
            refused(
                foreign,
                Remedy::Wait,
                "`b` at b:4100 answers as 0000000000000009, which has a vote in another group: \
                 its data folder must be moved away",
            ),
            refused(
                removed,
                Remedy::StartAnew,
                "`d` at d:4100 answers as 0000000000000008, which was removed from the group or \
                 replaced; it comes back empty, under a new id",
            ),
            refused(
                borrowed,
                Remedy::Wait,
                "`c` at c:4100 answers as 0000000000000002, which is `b`",
            ),
        ],
    };
    assert_eq!(decision(&group, &[], &heard), expected);
}

#[test]
fn a_member_whose_folder_was_rolled_back_is_sent_away() {
    let group = membership(&[&[1, 2, 3]], &GROUP);
    let matched = BTreeMap::from([(ReplicaId::from_u64(3), 4_990)]);
    let at = LogId {
        term: lockstep_position::Term::from_u64(3),
        index: 4_990,
    };
    let standing = Standing {
        lost: BTreeMap::from([(ReplicaId::from_u64(3), at)]),
        ..standing(&group, &matched)
    };
    let back = hears("c", 3);
    let why = "`c` at c:4100 answers as 0000000000000003, whose data folder is an older copy: it \
               no longer holds T3-I4990, which it had acknowledged; it comes back empty, under a \
               new id";
    let expected = Decision {
        step: Step::Rest,
        refused: vec![refused(&back, Remedy::StartAnew, why)],
    };
    assert_eq!(decide(&standing, &[hears("b", 2), back.clone()]), expected);
    // Empty and under a new id it takes the place of the old one.
    let admit = Step::Admit(ReplicaId::from_u64(4), member("c"));
    assert_eq!(decide(&standing, &[hears("c", 4)]).step, admit);
}

/// The three of the group, with one name that an operator removed.
fn without(dismissed: &str) -> Membership {
    let members = GROUP.map(|(id, name)| {
        let dismissed = BTreeMap::from([(dismissed.to_owned(), peer(dismissed).address)]);
        let member = Member {
            dismissed,
            ..member(name)
        };
        (ReplicaId::from_u64(id), member)
    });
    Membership::new(vec![ids(&[1, 2, 3])], BTreeMap::from(members)).unwrap()
}

#[test]
fn a_dismissed_name_stays_out_whatever_answers_there_until_it_is_gone() {
    let group = without("d");
    for past in [Past::NoVote, Past::Votes, Past::VotesElsewhere] {
        let heard = Heard {
            past,
            ..hears("d", 4)
        };
        let why = "`d` was removed from the group by an operator and stays out; `lockstep members \
                   add d` takes it in again";
        let expected = Decision {
            step: Step::Rest,
            refused: vec![refused(&heard, Remedy::Wait, why)],
        };
        assert_eq!(decision(&group, &[], &[heard]), expected);
    }
    // A new member carries what all of them carry.
    let admitted = decided(&group, &[], &[hears("e", 5)]);
    let Step::Admit(_, new) = &admitted else {
        panic!("{admitted:?}");
    };
    assert_eq!(new.dismissed, dismissed_from(&group));

    let matched = BTreeMap::new();
    let gone = Standing {
        gone: BTreeSet::from(["d".to_owned()]),
        ..standing(&group, &matched)
    };
    let release = Step::Release(gone.gone.clone());
    assert_eq!(decide(&gone, &[hears("b", 2)]).step, release);
    // Not while there is anything else to do.
    assert_eq!(decide(&gone, &[hears("e", 5)]).step, admitted);
}

#[test]
fn a_name_that_was_replaced_a_moment_ago_waits() {
    let members = [GROUP[0], GROUP[1], GROUP[2], (4, "c")];
    let group = membership(&[&[1, 2, 3]], &members);
    let matched = BTreeMap::from([(ReplicaId::from_u64(4), 5_000)]);
    let resting = |group| Standing {
        resting: BTreeSet::from(["c".to_owned(), "d".to_owned()]),
        ..standing(group, &matched)
    };
    let why = "`c` was replaced a short while ago, and another data folder answers there again: if \
               two processes run under this name, stop one of them; if not, it is taken in later";
    let waits = |heard: &Heard| Decision {
        step: Step::Rest,
        refused: vec![refused(heard, Remedy::Wait, why)],
    };
    let learner = hears("c", 4);
    assert_eq!(
        decide(&resting(&group), std::slice::from_ref(&learner)),
        waits(&learner)
    );
    let group = membership(&[&[1, 2, 3]], &GROUP);
    let returned = Heard {
        past: Past::Votes,
        ..hears("c", 9)
    };
    assert_eq!(
        decide(&resting(&group), std::slice::from_ref(&returned)),
        waits(&returned)
    );
    // A name without a voter is not replaced but new.
    let admit = Step::Admit(ReplicaId::from_u64(5), member("d"));
    assert_eq!(decide(&resting(&group), &[hears("d", 5)]).step, admit);
}

#[test]
fn an_answer_counts_only_under_the_configured_name_and_in_the_own_history() {
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
    assert_eq!(read(&with(history_bytes(7)), ours), Some(hears("c", 4)));
    assert_eq!(read(&with(history_bytes(8)), ours), None);
    assert_eq!(read(&with(history_bytes(7)), None), None);
    assert_eq!(read(&with(bytes::Bytes::from_static(b"x")), ours), None);
    assert_eq!(heard(peer("b"), &answer, ours), None);

    for (initialized, learner, history, past) in [
        (false, false, Some(7), Past::NoVote),
        (false, true, Some(7), Past::NoVote),
        (true, true, Some(7), Past::NoVote),
        (true, false, Some(7), Past::Votes),
        (true, false, None, Past::VotesElsewhere),
    ] {
        let answer = wire::HelloResponse {
            initialized,
            learner,
            history: history.map_or_else(bytes::Bytes::new, history_bytes),
            ..answer.clone()
        };
        assert_eq!(read(&answer, ours).unwrap().past, past);
    }
}

fn history_bytes(history: u128) -> bytes::Bytes {
    bytes::Bytes::copy_from_slice(&history.to_be_bytes())
}
