//! The way to the API server: a client, and how to make another one.
//!
//! A client holds connections, and what was read of credentials when it was made. Both go
//! bad without a word: a connection that leads nowhere stays open, a token or an authority
//! is replaced in a file. So who finds that nobody answers, or that the answer is 401,
//! takes the way anew: files are read again, and nothing of the old client is used.

use kube::Client;
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

use crate::{Metrics, connect::Way};

/// The way of one source. Clones take it together.
#[derive(Clone)]
pub(crate) struct Access(Arc<Shared>);

struct Shared {
    way: Way,
    metrics: Metrics,
    taken: Mutex<Taken>,
    /// Held while the way is taken anew, so that nobody takes it twice.
    turn: tokio::sync::Mutex<()>,
}

/// A client, and when it was made.
#[derive(Clone)]
pub(crate) struct Taken {
    pub(crate) client: Client,
    made: Instant,
    number: u64,
}

/// Why a client is not used any more.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Distrust {
    /// Somebody should have answered and did not.
    Silent,
    /// The server does not know who asks: the credentials may have been replaced.
    Unauthorized,
    /// No connection came up, or it broke: the address or the authority may have been replaced.
    Unreachable,
}

impl Distrust {
    /// A client that is younger than this has nothing that a new one would not have too.
    const fn age_min(self) -> Duration {
        match self {
            Self::Silent => Duration::ZERO,
            Self::Unauthorized => Duration::from_millis(100),
            Self::Unreachable => Duration::from_secs(10),
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::Unauthorized => "unauthorized",
            Self::Unreachable => "unreachable",
        }
    }
}

impl Access {
    pub(crate) fn new(client: Client, way: Way, metrics: Metrics) -> Self {
        let taken = Taken {
            client,
            made: Instant::now(),
            number: 0,
        };
        Self(Arc::new(Shared {
            way,
            metrics,
            taken: Mutex::new(taken),
            turn: tokio::sync::Mutex::default(),
        }))
    }

    /// The newest client.
    pub(crate) fn taken(&self) -> Taken {
        let taken = self.0.taken.lock();
        taken.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes a client in place of `used`, unless somebody did so meanwhile, it is too
    /// young to be to blame, or the files cannot be read just now.
    pub(crate) async fn renew(&self, used: &Taken, why: Distrust) {
        let _turn = self.0.turn.lock().await;
        let newest = self.taken();
        if newest.number != used.number || newest.made.elapsed() < why.age_min() {
            return;
        }
        let client = match self.0.way.client().await {
            Ok(Some(client)) => client,
            Ok(None) => return,
            Err(error) => {
                let reason: &dyn std::error::Error = &error;
                tracing::warn!(reason, "credentials cannot be read again");
                return;
            }
        };
        self.0.metrics.renewed(why.label());
        tracing::debug!(reason = why.label(), "connects anew");
        let mut taken = self.0.taken.lock().unwrap_or_else(PoisonError::into_inner);
        *taken = Taken {
            client,
            made: Instant::now(),
            number: newest.number.wrapping_add(1),
        };
    }
}
