//! One look at the replicas as a table: a column for each, a row for each property.

use lockstep_position::Revision;
use lockstep_proto::admin::v1::{LogId, Role, StatusReply, freshness};

use super::fields::word;
use crate::admin::{Asked, Report};
use crate::labels::short;
use crate::positions::read_log_id;
use crate::span::show_span as span;
use crate::table::{BAD, Cell, DIM, DOUBTFUL, GOOD, HEAD, PLAIN, layout, paint};

/// A property: its name, and how to show it given the newest revision of all.
type Row = (&'static str, fn(&Report, Revision) -> Cell);

const ROWS: [Row; 19] = [
    ("id", |report, _| Cell::styled(DIM, &report.status.replica)),
    ("version", |report, _| Cell::new(&report.status.version)),
    ("role", |report, _| role(&report.status)),
    ("term", |report, _| {
        Cell::new(report.status.term.to_string())
    }),
    ("revision", |report, _| {
        Cell::new(report.position.revision.to_string())
    }),
    ("digest", |report, _| {
        Cell::new(short(report.position.state_digest))
    }),
    ("behind", behind),
    ("freshness", |report, _| fresh(&report.status)),
    ("source age", |report, _| source_age(&report.status)),
    ("ready", |report, _| ready(&report.status)),
    ("streams", |report, _| Cell::new(streams(&report.status))),
    ("memory", |report, _| {
        resource(&report.status, |resources| bytes(resources.memory_bytes))
    }),
    ("log", |report, _| Cell::new(log(report))),
    ("snapshot", |report, _| Cell::new(snapshot(&report.status))),
    ("up", |report, _| {
        resource(&report.status, |resources| span(resources.uptime_ms))
    }),
    ("source", |report, _| source(&report.status)),
    ("members", |report, _| Cell::new(members(&report.status))),
    ("proxies", |report, _| {
        Cell::new(&report.status.proxy_address)
    }),
    ("warnings", |report, _| warnings(&report.status)),
];

/// The whole table. A replica that does not answer has a column with the reason as its role.
pub(super) fn table(asked: &[Asked]) -> String {
    let reports = asked.iter().filter_map(|asked| asked.report.as_ref().ok());
    let newest = reports
        .map(|report| report.position.revision)
        .max()
        .unwrap_or_default();
    let mut head = vec![Cell::new(" ")];
    head.extend(asked.iter().map(|asked| Cell::styled(HEAD, asked.name())));
    let mut addresses = vec![Cell::styled(HEAD, "admin")];
    addresses.extend(
        asked
            .iter()
            .map(|asked| Cell::styled(DIM, asked.address.to_string())),
    );
    let mut rows = vec![head, addresses];
    for (name, show) in ROWS {
        let mut row = vec![Cell::styled(HEAD, name)];
        row.extend(asked.iter().map(|asked| match &asked.report {
            Ok(report) => show(report, newest),
            Err(error) if name == "role" => Cell::styled(BAD, error.reason()),
            Err(_) => Cell::new(""),
        }));
        rows.push(row);
    }
    layout(&rows)
}

/// Sentences that would not fit in a column: warnings and problems of the source.
pub(super) fn below(asked: &[Asked]) -> Vec<String> {
    let mut lines = Vec::new();
    for asked in asked {
        let Ok(Report { status, .. }) = &asked.report else {
            continue;
        };
        let name = asked.name();
        let warnings = status
            .warnings
            .iter()
            .map(|text| format!("{name} warns: {text}"));
        let problems = status.source.iter().flat_map(|source| &source.problems);
        let problems = problems.map(|text| format!("{name} cannot use: {text}"));
        lines.extend(warnings.chain(problems).map(|line| paint(DOUBTFUL, &line)));
    }
    lines
}

fn role(status: &StatusReply) -> Cell {
    match status.role() {
        Role::Leader if status.lacks_quorum => Cell::styled(BAD, "leader (no quorum)"),
        Role::Leader => Cell::styled(GOOD, "leader"),
        Role::Follower => Cell::new("follower"),
        Role::Learner => Cell::styled(DOUBTFUL, "learner"),
        Role::Unspecified => Cell::styled(BAD, "unknown"),
    }
}

fn behind(report: &Report, newest: Revision) -> Cell {
    match report.position.revision.behind(newest).0 {
        0 => Cell::new("0"),
        lag => Cell::styled(DOUBTFUL, lag.to_string()),
    }
}

fn fresh(status: &StatusReply) -> Cell {
    let Some(freshness) = &status.freshness else {
        return Cell::new("");
    };
    let style = match freshness.state() {
        freshness::State::Fresh => GOOD,
        freshness::State::Syncing | freshness::State::SourceStale => DOUBTFUL,
        freshness::State::Stale
        | freshness::State::Yielding
        | freshness::State::Quarantined
        | freshness::State::Unspecified => BAD,
    };
    let word = word(freshness.state());
    let limit = span(freshness.limit_ms);
    match freshness.age_ms {
        Some(age) => Cell::styled(style, format!("{word}, {} of {limit}", span(age))),
        None => Cell::styled(style, format!("{word}, no age yet")),
    }
}

fn source_age(status: &StatusReply) -> Cell {
    let Some(freshness) = &status.freshness else {
        return Cell::new("");
    };
    let limit = freshness.source_limit_ms;
    match freshness.source_age_ms {
        Some(age) if age > limit => Cell::styled(BAD, format!("{} of {}", span(age), span(limit))),
        Some(age) => Cell::new(format!("{} of {}", span(age), span(limit))),
        None => Cell::styled(DIM, "unknown"),
    }
}

fn ready(status: &StatusReply) -> Cell {
    match &status.freshness {
        Some(freshness) if freshness.ready => Cell::styled(GOOD, "yes"),
        Some(_) => Cell::styled(DOUBTFUL, "no"),
        None => Cell::new(""),
    }
}

fn streams(status: &StatusReply) -> String {
    let Some(streams) = &status.streams else {
        return String::new();
    };
    format!("{} get, {} profile", streams.get, streams.get_profile)
}

fn log(report: &Report) -> String {
    let last = report.status.log.as_ref().and_then(|log| log.last.as_ref());
    let applied = report.position.applied;
    let size = report
        .status
        .resources
        .as_ref()
        .map(|resources| bytes(resources.log_bytes));
    let lines = [
        last.map(|last| format!("last {}", log_id(last))),
        applied.map(|applied| format!("applied {applied}")),
        size,
    ];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

fn snapshot(status: &StatusReply) -> String {
    let at = status.log.as_ref().and_then(|log| log.snapshot.as_ref());
    let size = status
        .resources
        .as_ref()
        .map(|resources| bytes(resources.snapshot_bytes));
    match (at, size) {
        (Some(at), Some(size)) => format!("{}, {size}", log_id(at)),
        (Some(at), None) => log_id(at),
        (None, _) => "none".to_owned(),
    }
}

fn source(status: &StatusReply) -> Cell {
    let Some(source) = &status.source else {
        return Cell::new("");
    };
    if !source.following {
        return Cell::styled(DIM, "not followed here");
    }
    let watches = source.kinds.iter().map(|kind| match kind.cursor.as_str() {
        "" => format!("{} {}, not synced", kind.facts, kind.resource),
        // A folder has no versions; its cursor is a word that tells nothing.
        cursor if cursor.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            format!("{} {}", kind.facts, kind.resource)
        }
        cursor => format!("{} {} at {cursor}", kind.facts, kind.resource),
    });
    let lines = std::iter::once(source.description.clone()).chain(watches);
    Cell::new(lines.collect::<Vec<_>>().join("\n"))
}

fn members(status: &StatusReply) -> String {
    let lines = status.members.iter().map(|member| {
        let kind = if member.voter { "voter" } else { "learner" };
        let matched = member.matched.map(|index| format!(", matched {index}"));
        format!("{} {kind}{}", member.name, matched.unwrap_or_default())
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn warnings(status: &StatusReply) -> Cell {
    let problems = status
        .source
        .as_ref()
        .map_or(0, |source| source.problems.len());
    match status.warnings.len() + problems {
        0 => Cell::styled(PLAIN, "none"),
        count => Cell::styled(DOUBTFUL, format!("{count}, see below")),
    }
}

fn resource(
    status: &StatusReply,
    show: fn(&lockstep_proto::admin::v1::Resources) -> String,
) -> Cell {
    Cell::new(status.resources.as_ref().map(show).unwrap_or_default())
}

fn log_id(log_id: &LogId) -> String {
    read_log_id(log_id).to_string()
}

/// A size with three digits or so: `512 B`, `1.5 KiB`, `23 MiB`.
fn bytes(count: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut whole, mut tenths, mut unit) = (count, 0, "B");
    for larger in units.into_iter().skip(1) {
        if whole < 1024 {
            break;
        }
        tenths = whole % 1024 * 10 / 1024;
        whole /= 1024;
        unit = larger;
    }
    if unit == "B" || whole >= 10 {
        format!("{whole} {unit}")
    } else {
        format!("{whole}.{tenths} {unit}")
    }
}

#[cfg(test)]
mod tests;
