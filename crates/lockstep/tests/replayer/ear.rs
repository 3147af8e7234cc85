//! What a client hears on one stream, and what it holds by that.

use linkerd2_proxy_api::destination::DestinationProfile;
use lockstep_contract::{
    code,
    corpus::{End, Entry, Opening},
    fold::{Folded, Violation},
    json,
};
use serde_json::Value;
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};
use tokio::task::JoinHandle;
use tonic::Status;

use super::client::{Answer, Answers};

/// One stream of a client.
pub struct Ear {
    pub asked: Opening,
    inbox: Arc<Mutex<Inbox>>,
    reader: JoinHandle<()>,
}

/// What a client holds; a stream that told nothing yet is like an empty set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Holding {
    folded: Folded,
    profile: Option<DestinationProfile>,
}

struct Inbox {
    fresh: Vec<Value>,
    holding: Holding,
    end: Option<End>,
    is_end_fresh: bool,
    heard_at: Instant,
}

impl Holding {
    pub fn obey(&mut self, answer: Answer) {
        match answer {
            Answer::Update(update) => self.folded.take(&update),
            Answer::Profile(profile) => self.profile = Some(*profile),
        }
    }

    /// Whether both hold the same endpoints or the same profile.
    pub fn equals(&self, other: &Self) -> bool {
        let sets = [self.folded.set(), other.folded.set()];
        let [ours, others] = sets.map(|it| it.cloned().unwrap_or_default());
        ours == others && self.profile == other.profile
    }

    /// What was sent and should not have been.
    pub fn violations(&self) -> &[Violation] {
        self.folded.violations()
    }
}

impl Inbox {
    fn hear(&mut self, heard: Result<Answer, Status>) {
        self.heard_at = Instant::now();
        match heard {
            Ok(answer) => {
                self.fresh.push(match &answer {
                    Answer::Update(update) => json::update(update),
                    Answer::Profile(profile) => json::profile(profile),
                });
                self.holding.obey(answer);
            }
            Err(status) => {
                self.is_end_fresh = true;
                self.end = Some(End {
                    code: code::name(status.code()).to_owned(),
                    message: status.message().to_owned(),
                });
            }
        }
    }
}

impl Ear {
    /// Listens to a stream, or knows at once why there is none.
    pub fn to(asked: Opening, opened: Result<Answers, Status>) -> Self {
        let inbox = Arc::new(Mutex::new(Inbox {
            fresh: Vec::new(),
            holding: Holding::default(),
            end: None,
            is_end_fresh: false,
            heard_at: Instant::now(),
        }));
        let heard_by = Arc::clone(&inbox);
        let reader = tokio::spawn(async move {
            let mut answers = match opened {
                Ok(answers) => answers,
                Err(status) => return locked(&heard_by).hear(Err(status)),
            };
            loop {
                let heard = answers.next().await;
                let is_over = heard.is_err();
                locked(&heard_by).hear(heard);
                if is_over {
                    return;
                }
            }
        });
        Self {
            asked,
            inbox,
            reader,
        }
    }

    pub fn is_over(&self) -> bool {
        self.reader.is_finished()
    }

    pub fn heard_at(&self) -> Instant {
        locked(&self.inbox).heard_at
    }

    pub fn holding(&self) -> Holding {
        locked(&self.inbox).holding.clone()
    }

    pub fn holds(&self, other: &Holding) -> bool {
        locked(&self.inbox).holding.equals(other)
    }

    /// What came since it was asked last.
    pub fn take(&mut self, after_step: u32) -> Entry {
        let mut inbox = locked(&self.inbox);
        let end = if std::mem::take(&mut inbox.is_end_fresh) {
            inbox.end.clone()
        } else {
            None
        };
        Entry {
            after_step,
            messages: std::mem::take(&mut inbox.fresh),
            end,
        }
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

fn locked(inbox: &Mutex<Inbox>) -> MutexGuard<'_, Inbox> {
    inbox.lock().unwrap_or_else(PoisonError::into_inner)
}
