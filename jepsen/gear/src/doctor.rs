//! Which faults this machine can do, found out by doing each once where it hurts nobody.

mod disk;
mod network;
mod process;
mod scratch;
mod table;

use std::collections::BTreeMap;

use anyhow::ensure;
use clap::ValueEnum;
use serde::{Serialize, Serializer};

use crate::debt::{Left, left_by_the_dead};
pub use process::{GROUPS, fake_time_library};

use scratch::Scratch;

/// Something that a fault needs.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ability {
    /// Network namespaces with interfaces between them.
    Namespaces,
    /// nftables on bridged frames: cuts and losses.
    BridgeFilter,
    /// Resets of connections by a rule.
    ResetRule,
    /// Ending a socket from outside.
    SocketKill,
    /// A file system in a file: ext4.
    Ext4,
    /// A file system in a file: XFS.
    Xfs,
    /// Shutting a file system down as a power cut does: ext4.
    PowerCutExt4,
    /// The same: XFS.
    PowerCutXfs,
    /// Freezing a file system.
    Freeze,
    /// A limit on memory.
    MemoryGroup,
    /// A limit on processor time.
    CpuGroup,
    /// Freezing a tree of processes.
    FreezerGroup,
    /// A limit on disk traffic.
    BlkioGroup,
    /// A wall clock of one's own.
    FakeTime,
    /// System calls that fail.
    CallFaults,
    /// Disks in user space.
    Fuse,
    /// Networks in user space.
    Tap,
    /// The kernel's own delays and losses.
    Netem,
    /// A machine on which no earlier run has left anything.
    CleanMachine,
}

/// How one probe is made.
struct Probe {
    ability: Ability,
    enables: &'static str,
    /// The Debian package of the program that it needs.
    package: &'static str,
    try_it: fn(&Scratch) -> anyhow::Result<()>,
}

/// What a probe found.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What was tried.
    pub ability: Ability,
    /// The faults that need it.
    pub enables: &'static str,
    /// The Debian package of the program that it needs; empty if the kernel alone decides.
    pub package: &'static str,
    /// Why it does not work, if it does not.
    #[serde(serialize_with = "text")]
    pub outcome: Result<(), String>,
}

/// What this machine can do.
pub type Findings = BTreeMap<Ability, Finding>;

/// How the findings are printed.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people
    #[default]
    Table,
    /// One JSON array
    Json,
}

/// Everything there is to try, in the order of the table.
const PROBES: [Probe; 19] = [
    probe(
        Ability::Namespaces,
        "every fault of a network",
        "iproute2",
        network::namespaces,
    ),
    probe(
        Ability::BridgeFilter,
        "cuts, one-way cuts, losses, half-open watches",
        "nftables",
        network::bridge_filter,
    ),
    probe(
        Ability::ResetRule,
        "bursts of resets",
        "nftables",
        network::reset_rule,
    ),
    probe(
        Ability::SocketKill,
        "connections aborted from outside",
        "iproute2",
        network::socket_kill,
    ),
    probe(
        Ability::Tap,
        "delay, jitter, reordering in user space",
        "iproute2",
        network::tap,
    ),
    probe(
        Ability::Netem,
        "delay and loss by the kernel (nothing here needs it)",
        "iproute2",
        network::netem,
    ),
    probe(
        Ability::Ext4,
        "full disks, corruption",
        "e2fsprogs",
        disk::ext4,
    ),
    probe(Ability::Xfs, "the same on XFS", "xfsprogs", disk::xfs),
    probe(
        Ability::PowerCutExt4,
        "power cuts on ext4",
        "xfsprogs",
        disk::power_cut_ext4,
    ),
    probe(
        Ability::PowerCutXfs,
        "power cuts on XFS",
        "xfsprogs",
        disk::power_cut_xfs,
    ),
    probe(
        Ability::Freeze,
        "disks that hang",
        "util-linux",
        disk::freeze,
    ),
    probe(
        Ability::Fuse,
        "disks in user space (nothing here needs it)",
        "",
        disk::fuse,
    ),
    probe(
        Ability::MemoryGroup,
        "little memory",
        "",
        process::memory_group,
    ),
    probe(
        Ability::CpuGroup,
        "little processor time",
        "",
        process::cpu_group,
    ),
    probe(
        Ability::FreezerGroup,
        "frozen processes",
        "",
        process::freezer_group,
    ),
    probe(Ability::BlkioGroup, "slow disks", "", process::blkio_group),
    probe(
        Ability::FakeTime,
        "jumps of the wall clock",
        "faketime",
        process::fake_time,
    ),
    probe(
        Ability::CallFaults,
        "system calls that fail",
        "strace",
        process::call_faults,
    ),
    probe(
        Ability::CleanMachine,
        "runs that meet nothing of an earlier one",
        "",
        clean_machine,
    ),
];

