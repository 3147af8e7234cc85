//! A list as it grows, page by page.

use lockstep_catalog::Listed;
use lockstep_model::{Cursor, Fact, FactKey, FactKind};
use std::collections::{BTreeMap, BTreeSet};

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// The usable objects on it.
    pub(crate) facts: Vec<(FactKey, Fact)>,
    /// The objects on it that could not be decoded, but have a name.
    pub(crate) unread: Vec<FactKey>,
    /// The moment of the list, equal on all its pages.
    pub(crate) cursor: Cursor,
    /// What to ask the next page with; `None` on the last.
    pub(crate) next: Option<String>,
}

/// The pages so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gathered {
    facts: BTreeMap<FactKey, Fact>,
    unread: BTreeSet<FactKey>,
    cursor: Option<Cursor>,
    token: Option<String>,
}

/// What a page makes of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Turned {
    /// There is more.
    More(Gathered),
    /// The list is complete.
    Complete(Listed),
    /// The page is of another moment than the pages before: together they are no list.
    Torn,
}

impl Gathered {
    /// What to ask the next page with; `None` for the first.
    pub(crate) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Adds one page.
    pub(crate) fn turn(mut self, kind: FactKind, page: Page) -> Turned {
        if self
            .cursor
            .as_ref()
            .is_some_and(|cursor| *cursor != page.cursor)
        {
            return Turned::Torn;
        }
        self.facts.extend(page.facts);
        self.unread.extend(page.unread);
        match page.next {
            Some(token) => Turned::More(Self {
                facts: self.facts,
                unread: self.unread,
                cursor: Some(page.cursor),
                token: Some(token),
            }),
            None => Turned::Complete(Listed {
                kind,
                facts: self.facts,
                unread: self.unread,
                cursor: page.cursor,
            }),
        }
    }
}
