//! Kubernetes objects, as JSON says them.

mod key;

pub use key::{Kind, ObjectKey, UnnamedObject};
