//! One question to every replica, and whether the answers are equal.

mod compare;

use serde::Serialize;

use super::ResolveArgs;
use super::heading::count;
use super::once::AnswerFields;
use crate::ask::AskError;
use crate::labels::{LabelFields, Labels, short};
use crate::proxy::{FirstAnswer, ask_once};
use crate::screen::{Format, Screen};
use crate::table::{BAD, Cell, GOOD, HEAD, PLAIN, layout, paint};
use crate::{Address, Exit, VerbError};
use compare::{Comparison, compare};

/// What one replica answered.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) address: Address,
    pub(crate) first: Result<FirstAnswer, AskError>,
}

/// All answers as a JSON document.
#[derive(Debug, Serialize)]
struct Document<'a> {
    authority: &'a str,
    verdict: &'static str,
    findings: &'a [String],
    replicas: Vec<ReplyFields>,
}

#[derive(Debug, Serialize)]
struct ReplyFields {
    address: String,
    #[serde(flatten)]
    labels: LabelFields,
    #[serde(flatten)]
    answer: Option<AnswerFields>,
    error: Option<String>,
}

impl Reply {
    /// Who answered or refused, and where in history; of nobody if it did neither.
    pub(crate) fn labels(&self) -> Labels {
        match &self.first {
            Ok(first) => first.labels.clone(),
            Err(AskError::Refused { labels, .. }) => Labels::clone(labels),
            Err(_) => Labels::default(),
        }
    }

    pub(crate) fn name(&self) -> String {
        self.labels()
            .name
            .unwrap_or_else(|| self.address.to_string())
    }

    fn fields(&self) -> ReplyFields {
        ReplyFields {
            address: self.address.to_string(),
            labels: self.labels().fields(),
            answer: self.first.as_ref().ok().map(|first| (&first.answer).into()),
            error: self.first.as_ref().err().map(ToString::to_string),
        }
    }
}

pub(super) async fn run(args: &ResolveArgs, screen: &mut Screen<'_>) -> Result<Exit, VerbError> {
    let question = args.question();
    let asked = args.addresses().into_iter().map(async |address| Reply {
        first: ask_once(&address, &question, args.timeout).await,
        address,
    });
    let replies = futures::future::join_all(asked).await;
    let comparison = compare(&replies);
    match args.output {
        Format::Json => screen.document(&Document {
            authority: &args.authority,
            verdict: comparison.exit.verdict(),
            findings: &comparison.findings,
            replicas: replies.iter().map(Reply::fields).collect(),
        })?,
        Format::Table => print(&args.authority, &replies, &comparison, screen)?,
    }
    Ok(comparison.exit)
}

fn print(
    authority: &str,
    replies: &[Reply],
    comparison: &Comparison,
    screen: &mut Screen<'_>,
) -> Result<(), VerbError> {
    screen.line(paint(HEAD, authority))?;
    let head = [
        "REPLICA",
        "ADDRESS",
        "REVISION",
        "DIGEST",
        "FRESHNESS",
        "ENDPOINTS",
    ];
    let mut rows = vec![head.map(|text| Cell::styled(HEAD, text)).into()];
    rows.extend(replies.iter().map(row));
    screen.text(&layout(&rows))?;
    for finding in &comparison.findings {
        screen.line(paint(comparison.exit.style(), finding))?;
    }
    Ok(())
}

fn row(reply: &Reply) -> Vec<Cell> {
    let labels = reply.labels();
    let (style_of_count, count) = match &reply.first {
        Ok(first) => count(&first.answer),
        Err(error) => (BAD, error.reason()),
    };
    let (style, freshness) = match labels.stale {
        Some(true) => (BAD, "stale"),
        Some(false) => (GOOD, "fresh"),
        None => (PLAIN, ""),
    };
    vec![
        Cell::new(labels.name.unwrap_or_default()),
        Cell::new(reply.address.to_string()),
        Cell::new(
            labels
                .revision
                .map(|revision| revision.to_string())
                .unwrap_or_default(),
        ),
        Cell::new(labels.digest.map(short).unwrap_or_default()),
        Cell::styled(style, freshness),
        Cell::styled(style_of_count, count),
    ]
}
