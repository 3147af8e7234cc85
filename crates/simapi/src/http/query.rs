//! The query string, decoded.

use std::collections::BTreeMap;

use crate::refusal::Refusal;

/// Query parameters by name; of a repeated one the first counts, as in Go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Query(BTreeMap<String, String>);

// === impl Query ===

impl Query {
    pub(super) fn parse(text: &str) -> Self {
        let mut parameters = BTreeMap::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decode(&value.replace('+', " "));
            parameters
                .entry(decode(&name.replace('+', " ")))
                .or_insert(value);
        }
        Self(parameters)
    }

    /// The value; empty when absent.
    pub(super) fn text(&self, name: &str) -> &str {
        self.0.get(name).map(String::as_str).unwrap_or_default()
    }

    /// The value as a number, `None` when absent or empty.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, Refusal> {
        let text = self.text(name);
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|_| {
            Refusal::bad_request(format!(
                "strconv.ParseInt: parsing {text:?}: invalid syntax"
            ))
        })
    }

    /// The value as a switch, `None` when absent. As in the real server, all
    /// but `0` and `false` is on.
    pub(super) fn switch(&self, name: &str) -> Option<bool> {
        self.0
            .get(name)
            .map(|text| text != "0" && !text.eq_ignore_ascii_case("false"))
    }
}

/// Undoes percent encoding; what is no valid encoding stays as it is.
pub(super) fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| first == b'%');
        let encoded = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(encoded.unwrap_or(first));
        rest = match encoded {
            Some(_) => after.get(2..).unwrap_or_default(),
            None => after,
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded() {
        let query = Query::parse("labelSelector=a%3Db%2Cc+in+(d)&watch=1&limit=7&x&limit=8");
        assert_eq!(query.text("labelSelector"), "a=b,c in (d)");
        assert_eq!(query.switch("watch"), Some(true));
        assert_eq!(query.number("limit"), Ok(Some(7)));
        assert_eq!(query.switch("absent"), None);
        assert_eq!(decode("100%+%zz%c3%a9%4"), "100%+%zzé%4");
    }

    #[test]
    fn a_number_that_is_none_is_refused() {
        assert_eq!(
            Query::parse("limit=-1")
                .number("limit")
                .unwrap_err()
                .message,
            "strconv.ParseInt: parsing \"-1\": invalid syntax"
        );
    }
}
