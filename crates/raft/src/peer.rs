//! Peers over gRPC: who is addressed, the client and the server.

mod client;
mod connection;
mod horizon;
mod matched;
mod pause;
mod route;
mod server;
mod snapshot_stream;

pub(crate) use client::Network;
pub(crate) use connection::{Lane, Peers};
pub(crate) use horizon::Horizon;
pub(crate) use matched::Matched;
pub(crate) use route::{Address, history_from_wire};
pub(crate) use server::{PeerServer, serve};
