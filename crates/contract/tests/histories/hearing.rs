//! What one client has heard, and whether it was right to tell it so.

use lockstep_contract::{
    fold::{Folded, HeldSet, Labels, Told, Violation, told_in_json},
    shorthand,
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, fmt::Debug, net::SocketAddr, rc::Rc};

use crate::{
    oracle::{Asked, Oracle, Right, any, every},
    seats::{Method, Seat},
};

/// Why a history is not as it must be, in words.
pub(crate) type Checked = Result<(), String>;

/// One open stream, from the side of its client.
#[derive(Debug)]
pub(crate) struct Hearing {
    seat: &'static Seat,
    asked: Asked,
    held: Held,
    /// What was committed when the stream had said all that it had to say, and all since.
    since: Vec<Rc<Oracle>>,
}

#[derive(Debug)]
enum Held {
    Endpoints(Folded<Value>),
    /// `None` before the first message.
    Profile(Option<Value>),
}

impl Hearing {
    /// A stream that opens now.
    pub(crate) fn new(seat: &'static Seat, now: &Rc<Oracle>) -> Self {
        Self {
            seat,
            asked: Asked::of(seat.path),
            held: match seat.method {
                Method::Get => Held::Endpoints(Folded::default()),
                Method::GetProfile => Held::Profile(None),
            },
            since: vec![now.clone()],
        }
    }

    /// Why a stream may not open, if it may not.
    pub(crate) fn refused(seat: &Seat, now: &Oracle) -> Option<&'static str> {
        let asked = Asked::of(seat.path);
        match seat.method {
            Method::Get => now.refuses(&asked),
            Method::GetProfile => now.profile(&asked, seat.token).err(),
        }
    }

    /// Something else is committed now.
    pub(crate) fn committed(&mut self, now: &Rc<Oracle>) {
        self.since.push(now.clone());
    }

    /// Takes a message.
    pub(crate) fn hear(&mut self, message: Value) -> Checked {
        let rights = self.rights();
        match &mut self.held {
            Held::Endpoints(folded) => hear(folded, &message, &rights),
            Held::Profile(held) => {
                let mut message = message;
                shorthand::contract(&mut message);
                let (asked, token) = (&self.asked, self.seat.token);
                let right = self.since.iter().flat_map(|oracle| match held {
                    None => oracle.profile(asked, token).unwrap_or_default(),
                    Some(held) => oracle.profile_after(asked, token, held),
                });
                let right: Vec<Value> = right.collect();
                if held.as_ref() == Some(&message) {
                    return Err(self.located(&format!("told again: {message:#}")));
                }
                *held = Some(message.clone());
                is_among(&message, &right)
            }
        }
        .map_err(|error| self.located(&error))
    }

    /// The stream has nothing more to say: what its client holds is what is right now.
    pub(crate) fn complete(&mut self) -> Checked {
        let now = self.since.split_off(self.since.len() - 1);
        self.since = now;
        let rights = self.rights();
        let now = &self.since[0];
        match &self.held {
            Held::Endpoints(folded) => {
                let held = folded.set().ok_or_else(|| "no first message".to_owned());
                held.and_then(|held| is_right(held, &rights[0]))
            }
            Held::Profile(None) => Err("no first message".to_owned()),
            Held::Profile(Some(held)) => {
                let right = now.profile_after(&self.asked, self.seat.token, held);
                is_among(held, &right)
            }
        }
        .map_err(|error| self.located(&error))
    }

    /// Whether a client that opens now holds the same as one that was there all the time;
    /// the profile of an open stream may rest on what was.
    pub(crate) fn agrees(&self, new: &Self) -> Checked {
        match (&self.held, &new.held) {
            (Held::Endpoints(old), Held::Endpoints(new)) => {
                let (old, new) = (old.set().map(all_merged), new.set().map(all_merged));
                same(&old, &new).map_err(|error| self.located(&error))
            }
            _ => Ok(()),
        }
    }

    /// What was right at each commit since; of a profile that is not needed.
    fn rights(&self) -> Vec<Right> {
        let Held::Endpoints(_) = self.held else {
            return Vec::new();
        };
        let right = |oracle: &Rc<Oracle>| {
            let place = oracle.place(self.seat.token);
            oracle.right(&self.asked, &place)
        };
        self.since.iter().map(right).collect()
    }

    fn located(&self, error: &str) -> String {
        format!("{} ({}): {error}", self.seat.name, self.seat.path)
    }
}

/// Takes a message of a `Get`: each thing that it says was right at some time since, what
/// was right all the time stays, and the client is told nothing that it must pass over.
fn hear(folded: &mut Folded<Value>, message: &Value, rights: &[Right]) -> Checked {
    let told = told_in_json(message);
    if let Told::Add { endpoints, labels } = &told {
        for (address, endpoint) in endpoints {
            let said = merged(endpoint, labels);
            let mut may = rights.iter().filter_map(|right| right.get(address));
            if !may.any(|right| right.contains(&said)) {
                return Err(format!("never right: {said:#}\nin {message}"));
            }
        }
    }
    if let Told::NoEndpoints { .. } = &told
        && rights.iter().all(|right| !right.is_empty())
    {
        return Err("told that there is nothing, which was never right".to_owned());
    }
    let before = folded.set().map(addresses).unwrap_or_else(|| any(rights));
    folded.obey(told);
    match folded.violations() {
        [] => {}
        [first, ..] => return Err(violated(first, message)),
    }
    let after = folded.set().map(addresses).unwrap_or_default();
    let mut kept = every(rights).into_iter().filter(|it| before.contains(it));
    if let Some(lost) = kept.find(|it| !after.contains(it)) {
        return Err(format!(
            "{lost} was there all the time, and went by {message}"
        ));
    }
    // A full rollover too must leave the client something at every moment.
    if after.is_empty() && !before.is_empty() && rights.iter().all(|it| !it.is_empty()) {
        return Err(format!("left with nothing for a moment by {message}"));
    }
    Ok(())
}

fn violated(violation: &Violation, message: &Value) -> String {
    format!("no good server sends this: {violation:?} in {message}")
}

fn addresses(held: &HeldSet<Value>) -> BTreeSet<SocketAddr> {
    held.keys().copied().collect()
}

/// An endpoint with the labels of the set among its own, its address as people write it.
fn merged(endpoint: &Value, labels: &Labels) -> Value {
    let mut endpoint = endpoint.clone();
    for (key, value) in labels {
        endpoint["metric_labels"][key] = json!(value);
    }
    shorthand::contract(&mut endpoint);
    endpoint
}

fn all_merged(held: &HeldSet<Value>) -> Vec<Value> {
    let each = held.values();
    each.map(|it| merged(&it.endpoint, &it.labels)).collect()
}

fn is_right(held: &HeldSet<Value>, right: &Right) -> Checked {
    same(&right.keys().collect::<Vec<_>>(), &held.keys().collect())?;
    for (address, held) in held {
        is_among(&merged(&held.endpoint, &held.labels), &right[address])?;
    }
    Ok(())
}

fn is_among(held: &Value, right: &[Value]) -> Checked {
    if right.contains(held) {
        return Ok(());
    }
    let right: Vec<String> = right.iter().map(|it| format!("{it:#}")).collect();
    Err(format!(
        "right is {}\nheld is {held:#}",
        right.join("\nor ")
    ))
}

fn same<T: PartialEq + Debug>(right: &T, held: &T) -> Checked {
    if right == held {
        return Ok(());
    }
    Err(format!("right is {right:#?}\nheld is {held:#?}"))
}
