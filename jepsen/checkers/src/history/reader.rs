//! Reads a history back from JSON lines.

use std::io::{self, BufRead};

use super::{
    Event, History,
    line::{InvalidLine, from_line},
};

/// Why lines are no history.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The bytes cannot be read.
    #[error("line {line}")]
    Io {
        /// From 1.
        line: usize,
        /// Why.
        source: io::Error,
    },
    /// A line is no event.
    #[error("line {line}")]
    Line {
        /// From 1.
        line: usize,
        /// Why.
        source: InvalidLine,
    },
    /// Lines are missing or doubled.
    #[error("line {line}: `i` is {found} where {wanted} comes next")]
    Place {
        /// From 1.
        line: usize,
        /// What it says.
        found: usize,
        /// What it should say.
        wanted: usize,
    },
    /// Time goes back.
    #[error("line {line}: `t` is {found}, before {before} of the line above")]
    Time {
        /// From 1.
        line: usize,
        /// What it says.
        found: u64,
        /// What the line above says.
        before: u64,
    },
}

impl History {
    /// Reads a history.
    ///
    /// # Errors
    ///
    /// [`ReadError`] with the number of the first bad line.
    pub fn read_from(source: impl BufRead) -> Result<Self, ReadError> {
        let mut events: Vec<Event> = Vec::new();
        for (place, text) in source.lines().enumerate() {
            let line = place + 1;
            let text = text.map_err(|source| ReadError::Io { line, source })?;
            let (found, event) =
                from_line(&text).map_err(|source| ReadError::Line { line, source })?;
            if found != place {
                return Err(ReadError::Place {
                    line,
                    found,
                    wanted: place,
                });
            }
            let before = events.last().map_or(0, |event| event.at);
            if event.at < before {
                return Err(ReadError::Time {
                    line,
                    found: event.at,
                    before,
                });
            }
            events.push(event);
        }
        Ok(Self::from(events))
    }
}
