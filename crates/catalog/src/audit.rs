//! Compares the committed state with a fresh list of everything.

use lockstep_model::{FactKind, Settings};
use lockstep_state::{Command, State};
use std::{
    collections::BTreeSet,
    fmt::{self, Display, Formatter},
    sync::Arc,
};

use crate::{Listed, facts::Facts, known::Known, reconcile, references::References};

/// One item in which the committed state is not what the source says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// How it differs.
    pub verdict: Verdict,
    /// The command that would make it equal. Names the item.
    pub command: Command,
}

/// How an item of the committed state differs from the source.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The source has it, the state does not.
    Missing,
    /// The state has it, the source does not.
    Surplus,
    /// Both have it, with other values.
    Unequal,
}

/// Why a list cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no list of {missing} to compare with: an audit needs every kind")]
pub struct IncompleteList {
    /// The first kind that was not listed.
    pub missing: FactKind,
}

/// What differs between the committed state and what `listed` and `settings`
/// make; empty when they agree. Cursors are no difference.
///
/// A source that changes between the two readings differs without anything
/// being wrong: compare again with a newer state before believing it.
///
/// # Errors
///
/// [`IncompleteList`] when a kind is not listed, since all of its objects
/// would look deleted.
pub fn audit(
    committed: &State,
    listed: Vec<Listed>,
    settings: &Arc<Settings>,
) -> Result<Vec<Difference>, IncompleteList> {
    complete(&listed)?;
    let facts = facts_of(committed, listed);
    let known = Known {
        facts: &facts,
        references: &References::of(&facts),
        settings,
    };
    let keys = reconcile::everything(&facts, committed);
    let commands = reconcile::settings(committed, settings)
        .into_iter()
        .chain(reconcile::content(committed, known, &keys))
        .chain(reconcile::memory(committed, &facts, &keys));
    let difference = |command| Difference {
        verdict: judge(committed, &command),
        command,
    };
    Ok(commands.map(difference).collect())
}

fn complete(listed: &[Listed]) -> Result<(), IncompleteList> {
    let kinds: BTreeSet<FactKind> = listed.iter().map(|listed| listed.kind).collect();
    match FactKind::ALL.iter().find(|kind| !kinds.contains(kind)) {
        Some(&missing) => Err(IncompleteList { missing }),
        None => Ok(()),
    }
}

fn facts_of(committed: &State, listed: Vec<Listed>) -> Facts {
    let mut facts = Facts::default();
    let remembered = committed.memory().facts();
    for Listed {
        facts: told,
        unread,
        ..
    } in listed
    {
        for key in unread {
            facts.set(&key, remembered.get(&key).cloned());
        }
        for (key, fact) in told {
            facts.set(&key, Some(Arc::new(fact)));
        }
    }
    facts
}

fn judge(committed: &State, command: &Command) -> Verdict {
    let content = committed.content();
    let put = |known: bool| {
        if known {
            Verdict::Unequal
        } else {
            Verdict::Missing
        }
    };
    match command {
        Command::OpenHistory(_) => Verdict::Missing,
        Command::PutSettings(_) => put(content.settings().is_some()),
        Command::PutService(id, _) => put(content.service(id).is_some()),
        Command::PutSlice(id, _) => put(content.slice(id).is_some()),
        Command::PutPod(id, _) => put(content.pod(id).is_some()),
        Command::PutNode(node, _) => put(content.zone(node).is_some()),
        Command::PutServiceProfile(id, _) => put(content.service_profile(id).is_some()),
        Command::PutExternalWorkload(id, _) => put(content.external_workload(id).is_some()),
        Command::Remember(key, _) => put(committed.memory().facts().contains_key(key)),
        Command::Advance(kind, _) | Command::OpenIncarnation(kind, _) => {
            put(committed.memory().cursors().contains_key(kind))
        }
        Command::RemoveService(_)
        | Command::RemoveSlice(_)
        | Command::RemovePod(_)
        | Command::RemoveNode(_)
        | Command::RemoveServiceProfile(_)
        | Command::RemoveExternalWorkload(_)
        | Command::Forget(_) => Verdict::Surplus,
    }
}

impl Display for Difference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.command {
            Command::OpenHistory(_) => write!(f, "history")?,
            Command::PutSettings(_) => write!(f, "settings")?,
            Command::PutService(id, _) | Command::RemoveService(id) => write!(f, "service {id}")?,
            Command::PutSlice(id, _) | Command::RemoveSlice(id) => write!(f, "slice {id}")?,
            Command::PutPod(id, _) | Command::RemovePod(id) => write!(f, "pod {id}")?,
            Command::PutNode(node, _) | Command::RemoveNode(node) => {
                write!(f, "zone of node {node}")?;
            }
            Command::PutServiceProfile(id, _) | Command::RemoveServiceProfile(id) => {
                write!(f, "service profile {id}")?;
            }
            Command::PutExternalWorkload(id, _) | Command::RemoveExternalWorkload(id) => {
                write!(f, "external workload {id}")?;
            }
            Command::Remember(key, _) | Command::Forget(key) => write!(f, "fact of {key}")?,
            Command::Advance(kind, _) | Command::OpenIncarnation(kind, _) => {
                write!(f, "cursor of {kind}")?
            }
        }
        write!(f, ": {}", self.verdict)
    }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "in the source, not in the state",
            Self::Surplus => "in the state, not in the source",
            Self::Unequal => "not the same in the source and in the state",
        })
    }
}
