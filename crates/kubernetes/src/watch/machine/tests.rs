//! Every transition, and the histories that matter.

use super::*;

mod optional;

const KIND: FactKind = FactKind::Node;

fn cursor(text: &str) -> Cursor {
    Cursor(text.into())
}

fn key(name: &str) -> FactKey {
    FactKey::named(KIND, "", name)
}

fn page(names: &[&str], at: &str, next: Option<&str>) -> Input {
    Input::Page(Page {
        facts: names
            .iter()
            .map(|name| (key(name), Fact::Node(None)))
            .collect(),
        unread: Vec::new(),
        cursor: cursor(at),
        next: next.map(str::to_owned),
    })
}

fn failure(kind: FailureKind) -> Failure {
    Failure {
        kind,
        ..Failure::passing("test")
    }
}

fn list(token: Option<&str>) -> Act {
    Act::List {
        version: Version::best(KIND),
        token: token.map(str::to_owned),
    }
}

fn watch(from: &str) -> Act {
    Act::Watch {
        version: Version::best(KIND),
        from: cursor(from),
    }
}

fn wait(failures: u32) -> Act {
    Act::Wait(Pause::after(failures, None))
}

fn ended(end: End, seconds: u64) -> Input {
    Input::Ended {
        end,
        open_for: Duration::from_secs(seconds),
    }
}

fn changed(name: &str, at: &str) -> Input {
    Input::Told(Told::Changed {
        key: key(name),
        fact: Some(Box::new(Fact::Node(None))),
        cursor: cursor(at),
    })
}

fn bookmark(at: &str) -> Input {
    Input::Told(Told::Bookmark(cursor(at)))
}

fn silent(act: Act, restart: Option<Restart>) -> Step {
    Step {
        emit: None,
        restart,
        news: None,
        act,
    }
}

/// The server took the watch.
fn opened() -> Step {
    Step {
        emit: Some(SourceEvent::Alive { kind: KIND }),
        ..silent(Act::Read, None)
    }
}

/// The watch is lost.
fn lost(act: Act) -> Step {
    Step {
        emit: Some(SourceEvent::Lost { kind: KIND }),
        restart: Some(Restart::Gone),
        news: None,
        act,
    }
}

fn listed(names: &[&str], at: &str) -> SourceEvent {
    SourceEvent::Listed(Listed {
        kind: KIND,
        facts: names
            .iter()
            .map(|name| (key(name), Fact::Node(None)))
            .collect(),
        unread: [].into(),
        cursor: cursor(at),
    })
}

/// A machine that reads a watch from `at`.
fn reading(at: &str) -> Machine {
    let mut machine = Machine::new(KIND, Begin::After(cursor(at)));
    assert_eq!(machine.act(), watch(at));
    assert_eq!(machine.step(Input::WatchOpened), opened());
    machine
}

#[test]
fn it_lists_all_pages_tells_them_at_once_and_watches_from_there() {
    let mut machine = Machine::new(KIND, Begin::Afresh(None));
    assert_eq!(machine.act(), list(None));
    let step = machine.step(page(&["a"], "7", Some("t1")));
    assert_eq!(step, silent(list(Some("t1")), None));
    let step = machine.step(page(&["b"], "7", Some("t2")));
    assert_eq!(step, silent(list(Some("t2")), None));
    let expected = Step {
        emit: Some(listed(&["a", "b", "c"], "7")),
        restart: None,
        news: None,
        act: watch("7"),
    };
    assert_eq!(machine.step(page(&["c"], "7", None)), expected);
    assert_eq!(machine.step(Input::WatchOpened), opened());
}

#[test]
fn what_a_server_owes_us_proves_that_it_is_there_and_a_failure_does_not() {
    let mut machine = Machine::new(KIND, Begin::Afresh(None));
    let mut proved = |input| machine.step(input).emit.and_then(|event| event.proves());
    assert_eq!(proved(page(&["a"], "7", Some("t"))), None);
    assert_eq!(proved(page(&["b"], "7", None)), Some(KIND));
    assert_eq!(proved(Input::WatchOpened), Some(KIND));
    assert_eq!(proved(changed("c", "8")), Some(KIND));
    assert_eq!(proved(bookmark("9")), Some(KIND));
    assert_eq!(proved(ended(End::Closed, 15)), None);
    let refused = Input::WatchFailed(failure(FailureKind::Other));
    assert_eq!(proved(refused), None);
    assert_eq!(proved(Input::TimerFired), None);
    let gone = Input::WatchFailed(failure(FailureKind::Gone));
    assert_eq!(proved(gone), None);
}

