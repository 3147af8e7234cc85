//! Objects with anything in any place: nothing panics, and no other object suffers.

use super::{nulls::objects, *};
use crate::watch::page;

const ROUNDS: usize = 4_000;

/// A generator of numbers; the same seed gives the same ones.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        // Marsaglia's xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit).unwrap()).unwrap()
    }

    fn anything(&mut self) -> Value {
        let values = [
            json!(null),
            json!(true),
            json!(0),
            json!(-1),
            json!(70_000),
            json!(1e300),
            json!(""),
            json!("\u{0}é-.,:"),
            json!("9".repeat(300)),
            json!("In"),
            json!([]),
            json!([null, 5, "x", {}, []]),
            json!({}),
            json!({"not": {"all": [{"method": "x"}]}, "": null}),
            (0..30).fold(json!({}), |inner, _| json!({"not": inner})),
        ];
        values[self.below(values.len())].clone()
    }
}

/// Every place of a value, itself included.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    let below: Vec<(String, &Value)> = match value {
        Value::Object(members) => {
            let encoded = |name: &str| name.replace('~', "~0").replace('/', "~1");
            let each = members.iter();
            each.map(|(name, member)| (encoded(name), member)).collect()
        }
        Value::Array(items) => {
            let each = items.iter().enumerate();
            each.map(|(place, item)| (place.to_string(), item))
                .collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => vec![],
    };
    for (name, value) in below {
        places(value, &format!("{at}/{name}"), found);
    }
}

fn mutated(object: &Value, dice: &mut Dice) -> Value {
    let mut object = object.clone();
    for _ in 0..=dice.below(3) {
        let mut all = Vec::new();
        places(&object, "", &mut all);
        let place = &all[dice.below(all.len())];
        *object.pointer_mut(place).unwrap() = dice.anything();
    }
    object
}

#[test]
fn whatever_an_object_has_in_any_place_the_others_of_its_list_are_read() {
    let mut dice = Dice(0x5eed);
    for round in 0..ROUNDS {
        let all = objects();
        let (kind, object) = &all[round % all.len()];
        let odd = mutated(object, &mut dice);
        let mut others = [object.clone(), object.clone()];
        for (number, other) in others.iter_mut().enumerate() {
            other["metadata"]["name"] = format!("healthy-{number}").into();
        }
        let [first, last] = others;
        let body = json!({"metadata": {"resourceVersion": "7"}, "items": [first, odd, last]});
        let (page, _) = page(*kind, body.to_string().as_bytes()).unwrap();
        let healthy = page.facts.iter();
        let healthy = healthy.filter(|(key, _)| key.name.starts_with("healthy-"));
        assert_eq!(healthy.count(), 2, "round {round}: {odd}");

        // Both ways agree, and a key is this object's own.
        let by_value = from_value(*kind, odd.clone());
        let by_text = from_json(*kind, &odd.to_string());
        assert_eq!(by_value.is_ok(), by_text.is_ok(), "round {round}: {odd}");
        let refused = by_value.err();
        let key = refused.as_ref().and_then(Unusable::key);
        assert!(key.is_none_or(|key| Some(&*key.name) == odd["metadata"]["name"].as_str()));
    }
}

#[test]
fn text_that_is_cut_off_anywhere_is_refused() {
    for (kind, object) in objects() {
        let text = object.to_string();
        for end in 0..text.len() {
            let unusable = from_json(kind, &text[..end]).unwrap_err();
            assert_eq!(unusable.label(), "undecodable");
        }
    }
}
