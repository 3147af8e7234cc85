//! How each fault is done, and undone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use lockstep_simapi::{Behaviour, Fault as ApiFault, FaultAnswer, FaultOn, Manner, Rejection};
use rustix::process::Signal;
use tokio::task::JoinHandle;

use super::Nemesis;
use crate::act::{Act, SourceAct, host};
use crate::group::Group;
use crate::network::{Damage, Host, Link};
use lockstep_jepsen_gear::debt::Debt;
use lockstep_jepsen_gear::disk::Disk;
use lockstep_jepsen_gear::doctor::GROUPS;
use lockstep_jepsen_gear::operator::Operator;
use lockstep_jepsen_gear::power::Switch;
use lockstep_jepsen_gear::process::ProcessId;
use lockstep_jepsen_gear::program::run;

/// Replicas live on for at most so long after a power cut.
const AFTERLIFE_MS_MAX: u64 = 50;
/// Streams of a client that does not read.
const SLEEPING: usize = 50;
/// Clients of a storm.
const STORM: usize = 60;
/// What a full disk is full of.
const FILLING: &str = "filling";
/// A tenth of a processor. Unit: microseconds of each tenth of a second.
const LITTLE_CPU: &str = "10000";
/// Kinds whose watches are silenced or spoiled.
const KINDS: [&str; 3] = ["services", "endpointslices", "pods"];

/// What is to be done when a fault ends.
pub(crate) enum Undo {
    Nothing,
    Start(Vec<usize>),
    Continue(Vec<usize>),
    Mend(Damage, Vec<Link>),
    Thaw(PathBuf),
    Empty(PathBuf),
    Untrace(Child),
    Serve,
    Reconnect,
    Release,
    Clock,
    Cpu(PathBuf),
    Send(Vec<JoinHandle<()>>),
}

// === impl Undo ===

impl Undo {
    /// What may have to be done after a deed that failed half-way.
    pub(super) fn all_of(act: &Act) -> Self {
        match act {
            Act::Kill(places) | Act::PowerCut(places) => Self::Start(places.clone()),
            Act::Terminate(place) | Act::Lose(place) => Self::Start(vec![*place]),
            Act::Pause(places) => Self::Continue(places.clone()),
            Act::Source(_) => Self::Serve,
            Act::Links(..)
            | Act::Reset(_)
            | Act::Freeze(_)
            | Act::Fill(_)
            | Act::FailSync(_)
            | Act::HandOver
            | Act::Clock(..)
            | Act::Cpu(_)
            | Act::Sleepers(_)
            | Act::Storm(_) => Self::Nothing,
        }
    }
}

// === deeds of Nemesis ===