#[test]
fn with_a_cursor_it_watches_and_never_lists() {
    let mut machine = reading("7");
    let expected = Step {
        emit: Some(SourceEvent::Changed {
            key: key("a"),
            fact: Some(Fact::Node(None)),
            cursor: cursor("8"),
        }),
        restart: None,
        news: None,
        act: Act::Read,
    };
    assert_eq!(machine.step(changed("a", "8")), expected);
    assert_eq!(
        machine.step(ended(End::Closed, 0)),
        silent(watch("8"), None)
    );
}

#[test]
fn a_cursor_that_means_any_place_is_no_cursor() {
    for at in ["", "0", "not served"] {
        assert_eq!(
            Machine::new(KIND, Begin::After(cursor(at))).act(),
            list(None)
        );
    }
}

#[test]
fn a_bookmark_is_progress_and_the_place_to_resume() {
    let mut machine = reading("7");
    let progress = SourceEvent::Progress {
        kind: KIND,
        cursor: cursor("9"),
    };
    let step = machine.step(bookmark("9"));
    assert_eq!((step.emit, step.act), (Some(progress), Act::Read));
    assert_eq!(
        machine.step(ended(End::Closed, 0)),
        silent(watch("9"), None)
    );
}

#[test]
fn an_undecodable_object_is_passed_over_in_silence() {
    let mut machine = reading("7");
    let step = machine.step(Input::Told(Told::Undecodable(None)));
    assert_eq!(step, silent(Act::Read, None));
    let step = machine.step(Input::Told(Told::Undecodable(Some(cursor("9")))));
    assert_eq!(step, silent(Act::Read, None));
    assert_eq!(
        machine.step(ended(End::Closed, 0)),
        silent(watch("9"), None)
    );
}

#[test]
fn a_failure_on_page_three_begins_the_list_again_and_shows_nothing_of_it() {
    let mut machine = Machine::new(KIND, Begin::Afresh(None));
    machine.step(page(&["a"], "7", Some("t1")));
    machine.step(page(&["b"], "7", Some("t2")));
    let step = machine.step(Input::ListFailed(failure(FailureKind::Other)));
    assert_eq!(step, silent(wait(1), Some(Restart::ListFailed)));
    assert_eq!(machine.step(Input::TimerFired), silent(list(None), None));
    let step = machine.step(page(&["c"], "9", None));
    assert_eq!(step.emit, Some(listed(&["c"], "9")));
}

#[test]
fn pages_of_two_moments_are_no_list() {
    let mut machine = Machine::new(KIND, Begin::Afresh(None));
    machine.step(page(&["a"], "7", Some("t1")));
    let step = machine.step(page(&["b"], "8", None));
    assert_eq!(step, silent(wait(1), Some(Restart::ListFailed)));
}

#[test]
fn failures_in_a_row_wait_longer_and_a_complete_list_forgets_them() {
    let mut machine = Machine::new(KIND, Begin::Afresh(None));
    for failures in 1..=5 {
        let step = machine.step(Input::ListFailed(failure(FailureKind::Other)));
        assert_eq!(step, silent(wait(failures), Some(Restart::ListFailed)));
        machine.step(Input::TimerFired);
    }
    machine.step(page(&[], "7", None));
    let step = machine.step(Input::WatchFailed(failure(FailureKind::Other)));
    assert_eq!(step, silent(wait(1), Some(Restart::WatchFailed)));
    assert_eq!(machine.step(Input::TimerFired), silent(watch("7"), None));
}

#[test]
fn a_server_that_wants_to_be_left_alone_is() {
    let retry_after = Some(Duration::from_secs(7));
    let busy = || Failure {
        retry_after,
        ..failure(FailureKind::Other)
    };
    let pause = Act::Wait(Pause::after(1, retry_after));
    let mut machine = Machine::new(KIND, Begin::Afresh(None));
    let step = machine.step(Input::ListFailed(busy()));
    assert_eq!(step, silent(pause.clone(), Some(Restart::ListFailed)));
    let mut machine = reading("7");
    let step = machine.step(Input::WatchFailed(busy()));
    assert_eq!(step, silent(pause, Some(Restart::WatchFailed)));
}

