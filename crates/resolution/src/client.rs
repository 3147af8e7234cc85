//! Who asks: the context token that a proxy sends with every request.
//!
//! A token is `{"ns":"shop","nodeName":"node-a","pod":"web-1"}`, or in old
//! proxies `ns:shop`. It may choose what a client is told, never whether it is
//! told anything: what cannot be read counts as nothing said.

use lockstep_model::{NodeName, Text};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

/// The asking proxy as far as answers depend on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Client {
    /// The node it runs on, token member `nodeName`; `None` if it does not say.
    pub node: Option<NodeName>,
    /// Its namespace, token member `ns`; `None` if it does not say.
    pub namespace: Option<Text>,
}

impl Client {
    /// Reads a context token. Total: garbage says nothing of the client.
    ///
    /// Member names are read without regard to case, unknown members and
    /// members that are no text are passed over.
    #[must_use]
    pub fn from_token(token: &str) -> Self {
        serde_json::from_str(token).unwrap_or_else(|_| Self::from_old_token(token))
    }

    /// `ns:shop`, and nothing after it.
    fn from_old_token(token: &str) -> Self {
        let namespace = match token.split_once(':') {
            Some(("ns", namespace)) if !namespace.contains(':') => said(namespace),
            Some(_) | None => None,
        };
        Self {
            node: None,
            namespace,
        }
    }

    fn learn(&mut self, member: &str, value: &Value) {
        let Value::String(value) = value else {
            return;
        };
        if member.eq_ignore_ascii_case("nodeName") {
            self.node = said(value);
        } else if member.eq_ignore_ascii_case("ns") {
            self.namespace = said(value);
        }
    }
}

/// An empty text says as little as a missing one.
fn said(text: &str) -> Option<Text> {
    (!text.is_empty()).then(|| text.into())
}

impl<'de> Deserialize<'de> for Client {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Members)
    }
}

/// Reads the members of a token in the order in which they stand.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Client;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Client, A::Error> {
        let mut client = Client::default();
        while let Some(member) = members.next_key::<String>()? {
            if member.eq_ignore_ascii_case("nodeName") || member.eq_ignore_ascii_case("ns") {
                client.learn(&member, &members.next_value()?);
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(client)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(node: Option<&str>, namespace: Option<&str>) -> Client {
        Client {
            node: node.map(Into::into),
            namespace: namespace.map(Into::into),
        }
    }

    #[test]
    fn a_token_says_node_and_namespace() {
        for (token, node, namespace) in [
            (r#"{"nodeName": "node-a"}"#, Some("node-a"), None),
            (
                "{\"ns\": \"shop\", \"nodeName\": \"node-a\", \"pod\": \"p\"}\n",
                Some("node-a"),
                Some("shop"),
            ),
            (
                r#"{"nodeName": "node-a", "zz": [1, {"ns": "x"}]}"#,
                Some("node-a"),
                None,
            ),
            (r#"{"NODENAME": "node-a"}"#, Some("node-a"), None),
            (r#"{"ns":"a","NS":"b"}"#, None, Some("b")),
            (r#"{"ns":5,"nodeName":"node-a"}"#, Some("node-a"), None),
            (r#"{"nodeName":"node-a","ns":5}"#, Some("node-a"), None),
            (r#"{"ns":"","nodeName":""}"#, None, None),
            ("ns:shop", None, Some("shop")),
            ("ns:shop\n", None, Some("shop\n")),
        ] {
            assert_eq!(
                Client::from_token(token),
                client(node, namespace),
                "{token}"
            );
        }
    }

    #[test]
    fn garbage_says_nothing() {
        let deep = format!("{}{}", "{\"ns\":".repeat(5000), "}".repeat(5000));
        for token in [
            "",
            "hello",
            "null",
            r#"["x"]"#,
            r#"{"nodeName": "node-a"}x"#,
            r#"{"nodeName": "node-a""#,
            "ns:a:b",
            "ns:",
            "NS:shop",
            "node:a",
            "\u{0}\u{ffff}",
            &deep,
        ] {
            assert_eq!(Client::from_token(token), Client::default(), "{token}");
        }
    }
}
