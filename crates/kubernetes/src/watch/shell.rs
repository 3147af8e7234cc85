//! Asks the API server what the [`Machine`] wants to know.

use http_body_util::{BodyExt, Limited};
use kube::{Client, client::Body};
use lockstep_catalog::{Listed, SourceError, SourceEvent};
use lockstep_model::{Cursor, FactKind};
use std::time::Duration;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, timeout},
};

use super::{
    decode::{self, Line},
    failure::{Failure, FailureKind},
    machine::{Act, Input, Machine, nothing},
    pace::{OPEN_DEADLINE, PAGE_DEADLINE, give_up_after, watch_seconds},
    page::{Gathered, Page, Turned},
    report::Report,
    request,
    stream::{Delivered, Stream, in_full},
    version::Version,
};
use crate::Metrics;

/// The largest answer to one request: a page of 500 of the largest objects is beyond
/// what any cluster holds, yet well within memory.
const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Follows one kind for as long as somebody listens.
pub(crate) struct Follower {
    client: Client,
    kind: FactKind,
    report: Report,
    stream: Option<Stream>,
}

impl Follower {
    pub(crate) fn new(client: Client, kind: FactKind, metrics: Metrics) -> Self {
        Self {
            client,
            kind,
            report: Report::new(kind, metrics),
            stream: None,
        }
    }

    /// Runs until nobody listens any more.
    pub(crate) async fn run(mut self, resume: Option<Cursor>, events: mpsc::Sender<SourceEvent>) {
        let mut machine = Machine::new(self.kind, resume);
        let mut act = machine.act();
        loop {
            let input = self.perform(act).await;
            let step = machine.step(input);
            if let Some(restart) = step.restart {
                self.report.restarted(restart);
            }
            if let Some(news) = step.news {
                self.report.news(news);
            }
            if let Some(event) = step.emit
                && events.send(event).await.is_err()
            {
                return;
            }
            act = step.act;
        }
    }

    async fn perform(&mut self, act: Act) -> Input {
        match act {
            Act::List { version, token } => {
                self.stream = None;
                self.list(version, token.as_deref()).await
            }
            Act::Watch { version, from } => match self.open(version, &from).await {
                Ok(stream) => {
                    self.stream = Some(stream);
                    Input::WatchOpened
                }
                Err(failure) => {
                    self.report.failed("watch", &failure);
                    Input::WatchFailed(failure)
                }
            },
            Act::Read => self.read().await,
            Act::Wait(pause) => {
                // Nobody reads it any more, so the server should know.
                self.stream = None;
                sleep(pause.pick(chance())).await;
                Input::TimerFired
            }
        }
    }

    async fn list(&mut self, version: Version, token: Option<&str>) -> Input {
        if token.is_none() {
            self.report.list_begun();
        }
        match page(&self.client, version, token).await {
            Ok((page, complaints)) => {
                self.report.complain(&complaints);
                Input::Page(page)
            }
            Err(failure) => {
                self.report.failed("list", &failure);
                Input::ListFailed(failure)
            }
        }
    }

    async fn open(&mut self, version: Version, from: &Cursor) -> Result<Stream, Failure> {
        self.stream = None;
        self.report.watch_asked();
        let seconds = watch_seconds(chance());
        let asked = Instant::now();
        let deadline = asked + give_up_after(seconds);
        let request = request::watch(version, from, seconds).map_err(unsent)?;
        let answered = timeout(OPEN_DEADLINE, ask(&self.client, request)).await;
        let body = answered.map_err(|_| unanswered(OPEN_DEADLINE))??;
        Ok(Stream::new(body, asked, deadline))
    }

    async fn read(&mut self) -> Input {
        let Some(stream) = self.stream.as_mut() else {
            return Input::WatchFailed(Failure::passing("no watch is open"));
        };
        match stream.next(self.kind).await {
            Delivered::Line(line, complaints) => {
                self.report.event_received();
                self.report.complain(&complaints);
                match line {
                    Line::Told(told) => Input::Told(told),
                    Line::Failed(failure) => {
                        self.report.failed("watch", &failure);
                        Input::WatchFailed(failure)
                    }
                }
            }
            Delivered::End(end, reason) => {
                let open_for = stream.open_for();
                self.report.ended(end, open_for, &reason);
                Input::Ended { end, open_for }
            }
        }
    }
}

/// Lists one kind once, without a second try. A kind that a cluster may do without and
/// does is listed as empty. What cannot be used is neither named nor counted: whoever
/// follows the kind does that, and an audit would only repeat it.
///
/// # Errors
///
/// The first page that could not be had.
pub(crate) async fn list(
    client: &Client,
    kind: FactKind,
    metrics: &Metrics,
) -> Result<Listed, SourceError> {
    metrics.list_begun(kind);
    let mut version = Version::best(kind);
    for _ in 0..Version::count(kind) {
        match list_in(client, version).await {
            Err(failure) if failure.kind == FailureKind::NotServed && kind.is_optional() => {
                version = version.next();
            }
            Err(Failure { reason, .. }) => return Err(SourceError { kind, reason }),
            Ok(listed) => return Ok(listed),
        }
    }
    Ok(nothing(kind))
}

async fn list_in(client: &Client, version: Version) -> Result<Listed, Failure> {
    let mut gathered = Gathered::default();
    loop {
        let (page, _) = page(client, version, gathered.token()).await?;
        gathered = match gathered.turn(version.kind(), page) {
            Turned::More(gathered) => gathered,
            Turned::Complete(listed) => return Ok(listed),
            Turned::Torn => return Err(Failure::passing("pages of two moments")),
        };
    }
}

async fn page(
    client: &Client,
    version: Version,
    token: Option<&str>,
) -> Result<(Page, decode::Complaints), Failure> {
    let request = request::list(version, token).map_err(unsent)?;
    let answer = async { collect(ask(client, request).await?).await };
    let answered = timeout(PAGE_DEADLINE, answer).await;
    let body = answered.map_err(|_| unanswered(PAGE_DEADLINE))??;
    decode::page(version.kind(), &body).map_err(|unreadable| Failure::passing(in_full(&unreadable)))
}

/// Sends a request; an answer other than success is a failure.
async fn ask(client: &Client, request: http::Request<Body>) -> Result<Body, Failure> {
    let sent = client.send(request).await;
    let response = sent.map_err(|error| Failure::passing(in_full(&error)))?;
    if response.status().is_success() {
        return Ok(response.into_body());
    }
    Err(refused(response).await)
}

/// Why an answer is no success.
pub(super) async fn refused(response: http::Response<Body>) -> Failure {
    let (head, body) = response.into_parts();
    let retry_after = head.headers.get(http::header::RETRY_AFTER);
    let retry_after = retry_after.and_then(|value| value.to_str().ok());
    let body = collect(body).await.unwrap_or_default();
    Failure::from_response(head.status.as_u16(), retry_after, &body)
}

async fn collect(body: Body) -> Result<bytes::Bytes, Failure> {
    let collected = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
    let collected = collected.map_err(|error| Failure::passing(in_full(&*error)))?;
    Ok(collected.to_bytes())
}

fn unsent(error: http::Error) -> Failure {
    Failure::passing(in_full(&error))
}

fn unanswered(limit: Duration) -> Failure {
    Failure::passing(format!("no answer within {} s", limit.as_secs()))
}

/// Evenly distributed from 0 to 1; the middle if the system has no randomness to give.
fn chance() -> f64 {
    getrandom::u32().map_or(0.5, |random| f64::from(random) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests;