#[test]
fn a_410_on_a_continue_token_lists_again_at_once() {
    let mut machine = Machine::new(KIND, Begin::Afresh(None));
    machine.step(page(&["a"], "7", Some("t1")));
    let step = machine.step(Input::ListFailed(failure(FailureKind::Gone)));
    assert_eq!(step, silent(list(None), Some(Restart::Gone)));
    let step = machine.step(page(&["b"], "9", None));
    assert_eq!(step.emit, Some(listed(&["b"], "9")));
}

#[test]
fn a_410_on_the_watch_relists_once_whether_as_status_or_inside_the_stream() {
    for kind in [FailureKind::Gone, FailureKind::BadRequest] {
        let mut refused = Machine::new(KIND, Begin::After(cursor("7")));
        let mut broken_off = reading("7");
        broken_off.step(changed("a", "8"));
        for machine in [&mut refused, &mut broken_off] {
            let step = machine.step(Input::WatchFailed(failure(kind)));
            assert_eq!(step, lost(list(None)));
            let step = machine.step(page(&["b"], "9", None));
            assert_eq!(
                (step.emit, step.act),
                (Some(listed(&["b"], "9")), watch("9"))
            );
        }
    }
}

#[test]
fn a_server_that_always_says_410_is_not_listed_in_a_circle() {
    let mut machine = Machine::new(KIND, Begin::After(cursor("7")));
    let gone = || Input::WatchFailed(failure(FailureKind::Gone));
    assert_eq!(machine.step(gone()).act, list(None));
    for times in 1..=4 {
        machine.step(page(&[], "9", None));
        assert_eq!(machine.step(gone()), lost(wait(times)));
        assert_eq!(machine.step(Input::TimerFired).act, list(None));
    }
    machine.step(page(&[], "9", None));
    machine.step(Input::WatchOpened);
    machine.step(bookmark("10"));
    assert_eq!(machine.step(gone()).act, list(None));
}

/// Ten minutes in which every watch is refused as too old: the pauses grow to their limit,
/// nothing ends, and the first watch that is served goes on as if nothing had been.
#[test]
fn ten_minutes_of_410_are_endured_with_growing_pauses() {
    let mut machine = Machine::new(KIND, Begin::After(cursor("7")));
    let gone = || Input::WatchFailed(failure(FailureKind::Gone));
    let (mut waited, mut lists, mut longest) = (Duration::ZERO, 0, Duration::ZERO);
    let mut act = machine.step(gone()).act;
    while waited < Duration::from_mins(10) {
        act = match act {
            Act::List { token: None, .. } => {
                lists += 1;
                machine.step(page(&[], "9", None)).act
            }
            Act::Watch { .. } => machine.step(gone()).act,
            Act::Wait(pause) => {
                assert!(pause.least >= longest && pause.least < pause.most);
                waited += pause.least;
                longest = pause.least;
                machine.step(Input::TimerFired).act
            }
            other => panic!("{other:?}"),
        };
    }
    assert_eq!(longest, Duration::from_secs(15));
    assert_eq!(lists, 48);
    while act != watch("9") {
        let input = match act {
            Act::List { .. } => page(&[], "9", None),
            _ => Input::TimerFired,
        };
        act = machine.step(input).act;
    }
    machine.step(Input::WatchOpened);
    machine.step(bookmark("10"));
    assert_eq!(
        machine.step(ended(End::Closed, 60)),
        silent(watch("10"), None)
    );
}

#[test]
fn an_error_in_the_stream_resumes_from_the_last_event() {
    let mut machine = reading("7");
    machine.step(changed("a", "8"));
    let step = machine.step(Input::WatchFailed(failure(FailureKind::Other)));
    assert_eq!(step, silent(wait(1), Some(Restart::WatchFailed)));
    assert_eq!(machine.step(Input::TimerFired), silent(watch("8"), None));
}

#[test]
fn a_watch_that_delivered_or_lasted_is_reopened_at_once() {
    let mut machine = reading("7");
    assert_eq!(
        machine.step(ended(End::Closed, 5)),
        silent(watch("7"), None)
    );
    machine.step(Input::WatchOpened);
    machine.step(changed("a", "8"));
    assert_eq!(
        machine.step(ended(End::Closed, 0)),
        silent(watch("8"), None)
    );
}

