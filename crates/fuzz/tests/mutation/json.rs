//! Damage to JSON that leaves it JSON: other values, missing ones, too many, misplaced ones.

use serde_json::{Map, Value, json};

use super::{BYTES_MAX, Dice};

/// The most levels that one change wraps a value into.
const LEVELS_MAX: usize = 140;

/// The values of a seed, if each of its lines is one.
pub(crate) fn lines(seed: &[u8]) -> Option<Vec<Value>> {
    let text = str::from_utf8(seed).ok()?;
    let values = text.lines().map(serde_json::from_str);
    let values: Vec<Value> = values.collect::<Result<_, _>>().ok()?;
    let are_objects = values.iter().all(Value::is_object);
    (are_objects && !values.is_empty()).then_some(values)
}

/// One seed with a few changes, at times with lines of another.
pub(crate) fn damaged(dice: &mut Dice, seeds: &[Vec<Value>]) -> Vec<u8> {
    let mut values = dice.pick(seeds).clone();
    // Where one line is all that is read, another would only spoil it.
    let is_many = seeds.iter().any(|seed| seed.len() > 1);
    if is_many && dice.below(3) == 0 {
        values.extend(dice.pick(seeds).iter().cloned());
    }
    for _ in 0..1 << dice.below(4) {
        let number = dice.below(values.len());
        let other = dice.pick(seeds);
        let donor = dice.pick(other).clone();
        // A change may make a value twice as large, and more.
        if values[number].to_string().len() > BYTES_MAX {
            break;
        }
        change(dice, &mut values[number], &donor);
    }
    let lines: Vec<String> = values.iter().map(ToString::to_string).collect();
    lines.join("\n").into_bytes()
}

fn change(dice: &mut Dice, value: &mut Value, donor: &Value) {
    let path = some_path(dice, value);
    let Some(place) = value.pointer_mut(&path) else {
        return;
    };
    match dice.below(7) {
        0 => *place = odd(dice),
        1 => remove(dice, place),
        2 => multiply(dice, place),
        3 => {
            let path = some_path(dice, donor);
            *place = donor.pointer(&path).cloned().unwrap_or_default();
        }
        4 => nest(dice, place),
        5 => edit_text(dice, place),
        _ => *place = neighbour(dice, place),
    }
}

/// A pointer to some value inside, the deeper the rarer the outer ones are hit.
fn some_path(dice: &mut Dice, value: &Value) -> String {
    let mut path = String::new();
    let mut here = value;
    loop {
        let step = match here {
            Value::Object(fields) if !fields.is_empty() => {
                let (key, inner) = fields.iter().nth(dice.below(fields.len())).unwrap();
                here = inner;
                key.replace('~', "~0").replace('/', "~1")
            }
            Value::Array(items) if !items.is_empty() => {
                let at = dice.below(items.len());
                here = &items[at];
                at.to_string()
            }
            _ => return path,
        };
        path = format!("{path}/{step}");
        if dice.below(6) == 0 {
            return path;
        }
    }
}

/// What a field seldom holds.
fn odd(dice: &mut Dice) -> Value {
    let values = [
        Value::Null,
        json!(""),
        json!({}),
        json!([]),
        json!(true),
        json!(0),
        json!(-1),
        json!(65_536),
        json!(u64::MAX),
        json!(1e308),
        json!(0.1),
        json!("1e999999999999m"),
        json!("0.0.0.0"),
        json!("::ffff:10.1.0.1"),
        json!("fe80::1%eth0"),
        json!("fd00::1"),
        json!("10.1.0.1"),
        json!("10.1.0.2"),
        json!("1-65535,80"),
        json!("9223372036854775807h"),
        json!("0.5n"),
        json!("a.b/c~d\u{0}\u{fffd}é"),
        json!("x".repeat(300)),
        json!([null, [], {}]),
        json!({"": null}),
        json!("UDP"),
        json!("Pod"),
        json!("web-1"),
        json!("shop"),
    ];
    dice.pick(&values).clone()
}

fn remove(dice: &mut Dice, place: &mut Value) {
    match place {
        Value::Object(fields) => {
            let key = fields.keys().nth(dice.below(fields.len())).cloned();
            key.and_then(|key| fields.remove(&key));
        }
        Value::Array(items) if !items.is_empty() => {
            items.remove(dice.below(items.len()));
        }
        _ => *place = Value::Null,
    }
}

fn multiply(dice: &mut Dice, place: &mut Value) {
    match place {
        Value::Array(items) if !items.is_empty() => {
            let item = dice.pick(items).clone();
            let times = (1 + dice.below(40)).min(BYTES_MAX / item.to_string().len());
            items.extend(std::iter::repeat_n(item, times));
        }
        _ => *place = Value::Array(vec![place.clone(), place.clone()]),
    }
}

/// Deeper than anybody writes by hand: conditions of routes above all.
fn nest(dice: &mut Dice, place: &mut Value) {
    let key = *dice.pick(&["not", "all", "any", "spec"]);
    for _ in 0..dice.below(LEVELS_MAX) {
        let inner = place.take();
        let inner = match key {
            "all" | "any" => Value::Array(vec![inner]),
            _ => inner,
        };
        *place = Value::Object(Map::from_iter([(key.to_owned(), inner)]));
    }
}

fn edit_text(dice: &mut Dice, place: &mut Value) {
    if let Value::String(text) = place {
        let at = dice.below(text.len() + 1);
        if text.is_char_boundary(at) {
            let mark: &&str = dice.pick(&MARKS);
            text.insert_str(at, mark);
        }
        let to = dice.below(text.len() + 1);
        if dice.below(2) == 0 && text.is_char_boundary(to) {
            text.truncate(to);
        }
    } else {
        *place = json!(place.to_string());
    }
}

/// What has a meaning in names, addresses, numbers and lists.
const MARKS: [&str; 10] = ["", "-", ".", ":", "/", "0", "é", ",", "m", "A"];

/// A number or a truth beside the one that is there.
fn neighbour(dice: &mut Dice, place: &Value) -> Value {
    match place {
        Value::Bool(it) => json!(!it),
        Value::Number(it) => {
            let steps = [-1_i64, 1, 256, -256, 1 << 40];
            json!(it.as_i64().unwrap_or(0).wrapping_add(*dice.pick(&steps)))
        }
        Value::String(it) => it.parse::<i64>().map_or(Value::Null, |it| json!(it)),
        Value::Null | Value::Array(_) | Value::Object(_) => odd(dice),
    }
}
