//! Names of namespaced objects.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr, sync::Arc};

/// A shared text; a copy costs nothing.
pub type Text = Arc<str>;

/// The namespace and the name of an object, printed and written `namespace/name`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name {
    /// The namespace; not empty.
    pub namespace: Text,
    /// The name; not empty.
    pub name: Text,
}

/// Why a text is no name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no name of the form `namespace/name`")]
pub struct InvalidName(String);

// === impl Name ===

impl Name {
    /// Names an object.
    #[must_use]
    pub fn new(namespace: &str, name: &str) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

impl FromStr for Name {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        match text.split_once('/') {
            Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() => {
                Ok(Self::new(namespace, name))
            }
            Some(_) | None => Err(InvalidName(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Name {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, InvalidName> {
        text.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::Name;

    #[test]
    fn a_name_reads_back() {
        assert_eq!("shop/web".parse(), Ok(Name::new("shop", "web")));
        assert_eq!(Name::new("shop", "web").to_string(), "shop/web");
    }

    #[test]
    fn a_text_without_both_halves_is_no_name() {
        for text in ["web", "/web", "shop/", ""] {
            let error = text.parse::<Name>().expect_err(text);
            let message = format!("`{text}` is no name of the form `namespace/name`");
            assert_eq!(error.to_string(), message);
        }
    }
}
