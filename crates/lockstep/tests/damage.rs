//! Damaged, foreign and full disks, seen from outside: a clear line and an end,
//! or the right answer; never a wrong one and never a panic.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod harness;

use harness::{
    agreed, eventually, leader,
    process::Fleet,
    proxy::{Proxy, Told},
    status,
};
use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    time::Duration,
};

const WEB: &str = "web.shop.svc.cluster.local:80";
const PATIENCE: Duration = Duration::from_secs(5);

fn sample() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/shop").to_owned()
}

/// Three replicas that have committed the sample and a change after change of
/// other services, so that each has snapshots and a log behind them.
async fn fleet(folder: &Path) -> Fleet {
    let manifests = folder.join("manifests");
    copy(Path::new(&sample()), &manifests);
    let flags = ["--snapshot-after=10", "--snapshot-keep=2"];
    let source = ["--manifests", manifests.to_str().unwrap()];
    let fleet = Fleet::start(&folder.join("data"), &source, &flags);
    for round in 1..=25 {
        write_services(&manifests, round, 20);
        agreed(&fleet.admins(), u64::from(round)).await;
    }
    fleet
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path))
        } else {
            files.push(path)
        }
    }
    files.sort();
    files
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target)
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// What a replica may do with a damaged folder: refuse it, or answer rightly.
async fn judge(fleet: &mut Fleet, victim: usize, truth: &Told, what: &str) {
    fleet.restart_watched(victim);
    let address = fleet.proxies()[victim];
    let verdict = eventually(what, async || {
        if let Some((status, said)) = fleet.ended(victim) {
            return Ok(Err((status, said)));
        }
        let told = Proxy::connect(address).await?.get(WEB).await?;
        Ok::<_, tonic::Status>(Ok(told))
    })
    .await;
    match verdict {
        Err((status, said)) => assert_refusal(status, &said, what),
        Ok(told) => {
            assert_eq!(
                (told.set, told.history),
                (truth.set.clone(), truth.history.clone()),
                "{what}"
            );
            agreed(&fleet.admins(), truth.revision).await;
        }
    }
}

fn assert_refusal(status: ExitStatus, said: &str, what: &str) {
    assert_eq!(status.code(), Some(2), "{what}: {said}");
    assert!(!said.contains("panicked"), "{what}: {said}");
    let complaints: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("lockstep serve: "))
        .collect();
    assert_eq!(complaints.len(), 1, "{what}: one clear line, not: {said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_cut_short_or_flipped_is_refused_or_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let mut fleet = fleet(folder.path()).await;
    // A follower: nothing is appended while it is away, so its folder stays the newest.
    let leads = leader(&fleet.admins()).await;
    let victim = (leads + 1) % 3;
    let truth = Proxy::connect(fleet.proxies()[leads])
        .await
        .unwrap()
        .get(WEB)
        .await
        .unwrap();
    fleet.kill(victim);
    let (data, good) = (fleet.data(victim), folder.path().join("good"));
    copy(&data, &good);
    let files = files_below(&good);
    let is_snapshot = |file: &PathBuf| file.extension().is_some_and(|end| end == "snap");
    assert!(files.iter().any(is_snapshot), "no snapshot among {files:?}");
    for file in files {
        let name = file.strip_prefix(&good).unwrap();
        let bytes = fs::read(&file).unwrap();
        let mut damages: Vec<(String, Vec<u8>)> = Vec::new();
        if let Some(half) = bytes.get(..bytes.len() / 2) {
            damages.push((format!("{} cut in half", name.display()), half.to_vec()));
        }
        for place in [0, bytes.len() / 3, bytes.len().saturating_sub(1)] {
            let mut flipped = bytes.clone();
            if let Some(byte) = flipped.get_mut(place) {
                *byte ^= 0x40;
                damages.push((format!("{} flipped at {place}", name.display()), flipped));
            }
        }
        for (what, damaged) in damages {
            fs::remove_dir_all(&data).unwrap();
            copy(&good, &data);
            fs::write(data.join(name), damaged).unwrap();
            judge(&mut fleet, victim, &truth, &what).await;
            fleet.kill(victim);
        }
    }
}

