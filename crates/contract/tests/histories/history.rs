//! What can happen to the objects and their clients, and random histories of it.

use proptest::{collection::vec, prelude::*, sample::select};
use std::fmt::{Display, Formatter, Result};

use crate::{
    oracle::Rules,
    scenes,
    seats::{SEATS, Seat},
    universe::{Slot, choice, slots},
};

/// How many clients a history has at most.
const CLIENTS_MAX: usize = 6;

/// Two pods, two slices and their service, which every answer needs.
const USUAL: std::ops::Range<usize> = 0..5;

/// How many other objects most of a history is about.
const FOCUS_MAX: usize = 5;

/// What happens next. Clients are counted round and round.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// An object is written whole.
    Put { slot: usize, turns: Vec<u8> },
    /// One thing about an object becomes otherwise; it is created if it is not there.
    Turn { slot: usize, knob: u8, to: u8 },
    /// Several things happen one after the other, that matter together.
    Scene { scene: usize },
    /// An object is deleted.
    Delete { slot: usize },
    /// The watch tells again what it told.
    Again { slot: usize },
    /// An object is written, and nothing that shows.
    Stir { slot: usize, way: u8 },
    /// The watch of the kind of an object is lost.
    Lose { slot: usize },
    /// The kind of an object is listed anew.
    Relist { slot: usize },
    /// What was observed is committed.
    Commit,
    /// A client takes everything that there is for it; it opens a stream if it has none.
    Look { client: usize },
    /// What was observed is committed, and every client takes everything.
    Settle,
    /// A client takes one message, if there is one.
    Read { client: usize },
    /// A client gives up its stream and opens another.
    Reopen { client: usize },
}

/// The settings, what there is at first, and what happens.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) rules: Rules,
    /// Whether the usual objects are there from the beginning.
    pub(crate) is_peopled: bool,
    /// The clients; several may ask the same.
    clients: Vec<usize>,
    pub(crate) events: Vec<Event>,
}

impl History {
    /// The clients, at least one.
    pub(crate) fn clients(&self) -> Vec<&'static Seat> {
        self.clients.iter().map(|client| &SEATS[*client]).collect()
    }

    /// The same without one of the events or of the clients.
    pub(crate) fn shorter(&self) -> Vec<Self> {
        let without_event = (0..self.events.len()).rev().map(|event| {
            let mut shorter = self.clone();
            shorter.events.remove(event);
            shorter
        });
        let clients = 0..self.clients.len();
        let without_client = clients.rev().map(|client| {
            let mut shorter = self.clone();
            shorter.clients.remove(client);
            shorter
        });
        let at_least_one = |it: &Self| !it.clients.is_empty();
        let without_client = without_client.filter(at_least_one);
        without_event.chain(without_client).collect()
    }
}

/// Histories of up to so many events.
pub(crate) fn histories(events_max: usize) -> impl Strategy<Value = History> {
    let focus = vec(0..slots().len(), 1..=FOCUS_MAX);
    focus.prop_flat_map(move |focus| of_focus(focus, events_max))
}

fn of_focus(focus: Vec<usize>, events_max: usize) -> impl Strategy<Value = History> {
    let events = vec(events(focus), 1..events_max);
    let clients = vec(0..SEATS.len(), 1..=CLIENTS_MAX);
    let histories = (rules(), prop::bool::weighted(0.8), clients, events);
    histories.prop_map(|(rules, is_peopled, clients, events)| History {
        rules,
        is_peopled,
        clients,
        events,
    })
}

fn rules() -> impl Strategy<Value = Rules> {
    let rarely = || prop::bool::weighted(0.15);
    let flags = (rarely(), rarely(), any::<bool>(), any::<bool>());
    let chart = any::<bool>();
    (chart, flags).prop_map(
        |(chart, (no_h2, zone_weights, node_hints, serve_terminating))| Rules {
            transport_header: chart,
            http2: chart,
            ipv6: !chart,
            h2_upgrade: !no_h2,
            zone_weights,
            node_hints,
            serve_terminating,
        },
    )
}

