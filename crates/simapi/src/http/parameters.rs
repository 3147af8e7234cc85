//! The parameters of list and watch, judged as the real server does
//! (`apimachinery/pkg/apis/meta/internalversion/validation`).

use std::time::Duration;

use super::query::Query;
use crate::refusal::{Cause, Refusal};
use crate::store::{ListAt, Page, WatchFrom};

/// How long a watch lasts that does not say; the real server's shortest.
const WATCH_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// What a list asks for besides its selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListParameters {
    pub(super) at: ListAt,
    pub(super) page: Page,
}

/// What a watch asks for besides its selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WatchParameters {
    pub(super) from: WatchFrom,
    pub(super) timeout: Duration,
    pub(super) bookmarks: Bookmarks,
}

/// Whether a watch may be sent bookmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bookmarks {
    Allowed,
    Unwanted,
}

// === impl ListParameters ===

impl ListParameters {
    pub(super) fn parse(query: &Query) -> Result<Self, Refusal> {
        let version = query.text("resourceVersion");
        let matching = query.text("resourceVersionMatch");
        let token = query.text("continue");
        judge(list_causes(query))?;
        let number = resource_version(version)?;
        if !token.is_empty() && number.is_some_and(|number| number != 0) {
            return Err(Refusal::bad_request(
                "specifying resource version is not allowed when using continue",
            ));
        }
        let limit = query.number("limit")?.filter(|limit| *limit > 0);
        let page = limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let at = match (number, matching) {
            _ if !token.is_empty() => ListAt::Continue(token.to_owned()),
            (None | Some(0), _) => ListAt::Newest,
            (Some(number), "Exact") => ListAt::Exact(number),
            (Some(number), "") if page.is_some() => ListAt::Exact(number),
            (Some(number), _) => ListAt::NotOlderThan(number),
        };
        // The watch cache answers "any version" whole, whatever the limit.
        let page = page.filter(|_| version != "0");
        Ok(Self { at, page })
    }
}

fn list_causes(query: &Query) -> Vec<Cause> {
    let field = "resourceVersionMatch";
    let version = query.text("resourceVersion");
    let matching = query.text(field);
    let mut causes = Vec::new();
    if !matching.is_empty() {
        if version.is_empty() {
            let detail = "resourceVersionMatch is forbidden unless resourceVersion is provided";
            causes.push(Cause::forbidden(field, detail));
        }
        if !query.text("continue").is_empty() {
            let detail = "resourceVersionMatch is forbidden when continue is provided";
            causes.push(Cause::forbidden(field, detail));
        }
        if !matches!(matching, "Exact" | "NotOlderThan") {
            let allowed = ["Exact", "NotOlderThan", ""];
            causes.push(Cause::not_supported(field, &matching.into(), &allowed));
        }
        if matching == "Exact" && version == "0" {
            let detail = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            causes.push(Cause::forbidden(field, detail));
        }
    }
    if query.switch("sendInitialEvents").is_some() {
        let detail = "sendInitialEvents is forbidden for list";
        causes.push(Cause::forbidden("sendInitialEvents", detail));
    }
    causes
}

// === impl WatchParameters ===

impl WatchParameters {
    pub(super) fn parse(query: &Query) -> Result<Self, Refusal> {
        judge(watch_causes(query))?;
        let number = resource_version(query.text("resourceVersion")).map_err(unjudged)?;
        let bookmarks = match query.switch("allowWatchBookmarks") {
            Some(true) => Bookmarks::Allowed,
            Some(false) | None => Bookmarks::Unwanted,
        };
        let from = match (query.switch("sendInitialEvents"), number, bookmarks) {
            (Some(true), number, Bookmarks::Allowed) => WatchFrom::MarkedState(number.unwrap_or(0)),
            (Some(true), _, Bookmarks::Unwanted) => WatchFrom::State,
            (Some(false), None | Some(0), _) => WatchFrom::Now,
            (None, None | Some(0), _) => WatchFrom::State,
            (Some(false) | None, Some(number), _) => WatchFrom::After(number),
        };
        let seconds = query
            .number("timeoutSeconds")?
            .filter(|seconds| *seconds > 0);
        let timeout = seconds.map_or(WATCH_TIMEOUT, Duration::from_secs);
        Ok(Self {
            from,
            timeout,
            bookmarks,
        })
    }
}

