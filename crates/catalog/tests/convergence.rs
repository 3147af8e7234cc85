//! Whatever happens in whatever order, and whoever leads, the state ends as a
//! fresh list of the objects would make it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod cluster;

use cluster::{
    Leader, Objects,
    any::{any_fact, any_settings, kind, name},
    apply, listed, named,
};
use lockstep_catalog::{SourceEvent, audit};
use lockstep_model::{Cursor, Fact, FactKey, FactKind, Settings};
use lockstep_state::{Command, State};
use proptest::prelude::*;
use std::{collections::BTreeMap, sync::Arc};

/// The API server: what is there, and what each kind's watch has told of it.
#[derive(Default)]
struct Source {
    objects: Objects,
    history: BTreeMap<FactKind, Vec<(FactKey, Option<Fact>)>>,
    /// How many changes of each kind the session has told.
    told: BTreeMap<FactKind, usize>,
}

impl Source {
    fn change(&mut self, key: FactKey, fact: Option<Fact>) {
        match &fact {
            Some(fact) => self.objects.insert(key.clone(), fact.clone()),
            None => self.objects.remove(&key),
        };
        self.history.entry(key.kind).or_default().push((key, fact));
    }

    fn length(&self, kind: FactKind) -> usize {
        self.history.get(&kind).map_or(0, Vec::len)
    }

    /// The next change of a kind that the session listens to.
    fn next(&mut self, kind: FactKind) -> Option<SourceEvent> {
        let told = self.told.get_mut(&kind)?;
        let (key, fact) = self.history.get(&kind)?.get(*told)?.clone();
        *told += 1;
        let cursor = Cursor(told.to_string().into());
        Some(SourceEvent::Changed { key, fact, cursor })
    }

    fn list(&mut self, kind: FactKind) -> SourceEvent {
        let length = self.length(kind);
        self.told.insert(kind, length);
        let mut lists = listed(&self.objects, &length.to_string()).into_iter();
        SourceEvent::Listed(lists.find(|listed| listed.kind == kind).unwrap())
    }

    /// Goes on where a leader's state stopped.
    fn follow(&mut self, leader: &Leader) {
        let cursors = leader.catalog.cursors().into_iter();
        self.told = cursors
            .map(|(kind, cursor)| (kind, cursor.0.parse().unwrap()))
            .collect();
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// Somebody writes an object.
    Change(FactKey, Option<Box<Fact>>),
    /// The watch of a kind tells one change.
    Tell(FactKind),
    /// A kind is listed afresh, as after 410.
    List(FactKind),
    Settle,
    Checkpoint,
    /// Another replica leads, with what is committed and its own settings.
    ChangeLeader(Arc<Settings>),
}

fn any_change() -> impl Strategy<Value = Step> {
    (kind(), name()).prop_flat_map(|(kind, name)| {
        prop::option::weighted(0.8, any_fact(kind))
            .prop_map(move |fact| Step::Change(named(kind, name), fact.map(Box::new)))
    })
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => any_change(),
        10 => kind().prop_map(Step::Tell),
        1 => kind().prop_map(Step::List),
        4 => Just(Step::Settle),
        1 => Just(Step::Checkpoint),
        1 => any_settings().prop_map(Step::ChangeLeader),
    ]
}

fn take(step: Step, source: &mut Source, leader: &mut Leader) {
    match step {
        Step::Change(key, fact) => source.change(key, fact.map(|fact| *fact)),
        Step::Tell(kind) => source
            .next(kind)
            .into_iter()
            .for_each(|event| leader.catalog.observe(event)),
        Step::List(kind) => leader.catalog.observe(source.list(kind)),
        Step::Settle => {
            let was_complete = leader.catalog.is_complete();
            let commands = leader.settle();
            assert!(was_complete || commands.is_empty());
            assert!(commands.is_sorted_by_key(rank), "{commands:?}");
        }
        Step::Checkpoint => {
            let commands = leader.catalog.checkpoint(&leader.state);
            apply(&mut leader.state, commands);
        }
        Step::ChangeLeader(settings) => {
            *leader = Leader::resume_with(leader.state.clone(), settings);
            source.follow(leader);
        }
    }
}

