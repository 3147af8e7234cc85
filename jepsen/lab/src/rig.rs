//! Three replicas on loopback, and their API server under load.

mod sightings;
mod verdict;
mod watch;

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use fastrand::Rng;
use lockstep_simapi::SimApi;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, sleep};

use lockstep_jepsen_gear::api_server::{self, ApiServer};
use lockstep_jepsen_gear::debt::Debts;
use lockstep_jepsen_gear::disk::{Disk, FileSystem};
use lockstep_jepsen_gear::operator::Operator;
use lockstep_jepsen_gear::replica::{Listens, Plan, Replica};
use lockstep_jepsen_gear::room::Room;
use lockstep_jepsen_gear::run_id::RunId;
use lockstep_jepsen_gear::world::{Mix, Serial, Shape, World, Write};
use sightings::Sightings;
use watch::watch;

pub(crate) use verdict::{converge, judge};

const REPLICAS: u8 = 3;
const SHAPE: Shape = Shape {
    services: 20,
    endpoints_max: 5,
    idle: 2,
    // The newest endpoint that a client was told must be there after a cut, or a newer one.
    has_pods: false,
};
/// Time between two changes of the load.
const CHANGE_EVERY: Duration = Duration::from_millis(5);
/// Snapshots come often, so that cuts meet them too.
const FLAGS: [&str; 2] = ["--snapshot-after=150", "--snapshot-keep=30"];
/// How long a group under load may take to commit something.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a rig is set up.
pub(crate) struct Setup {
    pub(crate) run: RunId,
    /// For disks and logs.
    pub(crate) folder: PathBuf,
    /// The replicas' program.
    pub(crate) program: PathBuf,
    /// A library that is loaded into it.
    pub(crate) preload: Option<PathBuf>,
    /// The file system of each replica's own disk; without it all are in the same folder.
    pub(crate) fs: Option<FileSystem>,
}

/// The group and everything around it.
pub(crate) struct Rig {
    pub(crate) disks: Vec<Disk>,
    pub(crate) replicas: Vec<Replica>,
    pub(crate) api: ApiServer,
    pub(crate) sightings: Sightings,
    /// Where clients and observers live.
    pub(crate) clients: Room,
    world: Arc<Mutex<World>>,
    source_room: Room,
    load: Option<JoinHandle<anyhow::Error>>,
    dice: Rng,
}

// === impl Rig ===

impl Rig {
    /// Makes disks, starts everything, and loads the first objects.
    pub(crate) fn start(setup: &Setup, debts: &Debts, mut dice: Rng) -> anyhow::Result<Self> {
        let (clients, source_room) = (Room::enter(None)?, Room::enter(None)?);
        let address = SocketAddr::from((setup.run.loopback(100), 6443));
        let api = ApiServer::start(source_room.clone(), address, &setup.folder)?;
        let (world, writes) = World::new(SHAPE, &mut dice);
        api_server::write(api.api(), &writes)?;
        let mut rig = Self {
            disks: Vec::new(),
            replicas: Vec::new(),
            api,
            sightings: Sightings::default(),
            clients,
            world: Arc::new(Mutex::new(world)),
            source_room,
            load: None,
            dice,
        };
        for number in 1..=REPLICAS {
            let plan = rig.plan(setup, number);
            let place = setup.folder.join(&plan.name);
            match setup.fs {
                Some(fs) => rig.disks.push(Disk::make(debts, &place, fs)?),
                None => fs::create_dir_all(&place)?,
            }
            let room = rig.clients.clone();
            let mut replica = Replica::new(plan.clone(), room);
            replica.start(debts)?;
            rig.replicas.push(replica);
            let (world, sightings) = (rig.world.clone(), rig.sightings.clone());
            rig.clients.spawn(watch(plan, world, sightings));
        }
        Ok(rig)
    }

    fn plan(&self, setup: &Setup, number: u8) -> Plan {
        let ip = |number: u8| setup.run.loopback(number);
        let at = |port: u16| SocketAddr::from((ip(number), port));
        let peer = |number: u8| format!("n{number}={}:8087", ip(number));
        let peers: Vec<String> = (1..=REPLICAS).map(peer).collect();
        let kubeconfig = self.api.kubeconfig().display();
        let mut flags = vec![
            format!("--peers={}", peers.join(",")),
            format!("--kubeconfig={kubeconfig}"),
        ];
        flags.extend(FLAGS.map(str::to_owned));
        let preload = setup.preload.iter();
        let variables = preload.map(|path| ("LD_PRELOAD".to_owned(), path.display().to_string()));
        Plan {
            program: setup.program.clone(),
            name: format!("n{number}"),
            listens: Listens {
                peer: at(8087),
                proxy: at(8086),
                admin: at(9996),
            },
            data: setup.folder.join(format!("n{number}/data")),
            log: setup.folder.join(format!("n{number}.log")),
            flags,
            variables: variables.collect(),
        }
    }

