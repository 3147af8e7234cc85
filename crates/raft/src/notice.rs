//! What the leader of the group says to a replica that answers and stays out.

use std::time::{Duration, Instant};
use tokio::sync::watch;

use crate::admission::Remedy;

/// A leader says it again every second as long as it is true.
const VALID_FOR: Duration = Duration::from_secs(5);

/// The newest notice. A cheap handle.
#[derive(Clone, Debug)]
pub(crate) struct Notices(watch::Sender<Option<Notice>>);

#[derive(Clone, Debug)]
struct Notice {
    why: String,
    remedy: Remedy,
    heard_at: Instant,
}

impl Notices {
    /// Nothing was heard yet.
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(None))
    }

    /// Takes in what a leader says.
    pub(crate) fn hear(&self, why: String, remedy: Remedy) {
        if self.standing().as_ref() != Some(&why) {
            tracing::warn!(%why, "not a member of the group");
        }
        self.0.send_replace(Some(Notice {
            why,
            remedy,
            heard_at: Instant::now(),
        }));
    }

    /// Why this replica is not a member, if a leader has said so a moment ago.
    pub(crate) fn standing(&self) -> Option<String> {
        let heard = self.0.borrow();
        let valid = heard
            .as_ref()
            .filter(|notice| notice.heard_at.elapsed() < VALID_FOR);
        valid.map(|notice| notice.why.clone())
    }

    /// Waits until a leader has said that this replica is to start anew, and why.
    pub(crate) async fn start_anew(&self) -> String {
        let mut heard = self.0.subscribe();
        let says_so = |notice: &Option<Notice>| {
            let remedy = notice.as_ref().map(|notice| notice.remedy);
            remedy == Some(Remedy::StartAnew)
        };
        let heard = heard.wait_for(says_so).await;
        let notice = heard.ok().and_then(|notice| notice.clone());
        match notice {
            Some(notice) => notice.why,
            // Cannot be: this handle holds a sender.
            None => std::future::pending().await,
        }
    }
}
