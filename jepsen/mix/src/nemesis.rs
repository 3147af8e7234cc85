//! Who breaks things, and takes it back.

mod choice;
mod deeds;

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use lockstep_jepsen_checkers::{Fault, Installed, Process, Seen};

use crate::act::Act;
use crate::clients::Clients;
use crate::group::Group;
use crate::network::Network;
use crate::observers::Sight;
use crate::plan::{Class, Profile, Step};
use crate::recorder::Recorder;
use deeds::Undo;
use lockstep_jepsen_gear::api_server::ApiServer;
use lockstep_jepsen_gear::debt::Debts;
use lockstep_jepsen_gear::room::Room;
use lockstep_jepsen_gear::run_id::RunId;

/// Time between two looks at who has ended.
const TICK: Duration = Duration::from_millis(10);
/// How long a safe run waits for the group to be well before it takes the next replica.
const WELL: Duration = Duration::from_secs(20);

/// Everything that can be broken.
pub(crate) struct Nemesis<'a> {
    pub(super) run: RunId,
    pub(super) debts: &'a Debts,
    pub(super) group: Group<'a>,
    pub(super) network: Network,
    pub(super) api: ApiServer,
    pub(super) sight: Sight,
    pub(super) clients: Clients,
    pub(super) rooms: Rooms,
    /// The file that says what time it is, for the replica whose clock can lie.
    pub(super) clock: Option<(usize, PathBuf)>,
    pub(super) recorder: Recorder,
    pub(super) dice: Rng,
    pub(super) active: Vec<Active>,
}

/// Where things are done.
pub(crate) struct Rooms {
    /// Where clients are.
    pub(crate) clients: Room,
    /// Where observers are.
    pub(crate) control: Room,
}

/// A fault that is in force.
pub(crate) struct Active {
    fault: Fault,
    pub(super) act: Act,
    undo: Undo,
    until: Instant,
}

// === impl Nemesis ===

impl Nemesis<'_> {
    /// Breaks what is planned, and takes each back in time.
    ///
    /// # Errors
    ///
    /// When the lab itself cannot go on.
    pub(crate) fn rage(&mut self, steps: &[Step], time: Duration) -> anyhow::Result<Vec<Class>> {
        let (began, mut done, mut next) = (Instant::now(), Vec::new(), 0);
        let mut waiting: Option<Instant> = None;
        while began.elapsed() < time {
            self.tend()?;
            let Some(step) = steps.get(next) else {
                thread::sleep(TICK);
                continue;
            };
            if began.elapsed() < step.at {
                thread::sleep(TICK);
                continue;
            }
            let since = *waiting.get_or_insert_with(Instant::now);
            let waits = step.profile == Profile::Safe && step.class.takes_replicas();
            if waits && !self.is_well() && since.elapsed() < WELL {
                thread::sleep(TICK);
                continue;
            }
            waiting = None;
            next += 1;
            if began.elapsed() + step.lasts < time && self.begin(next, step)? {
                done.push(step.class);
            }
        }
        Ok(done)
    }

    /// Takes back what is due, and looks after who has ended.
    ///
    /// # Errors
    ///
    /// When the lab itself cannot go on.
    fn tend(&mut self) -> anyhow::Result<()> {
        let now = Instant::now();
        while let Some(due) = self.active.iter().position(|fault| fault.until <= now) {
            let fault = self.active.remove(due);
            self.end(fault);
        }
        self.group.tend()
    }

    /// Takes everything back.
    ///
    /// # Errors
    ///
    /// When a replica cannot be started.
    pub(crate) fn heal(&mut self) -> anyhow::Result<()> {
        for fault in std::mem::take(&mut self.active) {
            self.end(fault);
        }
        let places = 0..self.group.replicas.len();
        places
            .into_iter()
            .try_for_each(|place| self.group.start(place))
    }

    /// Nothing more is broken for so long.
    ///
    /// # Errors
    ///
    /// When a replica cannot be started.
    pub(crate) fn rest(&mut self, time: Duration) -> anyhow::Result<()> {
        let began = Instant::now();
        while began.elapsed() < time {
            self.tend()?;
            thread::sleep(TICK);
        }
        Ok(())
    }

    /// Whether no replica is disturbed and all are fresh.
    fn is_well(&self) -> bool {
        let disturbs = |fault: &Active| !fault.act.holds().is_empty() || fault.act.is_cut();
        !self.active.iter().any(disturbs) && self.sight.is_whole()
    }

    /// Whether it could be done.
    fn begin(&mut self, number: usize, step: &Step) -> anyhow::Result<bool> {
        let act = self.choose(step.class);
        let mut fault = Fault {
            id: u64::try_from(number)?,
            class: step.class.name(),
            installed: Installed::Yes,
            effect: act.as_ref().map(Act::effect).unwrap_or_default(),
        };
        let Some(act) = act else {
            let why = "no replica fits: none leads, or another fault holds it";
            fault.installed = Installed::Skipped(why.to_owned());
            self.note(Seen::FaultStart(fault));
            return Ok(false);
        };
        if !act.is_cut() {
            self.note(Seen::FaultStart(fault.clone()));
        }
        let outcome = self.inflict(&act);
        let is_done = outcome.is_ok();
        let undo = outcome.unwrap_or_else(|error| {
            anstream::eprintln!("{}: {error:#}", fault.class);
            fault.installed = Installed::Unclear(format!("{error:#}"));
            Undo::all_of(&act)
        });
        if act.is_cut() || !is_done {
            self.note(Seen::FaultStart(fault.clone()));
        }
        self.active.push(Active {
            fault,
            act,
            undo,
            until: Instant::now() + step.lasts,
        });
        Ok(is_done)
    }

    fn end(&mut self, active: Active) {
        let Active {
            mut fault,
            act,
            undo,
            ..
        } = active;
        if act.is_cut() {
            self.note(Seen::FaultEnd(fault.clone()));
        }
        if let Err(error) = self.take_back(undo) {
            anstream::eprintln!("{}, at its end: {error:#}", fault.class);
            let why = format!("{} was not taken back: {error:#}", fault.class);
            fault.installed = Installed::Unclear(why.clone());
            self.note(Seen::HarnessFailure(why));
        }
        if !act.is_cut() {
            self.note(Seen::FaultEnd(fault));
        }
    }

    fn note(&self, seen: Seen) {
        self.recorder.note(Process::Nemesis, seen);
    }
}