/// The place of a command in a change.
fn rank(command: &Command) -> u8 {
    match command {
        Command::OpenHistory(_) => 0,
        Command::PutSettings(_) => 1,
        Command::PutService(..)
        | Command::PutSlice(..)
        | Command::PutPod(..)
        | Command::PutNode(..)
        | Command::PutServiceProfile(..)
        | Command::PutExternalWorkload(..) => 2,
        Command::RemoveService(_)
        | Command::RemoveSlice(_)
        | Command::RemovePod(_)
        | Command::RemoveNode(_)
        | Command::RemoveServiceProfile(_)
        | Command::RemoveExternalWorkload(_) => 3,
        Command::Remember(..) | Command::Forget(_) => 4,
        Command::Advance(..) | Command::OpenIncarnation(..) => 5,
    }
}

/// Lets the watches tell everything; lists only what was never listed.
fn catch_up(source: &mut Source, leader: &mut Leader) {
    for kind in FactKind::ALL {
        if !source.told.contains_key(&kind) {
            leader.catalog.observe(source.list(kind));
        }
        while let Some(event) = source.next(kind) {
            leader.catalog.observe(event);
        }
    }
    leader.settle();
}

fn assert_true(source: &Source, leader: &Leader) {
    let content = leader.state.content();
    let settings = content.settings().unwrap().clone();
    let lists = listed(&source.objects, "audit");
    assert_eq!(audit(&leader.state, lists, &settings), Ok(Vec::new()));
    let fresh = Leader::of_with(&source.objects, settings);
    assert_eq!(content.digest(), fresh.state.content().digest());
    let memory = leader.state.memory().facts();
    assert_eq!(memory, fresh.state.memory().facts());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_end_is_what_the_objects_say(
        synced in any::<bool>(),
        steps in prop::collection::vec(any_step(), 0..120),
    ) {
        let (mut source, mut leader) = (Source::default(), Leader::new());
        if synced {
            catch_up(&mut source, &mut leader);
        }
        for step in steps {
            take(step, &mut source, &mut leader);
        }
        catch_up(&mut source, &mut leader);
        assert_true(&source, &leader);
    }

    #[test]
    fn a_new_leader_needs_no_list(
        before in prop::collection::vec(any_step(), 0..40),
        unsettled in prop::collection::vec(any_change(), 0..10),
        after in prop::collection::vec(any_change(), 0..10),
        settings in any_settings(),
    ) {
        let (mut source, mut leader) = (Source::default(), Leader::new());
        for step in before {
            take(step, &mut source, &mut leader);
        }
        catch_up(&mut source, &mut leader);
        for change in unsettled {
            take(change, &mut source, &mut leader);
        }
        // The old leader hears of it and is deposed before it proposes.
        for kind in FactKind::ALL {
            take(Step::Tell(kind), &mut source, &mut leader);
        }
        take(Step::ChangeLeader(settings), &mut source, &mut leader);
        prop_assert!(leader.catalog.is_complete());
        for change in after {
            take(change, &mut source, &mut leader);
        }
        prop_assert!(FactKind::ALL.iter().all(|kind| source.told.contains_key(kind)));
        catch_up(&mut source, &mut leader);
        assert_true(&source, &leader);
    }

    #[test]
    fn each_change_alone_ends_as_a_list_of_everything(
        changes in prop::collection::vec(any_change(), 0..60),
        settings in any_settings(),
    ) {
        let mut source = Source::default();
        let mut leader = Leader::resume_with(State::default(), settings);
        catch_up(&mut source, &mut leader);
        for change in changes {
            take(change, &mut source, &mut leader);
            catch_up(&mut source, &mut leader);
            assert_true(&source, &leader);
        }
    }

    #[test]
    fn a_source_that_repeats_itself_changes_nothing(
        steps in prop::collection::vec(any_step(), 0..60),
    ) {
        let (mut source, mut leader) = (Source::default(), Leader::new());
        for step in steps {
            take(step, &mut source, &mut leader);
        }
        catch_up(&mut source, &mut leader);
        let before = *leader.state.position();
        for kind in FactKind::ALL {
            leader.catalog.observe(source.list(kind));
        }
        prop_assert_eq!(leader.settle(), []);
        prop_assert_eq!(leader.state.position(), &before);
    }
}
