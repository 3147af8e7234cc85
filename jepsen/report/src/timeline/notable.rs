//! The events that stand out, for the table below the lanes: a run has far too many for all.

use std::collections::{BTreeMap, BTreeSet};

use lockstep_jepsen_checkers::{EndedBy, Event, Judgement, Operation, Run, Seen, What, to_line};
use serde_json::{Value, json};

use super::Ruler;
use crate::plot::seconds;

/// The most events of one reason that the page holds; the first ones.
const KEPT_MAX: usize = 400;

/// The longest line that the page shows. Unit: bytes, or a few less.
const LINE_MAX: usize = 1500;

/// Line, place in a lane, seconds, reason, and the line itself; in the order of the history.
pub(super) fn events(run: &Run<'_>, judgement: &Judgement, ruler: Ruler) -> Vec<Value> {
    let shown: BTreeSet<usize> = judgement
        .verdicts
        .iter()
        .flat_map(|verdict| &verdict.violations)
        .flat_map(|violation| violation.evidence.iter().copied())
        .collect();
    let mut kept: BTreeMap<&str, usize> = BTreeMap::new();
    let mut events = Vec::new();
    for (place, event) in run.events() {
        let reason = match shown.contains(&place) {
            true => "violation",
            false => match reason(event) {
                Some(reason) => reason,
                None => continue,
            },
        };
        let kept = kept.entry(reason).or_default();
        *kept += 1;
        if *kept <= KEPT_MAX || reason == "violation" {
            let x = ruler.place(event.at).round();
            let line = shortened(to_line(place, event));
            events.push(json!([place + 1, x, seconds(run, event.at), reason, line]));
        }
    }
    events
}

/// Why an event stands out; none if it does not.
fn reason(event: &Event) -> Option<&'static str> {
    match &event.what {
        What::Fail(Operation::Open, _) => Some("refused"),
        What::Fail(..) => Some("failed"),
        What::Unknown(..) => Some("unknown"),
        What::Seen(seen) => match seen {
            Seen::FaultStart(_) | Seen::FaultEnd(_) => Some("fault"),
            Seen::Phase(_) | Seen::HarnessFailure(_) => Some("phase"),
            Seen::Life(_) => Some("life"),
            Seen::Role(_) | Seen::Vote(_) => Some("role"),
            Seen::Snapshot(_) => Some("snapshot"),
            Seen::LogLine(_) => Some("log line"),
            Seen::End(end) if end.by != EndedBy::Client => Some("ended"),
            Seen::Final(_) => Some("final"),
            _ => None,
        },
        What::Invoke(_) | What::Ok(_) => None,
    }
}

fn shortened(line: String) -> String {
    if line.len() <= LINE_MAX {
        return line;
    }
    let cut = (0..=LINE_MAX).rev().find(|at| line.is_char_boundary(*at));
    format!("{}…", line.get(..cut.unwrap_or(0)).unwrap_or_default())
}
