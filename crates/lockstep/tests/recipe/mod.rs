//! The recipes, and what they share: a fleet whose API server can be cut off, or processes whose
//! every connection can be; a namespace for each recipe, and clients of a leader and of a
//! follower.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

pub mod alone;
pub mod both;
pub mod crowd;
pub mod emptied;
pub mod installed;
pub mod lagging;
pub mod listener;
pub mod missed;
pub mod objects;
pub mod orders;
pub mod orphan;
pub mod port;
pub mod replaced;
pub mod scene;
pub mod stage;
pub mod twice;
pub mod wired;
