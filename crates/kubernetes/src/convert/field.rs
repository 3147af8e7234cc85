//! Members of an object whose kind has no Rust type, read one by one with their place.
//!
//! As in Go, null and absence are the same everywhere, and unknown members mean nothing.

use serde_json::Value;
use std::fmt::{self, Display, Formatter};

/// A member of an object, or its absence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    value: Option<&'a Value>,
    place: Place<'a>,
}

/// Where a member stands: `spec.routes[2].condition`.
#[derive(Clone, Copy, Debug)]
enum Place<'a> {
    Root,
    Member(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, usize),
}

/// Why an object is not what its kind prescribes, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Such as `spec.routes[2].condition`.
    pub(super) place: String,
    /// What must be so, or is not.
    pub(super) reason: String,
}

impl<'a> Field<'a> {
    /// The object itself.
    pub(super) fn root(object: &'a Value) -> Self {
        Self {
            value: Some(object),
            place: Place::Root,
        }
    }

    pub(super) fn place(&self) -> String {
        self.place.to_string()
    }

    pub(super) fn fault(&self, reason: impl Into<String>) -> Fault {
        Fault {
            place: self.place(),
            reason: reason.into(),
        }
    }

    pub(super) fn is_given(&self) -> bool {
        self.given().is_some()
    }

    fn given(&self) -> Option<&'a Value> {
        self.value.filter(|value| !value.is_null())
    }

    /// The member `name` of this object; absent if the object is.
    pub(super) fn member<'b>(&'b self, name: &'b str) -> Result<Field<'b>, Fault> {
        let value = match self.given() {
            Some(Value::Object(members)) => members.get(name),
            Some(_) => return Err(self.fault("must be an object")),
            None => None,
        };
        Ok(Field {
            value,
            place: Place::Member(&self.place, name),
        })
    }

    /// The items of this list; none if it is absent.
    pub(super) fn items<'b>(&'b self) -> Result<impl Iterator<Item = Field<'b>>, Fault> {
        let items = match self.given() {
            Some(Value::Array(items)) => items.as_slice(),
            Some(_) => return Err(self.fault("must be a list")),
            None => &[],
        };
        let field = |(number, value): (usize, &'b Value)| Field {
            value: Some(value),
            place: Place::Item(&self.place, number),
        };
        Ok(items.iter().enumerate().map(field))
    }

    /// The members of this object, in the order of their names; none if it is absent.
    pub(super) fn members<'b>(
        &'b self,
    ) -> Result<impl Iterator<Item = (&'b str, Field<'b>)>, Fault> {
        let members = match self.given() {
            Some(Value::Object(members)) => Some(members),
            Some(_) => return Err(self.fault("must be an object")),
            None => None,
        };
        let field = |(name, value): (&'b String, &'b Value)| {
            let place = Place::Member(&self.place, name);
            let value = Some(value);
            (name.as_str(), Field { value, place })
        };
        Ok(members.into_iter().flatten().map(field))
    }

    /// The text, empty if it is absent: Go writes an absent text as an empty one.
    pub(super) fn text(&self) -> Result<&'a str, Fault> {
        match self.given() {
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(self.fault("must be a text")),
            None => Ok(""),
        }
    }

    /// The truth value, false if it is absent.
    pub(super) fn truth(&self) -> Result<bool, Fault> {
        match self.given() {
            Some(Value::Bool(truth)) => Ok(*truth),
            Some(_) => Err(self.fault("must be true or false")),
            None => Ok(false),
        }
    }

    /// The whole number of 64 bits, 0 if it is absent.
    pub(super) fn whole(&self) -> Result<i64, Fault> {
        match self.given() {
            Some(value) => value
                .as_i64()
                .ok_or_else(|| self.fault("must be a whole number")),
            None => Ok(0),
        }
    }

    /// The whole number from 0 to 4294967295, 0 if it is absent.
    pub(super) fn count(&self) -> Result<u32, Fault> {
        let Some(value) = self.given() else {
            return Ok(0);
        };
        let count = value.as_u64().and_then(|number| number.try_into().ok());
        count.ok_or_else(|| self.fault("must be a whole number from 0 to 4294967295"))
    }

    /// The number, 0 if it is absent.
    pub(super) fn number(&self) -> Result<f32, Fault> {
        match self.given() {
            // By its text, so that it is rounded once; JSON has no infinite number.
            Some(Value::Number(number)) => match number.to_string().parse::<f32>() {
                Ok(number) if number.is_finite() => Ok(number),
                Ok(_) | Err(_) => Err(self.fault("must be a number of 32 bits")),
            },
            Some(_) => Err(self.fault("must be a number of 32 bits")),
            None => Ok(0.0),
        }
    }

    /// The number as written, or the text; `None` if it is absent.
    pub(super) fn number_or_text(&self) -> Result<Option<NumberOrText<'a>>, Fault> {
        match self.given() {
            Some(Value::Number(number)) => Ok(Some(NumberOrText::Number(number))),
            Some(Value::String(text)) => Ok(Some(NumberOrText::Text(text))),
            Some(_) => Err(self.fault("must be a number or a text")),
            None => Ok(None),
        }
    }
}

/// What may be written as either.
#[derive(Clone, Copy, Debug)]
pub(super) enum NumberOrText<'a> {
    Number(&'a serde_json::Number),
    Text(&'a str),
}

impl Display for Place<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Member(Self::Root, name) => f.write_str(name),
            Self::Member(parent, name) => write!(f, "{parent}.{name}"),
            Self::Item(parent, number) => write!(f, "{parent}[{number}]"),
        }
    }
}
