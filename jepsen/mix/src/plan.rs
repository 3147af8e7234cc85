//! What is broken when: a pure function of a seed.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::ValueEnum;
use fastrand::Rng;
use serde::Serialize;

use lockstep_jepsen_gear::doctor::Ability;

/// How far a run goes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Profile {
    /// A majority of replicas is always up and connected: the group must go on
    Safe,
    /// No limit: the group must be right, and recover
    Brutal,
    /// The first half of the time safe, the second brutal
    Both,
}

/// A class of faults.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Class {
    /// `kill -9` of one replica.
    Kill,
    /// `kill -9` of who leads.
    KillLeader,
    /// `kill -9` of all at once.
    KillAll,
    /// SIGTERM to one replica.
    Terminate,
    /// SIGSTOP of one replica.
    Pause,
    /// SIGSTOP of who leads.
    PauseLeader,
    /// One replica and the other two cannot reach each other.
    Halves,
    /// The same, with who leads alone.
    IsolateLeader,
    /// Two replicas cannot reach each other, and both reach the third.
    Bridge,
    /// One replica is heard by nobody, or hears nobody.
    OneWay,
    /// A third of one replica's packets is lost.
    Loss,
    /// All connections of one replica are reset.
    Resets,
    /// One disk stands still.
    Freeze,
    /// One disk is full.
    DiskFull,
    /// One sync fails.
    DiskError,
    /// The power of one disk is cut.
    PowerCut,
    /// The power of all disks is cut at once.
    PowerCutAll,
    /// One disk is lost with everything on it.
    DiskLost,
    /// The lead is handed over on request.
    HandOver,
    /// Open watches tell nothing more.
    ApiSilent,
    /// The watches of one kind lag behind the others.
    ApiLag,
    /// History is forgotten, and watches end: 410.
    ApiGone,
    /// Every request is refused: 429.
    Api429,
    /// Every request fails: 5xx.
    Api5xx,
    /// Nobody listens.
    ApiAway,
    /// Watches tell garbage, break off, or tell everything twice.
    ApiGarbled,
    /// Lists take seconds.
    ApiSlow,
    /// Who leads cannot reach the API server, and the others can.
    ApiCut,
    /// Who leads hears nothing more from the API server, and no end either.
    HalfOpen,
    /// Clients cannot reach one replica.
    ClientsCut,
    /// The wall clock of one replica jumps.
    Clock,
    /// One replica has little processor time.
    Cpu,
    /// Clients that do not read.
    SlowReaders,
    /// Many clients at once.
    Storm,
}

/// One fault to come.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Step {
    /// From the begin of the faults.
    pub(crate) at: Duration,
    /// What.
    pub(crate) class: Class,
    /// For how long.
    pub(crate) lasts: Duration,
    /// Safe or brutal.
    pub(crate) profile: Profile,
}

/// How a class is planned.
struct Traits {
    class: Class,
    /// Which replicas' part in the quorum it takes away.
    takes: Takes,
    /// Unit: milliseconds.
    lasts: std::ops::Range<u64>,
    needs: &'static [Ability],
}

/// What a class does to the quorum.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Takes {
    Nothing,
    One,
    All,
}

// === impl Class ===

impl Class {
    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        TRAITS.iter().map(|traits| traits.class)
    }

    /// The name, as in a history.
    pub(crate) fn name(self) -> String {
        let value = serde_json::to_value(self).unwrap_or_default();
        value.as_str().unwrap_or_default().to_owned()
    }

    /// What it needs of the machine.
    pub(crate) fn needs(self) -> &'static [Ability] {
        self.traits().map_or(&[], |traits| traits.needs)
    }

    fn traits(self) -> Option<&'static Traits> {
        TRAITS.iter().find(|traits| traits.class == self)
    }

    /// Whether it takes a replica away, so that the others must be well.
    pub(crate) fn takes_replicas(self) -> bool {
        self.takes() != Takes::Nothing
    }

    fn takes(self) -> Takes {
        self.traits().map_or(Takes::Nothing, |traits| traits.takes)
    }
}

/// Time between two faults, on average.
const GAP: Duration = Duration::from_millis(1_200);
/// In the safe profile the group has this time between two that take a replica away.
const RECOVERY: Duration = Duration::from_millis(2_500);

/// The faults of a run, in order. Those of the classes that are there come in turn, shuffled
/// anew for each turn.
pub(crate) fn plan(
    profile: Profile,
    classes: &BTreeSet<Class>,
    time: Duration,
    dice: &mut Rng,
) -> Vec<Step> {
    match profile {
        Profile::Both => {
            let half = time / 2;
            let mut steps = plan(Profile::Safe, classes, half, dice);
            let brutal = plan(Profile::Brutal, classes, half, dice);
            steps.extend(brutal.into_iter().map(|step| Step {
                at: step.at + half,
                ..step
            }));
            steps
        }
        Profile::Safe | Profile::Brutal => {
            let allowed = classes.iter().copied();
            let allowed = allowed
                .filter(|class| profile == Profile::Brutal || class.takes() != Takes::All)
                .collect();
            draw(profile, allowed, time, dice)
        }
    }
}

fn draw(profile: Profile, classes: Vec<Class>, time: Duration, dice: &mut Rng) -> Vec<Step> {
    let (mut steps, mut deck) = (Vec::new(), Vec::new());
    let (mut at, mut quorum_free) = (Duration::ZERO, Duration::ZERO);
    if classes.is_empty() {
        return steps;
    }
    while at < time {
        if deck.is_empty() {
            deck.clone_from(&classes);
            dice.shuffle(&mut deck);
        }
        let Some(traits) = deck.pop().and_then(Class::traits) else {
            continue;
        };
        let lasts = Duration::from_millis(dice.u64(traits.lasts.clone()));
        let takes = traits.takes != Takes::Nothing;
        if takes && profile == Profile::Safe {
            at = at.max(quorum_free);
            quorum_free = at + lasts + RECOVERY;
        }
        // Whatever begins must also end in time.
        if at + lasts <= time {
            let class = traits.class;
            steps.push(Step {
                at,
                class,
                lasts,
                profile,
            });
        }
        at += exponential(GAP, dice);
    }
    steps
}

