//! One lane for each replica: its life, its lead, its freshness, what its clients did, and its
//! revision.

use std::collections::BTreeMap;

use lockstep_jepsen_checkers::{
    CheckerId, Judgement, LifeState, Replica, RoleKind, Run, Seen, What,
};

use super::{
    Ruler, SPAN,
    activity::Counts,
    lanes::{Flag, Lane},
};
use crate::clock::real;
use crate::thin;

const LIFE: (u32, u32) = (2, 9);
const LEAD: (u32, u32) = (11, 23);
const FRESH: (u32, u32) = (25, 33);
const BUSY: (u32, u32) = (36, 52);
const REVISION: (u32, u32) = (55, 77);
const HEIGHT: u32 = 80;

/// A claim says something of the time until the next one, but not for longer. Unit: nanoseconds.
const CLAIM_LASTS: u64 = 5_000_000_000;

/// From, to, and how.
type Span = (u64, u64, &'static str);

pub(super) fn replicas(run: &Run<'_>, judgement: &Judgement, ruler: Ruler) -> Vec<Lane> {
    let mut lanes: BTreeMap<Replica, Lane> = BTreeMap::new();
    for replica in run.replicas() {
        let mut lane = Lane::new("", HEIGHT);
        lane.name = format!(
            "<b>{replica}</b><small>life<br>lead<br>freshness<br>messages<br>revision</small>"
        );
        ribbon(&mut lane, &lives(run, replica), LIFE, ruler);
        ribbon(&mut lane, &freshness(run, replica), FRESH, ruler);
        lead(&mut lane, run, replica, ruler);
        busy(&mut lane, run, replica, ruler);
        revision(&mut lane, run, replica, ruler);
        lanes.insert(replica, lane);
    }
    wrong_claims(run, judgement, ruler, &mut lanes);
    lanes.into_values().collect()
}

fn ribbon(lane: &mut Lane, spans: &[Span], rows: (u32, u32), ruler: Ruler) {
    for (from, to, class) in spans {
        lane.fill(class, (ruler.place(*from), ruler.place(*to)), rows);
    }
}

/// Adds a state from a moment on; what came before ends there.
fn turn(spans: &mut Vec<Span>, at: u64, lasts: u64, class: &'static str) {
    if let Some(last) = spans.last_mut() {
        let reaches = last.1 >= at;
        if last.2 == class && reaches {
            last.1 = last.1.max(at.saturating_add(lasts));
            return;
        }
        last.1 = last.1.min(at);
    }
    spans.push((at, at.saturating_add(lasts), class));
}

fn lives(run: &Run<'_>, replica: Replica) -> Vec<Span> {
    let mut spans = Vec::new();
    for (_, at, seen) in run.seen() {
        let Seen::Life(life) = seen else { continue };
        if life.replica == replica {
            let class = match life.state {
                LifeState::Up => "up",
                LifeState::Paused => "paused",
                LifeState::Down(_) => "down",
                LifeState::Quarantined => "quarantined",
            };
            turn(&mut spans, at, u64::MAX, class);
        }
    }
    spans
}

fn freshness(run: &Run<'_>, replica: Replica) -> Vec<Span> {
    let mut spans = Vec::new();
    for (_, at, seen) in run.seen() {
        match seen {
            Seen::Claim(claim) if claim.replica == replica => {
                let class = if claim.fresh { "fresh" } else { "stale" };
                turn(&mut spans, at, CLAIM_LASTS, class);
            }
            Seen::Life(life) if life.replica == replica && life.state != LifeState::Up => {
                if let Some(last) = spans.last_mut() {
                    last.1 = last.1.min(at);
                }
            }
            _ => {}
        }
    }
    spans
}

/// From when it was elected to when it follows, ends, or another one leads.
fn lead(lane: &mut Lane, run: &Run<'_>, replica: Replica, ruler: Ruler) {
    let mut led: Option<(u64, u64)> = None;
    let mut spans: Vec<(u64, u64, u64)> = Vec::new();
    for (_, at, seen) in run.seen() {
        let begins = match seen {
            Seen::Role(role) if role.replica == replica && role.role == RoleKind::Leader => {
                Some(role.term)
            }
            Seen::Role(role) if role.replica == replica || role.role == RoleKind::Leader => None,
            Seen::Life(life) if life.replica == replica => match life.state {
                LifeState::Down(_) | LifeState::Quarantined => None,
                LifeState::Up | LifeState::Paused => continue,
            },
            _ => continue,
        };
        if begins.is_some() && begins == led.map(|(_, term)| term) {
            continue;
        }
        spans.extend(led.take().map(|(from, term)| (from, at, term)));
        led = begins.map(|term| (at, term));
    }
    spans.extend(led.map(|(from, term)| (from, run.end(), term)));
    for (from, to, term) in spans {
        let (from, to) = (ruler.place(from), ruler.place(to));
        lane.fill("lead", (from, to), LEAD);
        lane.texts.push((from, LEAD.0, format!("♛ {term}")));
    }
}

fn busy(lane: &mut Lane, run: &Run<'_>, replica: Replica, ruler: Ruler) {
    let (mut told, mut refused) = (Counts::new(ruler), Counts::new(ruler));
    for stream in run.streams.iter().filter(|it| it.open.replica == replica) {
        for heard in &stream.heard {
            told.count(heard.at);
        }
        if let Some((_, at, _)) = stream.refused {
            refused.count(at);
        }
    }
    let most = told.most().max(refused.most());
    lane.columns("told", &told.heights(most), BUSY);
    lane.columns("refused", &refused.heights(most), BUSY);
}

fn revision(lane: &mut Lane, run: &Run<'_>, replica: Replica, ruler: Ruler) {
    let newest = run.commits.newest().map(|(rev, _)| rev.number).max();
    let newest = real(newest.unwrap_or(0).max(1));
    let seen = run.seen().filter_map(|(_, at, seen)| {
        let rev = seen.rev().filter(|_| seen.replica() == Some(replica))?;
        Some((at, rev.number))
    });
    // In dots of a wide screen, so that thinning loses nothing that is seen.
    let dots = SPAN / 2000.0;
    let points = seen.map(|(at, number)| (ruler.place(at) / dots, real(number) / newest));
    let thinned = thin::line(points).into_iter();
    let steps: Vec<(f64, f64)> = thinned.map(|(x, height)| (x * dots, height)).collect();
    lane.steps("revision", &steps, REVISION);
}

/// Claims of freshness that the checker found to be wrong.
fn wrong_claims(
    run: &Run<'_>,
    judgement: &Judgement,
    ruler: Ruler,
    lanes: &mut BTreeMap<Replica, Lane>,
) {
    let freshness = judgement.verdicts.iter();
    let freshness = freshness.filter(|verdict| verdict.checker == CheckerId::Freshness);
    for violation in freshness.flat_map(|verdict| &verdict.violations) {
        for place in &violation.evidence {
            let Some(event) = run.history.events().get(*place) else {
                continue;
            };
            let What::Seen(Seen::Claim(claim)) = &event.what else {
                continue;
            };
            if let Some(lane) = lanes.get_mut(&claim.replica) {
                lane.flags.push(Flag {
                    class: "bad",
                    x: ruler.place(event.at),
                    from: FRESH.0,
                    to: FRESH.1,
                    place: *place,
                    says: violation.what.clone(),
                });
            }
        }
    }
}
