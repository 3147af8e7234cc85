//! Asks, while this replica leads, who answers for each name, and carries out what [`admission`] decides.

use futures::future::join_all;
use lockstep_proto::peer::v1 as wire;
use openraft::Precondition;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use tokio::sync::watch;

use crate::admission::pace::Pace;
use crate::admission::{self, Decision, Heard, Refusal, Remedy, Standing, Step};
use crate::bootstrap::greet;
use crate::group_view::GroupView;
use crate::library::{Raft, RawLogId, dismissed_from};
use crate::members::{self, Change};
use crate::peer::{Lane, Matched, Peers};
use crate::tasks::one_line;
use crate::{Outsider, PeerAddress, read, wall_clock};

const ROUND_INTERVAL: Duration = Duration::from_secs(1);
/// Between a change and the round that looks for the next one.
const NEXT_CHANGE_INTERVAL: Duration = Duration::from_millis(100);
/// How long a change may take to commit before a later round looks at it again.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(5);
const NOTICE_TIMEOUT: Duration = Duration::from_millis(500);

/// What the task works with.
pub(crate) struct Admission {
    pub(crate) raft: Raft,
    pub(crate) peers: Peers,
    /// What followers have acknowledged.
    pub(crate) matched: Matched,
    pub(crate) configured: Vec<PeerAddress>,
    /// Who is configured and no member, as of the last round of a leader; else empty.
    pub(crate) outsiders: watch::Sender<Vec<Outsider>>,
}

/// The answer of one name, or why there is none.
type Answer = (PeerAddress, Result<wire::HelloResponse, String>);

impl Admission {
    /// Runs until it is dropped.
    pub(crate) async fn run(self) {
        let mut pace = Pace::default();
        let mut told = BTreeSet::new();
        let mut pause = ROUND_INTERVAL;
        loop {
            tokio::time::sleep(pause).await;
            pause = ROUND_INTERVAL;
            if !GroupView::of(&self.raft).leads {
                self.outsiders.send_replace(Vec::new());
                (pace, told) = (Pace::default(), BTreeSet::new());
                continue;
            }
            let (problems, has_changed) = self.round(&mut pace).await;
            for problem in problems.difference(&told) {
                tracing::warn!(%problem, "a replica is not taken in");
            }
            told = problems;
            if has_changed {
                pause = NEXT_CHANGE_INTERVAL;
            }
        }
    }

    /// One round: what stands in somebody's way, and whether the members have changed.
    async fn round(&self, pace: &mut Pace) -> (BTreeSet<String>, bool) {
        let (answers, gone) = self.ask().await;
        let view = GroupView::of(&self.raft);
        let Decision { step, refused } = self.judge(&view, pace, &answers, gone);
        self.outsiders
            .send_replace(outsiders(&view, &answers, &refused));
        self.tell(&refused).await;
        let mut problems: BTreeSet<String> = refused.into_iter().map(|it| it.why).collect();
        let replaced = if let Step::Replace(name, _) = &step {
            Some(name.clone())
        } else {
            None
        };
        let Some((what, change)) = change_of(step, &view) else {
            return (problems, false);
        };
        let shown = change.to_string();
        match commit(&self.raft, change, view.at).await {
            Ok(()) => {
                tracing::info!(change = %shown, "{what}");
                if let Some(name) = replaced {
                    pace.note(&name, Instant::now());
                }
                (problems, true)
            }
            Err(why) => {
                problems.insert(why);
                (problems, false)
            }
        }
    }

    /// Greets every other configured name, and finds which dismissed ones are gone.
    async fn ask(&self) -> (Vec<Answer>, BTreeSet<String>) {
        let own = &self.peers.address().name;
        let others = self.configured.iter().filter(|peer| *peer.name != **own);
        let is_configured = |name: &str| self.configured.iter().any(|peer| peer.name == name);
        let dismissed = dismissed_from(&GroupView::of(&self.raft).membership).into_iter();
        let unlisted: Vec<PeerAddress> = dismissed
            .filter(|(name, _)| !is_configured(name))
            .map(|(name, address)| PeerAddress { name, address })
            .collect();
        let (answers, unlisted) = tokio::join!(
            join_all(others.map(|peer| greet(&self.peers, peer))),
            join_all(unlisted.iter().map(|peer| greet(&self.peers, peer))),
        );
        let is_gone = |(peer, answer): Answer| {
            let is_there = answer.is_ok_and(|answer| answer.name == peer.name);
            (!is_there).then_some(peer.name)
        };
        (answers, unlisted.into_iter().filter_map(is_gone).collect())
    }

