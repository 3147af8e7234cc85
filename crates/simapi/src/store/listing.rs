//! Lists: whole or in pages, now or at an earlier revision.

use std::borrow::Cow;
use std::ops::Bound;
use std::sync::Arc;

use serde_json::Value;

use super::{ObjectKey, Objects, Store};
use crate::kind::Kind;
use crate::refusal::Refusal;
use crate::selector::Selection;

/// Which revision a list shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListAt {
    /// The newest; this server has no stale copies, so "any" is this too.
    Newest,
    /// The newest, which must not be older than this.
    NotOlderThan(u64),
    /// Exactly this one.
    Exact(u64),
    /// The next page of an earlier list, by its token.
    Continue(String),
}

/// At most how many items; `None` is no limit.
pub(crate) type Page = Option<usize>;

/// The answer to a list.
#[derive(Debug)]
pub(crate) struct Listing {
    pub(crate) items: Vec<Arc<Value>>,
    pub(crate) revision: u64,
    /// Token of the next page, if there is one.
    pub(crate) token: Option<String>,
    /// Items after this page; unknown when selectors filter.
    pub(crate) remaining: Option<usize>,
}

/// What a page token says. Clients treat it as opaque.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Continuation {
    /// `None` shows whatever is newest: an inconsistent continuation.
    revision: Option<u64>,
    /// The last key of the page before.
    after: ObjectKey,
}

// === impl Continuation ===

impl Continuation {
    fn token(&self) -> String {
        let ObjectKey { namespace, name } = &self.after;
        match self.revision {
            Some(revision) => format!("{revision}:{namespace}/{name}"),
            None => format!("-1:{namespace}/{name}"),
        }
    }

    /// Tells how to go on at the newest revision.
    fn expired(self) -> Refusal {
        let newest = Self {
            revision: None,
            after: self.after,
        };
        Refusal::expired_continue(newest.token())
    }

    fn parse(token: &str) -> Result<Self, Refusal> {
        let bad = || {
            Refusal::bad_request(format!(
                "invalid continue token: continue key is not valid: {token:?}"
            ))
        };
        let (revision, key) = token.split_once(':').ok_or_else(bad)?;
        let (namespace, name) = key.split_once('/').ok_or_else(bad)?;
        let revision = match revision {
            "-1" => None,
            number => Some(number.parse().map_err(|_| bad())?),
        };
        Ok(Self {
            revision,
            after: ObjectKey::new(namespace, name),
        })
    }
}

/// The refusal of a page token as if its revision were forgotten.
pub(crate) fn expired_continuation(token: &str) -> Result<Refusal, Refusal> {
    let continuation = Continuation::parse(token)?;
    Ok(continuation.expired())
}

// === lists of Store ===

impl Store {
    /// Lists one kind.
    pub(crate) fn list(
        &self,
        kind: &'static Kind,
        selection: &Selection,
        at: &ListAt,
        page: Page,
    ) -> Result<Listing, Refusal> {
        let (revision, after) = self.place(at)?;
        let objects = self
            .objects_at(kind, revision)
            .ok_or_else(Refusal::expired_list)?;
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = objects
            .range((start, Bound::Unbounded))
            .filter(|(_, object)| selection.matches(object));
        let chosen: Vec<_> = rest.by_ref().take(page.unwrap_or(usize::MAX)).collect();
        let remaining = rest.count();
        let last = chosen.last().filter(|_| remaining > 0);
        let token = last.map(|(key, _)| {
            Continuation {
                revision: Some(revision),
                after: (*key).clone(),
            }
            .token()
        });
        Ok(Listing {
            revision,
            remaining: (token.is_some() && !selection.is_filtered()).then_some(remaining),
            token,
            items: chosen
                .into_iter()
                .map(|(_, object)| Arc::clone(object))
                .collect(),
        })
    }

    /// The revision to show, and the key to start after.
    fn place(&self, at: &ListAt) -> Result<(u64, Option<ObjectKey>), Refusal> {
        match at {
            ListAt::Newest => Ok((self.shown(), None)),
            ListAt::NotOlderThan(wanted) | ListAt::Exact(wanted) if *wanted > self.shown() => {
                Err(Refusal::too_new(*wanted, self.shown()))
            }
            ListAt::NotOlderThan(_) => Ok((self.shown(), None)),
            ListAt::Exact(wanted) if *wanted < self.history.compacted() => {
                Err(Refusal::expired_list())
            }
            ListAt::Exact(wanted) => Ok((*wanted, None)),
            ListAt::Continue(token) => self.place_of_continuation(token),
        }
    }

    fn place_of_continuation(&self, token: &str) -> Result<(u64, Option<ObjectKey>), Refusal> {
        let continuation = Continuation::parse(token)?;
        match continuation.revision {
            None => Ok((self.shown(), Some(continuation.after))),
            Some(wanted) if wanted > self.shown() => Err(Refusal::too_new(wanted, self.shown())),
            Some(wanted) if wanted < self.history.compacted() => Err(continuation.expired()),
            Some(wanted) => Ok((wanted, Some(continuation.after))),
        }
    }

    /// One kind's objects as they were, found by undoing the later events.
    fn objects_at(&self, kind: &'static Kind, revision: u64) -> Option<Cow<'_, Objects>> {
        let newest = match self.objects.get(kind) {
            Some(objects) => Cow::Borrowed(objects),
            None => Cow::Owned(Objects::new()),
        };
        if revision == self.revision {
            return Some(newest);
        }
        let mut objects = newest.into_owned();
        for event in self
            .history
            .after(revision)?
            .rev()
            .filter(|event| event.kind == kind)
        {
            match &event.previous {
                Some(previous) => objects.insert(event.key.clone(), Arc::clone(previous)),
                None => objects.remove(&event.key),
            };
        }
        Some(Cow::Owned(objects))
    }
}
