//! How often which request was made, and the metrics page that says so.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use crate::http::Verb;
use crate::resource::Resource;

/// Requests and watches per verb and resource since the server began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    requests: BTreeMap<(Verb, &'static str), u64>,
    open_watches: BTreeMap<&'static str, u64>,
}

/// What the real server's metrics tell requests apart by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RequestLabels {
    pub(crate) verb: Verb,
    pub(crate) resource: Resource,
    pub(crate) scope: &'static str,
    pub(crate) subresource: &'static str,
}

/// The running counts.
#[derive(Debug, Default)]
pub(crate) struct Tally(Mutex<Numbers>);

#[derive(Debug, Default)]
struct Numbers {
    begun: BTreeMap<(Verb, &'static str), u64>,
    answered: BTreeMap<(RequestLabels, u16), u64>,
    open: BTreeMap<RequestLabels, u64>,
}

// === impl Counts ===

impl Counts {
    /// Requests begun with this verb for this plural resource name.
    pub fn requests(&self, verb: Verb, resource: &str) -> u64 {
        let matching = self
            .requests
            .iter()
            .filter(|((v, r), _)| *v == verb && *r == resource);
        matching.map(|(_, count)| count).sum()
    }

    /// Watches open now on this plural resource name.
    pub fn open_watches(&self, resource: &str) -> u64 {
        self.open_watches.get(resource).copied().unwrap_or(0)
    }

    /// All requests begun, by verb and plural resource name.
    pub fn all(&self) -> impl Iterator<Item = (Verb, &'static str, u64)> {
        self.requests
            .iter()
            .map(|((verb, resource), count)| (*verb, *resource, *count))
    }
}

// === impl Tally ===

impl Tally {
    pub(crate) fn begin(&self, labels: &RequestLabels) {
        self.change(|n| {
            *n.begun
                .entry((labels.verb, labels.resource.kind.plural))
                .or_default() += 1
        });
    }

    /// A request was answered. A watch counts when it ends, as in the real
    /// server.
    pub(crate) fn answered(&self, labels: &RequestLabels, code: u16) {
        self.change(|n| *n.answered.entry((labels.clone(), code)).or_default() += 1);
    }

    pub(crate) fn watch_opened(&self, labels: &RequestLabels) {
        self.change(|n| *n.open.entry(labels.clone()).or_default() += 1);
    }

    pub(crate) fn watch_closed(&self, labels: &RequestLabels) {
        self.change(|n| {
            let open = n.open.entry(labels.clone()).or_default();
            *open = open.saturating_sub(1);
        });
        self.answered(labels, 200);
    }

    pub(crate) fn counts(&self) -> Counts {
        self.change(|n| {
            let mut open_watches = BTreeMap::new();
            for (labels, count) in &n.open {
                *open_watches.entry(labels.resource.kind.plural).or_default() += count;
            }
            Counts {
                requests: n.begun.clone(),
                open_watches,
            }
        })
    }

    /// The metrics page, in the Prometheus text format.
    pub(crate) fn page(&self) -> String {
        self.change(|n| {
            let mut page = String::from(
                "# HELP apiserver_request_total [STABLE] Counter of apiserver requests.\n\
                 # TYPE apiserver_request_total counter\n",
            );
            for ((labels, code), count) in &n.answered {
                let own = format!("code=\"{code}\",component=\"apiserver\",dry_run=\"\",");
                sample(&mut page, "apiserver_request_total", (&own, labels), *count);
            }
            page.push_str(
                "# HELP apiserver_longrunning_requests [STABLE] Gauge of all active \
                 long-running apiserver requests.\n\
                 # TYPE apiserver_longrunning_requests gauge\n",
            );
            for (labels, count) in &n.open {
                let own = "component=\"apiserver\",";
                sample(
                    &mut page,
                    "apiserver_longrunning_requests",
                    (own, labels),
                    *count,
                );
            }
            page
        })
    }

    fn change<R>(&self, read: impl FnOnce(&mut Numbers) -> R) -> R {
        read(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn sample(page: &mut String, name: &str, (own, labels): (&str, &RequestLabels), count: u64) {
    let RequestLabels {
        verb,
        resource: Resource { kind, version },
        scope,
        subresource,
    } = labels;
    // Writing to a String cannot fail.
    let _ = writeln!(
        page,
        "{name}{{{own}group=\"{}\",resource=\"{}\",scope=\"{scope}\",\
         subresource=\"{subresource}\",verb=\"{verb}\",version=\"{version}\"}} {count}",
        kind.group, kind.plural
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_real_servers_names_and_labels() {
        let tally = Tally::default();
        let labels = RequestLabels {
            verb: Verb::Watch,
            resource: Resource::at_path("apps", "v1", "replicasets").unwrap(),
            scope: "cluster",
            subresource: "",
        };
        tally.watch_opened(&labels);
        tally.watch_opened(&labels);
        tally.watch_closed(&labels);
        let page = tally.page();
        for line in [
            "apiserver_request_total{code=\"200\",component=\"apiserver\",dry_run=\"\",\
             group=\"apps\",resource=\"replicasets\",scope=\"cluster\",subresource=\"\",\
             verb=\"WATCH\",version=\"v1\"} 1",
            "apiserver_longrunning_requests{component=\"apiserver\",group=\"apps\",\
             resource=\"replicasets\",scope=\"cluster\",subresource=\"\",verb=\"WATCH\",\
             version=\"v1\"} 1",
        ] {
            assert!(page.lines().any(|found| found == line), "{page}");
        }
    }
}
