//! Kubernetes objects, as JSON says them, and the content that they make.

mod cluster;
mod json;
mod key;
mod owner;
mod pod;
mod server;
mod service;
mod slice;

pub use cluster::{Cluster, Exposure};
pub use key::{Kind, ObjectKey, UnnamedObject};
