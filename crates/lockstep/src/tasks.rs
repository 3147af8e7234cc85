//! Every task has a name and an owner; one that ends when it should not ends the replica.

use std::future::Future;
use tokio::{runtime::Handle, task::JoinSet};

/// The tasks of one replica.
#[derive(Default)]
pub(crate) struct Tasks {
    running: JoinSet<(&'static str, anyhow::Result<()>)>,
}

impl Tasks {
    /// Starts a task.
    pub(crate) fn spawn(
        &mut self,
        name: &'static str,
        task: impl Future<Output = anyhow::Result<()>> + Send + 'static,
    ) {
        self.running.spawn(async move { (name, task.await) });
    }

    /// Starts a task on another runtime.
    pub(crate) fn spawn_on(
        &mut self,
        runtime: &Handle,
        name: &'static str,
        task: impl Future<Output = anyhow::Result<()>> + Send + 'static,
    ) {
        self.running
            .spawn_on(async move { (name, task.await) }, runtime);
    }

    /// Waits until the first task ends, for whatever reason.
    pub(crate) async fn first_end(&mut self) -> (&'static str, anyhow::Result<()>) {
        match self.running.join_next().await {
            Some(Ok(end)) => end,
            Some(Err(error)) => ("a task", Err(anyhow::Error::new(error).context("panicked"))),
            None => ("the last task", Ok(())),
        }
    }

    /// Waits until every task has ended; the first failure is the answer.
    pub(crate) async fn all_ended(&mut self) -> anyhow::Result<()> {
        let mut result = Ok(());
        while !self.running.is_empty() {
            let (name, end) = self.first_end().await;
            if result.is_ok() {
                result = end.map_err(|error| error.context(format!("{name} failed")));
            }
        }
        result
    }
}