#[test]
fn a_server_that_tells_nothing_for_a_minute_is_asked_how_far_it_has_come() {
    for (at, next) in [
        ("99", list(None)),
        ("100", watch("100")),
        ("101", watch("100")),
    ] {
        let mut machine = reading("100");
        for _ in 1..IDLE_MAX {
            assert_eq!(machine.step(ended(End::Closed, 15)).act, watch("100"));
            machine.step(Input::WatchOpened);
        }
        let version = Version::best(KIND);
        let step = machine.step(ended(End::Closed, 15));
        assert_eq!(step, silent(Act::Look { version }, None));
        let went_back = (next == list(None)).then_some(Restart::WentBack);
        let looked = machine.step(Input::Looked(cursor(at)));
        assert_eq!(looked, silent(next, went_back));
    }
    // Not of one that told something, or does not answer.
    let mut machine = reading("1");
    for at in ["2", "3", "4", "5", "6", "7", "8"] {
        machine.step(changed("a", at));
        assert_eq!(machine.step(ended(End::Closed, 15)).act, watch(at));
        machine.step(Input::WatchOpened);
    }
    for _ in 0..IDLE_MAX {
        machine.step(ended(End::Closed, 15));
        machine.step(Input::WatchOpened);
    }
    assert_eq!(machine.step(Input::LookFailed).act, watch("8"));
}

#[test]
fn a_watch_that_ends_at_once_waits_longer_each_time() {
    for (end, restart) in [
        (End::Closed, Restart::Broken),
        (End::Broken, Restart::Broken),
        (End::Silent, Restart::Silent),
        (End::Garbled, Restart::Garbled),
    ] {
        let mut machine = Machine::new(KIND, Begin::After(cursor("7")));
        for times in 1..=3 {
            machine.step(Input::WatchOpened);
            let step = machine.step(ended(end, 0));
            assert_eq!(step, silent(wait(times), Some(restart)));
            assert_eq!(machine.step(Input::TimerFired), silent(watch("7"), None));
        }
    }
}

#[test]
fn a_good_watch_that_breaks_waits_only_briefly() {
    for (end, restart) in [
        (End::Broken, Restart::Broken),
        (End::Silent, Restart::Silent),
        (End::Garbled, Restart::Garbled),
    ] {
        let mut machine = Machine::new(KIND, Begin::After(cursor("7")));
        for at in ["8", "9", "10"] {
            machine.step(Input::WatchOpened);
            machine.step(changed("a", at));
            let step = machine.step(ended(end, 0));
            assert_eq!(step, silent(wait(1), Some(restart)));
            assert_eq!(machine.step(Input::TimerFired), silent(watch(at), None));
        }
    }
}

/// Gives the same answer until the machine does something else than to wait and to do
/// `again`; says what that is, how long it waited at least, and for how long at most.
fn persist(
    machine: &mut Machine,
    answer: &Input,
    again: &Act,
    why: Restart,
) -> (Step, Duration, Duration) {
    let (mut least, mut most) = (Duration::ZERO, Duration::ZERO);
    loop {
        let step = machine.step(answer.clone());
        let Act::Wait(pause) = step.act else {
            return (step, least, most);
        };
        assert_eq!(step, silent(Act::Wait(pause), Some(why)));
        least += pause.least;
        most += pause.most;
        assert_eq!(machine.step(Input::TimerFired), silent(again.clone(), None));
        if matches!(again, Act::Watch { .. }) && !matches!(answer, Input::WatchFailed(_)) {
            machine.step(Input::WatchOpened);
        }
    }
}

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn a_list_from_the_past_is_not_believed_for_a_minute() {
    let mut machine = reading("100");
    machine.step(changed("a", "101"));
    machine.step(Input::WatchFailed(failure(FailureKind::Gone)));
    let old = page(&[], "99", None);
    let (step, least, most) = persist(&mut machine, &old, &list(None), Restart::WentBack);
    assert_eq!(
        (step.emit, step.restart, step.act),
        (
            Some(listed(&[], "99")),
            Some(Restart::Restored),
            watch("99")
        )
    );
    assert!(least >= MINUTE && most < 3 * MINUTE, "{least:?} {most:?}");
}

#[test]
fn a_list_of_now_among_lists_of_the_past_begins_the_minute_again() {
    let mut machine = reading("100");
    for _ in 0..20 {
        machine.step(Input::WatchFailed(failure(FailureKind::Gone)));
        if matches!(machine.act(), Act::Wait(_)) {
            machine.step(Input::TimerFired);
        }
        for _ in 0..8 {
            let step = machine.step(page(&[], "99", None));
            assert_eq!((step.emit, step.restart), (None, Some(Restart::WentBack)));
            machine.step(Input::TimerFired);
        }
        let step = machine.step(page(&[], "100", None));
        assert_eq!(step.emit, Some(listed(&[], "100")));
        machine.step(Input::WatchOpened);
    }
}