/// Half of them about a few objects, so that much happens to each.
fn events(focus: Vec<usize>) -> impl Strategy<Value = Event> {
    let objects = slots().len();
    let slot = || prop_oneof![3 => USUAL, 2 => 0..objects, 5 => select(focus.clone())];
    let client = || 0..CLIENTS_MAX;
    prop_oneof![
        4 => (slot(), vec(odd_turn(), 24)).prop_map(|(slot, turns)| Event::Put { slot, turns }),
        16 => (slot(), any::<u8>(), any::<u8>())
            .prop_map(|(slot, knob, to)| Event::Turn { slot, knob, to }),
        2 => (0..scenes::COUNT).prop_map(|scene| Event::Scene { scene }),
        4 => slot().prop_map(|slot| Event::Delete { slot }),
        1 => slot().prop_map(|slot| Event::Again { slot }),
        1 => (slot(), any::<u8>()).prop_map(|(slot, way)| Event::Stir { slot, way }),
        1 => slot().prop_map(|slot| Event::Lose { slot }),
        2 => slot().prop_map(|slot| Event::Relist { slot }),
        8 => Just(Event::Commit),
        12 => client().prop_map(|client| Event::Look { client }),
        3 => Just(Event::Settle),
        2 => client().prop_map(|client| Event::Read { client }),
        1 => client().prop_map(|client| Event::Reopen { client }),
    ]
}

/// Most knobs as usual: objects in which everything is odd have no endpoints.
fn odd_turn() -> impl Strategy<Value = u8> {
    prop_oneof![3 => Just(0), 1 => any::<u8>()]
}

impl Display for History {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (slots, clients) = (slots(), self.clients());
        writeln!(f, "with {:?}", self.rules)?;
        let begin = if self.is_peopled {
            "the usual objects"
        } else {
            "nothing"
        };
        writeln!(f, "beginning with {begin}")?;
        self.events
            .iter()
            .try_for_each(|event| writeln!(f, "- {}", told(event, &slots, &clients)))
    }
}

fn told(event: &Event, slots: &[Slot], clients: &[&Seat]) -> String {
    let asking = |client: &usize| {
        let client = client % clients.len();
        format!("client {client} ({})", clients[client].name)
    };
    let object = |slot: &usize| slots[*slot].to_string();
    match event {
        Event::Put { slot, turns } => {
            let knobs = slots[*slot].knobs.iter().zip(turns);
            let odd = knobs.filter(|(_, turn)| **turn != 0);
            let odd =
                odd.map(|(knob, turn)| format!("{}={}", knob.name, choice(knob, Some(*turn))));
            format!(
                "put {} with {}",
                object(slot),
                odd.collect::<Vec<_>>().join("; ")
            )
        }
        Event::Turn { slot, knob, to } => {
            let knobs = &slots[*slot].knobs;
            let knob = &knobs[usize::from(*knob) % knobs.len()];
            format!(
                "{}: {}={}",
                object(slot),
                knob.name,
                choice(knob, Some(*to))
            )
        }
        Event::Scene { scene } => scenes::name(*scene).to_owned(),
        Event::Delete { slot } => format!("delete {}", object(slot)),
        Event::Again { slot } => format!("tell again of {}", object(slot)),
        Event::Stir { slot, way } => format!("stir {} (way {way})", object(slot)),
        Event::Lose { slot } => format!("lose the watch of {}", slots[*slot].kind),
        Event::Relist { slot } => format!("list {} anew", slots[*slot].kind),
        Event::Commit => "commit".to_owned(),
        Event::Look { client } => format!("{} looks", asking(client)),
        Event::Settle => "commit, and everybody looks".to_owned(),
        Event::Read { client } => format!("{} reads one message", asking(client)),
        Event::Reopen { client } => format!("{} opens anew", asking(client)),
    }
}