    /// How each replica is started.
    pub(crate) fn plans(&self) -> Vec<Plan> {
        self.replicas.iter().map(|it| it.plan().clone()).collect()
    }

    /// Changes things at the API server from now on.
    pub(crate) fn load_on(&mut self) {
        let (api, world) = (self.api.api().clone(), self.world.clone());
        let dice = self.dice.fork();
        self.load = Some(self.source_room.spawn(change_for_ever(api, world, dice)));
    }

    /// Changes nothing any more.
    ///
    /// # Errors
    ///
    /// When the load had stopped by itself.
    pub(crate) fn load_off(&mut self) -> anyhow::Result<()> {
        let Some(load) = self.load.take() else {
            return Ok(());
        };
        load.abort();
        match self.source_room.wait_for(load)? {
            Ok(error) => Err(error),
            Err(_) => Ok(()),
        }
    }

    /// The newest endpoint of every service, at the source.
    pub(crate) fn newest(&self) -> BTreeMap<String, Serial> {
        let world = self.world.lock();
        world.unwrap_or_else(PoisonError::into_inner).newest()
    }

    /// Waits until so many more revisions were seen.
    pub(crate) fn wait_for_revisions(&self, more: u64) -> anyhow::Result<()> {
        let goal = self.sightings.revision() + more;
        let deadline = Instant::now() + PATIENCE;
        while self.sightings.revision() < goal {
            if Instant::now() > deadline {
                let now = self.sightings.revision();
                bail!("the load moves nothing: r{now} after {PATIENCE:?}, not r{goal}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Ends one replica without a word.
    ///
    /// # Errors
    ///
    /// When there is no such replica, or it does not die.
    pub(crate) fn kill(&mut self, place: usize) -> anyhow::Result<()> {
        let replica = self.replicas.get_mut(place);
        replica.context("no such replica")?.kill().map(drop)
    }

    /// Starts one replica.
    ///
    /// # Errors
    ///
    /// When there is no such replica, or its program cannot be executed.
    pub(crate) fn start_one(&mut self, place: usize, debts: &Debts) -> anyhow::Result<()> {
        let replica = self.replicas.get_mut(place);
        replica.context("no such replica")?.start(debts)
    }

    /// Whether one replica does not run.
    pub(crate) fn has_ended(&self, place: usize) -> bool {
        let replica = self.replicas.get(place);
        replica.is_none_or(|replica| replica.process().is_none())
    }

    /// How one replica ended, once.
    pub(crate) fn ended(&mut self, place: usize) -> Option<ExitStatus> {
        self.replicas.get_mut(place)?.ended()
    }

    /// Whether one replica answers an operator.
    ///
    /// # Errors
    ///
    /// When the lab itself cannot go on.
    pub(crate) fn answers(&self, place: usize) -> anyhow::Result<bool> {
        Ok(self.revision(place)?.is_some())
    }

    /// The revision of one replica; nothing if it does not answer.
    ///
    /// # Errors
    ///
    /// When the lab itself cannot go on.
    pub(crate) fn revision(&self, place: usize) -> anyhow::Result<Option<u64>> {
        let plan = self.plans().into_iter().nth(place);
        let admin = plan.context("no such replica")?.listens.admin;
        self.clients.wait_for(async move {
            let mut operator = Operator::new(admin)?;
            let status = operator.status().await.ok();
            Ok(status.map(|status| status.position.map_or(0, |position| position.revision)))
        })?
    }

    /// All that one replica has ever logged.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub(crate) fn log(&self, place: usize) -> anyhow::Result<String> {
        let replica = self.replicas.get(place).context("no such replica")?;
        let log = &replica.plan().log;
        let text = fs::read(log).with_context(|| format!("cannot read {}", log.display()))?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Lines in the logs that only a bug writes.
    pub(crate) fn panics(&self) -> anyhow::Result<Vec<String>> {
        let mut found = Vec::new();
        for (place, replica) in self.replicas.iter().enumerate() {
            let text = self.log(place)?;
            let bad = text.lines().filter(|line| line.contains("panicked at"));
            found.extend(bad.map(|line| format!("{}: {line}", replica.plan().name)));
        }
        Ok(found)
    }
}

async fn change_for_ever(api: SimApi, world: Arc<Mutex<World>>, mut dice: Rng) -> anyhow::Error {
    let mut ticks = interval(CHANGE_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let writes: Vec<Write> = {
            let mut world = world.lock().unwrap_or_else(PoisonError::into_inner);
            world.step(&Mix::GROWING, &mut dice).1
        };
        if let Err(error) = api_server::write(&api, &writes) {
            return error;
        }
        sleep(Duration::ZERO).await;
    }
}
