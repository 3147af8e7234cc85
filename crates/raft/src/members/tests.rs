//! Every change against the groups that it must not be made in.

use super::*;
use crate::library::Membership;

fn id(id: u64) -> ReplicaId {
    ReplicaId::from_u64(id)
}

fn ids(ids: &[u64]) -> BTreeSet<ReplicaId> {
    ids.iter().copied().map(id).collect()
}

fn peer(name: &str) -> PeerAddress {
    PeerAddress {
        name: name.to_owned(),
        address: format!("{name}:4100"),
    }
}

fn member(name: &str, dismissed: &[&str]) -> Member {
    let dismissed = dismissed.iter().map(|name| {
        let PeerAddress { name, address } = peer(name);
        (name, address)
    });
    Member {
        name: name.to_owned(),
        address: peer(name).address,
        since_unix_ms: 5,
        dismissed: dismissed.collect(),
    }
}

/// A group whose replica 1 leads at index 5,000. All members have caught up,
/// and those in `present` have acknowledged something a moment ago.
fn view(voters: &[u64], members: &[(u64, &str)], present: &[u64]) -> GroupView {
    let nodes: BTreeMap<ReplicaId, Member> = members
        .iter()
        .map(|(at, name)| (id(*at), member(name, &[])))
        .collect();
    GroupView {
        own: id(1),
        leads: true,
        term: 3,
        leader: Some(id(1)),
        membership: Membership::new(vec![ids(voters)], nodes).unwrap(),
        at: None,
        is_committed: true,
        last: 5_000,
        matched: members.iter().map(|(at, _)| (id(*at), 5_000)).collect(),
        present: ids(present),
    }
}

const FIVE: [(u64, &str); 5] = [(1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, "e")];
const ALL: [u64; 5] = [1, 2, 3, 4, 5];

fn configured() -> Vec<PeerAddress> {
    ["a", "b", "c", "d", "e", "f"].map(peer).to_vec()
}

fn judged(view: &GroupView, change: &MembersChange) -> Result<String, String> {
    let plan = plan(view, &configured(), change);
    plan.map(|plan| plan.done)
        .map_err(|error| error.to_string())
}

fn removal(who: &[&str], risk: Risk) -> MembersChange {
    MembersChange::Remove(who.iter().map(ToString::to_string).collect(), risk)
}

