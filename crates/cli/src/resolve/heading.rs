//! The line above an answer: what was asked, what came, from whom.

use anstyle::Style;

use crate::Address;
use crate::labels::{Labels, short};
use crate::table::{BAD, DIM, DOUBTFUL, GOOD, HEAD, PLAIN, paint};
use crate::told::Answer;

/// `web.shop.svc.cluster.local:80  r12  3 endpoints  replica-1 (0a…)  digest 0123…  fresh`.
pub(crate) fn heading(authority: &str, what: &str, labels: &Labels, address: &Address) -> String {
    let mut parts = vec![paint(HEAD, authority)];
    parts.extend(
        labels
            .revision
            .map(|revision| paint(HEAD, &revision.to_string())),
    );
    parts.push(what.to_owned());
    parts.push(who(labels, address));
    parts.extend(
        labels
            .digest
            .map(|digest| paint(DIM, &format!("digest {}", short(digest)))),
    );
    parts.extend(labels.stale.map(freshness));
    let is_source_stale = labels.source_stale == Some(true);
    parts.extend(is_source_stale.then(|| paint(BAD, "source stale")));
    parts.join("  ")
}

/// The replica's name and id as far as it told them, else the address that was asked.
pub(crate) fn who(labels: &Labels, address: &Address) -> String {
    match (&labels.name, labels.replica) {
        (Some(name), Some(replica)) => format!("{name} ({replica})"),
        (Some(name), None) => name.clone(),
        (None, Some(replica)) => replica.to_string(),
        (None, None) => address.to_string(),
    }
}

/// How many endpoints an answer holds, in words.
pub(crate) fn count(answer: &Answer) -> (Style, String) {
    match answer {
        Answer::Absent => (BAD, "no such service".to_owned()),
        Answer::Present(set) => match set.len() {
            0 => (DOUBTFUL, "no endpoints (the service exists)".to_owned()),
            1 => (PLAIN, "1 endpoint".to_owned()),
            many => (PLAIN, format!("{many} endpoints")),
        },
    }
}

/// The same, in its colour.
pub(crate) fn painted_count(answer: &Answer) -> String {
    let (style, text) = count(answer);
    paint(style, &text)
}

fn freshness(stale: bool) -> String {
    if stale {
        paint(BAD, "stale")
    } else {
        paint(GOOD, "fresh")
    }
}
