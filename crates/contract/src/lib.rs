//! The contract of the destination API, as data and as tests. For development only.
//!
//! ```text
//! corpus ──────▶ what the real controller answered ─┐
//!                                                   ├─ compare ─▶ a verdict for each stream
//! a client ──── fold, json ─▶ what ours was told ───┘
//!
//! rows ─ edits ─▶ Mesh ─ commands ─▶ Board ─▶ Served ─ sockets ─▶ Streams ─▶ every message
//! ```
//!
//! [`mesh`] takes objects on the real way through conversion and catalogue to a state,
//! without sockets; [`board`] and [`serve`] put the real service on top, with real clients.

pub mod board;
pub mod code;
pub mod compare;
pub mod corpus;
pub mod difference;
pub mod edit;
pub mod fold;
pub mod json;
pub mod mesh;
pub mod not_served;
pub mod replay;
pub mod row;
pub mod serve;
pub mod shorthand;
pub mod streams;
pub mod yaml;