/// An older log beside a newer promise: it must not vote, and nobody has to help.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_whose_log_is_shorter_than_it_promised_comes_back_as_a_voter() {
    let folder = tempfile::tempdir().unwrap();
    let manifests = folder.path().join("manifests");
    copy(Path::new(&sample()), &manifests);
    let source = ["--manifests", manifests.to_str().unwrap()];
    let mut fleet = Fleet::start(&folder.path().join("data"), &source, &[]);
    let admins = fleet.admins();
    agreed(&admins, 1).await;
    let victim = (leader(&admins).await + 1) % 3;
    let old = status(admins[victim]).await.unwrap().replica;
    fleet.kill(victim);
    let log = fleet.data(victim).join("log.redb");
    let shorter = fs::read(&log).unwrap();
    fleet.restart(victim);
    write_services(&manifests, 1, 5);
    let truth = agreed(&admins, 2).await;
    fleet.kill(victim);
    fs::write(&log, shorter).unwrap();

    fleet.restart_watched(victim);
    let (end, said) = eventually("an end", async || {
        fleet.ended(victim).ok_or("it still runs")
    })
    .await;
    assert_refusal(end, &said, "a shorter log");
    let what = "the data folder was given up: ";
    assert!(
        said.contains(what) && said.contains("has lost data: its log ends at"),
        "{said}"
    );
    let evidence = fs::read_to_string(fleet.data(victim).join("quarantine.json")).unwrap();
    assert!(evidence.contains("has lost data"), "{evidence}");

    fleet.restart(victim);
    eventually("three voters without the lost id", async || {
        let members = status(admins[victim]).await?.members;
        let voters = members.iter().filter(|member| member.voter);
        let voters: Vec<&String> = voters.map(|member| &member.replica).collect();
        let is_back = voters.len() == 3 && !voters.contains(&&old);
        is_back.then_some(()).ok_or(format!("{voters:?}"))
    })
    .await;
    let after = agreed(&admins, truth.revision).await;
    assert_eq!(after.history, truth.history);
    let told = Proxy::connect(fleet.proxies()[victim]).await.unwrap();
    assert!(!told.get(WEB).await.unwrap().set.is_empty());
    assert!(fleet.data(victim).join("set-aside/log.redb").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_foreign_folder_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut fleet = Fleet::start(folder.path(), &["--manifests", &sample()], &[]);
    agreed(&fleet.admins(), 1).await;
    fleet.kill(0);
    fs::remove_dir_all(fleet.data(0)).unwrap();
    fs::create_dir(fleet.data(0)).unwrap();
    fs::write(fleet.data(0).join("holiday.jpg"), "not ours").unwrap();
    let (status, said) = fleet
        .restart_and_watch(0, PATIENCE)
        .expect("it must not start");
    assert_refusal(status, &said, "foreign folder");
    assert!(
        said.contains(&fleet.data(0).display().to_string()),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_in_use_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut fleet = Fleet::start(folder.path(), &["--manifests", &sample()], &[]);
    agreed(&fleet.admins(), 1).await;
    // The second process has other ports, so only the folder is in the way.
    let output = Command::new(env!("CARGO_BIN_EXE_lockstep"))
        .args([
            "serve",
            "--name=a",
            "--peers=a=127.0.0.1:1",
            "--manifests",
            &sample(),
        ])
        .args([
            "--peer-listen=127.0.0.1:0",
            "--proxy-listen=127.0.0.1:0",
            "--admin-listen=127.0.0.1:0",
        ])
        .arg("--data")
        .arg(fleet.data(0))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_refusal(output.status, &said, "folder in use");
    fleet.kill(0);
}

/// A small file system in memory, gone with the test.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path, size: &str) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(at)
            .status();
        mounted
            .is_ok_and(|status| status.success())
            .then(|| Self(at.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Left mounted it would only be lost memory until the machine restarts.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_stops_the_replica_with_one_line_and_the_group_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let manifests = folder.path().join("manifests");
    fs::create_dir(&manifests).unwrap();
    write_services(&manifests, 1, 500);
    let data = folder.path().join("data");
    let Some(_disk) = SmallDisk::mount(&data.join("c"), "2m") else {
        eprintln!("skipped: a small file system cannot be mounted here");
        return;
    };
    let source = ["--manifests", manifests.to_str().unwrap()];
    let mut fleet = Fleet::start(&data, &source, &[]);
    agreed(&fleet.admins(), 1).await;
    fleet.kill(2);
    assert!(
        fleet
            .restart_and_watch(2, Duration::from_millis(1500))
            .is_none(),
        "it fits at first"
    );
    agreed(&fleet.admins(), 1).await;
    let mut said = None;
    for round in 2..400 {
        write_services(&manifests, round, 500);
        let rest: Vec<SocketAddr> = fleet.admins()[..2].to_vec();
        agreed(&rest, u64::from(round)).await;
        if let Some(end) = fleet.ended(2) {
            said = Some(end);
            break;
        }
    }
    let (status, said) = said.expect("the disk was never full");
    assert_refusal(status, &said, "full disk");
    // The two others still commit.
    let rest: Vec<SocketAddr> = fleet.admins()[..2].to_vec();
    write_services(&manifests, 1000, 500);
    agreed(&rest, 2).await;
}

/// Many services whose one port is `round`: a change of all of them.
fn write_services(folder: &Path, round: u16, count: u16) {
    let service = |number: u16| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: service-{number}, namespace: shop}}\n\
             spec:\n  ports: [{{name: http, port: {}}}]\n---\n",
            1000 + round
        )
    };
    let text: String = (0..count).map(service).collect();
    fs::write(folder.join("services.new"), text).unwrap();
    fs::rename(folder.join("services.new"), folder.join("services.yaml")).unwrap();
}
