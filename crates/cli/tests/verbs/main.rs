//! Every verb against replicas on real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod check;
mod members;
mod output;
mod profile;
mod resolve;
mod stage;
mod status;
