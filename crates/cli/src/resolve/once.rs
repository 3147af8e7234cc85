//! The first answer, which is the whole set.

use anstyle::Style;
use serde::Serialize;

use super::ResolveArgs;
use super::heading::{heading, painted_count};
use crate::endpoint::{Endpoint, EndpointFields, joined, shared_labels};
use crate::labels::LabelFields;
use crate::proxy::{FirstAnswer, ask_once};
use crate::screen::{Format, Screen};
use crate::table::{Cell, DIM, HEAD, PLAIN, layout, paint};
use crate::told::Answer;
use crate::{Exit, VerbError};

/// An answer as a JSON document.
#[derive(Debug, Serialize)]
struct Document<'a> {
    authority: &'a str,
    #[serde(flatten)]
    labels: LabelFields,
    #[serde(flatten)]
    answer: AnswerFields,
}

/// What an answer holds, as JSON fields.
#[derive(Debug, Serialize)]
pub(super) struct AnswerFields {
    exists: bool,
    endpoints: Vec<EndpointFields>,
}

impl From<&Answer> for AnswerFields {
    fn from(answer: &Answer) -> Self {
        match answer {
            Answer::Absent => Self {
                exists: false,
                endpoints: Vec::new(),
            },
            Answer::Present(set) => Self {
                exists: true,
                endpoints: set.values().map(Endpoint::fields).collect(),
            },
        }
    }
}

pub(super) async fn run(args: &ResolveArgs, screen: &mut Screen<'_>) -> Result<Exit, VerbError> {
    let address = args.address();
    let first = ask_once(&address, &args.question(), args.timeout).await?;
    let FirstAnswer { labels, answer } = &first;
    match args.output {
        Format::Json => screen.document(&Document {
            authority: &args.authority,
            labels: labels.fields(),
            answer: answer.into(),
        })?,
        Format::Table => {
            screen.line(heading(
                &args.authority,
                &painted_count(answer),
                labels,
                &address,
            ))?;
            screen.text(&table(answer))?;
        }
    }
    Ok(Exit::Yes)
}

/// The endpoints in columns; nothing without endpoints.
fn table(answer: &Answer) -> String {
    let Answer::Present(set) = answer else {
        return String::new();
    };
    if set.is_empty() {
        return String::new();
    }
    let head = ["ADDRESS", "WEIGHT", "ZONE", "IDENTITY", "HINT", "LABELS"];
    let mut rows = vec![head.map(|text| Cell::styled(HEAD, text)).into()];
    let shared = shared_labels(set);
    let row = |endpoint: &Endpoint| row(endpoint, PLAIN, endpoint.labels_beyond(&shared));
    rows.extend(set.values().map(row));
    let above = match shared.is_empty() {
        true => String::new(),
        false => paint(DIM, &format!("all: {}", joined(shared.iter()))) + "\n",
    };
    above + &layout(&rows)
}

/// One endpoint's columns, the last of them its labels.
pub(super) fn row(endpoint: &Endpoint, style: Style, labels: String) -> Vec<Cell> {
    vec![
        Cell::styled(style, endpoint.address.to_string()),
        Cell::new(endpoint.weight().to_string()),
        Cell::new(endpoint.zone().unwrap_or_default()),
        Cell::new(endpoint.identity().unwrap_or_default()),
        Cell::new(endpoint.hint()),
        Cell::new(labels),
    ]
}
