//! Where a verb prints: results on one side, notes about them on the other.

use clap::ValueEnum;
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, Write};

/// The form of the results.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text in columns, for people.
    #[default]
    Table,
    /// One JSON document; with --watch one object on each line.
    Json,
}

/// Whether the notes go to somebody who watches.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A terminal: a line that counts what was asked is redrawn.
    Shown,
    /// A file or a pipe: no such line.
    Hidden,
}

/// The two outputs of a verb.
pub struct Screen<'a> {
    out: &'a mut (dyn Write + Send),
    notes: &'a mut (dyn Write + Send),
    progress: Progress,
}

impl std::fmt::Debug for Screen<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen")
            .field("progress", &self.progress)
            .finish_non_exhaustive()
    }
}

impl<'a> Screen<'a> {
    /// Prints results to `out` and errors and progress to `notes`.
    ///
    /// Both receive ANSI colours; a writer such as `anstream`'s takes them out where they do not
    /// belong.
    pub fn new(
        out: &'a mut (dyn Write + Send),
        notes: &'a mut (dyn Write + Send),
        progress: Progress,
    ) -> Self {
        Self {
            out,
            notes,
            progress,
        }
    }

    pub(crate) fn line(&mut self, text: impl Display) -> io::Result<()> {
        writeln!(self.out, "{text}")
    }

    /// Text that ends its own lines.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }

    /// One object on one line.
    pub(crate) fn object(&mut self, value: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_string(value)?;
        self.line(text)
    }

    /// One document, indented.
    pub(crate) fn document(&mut self, value: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_string_pretty(value)?;
        self.line(text)
    }

    pub(crate) fn note(&mut self, text: impl Display) -> io::Result<()> {
        writeln!(self.notes, "{text}")
    }

    /// Redraws the progress line, on a terminal.
    pub(crate) fn progress(&mut self, text: impl Display) -> io::Result<()> {
        match self.progress {
            Progress::Shown => {
                write!(self.notes, "\r\x1b[K{text}")?;
                self.notes.flush()
            }
            Progress::Hidden => Ok(()),
        }
    }

    /// Starts a new picture, on a terminal; elsewhere an empty line sets it apart.
    pub(crate) fn next_picture(&mut self) -> io::Result<()> {
        match self.progress {
            Progress::Shown => self.text("\x1b[H\x1b[2J"),
            Progress::Hidden => self.text("\n"),
        }
    }
}
