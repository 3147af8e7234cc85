//! Which log entry.

use serde::{Deserialize, Serialize};

use crate::Term;

/// Names one entry of the Raft log: the term of the leader that appended it,
/// and its place.
///
/// Not a [`Revision`](crate::Revision): blank and membership entries have log
/// ids too. Prints as `T3-I57`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LogId {
    /// The term of the leader that appended the entry.
    pub term: Term,
    /// The place in the log, from 0.
    pub index: u64,
}

impl std::fmt::Display for LogId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-I{}", self.term, self.index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_id_prints_term_and_index() {
        let log_id = LogId {
            term: Term::from_u64(3),
            index: 57,
        };
        assert_eq!(log_id.to_string(), "T3-I57");
    }
}
