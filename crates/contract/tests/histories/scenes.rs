//! Things that rarely happen one by one and matter together: who has an address, who is
//! nearest, which slice is believed. Written as a history prints its events.

use crate::universe::Slot;

const SCENES: &[(&str, &[&str])] = &[
    (
        "p1 takes the address of p0",
        &[
            "Pod ns/p1: ip=p0's",
            "EndpointSlice ns/a: e1 addresses=p0's",
        ],
    ),
    (
        "vm0 takes the address of p0",
        &[
            "ExternalWorkload ns/vm0: ip=p0's",
            "EndpointSlice ns/a: e2 addresses=p0's",
        ],
    ),
    (
        "p0 has two families, the nearer one is the older",
        &[
            "Pod ns/p0: family=dual",
            "EndpointSlice ns/a: all hints=za",
            "EndpointSlice ns/six: all hints=zb",
        ],
    ),
    (
        "hints for nodes and for zones disagree",
        &[
            "EndpointSlice ns/a: all hints=node-a zb",
            "EndpointSlice ns/a: e1 hints=node-b za",
        ],
    ),
    (
        "a newer slice calls p0 not ready",
        &[
            "EndpointSlice ns/b: created=9",
            "EndpointSlice ns/b: e0 ready=no",
        ],
    ),
    (
        "p0 leaves and p1 is gone",
        &[
            "EndpointSlice ns/a: e0 ready=leaving",
            "EndpointSlice ns/a: e1 target=absent",
        ],
    ),
    (
        "p0 finishes and p1 has its address",
        &["Pod ns/p0: phase=Succeeded", "Pod ns/p1: ip=p0's"],
    ),
    ("the port of web is opaque", &["Service ns/web: opaque=80"]),
    (
        "two Servers say the same",
        &["Server ns/s0: protocol=opaque", "Server ns/s1: port=8080"],
    ),
];

/// How many there are.
pub(crate) const COUNT: usize = SCENES.len();

/// What a scene is called.
pub(crate) fn name(scene: usize) -> &'static str {
    SCENES[scene].0
}

/// Its turns: object, knob, choice.
pub(crate) fn turns(scene: usize, slots: &[Slot]) -> Vec<(usize, u8, u8)> {
    let turns = SCENES[scene].1.iter();
    turns
        .map(|text| read(text, slots).unwrap_or_else(|| panic!("no such turn: {text}")))
        .collect()
}

fn read(text: &str, slots: &[Slot]) -> Option<(usize, u8, u8)> {
    let (object, turn) = text.split_once(": ")?;
    let (knob, choice) = turn.split_once('=')?;
    let slot = slots.iter().position(|it| it.to_string() == object)?;
    let knobs = &slots[slot].knobs;
    let knob = knobs.iter().position(|it| it.name == knob)?;
    let choice = knobs[knob].choices.iter().position(|it| *it == choice)?;
    Some((slot, knob.try_into().ok()?, choice.try_into().ok()?))
}
