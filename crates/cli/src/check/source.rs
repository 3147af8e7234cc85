//! Asks every replica for every service, and compares with a fresh list of the source.

use futures::StreamExt;
use lockstep_proto::admin::v1::AuditReply;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::Duration;
use tonic::Code;

use super::answers::{Expected, Mismatch, mismatch, read_expected};
use crate::admin::Admin;
use crate::ask::{AskError, in_time};
use crate::proxy::{Proxy, Question};
use crate::screen::Screen;
use crate::{Address, VerbError};

/// Questions under way at the same time, over all replicas.
const QUESTIONS_MAX: usize = 32;

/// Fewer questions than this are over before anybody reads how many are left.
const PROGRESS_FROM: usize = 200;

/// Listing a large cluster takes the leader a while.
const AUDIT_TIMEOUT: Duration = Duration::from_secs(60);

/// A replica's proxy port, under the name that findings use.
#[derive(Clone, Debug)]
pub(super) struct Door {
    pub(super) name: String,
    pub(super) address: Address,
}

/// One question to one replica, by the replica's name and the authority.
pub(super) type Suspect = (String, String);

/// What one attempt found; each attempt but the first only looks at what the one before suspected.
#[derive(Clone, Debug, Default)]
pub(super) struct Attempt {
    pub(super) differences: Vec<String>,
    pub(super) mismatches: Vec<Mismatch>,
    /// Questions without an answer, and why.
    pub(super) unanswered: Vec<(Suspect, String)>,
    pub(super) services: usize,
    pub(super) endpoints: usize,
}

/// Whom to ask, and how long to wait for each answer.
#[derive(Clone, Debug)]
pub(super) struct Comparer {
    /// Admin ports, the likely leader first.
    pub(super) admins: Vec<Address>,
    pub(super) doors: Vec<Door>,
    pub(super) timeout: Duration,
}

/// A door with the connection to it.
struct Connection<'a> {
    door: &'a Door,
    proxy: Result<Proxy, AskError>,
    /// Set once a question stays without an answer in time. The rest of the attempt does not wait
    /// for that replica again, or thousands of questions would wait one after the other.
    silent: OnceLock<AskError>,
}

enum Verdict {
    Equal,
    Differs(Mismatch),
    Unanswered(Suspect, String),
}

impl Attempt {
    pub(super) fn is_clean(&self) -> bool {
        self.differences.is_empty() && self.suspects().is_empty()
    }

    pub(super) fn suspects(&self) -> BTreeSet<Suspect> {
        let mismatches = self.mismatches.iter();
        let mismatches =
            mismatches.map(|mismatch| (mismatch.replica.clone(), mismatch.authority.clone()));
        mismatches
            .chain(self.unanswered.iter().map(|(suspect, _)| suspect.clone()))
            .collect()
    }

    /// The differences that this attempt found again, and what is left of the suspects.
    pub(super) fn confirmed_by(self, again: Self) -> Self {
        let found_before = self.differences;
        let differences = again.differences.into_iter();
        let differences = differences
            .filter(|found| found_before.contains(found))
            .collect();
        Self {
            differences,
            ..again
        }
    }
}

impl Comparer {
    /// Lists the source once and asks; everything, or only the suspects.
    ///
    /// The inner error is that no replica could audit, one sentence for each that was asked.
    pub(super) async fn attempt(
        &self,
        only: Option<&BTreeSet<Suspect>>,
        screen: &mut Screen<'_>,
    ) -> Result<Result<Attempt, Vec<String>>, VerbError> {
        let (audit, expected) = match self.audit().await {
            Ok(audited) => audited,
            Err(reasons) => return Ok(Err(reasons)),
        };
        let mut attempt = Attempt {
            differences: audit.differences,
            services: expected.len(),
            endpoints: expected.values().map(BTreeSet::len).sum(),
            ..Attempt::default()
        };
        self.ask_services(&expected, only, (&mut attempt, screen))
            .await?;
        Ok(Ok(attempt))
    }