const fn probe(
    ability: Ability,
    enables: &'static str,
    package: &'static str,
    try_it: fn(&Scratch) -> anyhow::Result<()>,
) -> Probe {
    Probe {
        ability,
        enables,
        package,
        try_it,
    }
}

/// Tries everything. What a probe makes is undone before this returns.
///
/// # Errors
///
/// When nothing can be tried at all.
pub fn examine() -> anyhow::Result<Findings> {
    let scratch = Scratch::new()?;
    let found = PROBES.iter().map(|probe| {
        let finding = Finding {
            ability: probe.ability,
            enables: probe.enables,
            package: probe.package,
            outcome: (probe.try_it)(&scratch).map_err(|error| format!("{error:#}")),
        };
        (probe.ability, finding)
    });
    Ok(found.collect())
}

/// Says what an earlier run left, and leaves it.
fn clean_machine(_: &Scratch) -> anyhow::Result<()> {
    let left = left_by_the_dead()?;
    let said = left.iter().map(|left| {
        let Left { run, things } = left;
        format!("the killed run {run} noted {things} things to undo")
    });
    let said: Vec<String> = said.collect();
    ensure!(
        said.is_empty(),
        "{}; `cargo xtask jepsen clean` undoes them",
        said.join(", ")
    );
    Ok(())
}

/// Whether this machine can do all of these; if not, why not.
///
/// # Errors
///
/// The reason, for people.
pub fn needs(abilities: &[Ability]) -> Result<(), String> {
    let findings = examine().map_err(|error| format!("{error:#}"))?;
    for ability in abilities {
        if let Some(Err(reason)) = findings.get(ability).map(|finding| &finding.outcome) {
            return Err(format!("{} does not work here: {reason}", ability.name()));
        }
    }
    Ok(())
}

/// Tries everything and prints what was found.
///
/// # Errors
///
/// As [`examine`].
pub fn run(output: Output) -> anyhow::Result<()> {
    let findings = examine()?;
    let rows: Vec<&Finding> = PROBES
        .iter()
        .filter_map(|probe| findings.get(&probe.ability))
        .collect();
    match output {
        Output::Table => anstream::print!("{}", table::table(&rows)),
        Output::Json => anstream::println!("{}", serde_json::to_string_pretty(&rows)?),
    }
    Ok(())
}

// === impl Ability ===

impl Ability {
    /// The name, as in the table and in JSON.
    pub fn name(self) -> String {
        let value = serde_json::to_value(self).unwrap_or_default();
        value.as_str().unwrap_or_default().to_owned()
    }
}

/// `"works"`, or the reason why not.
fn text<S: Serializer>(outcome: &Result<(), String>, serializer: S) -> Result<S::Ok, S::Error> {
    match outcome {
        Ok(()) => serializer.serialize_str("works"),
        Err(reason) => serializer.serialize_str(reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_ability_is_tried_once() {
        let tried: BTreeSet<Ability> = PROBES.iter().map(|probe| probe.ability).collect();
        assert_eq!(tried.len(), PROBES.len());
    }

    #[test]
    fn a_finding_reads_as_json() {
        let finding = Finding {
            ability: Ability::PowerCutXfs,
            enables: "power cuts on XFS",
            package: "xfsprogs",
            outcome: Err("cannot execute xfs_io".to_owned()),
        };
        let json = serde_json::to_value(&finding).unwrap();
        let expected = serde_json::json!({
            "ability": "power-cut-xfs",
            "enables": "power cuts on XFS",
            "package": "xfsprogs",
            "outcome": "cannot execute xfs_io",
        });
        assert_eq!(json, expected);
    }
}
