//! The promises of `docs/guarantees.md`, by name.

use serde::Serialize;
use std::fmt;

/// One promise.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Guarantee {
    /// I1, I10, I14.
    Agreement,
    /// I2, I3.
    Monotonic,
    /// I12.
    WholeFirst,
    /// I4.
    Convergence,
    /// I4b.
    NoPhantom,
    /// I6, I12.
    NoFalseWithdrawal,
    /// I9.
    NoChurn,
    /// I13, of others.
    Isolation,
    /// I13, of memory.
    Bounded,
    /// I5.
    FreshOrSaysSo,
    /// I6.
    OneVoice,
    /// I7, I7b, I15.
    Durable,
    /// I11.
    Continuity,
}

// === impl Guarantee ===

impl Guarantee {
    /// All of them, in the order of the page.
    pub const ALL: [Self; 13] = [
        Self::Agreement,
        Self::Monotonic,
        Self::WholeFirst,
        Self::Convergence,
        Self::NoPhantom,
        Self::NoFalseWithdrawal,
        Self::NoChurn,
        Self::Isolation,
        Self::Bounded,
        Self::FreshOrSaysSo,
        Self::OneVoice,
        Self::Durable,
        Self::Continuity,
    ];

    /// The name, as the page has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agreement => "agreement",
            Self::Monotonic => "monotonic",
            Self::WholeFirst => "whole first",
            Self::Convergence => "convergence",
            Self::NoPhantom => "no phantom",
            Self::NoFalseWithdrawal => "no false withdrawal",
            Self::NoChurn => "no churn",
            Self::Isolation => "isolation",
            Self::Bounded => "bounded",
            Self::FreshOrSaysSo => "fresh or says so",
            Self::OneVoice => "one voice",
            Self::Durable => "durable",
            Self::Continuity => "continuity",
        }
    }

    /// The sentence that a violation breaks.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Agreement => {
                "Two replicas at the same revision hold the same state, shown by the same digest, \
                 whatever restarts, snapshots and versions lie behind."
            }
            Self::Monotonic => {
                "A client never receives an older revision than one it has already received, on \
                 whichever replica it asks, unless that replica told it that it is stale."
            }
            Self::WholeFirst => {
                "The first message of a stream comes within 1 s and is the whole answer; an empty \
                 answer is said, not kept silent."
            }
            Self::Convergence => {
                "Once Kubernetes is quiet, what every client was told equals what Kubernetes holds."
            }
            Self::NoPhantom => {
                "No client is told an address that no committed revision contains, nor an address \
                 with another workload's identity."
            }
            Self::NoFalseWithdrawal => {
                "Nothing is withdrawn for lack of knowledge: not before every watch has synced, \
                 not on a partial list, not when the API server is away or answers with older data."
            }
            Self::NoChurn => {
                "A change in Kubernetes that does not change an answer causes no revision and no \
                 message."
            }
            Self::Isolation => {
                "A client that does not read delays nobody else, holds one pending answer at most, \
                 and is ended after the stall limit even if updates are rare."
            }
            Self::Bounded => {
                "Memory, open files and log volume stay under the configured limits whatever the \
                 clients do; what is refused is refused with a retryable status."
            }
            Self::FreshOrSaysSo => {
                "A replica knows the age of what it serves, of its copy and of its source; past \
                 the limit every surface says so, it yields to fresher replicas that it can see, \
                 and where there are none it keeps serving (a stale endpoint beats none)."
            }
            Self::OneVoice => {
                "Only the current leader's batches are applied; a deposed leader publishes \
                 nothing; Kubernetes sees one set of watches however many replicas run."
            }
            Self::Durable => {
                "A revision that anybody saw survives the kill of every process and a power cut \
                 of every disk; a replica that lost data never votes as if it had it."
            }
            Self::Continuity => {
                "Losing the leader ends no stream on a follower; a planned restart of all \
                 replicas leaves the client name resolvable at every moment; after any fault the \
                 group heals by itself."
            }
        }
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Guarantee;
    use crate::CheckerId;

    /// Section by section: the name, the sentence in italics below it, and the rest. Sections
    /// without such a sentence are about something else.
    fn page() -> Vec<(String, String, String)> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guarantees.md");
        let text = std::fs::read_to_string(path).unwrap();
        let sections = text.split("\n## ").skip(1);
        let read = sections.filter_map(|section| {
            let (name, rest) = section.split_once('\n').unwrap();
            let sentence = rest.trim_start().strip_prefix('*')?;
            let (sentence, rest) = sentence.split_once("*\n")?;
            Some((
                name.to_owned(),
                sentence.replace('\n', " "),
                rest.replace('\n', " "),
            ))
        });
        read.collect()
    }

    #[test]
    fn the_page_and_the_checkers_say_the_same() {
        let here = Guarantee::ALL.map(|it| (it.name().to_owned(), it.sentence().to_owned()));
        let page = page().into_iter();
        let there: Vec<_> = page.map(|(name, sentence, _)| (name, sentence)).collect();
        assert_eq!(here.to_vec(), there);
    }

    #[test]
    fn the_page_names_the_checkers_of_each() {
        for (guarantee, (name, _, rest)) in Guarantee::ALL.into_iter().zip(page()) {
            let checks = |checker: &CheckerId| checker.guarantees().contains(&guarantee);
            let checkers = CheckerId::ALL.into_iter().filter(checks);
            let names: Vec<&str> = checkers.map(CheckerId::name).collect();
            let said = format!("**Checked by**: {};", names.join(", "));
            assert!(rest.contains(&said), "{name} lacks: {said}");
        }
    }
}
