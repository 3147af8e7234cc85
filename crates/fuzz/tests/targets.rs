//! Every target, a fixed number of times, on seeds that are damaged the same way in every run.
//! `LOCKSTEP_FUZZ_RUNS` sets another number of runs for all of them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod mutation;

use lockstep_fuzz::{TARGETS, Target};
use mutation::Mutator;
use std::{
    collections::BTreeSet,
    fs,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::{Path, PathBuf},
};

/// The variable that sets how often each target runs.
const RUNS: &str = "LOCKSTEP_FUZZ_RUNS";

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn target(name: &str) -> Target {
    let found = TARGETS.into_iter().find(|target| target.name == name);
    found.expect("a target of this name")
}

fn seeds(name: &str) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder().join("seeds").join(name))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let seeds: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    assert!(!seeds.is_empty(), "{name} has seeds");
    seeds
}

/// Runs a target on all its seeds as they are, and on `runs` damaged ones.
fn fuzz(name: &str, runs: usize) {
    let runs = std::env::var(RUNS).map_or(runs, |text| text.parse().expect(RUNS));
    let (target, seeds) = (target(name), seeds(name));
    for (number, seed) in seeds.iter().enumerate() {
        tried(target, &format!("seed {number}"), seed);
    }
    let words = mutation::words(folder());
    let mut mutator = Mutator::of(name, &seeds, &words);
    for run in 0..runs {
        tried(target, &format!("run {run}"), &mutator.next());
    }
}

fn tried(target: Target, what: &str, input: &[u8]) {
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    if let Err(panic) = outcome {
        eprintln!(
            "target {}, {what}: b\"{}\"",
            target.name,
            input.escape_ascii()
        );
        resume_unwind(panic);
    }
}

#[test]
fn authorities() {
    fuzz("authority", 100_000);
}

#[test]
fn tokens() {
    fuzz("token", 20_000);
}

#[test]
fn service_profiles() {
    fuzz("service_profile", 2_000);
}

#[test]
fn slices() {
    fuzz("slice", 3_000);
}

#[test]
fn objects() {
    fuzz("object", 1_500);
}

#[test]
fn batches() {
    fuzz("batch", 8_000);
}

#[test]
fn images() {
    fuzz("image", 20_000);
}

#[test]
fn folders() {
    fuzz("folder", 1_000);
}

#[test]
fn peers() {
    fuzz("peer", 100_000);
}

#[test]
fn requests() {
    fuzz("request", 10_000);
}

#[test]
fn every_target_has_a_binary_and_seeds() {
    let names: BTreeSet<String> = TARGETS.iter().map(|it| it.name.to_owned()).collect();
    let listed = |place: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(folder().join(place)).unwrap();
        let stems = entries.map(|entry| entry.unwrap().path().with_extension(""));
        stems
            .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(listed("src/bin"), names);
    assert_eq!(listed("seeds"), names);
}