#[test]
fn an_event_from_the_past_is_not_told_and_a_list_decides() {
    for old in [changed("a", "99"), bookmark("99")] {
        let mut machine = reading("100");
        let (step, least, most) = persist(&mut machine, &old, &watch("100"), Restart::WentBack);
        assert_eq!(step, lost(list(None)));
        assert!(least >= MINUTE / 6 && most < MINUTE, "{least:?} {most:?}");
        // It lagged: a list is of now.
        let step = machine.step(page(&["a"], "102", None));
        assert_eq!(step.emit, Some(listed(&["a"], "102")));
        assert_eq!(step.restart, None);
    }
}

#[test]
fn an_event_that_comes_twice_is_told_twice() {
    let mut machine = reading("100");
    let first = machine.step(changed("a", "101"));
    assert_eq!(machine.step(changed("a", "101")), first);
}

#[test]
fn a_list_that_is_newer_or_cannot_be_compared_is_believed() {
    for at in ["101", "102", "x7"] {
        let mut machine = reading("101");
        machine.step(Input::WatchFailed(failure(FailureKind::Gone)));
        let step = machine.step(page(&[], at, None));
        assert_eq!(step.emit, Some(listed(&[], at)));
    }
}

#[test]
fn a_server_that_stays_behind_the_cursor_is_listed_and_believed_after_a_minute_more() {
    let mut machine = Machine::new(KIND, Begin::After(cursor("100")));
    let ahead = Input::WatchFailed(failure(FailureKind::TooNew));
    let (step, _, _) = persist(&mut machine, &ahead, &watch("100"), Restart::WatchFailed);
    assert_eq!(step, lost(list(None)));
    // Its history was replaced: the list is older, and true.
    let old = page(&["a"], "5", None);
    let (step, least, _) = persist(&mut machine, &old, &list(None), Restart::WentBack);
    assert_eq!(
        (step.emit, step.restart, step.act),
        (
            Some(listed(&["a"], "5")),
            Some(Restart::Restored),
            watch("5")
        )
    );
    assert!(least >= MINUTE);
}

#[test]
fn an_unreadable_place_in_history_is_stepped_over_by_a_list() {
    let mut machine = reading("100");
    let garbled = ended(End::Garbled, 0);
    let (step, _, _) = persist(&mut machine, &garbled, &watch("100"), Restart::Garbled);
    assert_eq!(step, lost(list(None)));
}

/// One outcome of each sort.
fn inputs() -> Vec<Input> {
    vec![
        page(&["x"], "50", None),
        Input::ListFailed(failure(FailureKind::Other)),
        Input::WatchOpened,
        Input::WatchFailed(failure(FailureKind::Other)),
        changed("x", "51"),
        ended(End::Closed, 9),
        Input::TimerFired,
        Input::Looked(cursor("52")),
        Input::LookFailed,
    ]
}

#[test]
fn an_outcome_of_another_act_changes_nothing() {
    let listing = || Machine::new(KIND, Begin::Afresh(None));
    let opening = || Machine::new(KIND, Begin::After(cursor("7")));
    let waiting = || {
        let mut machine = Machine::new(KIND, Begin::Afresh(None));
        machine.step(Input::ListFailed(failure(FailureKind::Other)));
        machine
    };
    let looking = || {
        let mut machine = reading("7");
        for _ in 0..IDLE_MAX {
            machine.step(ended(End::Closed, 15));
            machine.step(Input::WatchOpened);
        }
        machine
    };
    let starts: [(&dyn Fn() -> Machine, &[usize]); 5] = [
        (&listing, &[0, 1]),
        (&opening, &[2, 3]),
        (&|| reading("7"), &[3, 4, 5]),
        (&waiting, &[6]),
        (&looking, &[7, 8]),
    ];
    for (start, expected) in starts {
        for (number, input) in inputs().into_iter().enumerate() {
            let mut machine = start();
            let before = machine.phase.clone();
            let step = machine.step(input);
            let changed = machine.phase != before || step.emit.is_some();
            assert_eq!(changed, expected.contains(&number), "{before:?} {number}");
        }
    }
}
