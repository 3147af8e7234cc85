//! The whole scene of a run: network, API server, replicas, and everybody around them.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context as _;
use fastrand::Rng;
use lockstep_jepsen_checkers::{Replica as Name, Seen};
use tokio::task::JoinHandle;

use crate::clients::Clients;
use crate::group::{Group, name};
use crate::nemesis::{Nemesis, Rooms};
use crate::network::{Host, Network};
use crate::observers::{Observer, Sight, last};
use crate::recorder::Recorder;
use crate::writer::Writer;
use lockstep_jepsen_gear::api_server::ApiServer;
use lockstep_jepsen_gear::debt::Debts;
use lockstep_jepsen_gear::disk::{Disk, FileSystem};
use lockstep_jepsen_gear::operator::Operator;
use lockstep_jepsen_gear::replica::{Listens, Plan, Replica};
use lockstep_jepsen_gear::room::Room;
use lockstep_jepsen_gear::run_id::RunId;
use lockstep_jepsen_gear::world::{Shape, World};

const REPLICAS: u8 = 3;
const SHAPE: Shape = Shape {
    services: 12,
    endpoints_max: 5,
    idle: 2,
    has_pods: true,
};
/// Time between two changes of the cluster.
const CHANGE_EVERY: Duration = Duration::from_millis(50);
/// Watchers of each replica.
const WATCHERS: usize = 6;
/// Clients that go from replica to replica.
const HOPPERS: usize = 4;
/// Bytes of a disk; XFS takes no less.
const DISK_BYTES: u64 = 320 * 1024 * 1024;
/// Snapshots come often, so that faults meet them too.
const FLAGS: [&str; 2] = ["--snapshot-after=150", "--snapshot-keep=30"];

/// How a stage is set up.
pub(crate) struct Setup {
    pub(crate) run: RunId,
    /// For disks, logs and the history.
    pub(crate) folder: PathBuf,
    /// The replicas' program.
    pub(crate) program: PathBuf,
    /// The file system of the replicas' disks; without it they are folders.
    pub(crate) fs: Option<FileSystem>,
    /// The library that lies about the time, if there is one.
    pub(crate) clock: Option<PathBuf>,
}

/// The scene, with everybody on it.
pub(crate) struct Stage<'a> {
    pub(crate) recorder: Recorder,
    pub(crate) nemesis: Nemesis<'a>,
    writer: Writer,
    writing: Option<JoinHandle<anyhow::Result<()>>>,
}

// === impl Stage ===

impl<'a> Stage<'a> {
    /// Makes the network and the disks, starts everything, and loads the first objects.
    ///
    /// # Errors
    ///
    /// When this machine cannot, or may not.
    pub(crate) fn start(setup: &Setup, debts: &'a Debts, mut dice: Rng) -> anyhow::Result<Self> {
        let recorder = Recorder::create(&setup.folder.join("history.jsonl"))?;
        let network = Network::make(setup.run, debts, REPLICAS)?;
        let address = SocketAddr::from((Host::Api.address(), 6443));
        let api = ApiServer::start(network.room(Host::Api)?, address, &setup.folder)?;
        let (world, writes) = World::new(SHAPE, &mut dice);
        let world = Arc::new(Mutex::new(world));
        let writer = Writer::new(recorder.clone(), api.api().clone(), world.clone());
        writer.write(&writes)?;
        let clock = setup
            .clock
            .as_ref()
            .map(|_| dice.usize(..usize::from(REPLICAS)));
        let clock = clock.map(|place| (place, setup.folder.join("clock")));
        let mut group = Group::new(debts, recorder.clone());
        for number in 1..=REPLICAS {
            let plan = plan(setup, number, (api.kubeconfig(), clock.as_ref()));
            let place = setup.folder.join(&plan.name);
            match setup.fs {
                Some(fs) => group
                    .disks
                    .push(Disk::make_of_size(debts, &place, fs, DISK_BYTES)?),
                None => fs::create_dir_all(&place)?,
            }
            let room = network.room(Host::Replica(number))?;
            group.replicas.push(Replica::new(plan, room));
        }
        if let Some((_, file)) = &clock {
            fs::write(file, "+0\n")?;
        }
        for place in 0..usize::from(REPLICAS) {
            group.start(place)?;
        }
        let rooms = Rooms {
            clients: network.room(Host::Clients)?,
            control: network.room(Host::Control)?,
        };
        let sight = Sight::of(usize::from(REPLICAS));
        let clients = clients(&group, &recorder, &world);
        observe(&group, &rooms.control, (&recorder, &sight));
        ask(&clients, &rooms.clients, &mut dice);
        let churn = writer.clone().churn(CHANGE_EVERY, dice.fork());
        let writing = Some(rooms.control.spawn(churn));
        let nemesis = Nemesis {
            run: setup.run,
            debts,
            group,
            network,
            api,
            sight,
            clients,
            rooms,
            clock,
            recorder: recorder.clone(),
            dice,
            active: Vec::new(),
        };
        Ok(Self {
            recorder,
            nemesis,
            writer,
            writing,
        })
    }

