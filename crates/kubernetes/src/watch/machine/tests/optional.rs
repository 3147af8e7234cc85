//! A kind that a cluster may do without: absent, arriving, leaving, denied for a moment.

use super::{
    super::{News, nothing},
    *,
};
use crate::watch::machine::serving::ROUNDS_TO_LEAVE;

/// It has two versions.
const KIND: FactKind = FactKind::ServiceProfile;

fn best() -> Version {
    Version::best(KIND)
}

fn older() -> Version {
    best().next()
}

fn list(version: Version) -> Act {
    let token = None;
    Act::List { version, token }
}

fn watch(version: Version, from: &str) -> Act {
    let from = cursor(from);
    Act::Watch { version, from }
}

fn rest() -> Act {
    Act::Wait(Pause::until_served())
}

fn page(names: &[&str], at: &str) -> Input {
    Input::Page(Page {
        facts: facts(names),
        unread: Vec::new(),
        cursor: cursor(at),
        next: None,
    })
}

fn facts(names: &[&str]) -> Vec<(FactKey, Fact)> {
    let fact = |name: &&str| {
        let key = FactKey::named(KIND, "shop", name);
        (key, Fact::ServiceProfile(Default::default()))
    };
    names.iter().map(fact).collect()
}

fn listed(names: &[&str], at: &str) -> SourceEvent {
    SourceEvent::Listed(Listed {
        kind: KIND,
        facts: facts(names).into_iter().collect(),
        unread: [].into(),
        cursor: cursor(at),
    })
}

fn list_denied() -> Input {
    Input::ListFailed(failure(FailureKind::NotServed))
}

fn watch_denied() -> Input {
    Input::WatchFailed(failure(FailureKind::NotServed))
}

fn told(emit: SourceEvent, news: News, act: Act) -> Step {
    Step {
        emit: Some(emit),
        restart: None,
        news: Some(news),
        act,
    }
}

/// The server answers, and has nothing to tell.
fn alive(act: Act) -> Step {
    Step {
        emit: Some(SourceEvent::Alive { kind: KIND }),
        ..silent(act, None)
    }
}

/// The kind is told to be absent.
fn gone() -> Step {
    told(SourceEvent::Listed(nothing(KIND)), News::Absent, rest())
}

fn absent() -> Machine {
    let mut machine = Machine::new(KIND, Begin::Afresh(None));
    machine.step(list_denied());
    machine.step(list_denied());
    machine
}

/// Its objects are known up to `at`.
fn reading(version: Version, at: &str) -> Machine {
    let mut machine = Machine::new(KIND, Begin::Afresh(None));
    if version == older() {
        machine.step(list_denied());
    }
    machine.step(page(&["a"], at));
    machine.step(Input::WatchOpened);
    assert_eq!(machine.act(), Act::Read);
    machine
}

/// From a watch that was just denied in the best version to the end of the round.
fn rest_of_round(machine: &mut Machine) -> Step {
    assert_eq!(machine.act(), watch(older(), "7"));
    machine.step(watch_denied())
}

#[test]
fn a_kind_that_is_absent_is_listed_as_empty_after_one_round() {
    let mut machine = Machine::new(KIND, Begin::Afresh(None));
    assert_eq!(machine.act(), list(best()));
    assert_eq!(machine.step(list_denied()), silent(list(older()), None));
    assert_eq!(machine.step(list_denied()), gone());
    let SourceEvent::Listed(empty) = gone().emit.unwrap() else {
        panic!("not a list");
    };
    assert_eq!((empty.facts.len(), &*empty.cursor.0), (0, "not served"));
}

#[test]
fn its_absence_is_told_once_and_asked_about_for_ever() {
    let mut machine = absent();
    for _ in 0..100 {
        assert_eq!(machine.step(Input::TimerFired), silent(list(best()), None));
        assert_eq!(machine.step(list_denied()), silent(list(older()), None));
        assert_eq!(machine.step(list_denied()), alive(rest()));
    }
}

#[test]
fn it_is_listed_and_followed_when_it_arrives() {
    let mut machine = absent();
    machine.step(Input::TimerFired);
    let step = machine.step(page(&["a"], "9"));
    let news = News::Served(best());
    assert_eq!(step, told(listed(&["a"], "9"), news, watch(best(), "9")));
    assert_eq!(machine.step(Input::WatchOpened), alive(Act::Read));
}

#[test]
fn an_older_version_is_used_where_the_best_one_is_not_served() {
    let mut machine = Machine::new(KIND, Begin::Afresh(None));
    machine.step(list_denied());
    let step = machine.step(page(&["a"], "7"));
    let news = News::Served(older());
    assert_eq!(step, told(listed(&["a"], "7"), news, watch(older(), "7")));
    machine.step(Input::WatchOpened);
    // It stays with it.
    assert_eq!(
        machine.step(ended(End::Closed, 60)),
        silent(watch(older(), "7"), None)
    );
}

#[test]
fn a_watch_goes_on_in_another_version_where_it_stopped() {
    for (before, after) in [(best(), older()), (older(), best())] {
        let mut machine = reading(before, "7");
        machine.step(ended(End::Closed, 60));
        assert_eq!(
            machine.step(watch_denied()),
            silent(watch(after, "7"), None)
        );
        let step = machine.step(Input::WatchOpened);
        assert_eq!((step.emit, step.act), (alive(Act::Read).emit, Act::Read));
        assert_eq!(step.news, Some(News::Served(after)));
    }
}