    /// Asks one replica after the other: only the leader audits. That the others do not is no
    /// reason if the leader gave one.
    async fn audit(&self) -> Result<(AuditReply, Expected), Vec<String>> {
        let (mut reasons, mut followers) = (Vec::new(), Vec::new());
        for address in &self.admins {
            let audit = async { Admin::connect(address).await?.audit().await };
            match in_time(address, AUDIT_TIMEOUT, audit).await {
                Ok(audit) => match read_expected(&audit) {
                    Ok(expected) => return Ok((audit, expected)),
                    Err(error) => reasons.push(error.to_string()),
                },
                Err(error) if is_follower(&error) => followers.push(no_audit(&error)),
                Err(error) => reasons.push(no_audit(&error)),
            }
        }
        Err(if reasons.is_empty() {
            followers
        } else {
            reasons
        })
    }

    async fn ask_services(
        &self,
        expected: &Expected,
        only: Option<&BTreeSet<Suspect>>,
        (attempt, screen): (&mut Attempt, &mut Screen<'_>),
    ) -> Result<(), VerbError> {
        let connections = self.doors.iter().map(|door| self.connect(door));
        let connections = futures::future::join_all(connections).await;
        let wanted = |door: &Door, authority: &String| {
            only.is_none_or(|only| only.contains(&(door.name.clone(), authority.clone())))
        };
        let questions: Vec<_> = connections
            .iter()
            .flat_map(|connection| expected.iter().map(move |service| (connection, service)))
            .filter(|(connection, (authority, _))| wanted(connection.door, authority))
            .collect();
        let total = questions.len();
        let asked = questions
            .into_iter()
            .map(|(connection, service)| self.ask(connection, service));
        let mut verdicts = futures::stream::iter(asked).buffer_unordered(QUESTIONS_MAX);
        let mut done = 0_usize;
        while let Some(verdict) = verdicts.next().await {
            attempt.record(verdict);
            done += 1;
            if total >= PROGRESS_FROM && done.is_multiple_of(total / 100) {
                screen.progress(format_args!("{done} of {total} answers"))?;
            }
        }
        attempt.sort();
        Ok(())
    }

    async fn connect<'a>(&self, door: &'a Door) -> Connection<'a> {
        let proxy = in_time(&door.address, self.timeout, Proxy::connect(&door.address)).await;
        Connection {
            door,
            proxy,
            silent: OnceLock::new(),
        }
    }

    async fn ask(
        &self,
        connection: &Connection<'_>,
        (authority, expected): (&String, &BTreeSet<SocketAddr>),
    ) -> Verdict {
        let door = connection.door;
        let question = Question {
            authority: authority.clone(),
            context: String::new(),
        };
        let answer = match (&connection.proxy, connection.silent.get()) {
            (Err(error), _) | (Ok(_), Some(error)) => Err(error.clone()),
            (Ok(proxy), None) => {
                in_time(&door.address, self.timeout, proxy.first_answer(&question)).await
            }
        };
        if let Err(error @ AskError::Silent { .. }) = &answer {
            // Of several that stay silent at the same time the first is kept.
            let _ = connection.silent.set(error.clone());
        }
        let answer = match &answer {
            Ok(first) => Ok(&first.answer),
            // The expected service is unknown there: a wrong answer, not a missing one.
            Err(AskError::Refused {
                code: Code::NotFound | Code::InvalidArgument,
                ..
            }) => Err(answer
                .as_ref()
                .err()
                .map(AskError::reason)
                .unwrap_or_default()),
            Err(error) => {
                let suspect = (door.name.clone(), authority.clone());
                return Verdict::Unanswered(suspect, error.to_string());
            }
        };
        mismatch((&door.name, authority), expected, answer).map_or(Verdict::Equal, Verdict::Differs)
    }
}

fn no_audit(error: &AskError) -> String {
    format!("no audit: {error}")
}

/// Whether a replica only says that another one leads.
fn is_follower(error: &AskError) -> bool {
    matches!(
        error,
        AskError::Refused {
            code: Code::FailedPrecondition,
            ..
        }
    )
}

impl Attempt {
    fn record(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Equal => {}
            Verdict::Differs(mismatch) => self.mismatches.push(mismatch),
            Verdict::Unanswered(suspect, reason) => self.unanswered.push((suspect, reason)),
        }
    }

    /// Answers come in any order; findings do not.
    fn sort(&mut self) {
        self.mismatches.sort_by(|one, other| {
            (&one.authority, &one.replica).cmp(&(&other.authority, &other.replica))
        });
        self.unanswered.sort();
    }
}
