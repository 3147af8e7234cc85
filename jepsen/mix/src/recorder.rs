//! Writes what happens into the history, as it happens: one clock, one file, in order.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, bail};
use lockstep_jepsen_checkers::{
    ClientNumbers, Event, HistoryWriter, Phase, Process, Replica, Seen, What,
};

/// The history of a run, shared by everybody who does or sees something.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    began: Instant,
    book: Arc<Mutex<Book>>,
}

#[derive(Debug)]
struct Book {
    writer: HistoryWriter<BufWriter<File>>,
    clients: ClientNumbers,
    streams: u64,
    /// The first write that failed.
    failure: Option<String>,
    /// Whether the run is over: whoever is still about is not heard any more.
    is_over: bool,
}

// === impl Recorder ===

impl Recorder {
    /// Begins an empty history in this file.
    ///
    /// # Errors
    ///
    /// When it cannot be created.
    pub(crate) fn create(file: &Path) -> anyhow::Result<Self> {
        let sink =
            File::create(file).with_context(|| format!("cannot create {}", file.display()))?;
        let book = Book {
            writer: HistoryWriter::new(BufWriter::new(sink)),
            clients: ClientNumbers::default(),
            streams: 0,
            failure: None,
            is_over: false,
        };
        Ok(Self {
            began: Instant::now(),
            book: Arc::new(Mutex::new(book)),
        })
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time in the history. Unit: nanoseconds.
    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Notes what happened now.
    pub(crate) fn note(&self, process: Process, what: impl Into<What>) {
        let what = what.into();
        let mut book = self.book();
        if book.is_over {
            return;
        }
        // Behind the lock, so that times never decrease.
        let at = self.now();
        if let Err(error) = book.writer.append(&Event { at, process, what }) {
            book.failure.get_or_insert(error.to_string());
        }
    }

    /// What somebody who looks at a replica saw.
    pub(crate) fn saw(&self, replica: Replica, seen: Seen) {
        self.note(Process::Observer(replica), seen);
    }

    /// The run enters a phase.
    pub(crate) fn phase(&self, phase: Phase) {
        self.note(Process::Nemesis, Seen::Phase(phase));
    }

    /// A client that nobody was before.
    pub(crate) fn client(&self) -> u64 {
        self.book().clients.fresh()
    }

    /// A stream that nobody opened before.
    pub(crate) fn stream(&self) -> Process {
        let mut book = self.book();
        book.streams += 1;
        Process::Stream(book.streams)
    }

    /// Takes no more notes, and makes everything durable.
    ///
    /// # Errors
    ///
    /// When anything could not be written, now or before.
    pub(crate) fn close(&self) -> anyhow::Result<()> {
        let mut book = self.book();
        book.is_over = true;
        book.writer.sync().context("cannot write the history")?;
        match &book.failure {
            Some(failure) => bail!("cannot write the history: {failure}"),
            None => Ok(()),
        }
    }
}
