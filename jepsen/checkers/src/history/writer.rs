//! Writes a history as it happens: one line of JSON for each event, appended and never changed.

use std::{
    fs::File,
    io::{self, Write},
};

use super::{Event, History, line::to_line};

/// Appends events to a file, or to anything else that takes bytes.
#[derive(Debug)]
pub struct HistoryWriter<W> {
    sink: W,
    written: usize,
}

/// Hands out the numbers of clients. A client whose operation ended unknown is retired: ask for
/// another number, so that nobody waits for the old one's answer.
#[derive(Debug, Default)]
pub struct ClientNumbers {
    next: u64,
}

// === impl HistoryWriter ===

impl<W: Write> HistoryWriter<W> {
    /// Begins an empty history.
    pub fn new(sink: W) -> Self {
        Self { sink, written: 0 }
    }

    /// Appends one event and returns its place, from 0.
    ///
    /// # Errors
    ///
    /// Whatever the sink reports; the history is then not complete.
    pub fn append(&mut self, event: &Event) -> io::Result<usize> {
        let mut line = to_line(self.written, event);
        line.push('\n');
        self.sink.write_all(line.as_bytes())?;
        self.written += 1;
        Ok(self.written - 1)
    }

    /// Hands everything to the sink.
    ///
    /// # Errors
    ///
    /// Whatever the sink reports.
    pub fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

impl HistoryWriter<io::BufWriter<File>> {
    /// Makes everything durable: at the end, and when a run fails.
    ///
    /// # Errors
    ///
    /// Whatever the file system reports.
    pub fn sync(&mut self) -> io::Result<()> {
        self.sink.flush()?;
        self.sink.get_ref().sync_all()
    }
}

// === impl ClientNumbers ===

impl ClientNumbers {
    /// A number that no client had.
    pub fn fresh(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }
}

// === impl History ===

impl History {
    /// Writes the whole history as JSON lines.
    ///
    /// # Errors
    ///
    /// Whatever the sink reports.
    pub fn write_to(&self, sink: impl Write) -> io::Result<()> {
        let mut writer = HistoryWriter::new(sink);
        for event in self.events() {
            writer.append(event)?;
        }
        writer.flush()
    }
}