/// A time with this mean, as the gaps of independent events have.
fn exponential(mean: Duration, dice: &mut Rng) -> Duration {
    mean.mul_f64(-(1.0 - dice.f64()).ln())
}

const NET: &[Ability] = &[Ability::BridgeFilter];
const TRAITS: &[Traits] = &[
    traits(Class::Kill, Takes::One, 200..4_000, &[]),
    traits(Class::KillLeader, Takes::One, 200..4_000, &[]),
    traits(Class::KillAll, Takes::All, 200..3_000, &[]),
    traits(Class::Terminate, Takes::One, 2_000..4_000, &[]),
    traits(Class::Pause, Takes::One, 200..9_000, &[]),
    traits(Class::PauseLeader, Takes::One, 200..9_000, &[]),
    traits(Class::Halves, Takes::One, 500..9_000, NET),
    traits(Class::IsolateLeader, Takes::One, 500..9_000, NET),
    traits(Class::Bridge, Takes::One, 500..6_000, NET),
    traits(Class::OneWay, Takes::One, 500..6_000, NET),
    traits(Class::Loss, Takes::One, 1_000..5_000, NET),
    traits(Class::Resets, Takes::One, 100..200, &[Ability::SocketKill]),
    traits(Class::Freeze, Takes::One, 200..3_000, &[Ability::Freeze]),
    traits(Class::DiskFull, Takes::One, 1_000..4_000, &[Ability::Ext4]),
    traits(
        Class::DiskError,
        Takes::One,
        1_000..2_500,
        &[Ability::CallFaults],
    ),
    traits(
        Class::PowerCut,
        Takes::One,
        200..3_000,
        &[Ability::PowerCutExt4],
    ),
    traits(
        Class::PowerCutAll,
        Takes::All,
        200..2_000,
        &[Ability::PowerCutExt4],
    ),
    traits(Class::DiskLost, Takes::One, 200..2_000, &[]),
    traits(Class::HandOver, Takes::Nothing, 100..200, &[]),
    traits(Class::ApiSilent, Takes::Nothing, 1_000..8_000, &[]),
    traits(Class::ApiLag, Takes::Nothing, 1_000..6_000, &[]),
    traits(Class::ApiGone, Takes::Nothing, 100..200, &[]),
    traits(Class::Api429, Takes::Nothing, 500..4_000, &[]),
    traits(Class::Api5xx, Takes::Nothing, 500..4_000, &[]),
    traits(Class::ApiAway, Takes::Nothing, 500..5_000, &[]),
    traits(Class::ApiGarbled, Takes::Nothing, 500..1_000, &[]),
    traits(Class::ApiSlow, Takes::Nothing, 2_000..4_000, &[]),
    traits(Class::ApiCut, Takes::Nothing, 1_000..8_000, NET),
    traits(Class::HalfOpen, Takes::Nothing, 1_000..8_000, NET),
    traits(Class::ClientsCut, Takes::Nothing, 500..6_000, NET),
    traits(
        Class::Clock,
        Takes::Nothing,
        500..5_000,
        &[Ability::FakeTime],
    ),
    traits(Class::Cpu, Takes::One, 1_000..5_000, &[Ability::CpuGroup]),
    traits(Class::SlowReaders, Takes::Nothing, 1_000..8_000, &[]),
    traits(Class::Storm, Takes::Nothing, 1_000..3_000, &[]),
];

const fn traits(
    class: Class,
    takes: Takes,
    lasts: std::ops::Range<u64>,
    needs: &'static [Ability],
) -> Traits {
    Traits {
        class,
        takes,
        lasts,
        needs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Duration = Duration::from_secs(300);

    fn planned(profile: Profile, seed: u64) -> Vec<Step> {
        let classes = Class::all().collect();
        plan(profile, &classes, TIME, &mut Rng::with_seed(seed))
    }

    #[test]
    fn equal_seeds_plan_equal_faults() {
        assert_eq!(planned(Profile::Both, 7), planned(Profile::Both, 7));
        assert_ne!(planned(Profile::Both, 7), planned(Profile::Both, 8));
    }

    #[test]
    fn a_safe_run_takes_one_replica_at_a_time() {
        for seed in 0..20 {
            let mut free = Duration::ZERO;
            for step in planned(Profile::Safe, seed) {
                assert!(step.class.takes() != Takes::All, "{step:?}");
                if step.class.takes() == Takes::One {
                    assert!(step.at >= free, "{step:?}");
                    free = step.at + step.lasts + RECOVERY;
                }
                assert!(step.at + step.lasts <= TIME);
            }
        }
    }

    #[test]
    fn a_long_run_has_every_class_and_they_overlap() {
        let steps = planned(Profile::Brutal, 1);
        let had: BTreeSet<Class> = steps.iter().map(|step| step.class).collect();
        assert_eq!(had.len(), Class::all().count());
        let overlaps = steps.windows(2).filter(|pair| {
            let [one, next] = pair else { return false };
            next.at < one.at + one.lasts
        });
        assert!(overlaps.count() > 20);
    }

    #[test]
    fn a_class_is_named_as_in_a_history() {
        assert_eq!(Class::PowerCutAll.name(), "power-cut-all");
        assert_eq!(Class::Api429.name(), "api429");
    }
}
