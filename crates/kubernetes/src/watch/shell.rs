//! Asks the API server what the [`Machine`] wants to know.

use lockstep_catalog::SourceEvent;
use lockstep_model::{Cursor, FactKind};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep},
};

use super::{
    ask::{ask, look, page, send, unsent},
    decode::Line,
    failure::Failure,
    machine::{Act, Begin, End, Input, Machine},
    pace::{OPEN_DEADLINE, give_up_after, watch_seconds},
    report::Report,
    request,
    stream::{Delivered, Stream},
    version::Version,
};
use crate::{
    KubernetesSource,
    access::{Access, Distrust, Taken},
};

/// Follows one kind for as long as somebody listens.
pub(crate) struct Follower {
    access: Access,
    kind: FactKind,
    report: Report,
    stream: Option<Stream>,
    /// What the stream was opened with, or what would have been tried.
    taken: Taken,
}

impl Follower {
    pub(crate) fn new(source: &KubernetesSource, kind: FactKind) -> Self {
        let metrics = source.metrics().clone();
        Self {
            taken: source.access.taken(),
            access: source.access.clone(),
            kind,
            report: Report::new(kind, metrics, source.troubles.clone()),
            stream: None,
        }
    }

    /// Runs until nobody listens any more.
    pub(crate) async fn run(mut self, begin: Begin, events: mpsc::Sender<SourceEvent>) {
        let mut machine = Machine::new(self.kind, begin);
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
            if let Some(event) = step.emit {
                if event.proves().is_some() {
                    self.report.well();
                }
                if events.send(event).await.is_err() {
                    return;
                }
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
            Act::Look { version } => {
                self.stream = None;
                match look(&self.access, version).await {
                    Ok(at) => Input::Looked(at),
                    Err(failure) => {
                        self.report.failed("look", &failure);
                        Input::LookFailed
                    }
                }
            }
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
        match page(&self.access, version, token).await {
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
        self.taken = self.access.taken();
        let seconds = watch_seconds(chance());
        let asked = Instant::now();
        let deadline = asked + give_up_after(seconds);
        let request = request::watch(version, from, seconds).map_err(unsent)?;
        let opened = ask(&self.access, OPEN_DEADLINE, async |client| {
            send(client, request).await
        });
        Ok(Stream::new(opened.await?, asked, deadline))
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
                if end == End::Silent {
                    // Other connections of this client may lead nowhere too.
                    self.access.renew(&self.taken, Distrust::Silent).await;
                }
                Input::Ended { end, open_for }
            }
        }
    }
}

/// Evenly distributed from 0 to 1; the middle if the system has no randomness to give.
fn chance() -> f64 {
    getrandom::u32().map_or(0.5, |random| f64::from(random) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests;
