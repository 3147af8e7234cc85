//! One open watch, read line by line.

use http_body_util::BodyExt;
use kube::client::Body;
use lockstep_model::FactKind;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

use super::{
    decode::{Complaints, Line, line},
    lines::Lines,
    machine::End,
};

/// An open watch.
#[derive(Debug)]
pub(super) struct Stream {
    body: Body,
    lines: Lines,
    asked: Instant,
    deadline: Instant,
}

/// What a watch delivered.
#[derive(Debug)]
pub(super) enum Delivered {
    /// A line of it.
    Line(Line, Complaints),
    /// Its end, with the reason in words.
    End(End, String),
}

impl Stream {
    pub(super) fn new(body: Body, asked: Instant, deadline: Instant) -> Self {
        Self {
            body,
            lines: Lines::default(),
            asked,
            deadline,
        }
    }

    pub(super) fn open_for(&self) -> Duration {
        self.asked.elapsed()
    }

    /// Waits for the next line, or the end. A line that was cut off by the end is none:
    /// it comes again, whole, after the place where the next watch begins.
    pub(super) async fn next(&mut self, kind: FactKind) -> Delivered {
        loop {
            if let Some(bytes) = self.lines.next_line() {
                return match line(kind, &bytes) {
                    Ok((line, complaints)) => Delivered::Line(line, complaints),
                    Err(unreadable) => Delivered::End(End::Garbled, in_full(&unreadable)),
                };
            }
            if let Err((end, reason)) = self.fill().await {
                return Delivered::End(end, reason);
            }
        }
    }

    async fn fill(&mut self) -> Result<(), (End, String)> {
        match timeout_at(self.deadline, self.body.frame()).await {
            Ok(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => self
                    .lines
                    .push(&data)
                    .map_err(|too_long| (End::Garbled, too_long.to_string())),
                // Trailers say nothing here.
                Err(_) => Ok(()),
            },
            Ok(Some(Err(error))) => Err((End::Broken, in_full(&error))),
            Ok(None) => Err((End::Closed, String::new())),
            Err(_) => Err((End::Silent, "open beyond its time".to_owned())),
        }
    }
}

/// An error with its causes, for a log.
pub(super) fn in_full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        // Some libraries repeat their source.
        if !text.contains(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = error.source();
    }
    text
}
