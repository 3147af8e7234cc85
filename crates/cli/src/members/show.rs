//! The members as one replica sees them: as JSON, and as a table with a row for each.

use lockstep_proto::admin::v1 as pb;
use serde::Serialize;

use crate::span::show_span;
use crate::table::{BAD, Cell, DIM, DOUBTFUL, GOOD, HEAD, layout, paint};

/// Whoever was silent for longer counts as away. Unit: milliseconds.
const AWAY_AFTER_MS: u64 = 2_000;

/// What one replica knows of the members.
#[derive(Debug, Serialize)]
pub(super) struct Seen<'a> {
    seen_by: &'a str,
    leads: bool,
    term: u64,
    voters: usize,
    may_fail: usize,
    members: Vec<Member<'a>>,
    outside: Vec<Outside<'a>>,
}

#[derive(Debug, Serialize)]
struct Member<'a> {
    replica: &'a str,
    name: &'a str,
    address: &'a str,
    role: &'static str,
    matched: Option<u64>,
    behind: Option<u64>,
    acked_ago_ms: Option<u64>,
    since_unix_ms: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Outside<'a> {
    name: &'a str,
    address: Option<&'a str>,
    role: &'static str,
    why: Option<&'a str>,
}

impl<'a> Seen<'a> {
    /// What a replica says, whether it leads or not.
    pub(super) fn by(status: &'a pb::StatusReply, leads: bool) -> Self {
        let voters = status.members.iter().filter(|it| it.voter).count();
        let members = status.members.iter();
        Self {
            seen_by: &status.name,
            leads,
            term: status.term,
            voters,
            may_fail: voters.saturating_sub(1) / 2,
            members: members.map(|it| member(status, leads, it)).collect(),
            outside: outside(status),
        }
    }
}

fn member<'a>(status: &pb::StatusReply, leads: bool, member: &'a pb::Member) -> Member<'a> {
    let last = status.log.as_ref().and_then(|log| log.last.as_ref());
    let last = last.map(|last| last.index).filter(|_| leads);
    let is_leader = member.replica == status.leader || leads && member.replica == status.replica;
    let matched = if leads && is_leader {
        last
    } else {
        member.matched
    };
    Member {
        replica: &member.replica,
        name: &member.name,
        address: &member.address,
        role: match (is_leader, member.voter) {
            (true, _) => "leader",
            (false, true) => "voter",
            (false, false) => "learner",
        },
        matched,
        behind: last
            .zip(matched)
            .map(|(last, matched)| last.saturating_sub(matched)),
        acked_ago_ms: member.acked_ago_ms.filter(|_| !is_leader),
        since_unix_ms: member.since_unix_ms,
    }
}

/// Who is configured and stays out, and whose name was removed and is not configured.
fn outside(status: &pb::StatusReply) -> Vec<Outside<'_>> {
    let role = |name: &String| {
        if status.dismissed.contains(name) {
            "removed"
        } else {
            "outside"
        }
    };
    let outsiders = status.outsiders.iter().map(|it| Outside {
        name: &it.name,
        address: Some(&it.address),
        role: role(&it.name),
        why: Some(&it.why),
    });
    let is_told = |name: &String| status.outsiders.iter().any(|it| it.name == *name);
    let gone = status.dismissed.iter().filter(|name| !is_told(name));
    let gone = gone.map(|name| Outside {
        name,
        address: None,
        role: role(name),
        why: None,
    });
    outsiders.chain(gone).collect()
}

/// A row for each member, and for each name that stays out.
pub(super) fn table(seen: &Seen<'_>) -> String {
    let head = [
        "NAME", "ROLE", "CONTACT", "MATCHED", "BEHIND", "ID", "ADDRESS",
    ];
    let mut rows = vec![head.map(|title| Cell::styled(HEAD, title)).to_vec()];
    rows.extend(seen.members.iter().map(member_row));
    rows.extend(seen.outside.iter().map(|it| {
        let unknown = || Cell::new("");
        let style = if it.role == "removed" { DIM } else { DOUBTFUL };
        vec![
            Cell::new(it.name),
            Cell::styled(style, it.role),
            unknown(),
            unknown(),
            unknown(),
            unknown(),
            Cell::styled(DIM, it.address.unwrap_or_default()),
        ]
    }));
    layout(&rows)
}

fn member_row(member: &Member<'_>) -> Vec<Cell> {
    let number = |number: Option<u64>| number.map(|it| it.to_string()).unwrap_or_default();
    vec![
        Cell::new(member.name),
        match member.role {
            "leader" => Cell::styled(GOOD, member.role),
            "learner" => Cell::styled(DOUBTFUL, member.role),
            role => Cell::new(role),
        },
        match member.acked_ago_ms {
            Some(ms) if ms > AWAY_AFTER_MS => Cell::styled(BAD, format!("{} ago", show_span(ms))),
            Some(ms) => Cell::new(format!("{} ago", show_span(ms))),
            None => Cell::new(""),
        },
        Cell::new(number(member.matched)),
        Cell::new(number(member.behind)),
        Cell::styled(DIM, member.replica),
        Cell::styled(DIM, member.address),
    ]
}

/// What the group can lose, and why somebody stays out.
pub(super) fn below(seen: &Seen<'_>) -> Vec<String> {
    let voters = match seen.voters {
        0 => "no voters: there is no group yet".to_owned(),
        1 => "1 voter, which may not fail".to_owned(),
        voters => format!("{voters} voters, {} of which may fail", seen.may_fail),
    };
    let seen_by = format!("{voters}; seen by {} in term {}", seen.seen_by, seen.term);
    let why = seen.outside.iter().filter_map(|it| {
        let line = format!("{} stays out: {}", it.name, it.why?);
        Some(paint(DOUBTFUL, &line))
    });
    std::iter::once(seen_by).chain(why).collect()
}
