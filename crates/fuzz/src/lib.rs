//! What comes from outside, as bytes that nobody would send: one target for each reader.
//!
//! A target is a function of bytes that panics when a promise is broken: no reader panics,
//! hangs or goes deeper than it has room for, what reads reads the same again, and what was
//! accepted can be replicated and answered with.
//!
//! ```text
//! seeds/TARGET/* ─mutate─▶ bytes ─▶ TARGET::run ─▶ nothing, or a panic
//!        │                                ▲
//!        ├── tests/targets.rs: a fixed number of runs, the same every time
//!        └── src/bin/TARGET.rs: libFuzzer, for as long as one likes
//! ```
//!
//! `cargo test -p lockstep-fuzz` runs every target for a few seconds (`LOCKSTEP_FUZZ_RUNS`
//! sets how often each runs), `cargo xtask fuzz TARGET` one of them with libFuzzer on the
//! stable compiler, and `cargo fuzz run --fuzz-dir crates/fuzz --features libfuzzer TARGET`
//! with cargo-fuzz on a nightly one.

pub mod authority;
pub mod batch;
pub mod folder;
pub mod image;
mod mesh;
pub mod object;
pub mod peer;
pub mod request;
mod scene;
mod served;
pub mod service_profile;
pub mod slice;
pub mod token;

/// A reader of bytes from outside.
#[derive(Copy, Clone, Debug)]
pub struct Target {
    /// The name of its module, its binary and its folder of seeds.
    pub name: &'static str,
    /// Reads some bytes.
    pub run: fn(&[u8]),
}

/// Every target.
pub const TARGETS: [Target; 10] = [
    target("authority", authority::run),
    target("token", token::run),
    target("service_profile", service_profile::run),
    target("slice", slice::run),
    target("object", object::run),
    target("batch", batch::run),
    target("image", image::run),
    target("folder", folder::run),
    target("peer", peer::run),
    target("request", request::run),
];

const fn target(name: &'static str, run: fn(&[u8])) -> Target {
    Target { name, run }
}
