//! The first answer, which is the whole set.

use anstyle::Style;
use serde::Serialize;

use super::ResolveArgs;
use super::heading::{heading, painted_count};
use crate::endpoint::{Endpoint, EndpointFields};
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
    let Some(any) = set.values().next() else {
        return String::new();
    };
    let head = ["ADDRESS", "WEIGHT", "ZONE", "IDENTITY", "HINT", "LABELS"];
    let mut rows = vec![head.map(|text| Cell::styled(HEAD, text)).into()];
    rows.extend(set.values().map(|endpoint| row(endpoint, PLAIN)));
    let of_set = any.set_labels();
    let above = match of_set.is_empty() {
        true => String::new(),
        false => paint(DIM, &format!("all: {of_set}")) + "\n",
    };
    above + &layout(&rows)
}

/// One endpoint's columns.
pub(super) fn row(endpoint: &Endpoint, style: Style) -> Vec<Cell> {
    vec![
        Cell::styled(style, endpoint.address.to_string()),
        Cell::new(endpoint.weight().to_string()),
        Cell::new(endpoint.zone().unwrap_or_default()),
        Cell::new(endpoint.identity().unwrap_or_default()),
        Cell::new(endpoint.hint()),
        Cell::new(endpoint.own_labels()),
    ]
}
