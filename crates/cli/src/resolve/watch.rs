//! Every update as it comes, folded as a proxy folds it.

use linkerd2_proxy_api::destination::{Update, update};
use serde::Serialize;

use super::ResolveArgs;
use super::heading::{heading, painted_count};
use super::once::row;
use crate::ask::in_time;
use crate::endpoint::EndpointFields;
use crate::labels::{LabelFields, Labels};
use crate::proxy::{Opened, Proxy};
use crate::screen::{Format, Screen};
use crate::table::{BAD, Cell, DIM, DOUBTFUL, GOOD, layout, paint};
use crate::told::{Answer, Change, Effect, Told};
use crate::{Address, Exit, VerbError, interrupted};

/// One update as a JSON object.
#[derive(Debug, Serialize)]
struct Line<'a> {
    authority: &'a str,
    #[serde(flatten)]
    labels: LabelFields,
    exists: Option<bool>,
    count: usize,
    added: Vec<EndpointFields>,
    changed: Vec<EndpointFields>,
    removed: Vec<String>,
    ignored: Option<&'static str>,
}

pub(super) async fn run(args: &ResolveArgs, screen: &mut Screen<'_>) -> Result<Exit, VerbError> {
    tokio::select! {
        end = follow(args, screen) => end,
        () = interrupted() => Ok(Exit::Yes),
    }
}

async fn follow(args: &ResolveArgs, screen: &mut Screen<'_>) -> Result<Exit, VerbError> {
    let address = args.address();
    let (mut opened, first) = in_time(&address, args.timeout, open(args, &address)).await?;
    let mut told = Told::default();
    let mut next = Some(first);
    let mut heading_is_due = true;
    while let Some((labels, update)) = next {
        let said = Said::of(&update);
        let effect = told.hear(update.update);
        let heard = Heard {
            labels: &labels,
            said,
            told: &told,
            effect: &effect,
        };
        match args.output {
            Format::Json => screen.object(&heard.line(&args.authority))?,
            Format::Table => {
                if std::mem::take(&mut heading_is_due) {
                    screen.line(heading(&args.authority, "updates", &labels, &address))?;
                }
                screen.text(&heard.text())?;
            }
        }
        next = next_or_end(&mut opened, screen).await?;
    }
    Ok(Exit::Unknown)
}

type Message = (Labels, Update);

async fn open(
    args: &ResolveArgs,
    address: &Address,
) -> Result<(Opened<Update>, Message), crate::AskError> {
    let mut opened = Proxy::connect(address)
        .await?
        .open::<Update>(&args.question())
        .await?;
    let first = opened.first().await?;
    Ok((opened, first))
}

/// The next message; an end of the stream is said and counts as unknown, whatever its status,
/// because an answer was given before.
async fn next_or_end(
    opened: &mut Opened<Update>,
    screen: &mut Screen<'_>,
) -> Result<Option<Message>, VerbError> {
    let ended = match opened.next().await {
        Ok(Some(message)) => return Ok(Some(message)),
        Ok(None) => "the stream ended with status OK".to_owned(),
        Err(error) => format!("the stream ended: {error}"),
    };
    screen.note(format_args!("lockstep resolve: {ended}"))?;
    Ok(None)
}

/// What a message says about the service itself.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Said {
    /// Nothing: endpoints are gone, and the service may be, too.
    Gone,
    /// That it exists, or that it does not.
    Existence,
}

impl Said {
    fn of(update: &Update) -> Self {
        match update.update {
            Some(update::Update::Remove(_)) => Self::Gone,
            Some(update::Update::Add(_) | update::Update::NoEndpoints(_)) | None => Self::Existence,
        }
    }
}

/// One message, and what it did to what is known.
struct Heard<'a> {
    labels: &'a Labels,
    said: Said,
    told: &'a Told,
    effect: &'a Effect,
}

impl Heard<'_> {
    fn text(&self) -> String {
        let place = self
            .labels
            .revision
            .map(|revision| revision.to_string() + "  ");
        let place = place.unwrap_or_default();
        let changes = match self.effect {
            Effect::Ignored(why) => {
                return format!("{place}{}\n", paint(DOUBTFUL, &format!("ignored: {why}")));
            }
            Effect::Followed(changes) => changes,
        };
        let rows: Vec<_> = changes.iter().map(change_row).collect();
        let changes = layout(&rows);
        let lines = changes.lines().map(|line| format!("{place}{line}\n"));
        let count = self.count();
        lines.collect::<String>() + &format!("{}{count}\n", paint(DIM, &place))
    }

    fn count(&self) -> String {
        match (self.told.answer(), self.said) {
            (Some(Answer::Present(set)), Said::Gone) if set.is_empty() => {
                paint(DOUBTFUL, "no endpoints")
            }
            (Some(answer), Said::Gone | Said::Existence) => painted_count(answer),
            (None, Said::Gone | Said::Existence) => String::new(),
        }
    }

    fn line<'a>(&self, authority: &'a str) -> Line<'a> {
        let answer = self.told.answer();
        let mut line = Line {
            authority,
            labels: self.labels.fields(),
            exists: answer.map(|answer| *answer != Answer::Absent),
            count: answer.map_or(0, |answer| answer.addresses().len()),
            added: Vec::new(),
            changed: Vec::new(),
            removed: Vec::new(),
            ignored: None,
        };
        match self.effect {
            Effect::Ignored(why) => line.ignored = Some(why),
            Effect::Followed(changes) => {
                changes.iter().for_each(|change| line.record(change));
            }
        }
        line
    }
}

impl Line<'_> {
    fn record(&mut self, change: &Change) {
        match change {
            Change::Added(endpoint) => self.added.push(endpoint.fields()),
            Change::Changed(endpoint) => self.changed.push(endpoint.fields()),
            Change::Removed(address) => self.removed.push(address.to_string()),
        }
    }
}

fn change_row(change: &Change) -> Vec<Cell> {
    let (style, sign) = match change {
        Change::Added(_) => (GOOD, "+"),
        Change::Changed(_) => (DOUBTFUL, "~"),
        Change::Removed(_) => (BAD, "-"),
    };
    let mut cells = vec![Cell::styled(style, sign)];
    match change {
        Change::Added(endpoint) | Change::Changed(endpoint) => {
            cells.extend(row(endpoint, style, endpoint.own_labels()));
        }
        Change::Removed(address) => cells.push(Cell::styled(style, address.to_string())),
    }
    cells
}