fn ok(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

fn no(text: &str) -> Result<String, String> {
    Err(text.to_owned())
}

#[test]
fn a_removal_is_one_change_that_also_dismisses_the_names() {
    let five = view(&ALL, &FIVE, &ALL);
    let plan = plan(
        &five,
        &configured(),
        &removal(&["d", &id(5).to_string()], Risk::Refuse),
    );
    let staying = [(1, "a"), (2, "b"), (3, "c")];
    let staying = staying.map(|(at, name)| (id(at), member(name, &["d", "e"])));
    let expected = Plan {
        change: Some(Change::Batch(vec![
            Change::SetNodes(BTreeMap::from(staying)),
            Change::RemoveNodes(BTreeSet::new()),
            Change::ReplaceAllVoters(ids(&[1, 2, 3])),
        ])),
        done: "removed `d`, `e`; 3 voters, 1 of which may fail".to_owned(),
    };
    assert_eq!(plan, Ok(expected));
}

#[test]
fn an_id_whose_name_goes_on_is_removed_without_dismissing_the_name() {
    let members = [(1, "a"), (2, "b"), (3, "c"), (4, "c")];
    let group = view(&[1, 2, 3], &members, &[1, 2, 3, 4]);
    let plan = plan(
        &group,
        &configured(),
        &removal(&[&id(4).to_string()], Risk::Refuse),
    );
    let staying = [(1, "a"), (2, "b"), (3, "c")].map(|(at, name)| (id(at), member(name, &[])));
    let change = Change::Batch(vec![
        Change::SetNodes(BTreeMap::from(staying)),
        Change::RemoveNodes(ids(&[4])),
        Change::ReplaceAllVoters(ids(&[1, 2, 3])),
    ]);
    assert_eq!(plan.unwrap().change, Some(change));
}

#[test]
fn a_removal_that_the_rest_could_not_commit_is_refused_whatever_the_risk() {
    for risk in [Risk::Refuse, Risk::Accept] {
        let three = view(&[1, 2, 3], &FIVE[..3], &[1, 2]);
        assert_eq!(
            judged(&three, &removal(&["b"], risk)),
            no(
                "of the 2 voters that would be left 1 can be reached and 2 are needed to commit \
                anything; away: `c`"
            )
        );
        assert_eq!(
            judged(&three, &removal(&["a", "b", "c"], risk)),
            no("it is the last voter: without one the group could never commit anything again")
        );
        assert_eq!(
            judged(&three, &removal(&["x"], risk)),
            no("`x` is not a member: `a`, `b`, `c`")
        );
        // Who is away may go: it was counted, and never answers.
        assert_eq!(
            judged(&three, &removal(&["c"], risk)),
            ok("removed `c`; 2 voters, none of which may fail")
        );
    }
}

#[test]
fn what_leaves_less_to_lose_must_be_insisted_on() {
    let three = view(&[1, 2, 3], &FIVE[..3], &[1, 2, 3]);
    assert_eq!(
        judged(&three, &removal(&["c"], Risk::Refuse)),
        no(
            "the group would stop when the next voter fails, and would not now; --force does it \
            all the same"
        )
    );
    assert_eq!(
        judged(&three, &removal(&["c"], Risk::Accept)),
        ok("removed `c`; 2 voters, none of which may fail")
    );
    assert_eq!(
        judged(&three, &removal(&["b", "c"], Risk::Refuse)),
        no(
            "one voter would be left, and everything the group has committed on its disk alone; \
            --force does it all the same"
        )
    );
    assert_eq!(
        judged(&three, &removal(&["b", "c"], Risk::Accept)),
        ok("removed `b`, `c`; 1 voter is left, and none may fail")
    );
    // A learner costs nothing.
    let learner = view(&[1, 2, 3], &FIVE[..4], &[1, 2, 3]);
    assert_eq!(
        judged(&learner, &removal(&["d"], Risk::Refuse)),
        ok("removed `d`; 3 voters, 1 of which may fail")
    );
    let five = view(&ALL, &FIVE, &ALL);
    assert!(judged(&five, &removal(&["e"], Risk::Refuse)).is_ok());
}

#[test]
fn an_addition_needs_a_configured_name_and_ends_a_dismissal() {
    let add = |name: &str| MembersChange::Add(name.to_owned());
    let mut three = view(&[1, 2, 3], &FIVE[..4], &[1, 2, 3, 4]);
    assert_eq!(judged(&three, &add("b")), no("`b` is a voter already"));
    assert_eq!(
        judged(&three, &add("x")),
        no("`x` is not one of the leader's --peers: `a`, `b`, `c`, `d`, `e`, `f`")
    );
    assert_eq!(
        judged(&three, &add("d")),
        ok("`d` follows, 0 entries behind, and votes when it has caught up")
    );
    let taken_in = ok("`e` is taken in as soon as it answers at e:4100");
    assert_eq!(judged(&three, &add("e")), taken_in);
    assert_eq!(plan(&three, &configured(), &add("e")).unwrap().change, None);

    let nodes = |dismissed: &'static [&str]| {
        let members = FIVE[..3].iter();
        let members = members.map(move |(at, name)| (id(*at), member(name, dismissed)));
        BTreeMap::from_iter(members)
    };
    three.membership = Membership::new(vec![ids(&[1, 2, 3])], nodes(&["e", "f"])).unwrap();
    assert_eq!(judged(&three, &add("e")), taken_in);
    let change = plan(&three, &configured(), &add("e")).unwrap().change;
    assert_eq!(change, Some(Change::SetNodes(nodes(&["f"]))));
}

#[test]
fn a_promotion_needs_a_learner_that_is_there_and_has_caught_up() {
    let promote = |name: &str| MembersChange::Promote(name.to_owned());
    let mut group = view(&[1, 2, 3], &FIVE[..4], &[1, 2, 3, 4]);
    let promoted = plan(&group, &configured(), &promote("d")).unwrap();
    let expected = Plan {
        change: Some(Change::ReplaceAllVoters(ids(&[1, 2, 3, 4]))),
        done: "`d` votes; 4 voters, 1 of which may fail".to_owned(),
    };
    assert_eq!(promoted, expected);
    assert_eq!(judged(&group, &promote("b")), no("`b` is a voter already"));
    assert_eq!(
        judged(&group, &promote("e")),
        no("`e` is not a member: `a`, `b`, `c`, `d`")
    );
    group.matched.insert(id(4), 3_900);
    assert_eq!(
        judged(&group, &promote("d")),
        no("`d` has not caught up: it is 1100 entries behind, at most 1024 may be missing")
    );
    group.present.remove(&id(4));
    assert_eq!(
        judged(&group, &promote("d")),
        no("`d` has acknowledged nothing for a while: it must be up to become a voter")
    );
    // In place of a lost one of the same name.
    let group = view(
        &[1, 2, 3],
        &[FIVE[0], FIVE[1], FIVE[2], (4, "c")],
        &[1, 2, 4],
    );
    let change = plan(&group, &configured(), &promote("c")).unwrap().change;
    assert_eq!(change, Some(Change::ReplaceAllVoters(ids(&[1, 2, 4]))));
}

#[test]
fn only_a_leader_at_rest_changes_the_members() {
    let mut group = view(&ALL, &FIVE, &ALL);
    let change = removal(&["e"], Risk::Refuse);
    group.is_committed = false;
    let busy = no("another change of the members is under way; look again in a moment");
    assert_eq!(judged(&group, &change), busy);
    group.leads = false;
    assert_eq!(
        judged(&group, &change),
        no("only the leader changes the members; the leader is `a`")
    );
    group.leader = None;
    assert_eq!(
        judged(&group, &change),
        no("only the leader changes the members; the leader is unknown")
    );
}
