//! Plays one scenario at one replica.

use futures::future::join_all;
use lockstep_contract::{
    code,
    compare::Seen,
    corpus::{Entry, Fresh, Instance, Scenario, Step},
};
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    ops::Not,
    time::{Duration, Instant},
};
use tokio::time::sleep;
use tonic::Status;

use super::{
    QUIET,
    client::{Connection, Role},
    ear::{Ear, Holding},
};

/// How long a stream may need to say what a new one says at once.
const PATIENCE: Duration = Duration::from_secs(10);

/// One scenario at one replica.
pub struct Player<'a> {
    pub scenario: &'a Scenario,
    pub instance: Instance,
    pub role: Role,
    pub seen: Seen,
    /// What is wrong besides what a comparison with the recording finds, by stream.
    pub faults: BTreeMap<String, String>,
    connection: Connection,
    open: BTreeMap<String, Ear>,
}

impl<'a> Player<'a> {
    pub async fn new(
        scenario: &'a Scenario,
        instance: Instance,
        role: Role,
        address: SocketAddr,
    ) -> Self {
        Self {
            scenario,
            instance,
            role,
            seen: Seen::new(),
            faults: BTreeMap::new(),
            connection: Connection::to(address).await,
            open: BTreeMap::new(),
        }
    }

    fn step(&self, number: u32) -> Option<&'a Step> {
        let mut steps = self.scenario.script.steps.iter();
        steps.find(|it| it.step == number)
    }

    pub async fn close_and_open(&mut self, number: u32) {
        let Some(step) = self.step(number) else {
            return;
        };
        for name in &step.close {
            self.give_up(name);
        }
        let openings = step.open.iter().map(|asked| {
            let connection = self.connection.clone();
            async move { (asked.clone(), connection.open(asked).await) }
        });
        for (asked, opened) in join_all(openings).await {
            let name = asked.stream.clone();
            self.open.insert(name, Ear::to(asked, opened));
        }
    }

    /// Waits until every stream has said all that it has to say of what is settled.
    pub async fn listen(&mut self, number: u32, settled: Instant) {
        if self.step(number).is_none() {
            return;
        }
        let connection = &self.connection;
        let waits = self.open.values();
        join_all(waits.map(|ear| said_all(connection, ear, settled))).await;
        for (name, ear) in &mut self.open {
            let entries = self.seen.entry(name.clone()).or_default();
            entries.push(ear.take(number));
        }
    }

    /// After the last step: a new stream is told what the open one holds, nothing came after
    /// the scenario's own last step, and nothing that no good server sends.
    pub async fn conclude(&mut self) {
        let names: Vec<String> = self.open.keys().cloned().collect();
        for name in names {
            if let Some(fault) = self.stale(&name).await {
                self.faults.entry(name.clone()).or_insert(fault);
            }
            self.give_up(&name);
        }
    }

    async fn stale(&mut self, name: &str) -> Option<String> {
        let ear = self.open.get_mut(name)?;
        let Entry { messages, end, .. } = ear.take(0);
        if !messages.is_empty() || end.is_some() {
            return Some(format!(
                "after the last step of the scenario something came: {messages:?} {end:?}"
            ));
        }
        if ear.is_over() {
            return None;
        }
        match fresh(&self.connection, ear).await {
            Ok(fresh) if ear.holds(&fresh) => None,
            Ok(fresh) => Some(format!(
                "a new stream is told {fresh:?}, the open one holds {:?}",
                ear.holding()
            )),
            Err(status) => {
                let recorded = &self.scenario.recordings[&self.instance].streams[name].fresh;
                is_refused_too(recorded.as_ref(), &status)
                    .not()
                    .then(|| format!("a new stream is refused: {status:?}, not as {recorded:?}"))
            }
        }
    }

    fn give_up(&mut self, name: &str) {
        if let Some(ear) = self.open.remove(name) {
            let holding = ear.holding();
            if !holding.violations().is_empty() {
                let text = format!("what no good server sends: {:?}", holding.violations());
                self.faults.entry(name.to_owned()).or_insert(text);
            }
        }
    }
}

/// Whether a new stream was refused with this code when it was recorded, if one was opened.
fn is_refused_too(recorded: Option<&Fresh>, ours: &Status) -> bool {
    match recorded {
        Some(Fresh::Refused { end }) => {
            let ours = code::name(ours.code());
            end.code == ours || (end.code == "UNKNOWN" && ours == "NOT_FOUND")
        }
        Some(Fresh::Same(_) | Fresh::Other(_)) => false,
        None => true,
    }
}

/// What a new stream with the same question is told.
async fn fresh(connection: &Connection, ear: &Ear) -> Result<Holding, Status> {
    let mut fresh = Holding::default();
    fresh.obey(connection.first(&ear.asked).await?);
    Ok(fresh)
}

/// A new stream is told what is settled. The open one has said all when it holds the same;
/// where a new one would be refused, when it has been silent for a while.
async fn said_all(connection: &Connection, ear: &Ear, settled: Instant) {
    if ear.is_over() {
        return;
    }
    let fresh = fresh(connection, ear).await;
    let deadline = Instant::now() + PATIENCE;
    let is_done = || match &fresh {
        _ if ear.is_over() => true,
        Ok(fresh) => ear.holds(fresh),
        Err(_) => ear.heard_at().max(settled).elapsed() > QUIET,
    };
    while !is_done() && Instant::now() < deadline {
        sleep(Duration::from_millis(5)).await;
    }
}