    fn judge(
        &self,
        view: &GroupView,
        pace: &Pace,
        answers: &[Answer],
        gone: BTreeSet<String>,
    ) -> Decision {
        let ours = self.peers.address().history.get().copied();
        let heard = answers.iter().filter_map(|(peer, answer)| {
            let answer = answer.as_ref().ok()?;
            admission::heard(peer.clone(), answer, ours)
        });
        let heard: Vec<Heard> = heard.collect();
        let resting = pace.resting(Instant::now());
        let standing = Standing {
            own: view.own,
            membership: &view.membership,
            is_committed: view.is_committed,
            last: view.last,
            matched: &view.matched,
            lost: self.matched.losers(view.term),
            resting: resting.map(ToOwned::to_owned).collect(),
            gone,
            unix_ms: wall_clock::unix_ms(),
        };
        admission::decide(&standing, &heard)
    }

    /// Tells those who stay out why. Only a leader that a majority confirms may
    /// send somebody away: what it knows of the members is then the truth.
    async fn tell(&self, refused: &[Refusal]) {
        let sends_away = |it: &Refusal| it.remedy == Remedy::StartAnew;
        let is_confirmed =
            !refused.iter().any(sends_away) || read::local_index(&self.raft).await.is_ok();
        let refused = refused.iter().filter(|it| is_confirmed || !sends_away(it));
        join_all(refused.map(|refusal| self.tell_one(refusal))).await;
    }

    async fn tell_one(&self, refusal: &Refusal) {
        let Some(mut client) = self.peers.client(&refusal.peer.address, Lane::Quick) else {
            return;
        };
        let request = wire::NoticeRequest {
            route: Some(self.peers.route_to(Some(refusal.id))),
            reason: refusal.why.clone(),
            start_anew: refusal.remedy == Remedy::StartAnew,
        };
        // It is told again in the next round.
        let _ = tokio::time::timeout(NOTICE_TIMEOUT, client.notice(request)).await;
    }
}

/// Who is configured and no member, and why.
fn outsiders(view: &GroupView, answers: &[Answer], refused: &[Refusal]) -> Vec<Outsider> {
    let names: BTreeSet<&str> = view
        .membership
        .nodes()
        .map(|(_, member)| member.name.as_str())
        .collect();
    let refusal = |peer: &PeerAddress| {
        let refused = refused.iter().find(|refusal| refusal.peer == *peer);
        refused.map(|refusal| refusal.why.clone())
    };
    let outsider = |(peer, answer): &Answer| Outsider {
        name: peer.name.clone(),
        address: peer.address.clone(),
        why: match (refusal(peer), answer) {
            (Some(why), _) => why,
            (None, Ok(_)) => "it is being taken in".to_owned(),
            (None, Err(what)) => format!("it does not answer: {what}"),
        },
    };
    let outside =
        |(peer, _): &&Answer| !names.contains(peer.name.as_str()) || refusal(peer).is_some();
    answers.iter().filter(outside).map(outsider).collect()
}

fn change_of(step: Step, view: &GroupView) -> Option<(&'static str, Change)> {
    let all_voters = Change::ReplaceAllVoters;
    Some(match step {
        Step::Rest => return None,
        Step::Finish(voters) => ("a change of voters was finished", all_voters(voters)),
        Step::Admit(id, member) => {
            let what = "a replica that is no member follows";
            (what, Change::AddNodes(BTreeMap::from([(id, member)])))
        }
        Step::Replace(_, voters) => ("a new replica votes for a lost one", all_voters(voters)),
        Step::Promote(voters) => ("the group has grown", all_voters(voters)),
        Step::Forget(id) => {
            let what = "a learner that was lost is no member any more";
            (what, Change::RemoveNodes(BTreeSet::from([id])))
        }
        Step::Release(names) => {
            let what = "names that were removed are gone: configured again, they are new ones";
            (what, members::release(view, &names)?)
        }
    })
}

/// Makes one change, only on the membership that was judged: anybody else's change comes first.
async fn commit(raft: &Raft, change: Change, judged: Option<RawLogId>) -> Result<(), String> {
    let shown = change.to_string();
    let last_membership_log_id = judged;
    let judged = [Precondition::LastMembershipLogId {
        last_membership_log_id,
    }];
    let changed = raft.change_membership_if(change, false, judged);
    match tokio::time::timeout(CHANGE_TIMEOUT, changed).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(one_line(&error.to_string())),
        Err(_) => Err(format!("no quorum within {CHANGE_TIMEOUT:?} for {shown}")),
    }
}