    /// Nobody changes the cluster any more.
    ///
    /// # Errors
    ///
    /// When the writer had failed.
    pub(crate) fn stop_writing(&mut self) -> anyhow::Result<()> {
        self.writer.stop();
        let Some(writing) = self.writing.take() else {
            return Ok(());
        };
        self.nemesis.rooms.control.wait_for(writing)??
    }

    /// Reads every replica for the last time.
    ///
    /// # Errors
    ///
    /// When the lab itself cannot go on.
    pub(crate) fn read_all(&self) -> anyhow::Result<()> {
        for (place, replica) in self.nemesis.group.replicas.iter().enumerate() {
            let admin = replica.plan().listens.admin;
            let asked = self.nemesis.rooms.control.wait_for(async move {
                let mut operator = Operator::new(admin)?;
                operator.status().await
            })?;
            match asked.and_then(|status| last(name(place), &status).context("no position")) {
                Ok(read) => self.recorder.saw(name(place), Seen::Final(read)),
                // Its checker misses it.
                Err(error) => anstream::eprintln!("{} at the end: {error:#}", name(place)),
            }
        }
        Ok(())
    }
}

/// How a replica is started.
fn plan(
    setup: &Setup,
    number: u8,
    (kubeconfig, clock): (&Path, Option<&(usize, PathBuf)>),
) -> Plan {
    let host = Host::Replica(number);
    let peer = |number: u8| format!("n{number}={}:8087", Host::Replica(number).address());
    let peers: Vec<String> = (1..=REPLICAS).map(peer).collect();
    let mut flags = vec![
        format!("--peers={}", peers.join(",")),
        format!("--kubeconfig={}", kubeconfig.display()),
    ];
    flags.extend(FLAGS.map(str::to_owned));
    let lies = clock.filter(|(place, _)| *place + 1 == usize::from(number));
    let variables = lies.zip(setup.clock.as_ref()).map(|((_, file), library)| {
        [
            ("LD_PRELOAD", library.display().to_string()),
            ("FAKETIME_TIMESTAMP_FILE", file.display().to_string()),
            ("FAKETIME_NO_CACHE", "1".to_owned()),
            ("DONT_FAKE_MONOTONIC", "1".to_owned()),
        ]
    });
    let variables = variables.into_iter().flatten();
    Plan {
        program: setup.program.clone(),
        name: format!("n{number}"),
        listens: Listens {
            peer: SocketAddr::from((host.address(), 8087)),
            proxy: SocketAddr::from((host.address(), 8086)),
            admin: SocketAddr::from((host.control_address(), 9996)),
        },
        data: setup.folder.join(format!("n{number}/data")),
        log: setup.folder.join(format!("n{number}.log")),
        flags,
        variables: variables
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    }
}

fn clients(group: &Group<'_>, recorder: &Recorder, world: &Arc<Mutex<World>>) -> Clients {
    let replicas = group.replicas.iter().enumerate();
    let replicas = replicas.map(|(place, it)| (name(place), it.plan().listens.proxy));
    Clients {
        recorder: recorder.clone(),
        world: world.clone(),
        replicas: replicas.collect::<Vec<(Name, SocketAddr)>>(),
    }
}

fn observe(group: &Group<'_>, room: &Room, (recorder, sight): (&Recorder, &Sight)) {
    for (place, replica) in group.replicas.iter().enumerate() {
        let observer = Observer {
            replica: name(place),
            admin: replica.plan().listens.admin,
            log: replica.plan().log.clone(),
            recorder: recorder.clone(),
            sight: sight.clone(),
        };
        room.spawn(observer.observe());
    }
}

fn ask(clients: &Clients, room: &Room, dice: &mut Rng) {
    for place in 0..usize::from(REPLICAS) {
        for _ in 0..WATCHERS {
            room.spawn(clients.clone().watch(place, dice.fork()));
        }
    }
    for _ in 0..HOPPERS {
        room.spawn(clients.clone().hop(dice.fork()));
    }
    room.spawn(clients.clone().start_cold(dice.fork()));
}
