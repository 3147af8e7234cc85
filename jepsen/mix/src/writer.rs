//! Who changes the cluster: W1, and what was written, in the words of the history.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use fastrand::Rng;
use lockstep_jepsen_checkers::{Call, Process, Return, TruthWrite, What, Written};
use lockstep_jepsen_model::{Kind, ObjectKey};
use lockstep_simapi::SimApi;
use tokio::time::sleep;

use crate::recorder::Recorder;
use lockstep_jepsen_gear::api_server;
use lockstep_jepsen_gear::world::{Mix, NAMESPACE, World, Write};

/// The writer of all objects.
#[derive(Clone)]
pub(crate) struct Writer {
    recorder: Recorder,
    api: SimApi,
    world: Arc<Mutex<World>>,
    process: Process,
    /// Whether it is told to write nothing more.
    stopped: Arc<AtomicBool>,
}

// === impl Writer ===

impl Writer {
    /// A writer that has not written anything yet.
    pub(crate) fn new(recorder: Recorder, api: SimApi, world: Arc<Mutex<World>>) -> Self {
        let process = Process::Client(recorder.client());
        Self {
            recorder,
            api,
            world,
            process,
            stopped: Arc::default(),
        }
    }

    /// Writes these objects.
    ///
    /// # Errors
    ///
    /// When a write is refused, which only a bug of the world does.
    pub(crate) fn write(&self, writes: &[Write]) -> anyhow::Result<()> {
        let written = writes.iter().map(written).collect::<Option<Vec<Written>>>();
        let writes_told = written.context("an object of a kind that no answer depends on")?;
        let call = Call::TruthWrite(TruthWrite {
            writes: writes_told,
        });
        self.recorder.note(self.process, What::Invoke(call));
        let versions = api_server::write(&self.api, writes)?;
        self.recorder
            .note(self.process, What::Ok(Return::TruthWrite(versions)));
        Ok(())
    }

    /// Changes things until told to stop; returns early only with an error.
    ///
    /// # Errors
    ///
    /// As [`Self::write`].
    pub(crate) async fn churn(self, every: Duration, mut dice: Rng) -> anyhow::Result<()> {
        while !self.stopped.load(Ordering::Acquire) {
            let writes = {
                let mut world = self.world.lock().unwrap_or_else(PoisonError::into_inner);
                world.step(&Mix::CHURN, &mut dice).1
            };
            self.write(&writes)?;
            sleep(every).await;
        }
        Ok(())
    }

    /// Writes nothing more, from the next change on.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }
}

fn written(write: &Write) -> Option<Written> {
    Some(match write {
        Write::Put(object) => Written::Put(Arc::new(object.clone())),
        Write::Delete { kind, name } => {
            Written::Delete(ObjectKey::new(kind_of(kind)?, NAMESPACE, name))
        }
    })
}

fn kind_of(name: &str) -> Option<Kind> {
    serde_json::from_value(name.into()).ok()
}