impl Nemesis<'_> {
    /// Does it.
    ///
    /// # Errors
    ///
    /// When it is not clear whether it is in force.
    pub(super) fn inflict(&mut self, act: &Act) -> anyhow::Result<Undo> {
        match act {
            Act::Kill(places) => {
                self.group.kill(places)?;
                Ok(Undo::Start(places.clone()))
            }
            Act::Terminate(place) => {
                self.group.terminate(*place)?;
                Ok(Undo::Start(vec![*place]))
            }
            Act::Pause(places) => {
                self.group.pause(places)?;
                Ok(Undo::Continue(places.clone()))
            }
            Act::Links(damage, links, _) => {
                self.network.damage(*damage, links)?;
                Ok(Undo::Mend(*damage, links.clone()))
            }
            Act::Reset(place) => {
                let others = (0..self.group.replicas.len()).filter(|other| other != place);
                for other in others.map(host).chain([Host::Clients]) {
                    self.network.reset(host(*place), other)?;
                }
                Ok(Undo::Nothing)
            }
            Act::Freeze(place) => self.freeze(*place),
            Act::Fill(place) => self.fill(*place),
            Act::FailSync(place) => self.fail_sync(*place),
            Act::PowerCut(places) => {
                let afterlife = Duration::from_millis(self.dice.u64(0..=AFTERLIFE_MS_MAX));
                cut_power(&mut self.group, places, afterlife)?;
                Ok(Undo::Start(places.clone()))
            }
            Act::Lose(place) => {
                self.group.kill(&[*place])?;
                self.group.forget(*place)?;
                Ok(Undo::Start(vec![*place]))
            }
            Act::HandOver => self.hand_over(),
            Act::Source(act) => self.spoil(*act),
            Act::Clock(_, seconds) => self.set_clock(*seconds).map(|()| Undo::Clock),
            Act::Cpu(place) => self.squeeze(*place),
            Act::Sleepers(place) => {
                let clients = self.clients.clone();
                let sleeping = clients.sleep(*place, SLEEPING, self.dice.fork());
                Ok(Undo::Send(vec![self.rooms.clients.spawn(sleeping)]))
            }
            Act::Storm(place) => {
                let storm = (0..STORM).map(|_| {
                    let coming = self.clients.clone().watch(*place, self.dice.fork());
                    self.rooms.clients.spawn(coming)
                });
                Ok(Undo::Send(storm.collect()))
            }
        }
    }

    /// Takes it back.
    ///
    /// # Errors
    ///
    /// When it may still be in force.
    pub(super) fn take_back(&mut self, undo: Undo) -> anyhow::Result<()> {
        match undo {
            Undo::Nothing => Ok(()),
            Undo::Start(places) => {
                for place in places {
                    // One that was asked to end may still be about it.
                    self.group.kill(&[place])?;
                    self.group.start(place)?;
                }
                Ok(())
            }
            Undo::Continue(places) => self.group.go_on(&places),
            Undo::Mend(damage, links) => self.network.mend(damage, &links),
            Undo::Thaw(mount) => {
                run(&["fsfreeze", "--unfreeze", &mount.to_string_lossy()]).map(drop)
            }
            Undo::Empty(file) => Ok(fs::remove_file(file)?),
            Undo::Untrace(mut tracer) => {
                // It lets go of the replica at its end; it has ended already if the replica has.
                if let Ok(process) = ProcessId::of(tracer.id()) {
                    process.signal(Signal::TERM)?;
                }
                tracer.wait().map(drop).context("strace")
            }
            Undo::Serve => {
                self.api.api().set_behaviour(Behaviour::default());
                self.api.resume()
            }
            Undo::Reconnect => {
                self.api.stop();
                self.api.resume()
            }
            Undo::Release => {
                let api = self.api.api();
                api.release_watches("endpointslices")
                    .map_err(|it| anyhow!("{it}"))
            }
            Undo::Clock => self.set_clock(0),
            Undo::Cpu(group) => {
                fs::write(group.join("cpu.cfs_quota_us"), "-1").context("cannot lift a limit")
            }
            Undo::Send(clients) => {
                clients.iter().for_each(JoinHandle::abort);
                Ok(())
            }
        }
    }

    fn freeze(&self, place: usize) -> anyhow::Result<Undo> {
        let mount = self.group.disk(place)?.mount_point().to_owned();
        self.debts.owe(Debt::Thaw(mount.clone()))?;
        run(&["fsfreeze", "--freeze", &mount.to_string_lossy()])?;
        Ok(Undo::Thaw(mount))
    }

    /// Takes all blocks that are left, without writing any.
    fn fill(&self, place: usize) -> anyhow::Result<Undo> {
        let path = self.group.disk(place)?.mount_point().join(FILLING);
        let file = fs::File::create(&path).context("cannot fill a disk")?;
        let mut step = 64 * 1024 * 1024;
        let mut size = 0;
        while step >= 4096 {
            let flags = rustix::fs::FallocateFlags::empty();
            match rustix::fs::fallocate(&file, flags, size, step) {
                Ok(()) => size += step,
                Err(rustix::io::Errno::NOSPC) => step /= 2,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Undo::Empty(path))
    }

    /// One of its next syncs fails with EIO.
    fn fail_sync(&self, place: usize) -> anyhow::Result<Undo> {
        let replica = self.group.replicas.get(place).context("no such replica")?;
        let process = replica.process().context("it does not run")?;
        let tracer = Command::new("strace")
            .args([
                "-f",
                "-qq",
                "-o",
                "/dev/null",
                "-p",
                &process.id().to_string(),
            ])
            .args(["-e", "trace=fsync,fdatasync"])
            .args(["-e", "inject=fsync,fdatasync:error=EIO:when=2"])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot execute strace")?;
        self.debts.owe(Debt::Kill(ProcessId::of(tracer.id())?))?;
        Ok(Undo::Untrace(tracer))
    }

    fn hand_over(&self) -> anyhow::Result<Undo> {
        let leader = self.sight.leader().context("nobody leads")?;
        let replica = self.group.replicas.get(leader).context("no such replica")?;
        let admin = replica.plan().listens.admin;
        // Another fault may make it impossible, so nobody waits for it.
        self.rooms.control.spawn(async move {
            if let Ok(mut operator) = Operator::new(admin)
                && let Err(error) = operator.hand_over().await
            {
                anstream::eprintln!("no hand-over: {error:#}");
            }
        });
        Ok(Undo::Nothing)
    }

    fn set_clock(&self, seconds: i64) -> anyhow::Result<()> {
        let (_, file) = self.clock.as_ref().context("no clock can lie")?;
        // In one step: the replica reads it at any moment.
        let draft = file.with_extension("draft");
        fs::write(&draft, format!("{seconds:+}\n"))?;
        fs::rename(&draft, file).context("cannot set a clock")
    }

    fn squeeze(&self, place: usize) -> anyhow::Result<Undo> {
        let replica = self.group.replicas.get(place).context("no such replica")?;
        let process = replica.process().context("it does not run")?;
        let group = Path::new(GROUPS)
            .join("cpu")
            .join(self.run.name(&replica.plan().name));
        self.debts.owe(Debt::Group(group.clone()))?;
        fs::create_dir_all(&group)?;
        fs::write(group.join("cpu.cfs_quota_us"), LITTLE_CPU)?;
        fs::write(group.join("cgroup.procs"), process.id().to_string())?;
        Ok(Undo::Cpu(group))
    }

    fn spoil(&mut self, act: SourceAct) -> anyhow::Result<Undo> {
        let api = self.api.api().clone();
        let behave = |change: &dyn Fn(&mut Behaviour)| {
            let mut behaviour = api.behaviour();
            change(&mut behaviour);
            api.set_behaviour(behaviour);
        };
        match act {
            SourceAct::Silent => {
                for kind in KINDS {
                    api.silence_watches(kind).map_err(|it| anyhow!("{it}"))?;
                }
                Ok(Undo::Reconnect)
            }
            SourceAct::Lag => {
                api.hold_watches("endpointslices")
                    .map_err(|it| anyhow!("{it}"))?;
                Ok(Undo::Release)
            }
            SourceAct::Gone => {
                api.compact();
                api.close_watches();
                Ok(Undo::Nothing)
            }
            SourceAct::Refuse(code) => {
                behave(&|behaviour| behaviour.reject = Some(rejection(code)));
                api.close_watches();
                Ok(Undo::Serve)
            }
            SourceAct::Away => {
                self.api.stop();
                Ok(Undo::Serve)
            }
            SourceAct::Garbled => {
                let manners = [Manner::Doubled, Manner::CutOff, Manner::Garbled];
                let faults = KINDS.iter().zip(manners).map(|(kind, manner)| {
                    api_fault(kind, FaultOn::Watch, FaultAnswer::Told(manner))
                });
                let faults: Vec<ApiFault> = faults.collect();
                behave(&|behaviour| behaviour.faults.clone_from(&faults));
                api.close_watches();
                Ok(Undo::Serve)
            }
            SourceAct::Slow => {
                let late = FaultAnswer::Late(Duration::from_secs(2));
                let faults = KINDS.map(|kind| api_fault(kind, FaultOn::FirstPage, late));
                behave(&|behaviour| behaviour.faults = faults.to_vec());
                api.compact();
                api.close_watches();
                Ok(Undo::Serve)
            }
        }
    }
}

fn rejection(code: u16) -> Rejection {
    Rejection {
        code,
        retry_after: (code == 429).then_some(1),
        verb: None,
        resource: None,
    }
}

fn api_fault(kind: &str, on: FaultOn, answer: FaultAnswer) -> ApiFault {
    ApiFault {
        resource: kind.to_owned(),
        on,
        answer,
    }
}

/// The disks go dark at once; then the processes die, and the disks come back.
fn cut_power(group: &mut Group<'_>, places: &[usize], afterlife: Duration) -> anyhow::Result<()> {
    let disks = places.iter().map(|place| group.disk(*place).cloned());
    let disks = disks.collect::<anyhow::Result<Vec<Disk>>>()?;
    Switch::armed(&disks.iter().collect::<Vec<_>>())?.cut()?;
    thread::sleep(afterlife);
    group.kill(places)?;
    let mut disks = disks.iter();
    disks.try_for_each(Disk::remount)
}