#[test]
fn with_a_cursor_it_watches_and_finds_its_version() {
    let mut machine = Machine::new(KIND, Begin::After(cursor("7")));
    assert_eq!(machine.act(), watch(best(), "7"));
    assert_eq!(
        machine.step(watch_denied()),
        silent(watch(older(), "7"), None)
    );
    let step = machine.step(Input::WatchOpened);
    assert_eq!(step.news, Some(News::Served(older())));
}

#[test]
fn a_kind_that_was_absent_when_its_cursor_was_kept_is_listed() {
    let resume = nothing(KIND).cursor;
    let mut machine = Machine::new(KIND, Begin::After(resume));
    assert_eq!(machine.act(), list(best()));
    machine.step(list_denied());
    assert_eq!(machine.step(list_denied()), gone());
}

/// The contract: one who listens loses no object while the server denies for a moment
/// what it serves, however often.
#[test]
fn a_moment_of_denial_loses_nothing() {
    for resume in [None, Some(cursor("7"))] {
        let mut machine = match resume {
            None => reading(best(), "7"),
            Some(resume) => Machine::new(KIND, Begin::After(resume)),
        };
        for _ in 0..10 {
            if machine.act() == Act::Read {
                machine.step(ended(End::Closed, 60));
            }
            if matches!(machine.act(), Act::Look { .. }) {
                machine.step(Input::LookFailed);
            }
            for _ in 1..ROUNDS_TO_LEAVE {
                assert_eq!(machine.step(watch_denied()).emit, None);
                let step = rest_of_round(&mut machine);
                assert_eq!(step, silent(rest(), Some(Restart::NotServed)));
                let step = machine.step(Input::TimerFired);
                assert_eq!(step, silent(watch(best(), "7"), None));
            }
            let step = machine.step(Input::WatchOpened);
            assert_eq!((step.emit, step.act), (alive(Act::Read).emit, Act::Read));
        }
    }
}

#[test]
fn a_kind_that_leaves_is_listed_as_empty_after_three_rounds_and_never_told_as_lost() {
    for resume in [None, Some(cursor("7"))] {
        let mut machine = match resume {
            None => reading(best(), "7"),
            Some(resume) => Machine::new(KIND, Begin::After(resume)),
        };
        if machine.act() == Act::Read {
            machine.step(ended(End::Closed, 60));
        }
        for _ in 1..ROUNDS_TO_LEAVE {
            machine.step(watch_denied());
            rest_of_round(&mut machine);
            machine.step(Input::TimerFired);
        }
        machine.step(watch_denied());
        assert_eq!(rest_of_round(&mut machine), gone());
        // It may come back.
        assert_eq!(machine.step(Input::TimerFired), silent(list(best()), None));
        let step = machine.step(page(&["b"], "9"));
        let news = News::Served(best());
        assert_eq!(step, told(listed(&["b"], "9"), news, watch(best(), "9")));
    }
}

#[test]
fn the_end_of_a_watch_by_an_error_event_may_be_a_denial_too() {
    let mut machine = reading(best(), "7");
    assert_eq!(
        machine.step(watch_denied()),
        silent(watch(older(), "7"), None)
    );
}

#[test]
fn a_failure_of_another_sort_begins_the_rounds_anew() {
    let mut machine = Machine::new(KIND, Begin::After(cursor("7")));
    for _ in 0..2 * ROUNDS_TO_LEAVE {
        machine.step(watch_denied());
        let step = machine.step(watch_denied());
        assert_eq!(step, silent(rest(), Some(Restart::NotServed)));
        machine.step(Input::TimerFired);
        let step = machine.step(Input::WatchFailed(failure(FailureKind::Other)));
        assert_eq!(step.restart, Some(Restart::WatchFailed));
        machine.step(Input::TimerFired);
    }
}

#[test]
fn a_list_that_is_denied_after_history_was_lost_takes_three_rounds_too() {
    let mut machine = reading(best(), "7");
    let step = machine.step(Input::WatchFailed(failure(FailureKind::Gone)));
    assert_eq!(step.emit, Some(SourceEvent::Lost { kind: KIND }));
    for _ in 1..ROUNDS_TO_LEAVE {
        assert_eq!(machine.step(list_denied()), silent(list(older()), None));
        let step = machine.step(list_denied());
        assert_eq!(step, silent(rest(), Some(Restart::NotServed)));
        assert_eq!(machine.step(Input::TimerFired), silent(list(best()), None));
    }
    machine.step(list_denied());
    assert_eq!(machine.step(list_denied()), gone());
}

#[test]
fn a_second_page_that_is_denied_is_no_list() {
    let mut machine = Machine::new(KIND, Begin::Afresh(None));
    let first = Input::Page(Page {
        facts: facts(&["a"]),
        unread: Vec::new(),
        cursor: cursor("7"),
        next: Some("t1".to_owned()),
    });
    machine.step(first);
    assert_eq!(machine.step(list_denied()), silent(list(older()), None));
    let step = machine.step(page(&["b"], "8"));
    assert_eq!(step.emit, Some(listed(&["b"], "8")));
}

#[test]
fn a_kind_that_every_cluster_has_is_never_absent() {
    let mut machine = Machine::new(super::KIND, Begin::Afresh(None));
    for times in 1..=5 {
        let step = machine.step(list_denied());
        assert_eq!(step, silent(wait(times), Some(Restart::ListFailed)));
        machine.step(Input::TimerFired);
    }
    let mut machine = Machine::new(super::KIND, Begin::After(cursor("7")));
    for times in 1..=5 {
        let step = machine.step(watch_denied());
        assert_eq!(step, silent(wait(times), Some(Restart::WatchFailed)));
        machine.step(Input::TimerFired);
    }
}
