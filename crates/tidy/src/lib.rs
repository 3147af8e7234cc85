//! The rules of the architecture, as tests.
//!
//! The rules themselves are in `tests/`, one file per rule, each a pure function beside the table
//! it enforces. This library only brings them their input: the files of the workspace ([`Tree`])
//! and Rust text without comments and strings ([`code`], [`modules`]).

pub mod code;
pub mod modules;
mod tree;

pub use tree::{Tree, crate_folder, crate_of, is_generated, is_test_path, workspace_root};