fn watch_causes(query: &Query) -> Vec<Cause> {
    let field = "resourceVersionMatch";
    let matching = query.text(field);
    let initial = query.switch("sendInitialEvents");
    let mut causes = Vec::new();
    if initial.is_some() && matching != "NotOlderThan" {
        let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        causes.push(Cause::forbidden(field, detail));
    }
    if !matching.is_empty() {
        if initial.is_none() {
            let detail =
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            causes.push(Cause::forbidden(field, detail));
        }
        if matching != "NotOlderThan" {
            causes.push(Cause::not_supported(
                field,
                &matching.into(),
                &["NotOlderThan"],
            ));
        }
        if !query.text("continue").is_empty() {
            let detail = "resourceVersionMatch is forbidden when continue is provided";
            causes.push(Cause::forbidden(field, detail));
        }
    }
    causes
}

fn judge(causes: Vec<Cause>) -> Result<(), Refusal> {
    if causes.is_empty() {
        Ok(())
    } else {
        Err(Refusal::invalid_options("ListOptions", &causes))
    }
}

/// The number in a resource version; `None` when empty.
pub(super) fn resource_version(text: &str) -> Result<Option<u64>, Refusal> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| {
        Refusal::bad_request(format!(
            "invalid resource version: resourceVersion: Invalid value: {text:?}: \
             strconv.ParseUint: parsing {text:?}: invalid syntax"
        ))
    })
}

/// The real server does not expect this of a watch and calls it its own fault.
fn unjudged(refusal: Refusal) -> Refusal {
    let text = refusal
        .message
        .trim_start_matches("invalid resource version: ");
    Refusal::plain(500, "", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(query: &str) -> (ListAt, Page) {
        let parsed = ListParameters::parse(&Query::parse(query)).unwrap();
        (parsed.at, parsed.page)
    }

    fn from(query: &str) -> WatchFrom {
        WatchParameters::parse(&Query::parse(query)).unwrap().from
    }

    #[test]
    fn a_list_shows_the_version_that_the_parameters_mean() {
        assert_eq!(at(""), (ListAt::Newest, None));
        assert_eq!(at("resourceVersion=0&limit=2"), (ListAt::Newest, None));
        assert_eq!(at("resourceVersion=7"), (ListAt::NotOlderThan(7), None));
        assert_eq!(at("resourceVersion=7&limit=2"), (ListAt::Exact(7), Some(2)));
        assert_eq!(
            at("resourceVersion=7&resourceVersionMatch=Exact"),
            (ListAt::Exact(7), None)
        );
        assert_eq!(
            at("continue=x&limit=3"),
            (ListAt::Continue("x".to_owned()), Some(3))
        );
    }

    #[test]
    fn a_watch_begins_where_the_parameters_mean() {
        let initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
        assert_eq!(from("resourceVersion=7"), WatchFrom::After(7));
        assert_eq!(from("resourceVersion=0"), WatchFrom::State);
        assert_eq!(from(initial), WatchFrom::State);
        assert_eq!(
            from(&format!(
                "{initial}&allowWatchBookmarks=true&resourceVersion=5"
            )),
            WatchFrom::MarkedState(5)
        );
        let none = "sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
        assert_eq!(from(none), WatchFrom::Now);
    }

    #[test]
    fn contradictions_are_refused_in_the_real_servers_words() {
        let list = |query: &str| {
            let refusal = ListParameters::parse(&Query::parse(query)).unwrap_err();
            (refusal.code, refusal.message)
        };
        let watch = |query: &str| {
            let refusal = WatchParameters::parse(&Query::parse(query)).unwrap_err();
            (refusal.code, refusal.message)
        };
        assert_eq!(
            list("resourceVersionMatch=Exact"),
            (
                422,
                "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: \
                 resourceVersionMatch is forbidden unless resourceVersion is provided"
                    .to_owned()
            )
        );
        assert_eq!(
            list("resourceVersion=new"),
            (
                400,
                "invalid resource version: resourceVersion: Invalid value: \"new\": \
                 strconv.ParseUint: parsing \"new\": invalid syntax"
                    .to_owned()
            )
        );
        assert_eq!(
            watch("sendInitialEvents=true"),
            (
                422,
                "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: \
                 sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
                    .to_owned()
            )
        );
    }
}
