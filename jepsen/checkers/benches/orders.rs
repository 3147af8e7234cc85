//! Prints how long the judges of order take: a million operations by their revisions, and
//! registers of three thousand operations without them.
//!
//! `cargo bench -p lockstep-jepsen-checkers`
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program that measures"
)]

use std::time::Instant;

use lockstep_jepsen_checkers::{Act, RegisterOperation, Witness, contradiction, linearize};

const OPERATIONS: u64 = 1_000_000;

/// A small generator of numbers that look random, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        // Knuth's multiplier; the high bits are the good ones.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % bound
    }
}

fn main() {
    witness();
    for clients in [3, 5, 8] {
        for wrong in [false, true] {
            register(clients, wrong);
        }
    }
}

fn witness() {
    let mut numbers = Numbers(1);
    let mut operations: Vec<Witness> = (0..OPERATIONS)
        .map(|number| Witness {
            number,
            reads: numbers.below(2) == 0,
            invoked: number * 10,
            returned: number * 10 + 1 + numbers.below(400),
            place: 0,
        })
        .collect();
    let start = Instant::now();
    let found = contradiction(&mut operations);
    println!(
        "witness: {OPERATIONS} operations, {found:?}, {:?}",
        start.elapsed()
    );
}

/// Clients that each do one thing after another on one register; perhaps one read, late, sees
/// what was overwritten long ago.
fn register(clients: u64, wrong: bool) {
    const LENGTH: u64 = 3000;
    let mut numbers = Numbers(clients);
    let mut open: Vec<Option<(usize, Act)>> = vec![None; usize::try_from(clients).unwrap_or(1)];
    let mut operations = Vec::new();
    let (mut value, mut done, mut place, mut wrong) = (None, 0, 0, wrong);
    let asked = wrong;
    while done < LENGTH {
        place += 1;
        let client = usize::try_from(numbers.below(clients)).unwrap_or_default();
        let Some(slot) = open.get_mut(client) else {
            continue;
        };
        match slot.take() {
            None => {
                *slot = Some((
                    place,
                    if numbers.below(2) == 0 {
                        Act::Write(done)
                    } else {
                        Act::Read(None)
                    },
                ))
            }
            Some((begin, act)) => {
                // It takes effect as it ends.
                let act = match act {
                    Act::Write(new) => {
                        value = Some(new);
                        act
                    }
                    Act::Read(_) if wrong && done >= LENGTH * 9 / 10 => {
                        wrong = false;
                        Act::Read(Some(0))
                    }
                    Act::Read(_) | Act::Cas(..) => Act::Read(value),
                };
                operations.push(RegisterOperation {
                    begin,
                    end: Some(place),
                    act,
                });
                done += 1;
            }
        }
    }
    let start = Instant::now();
    let found = linearize(&operations, 5_000_000);
    println!(
        "register: {clients} clients, wrong {asked}: {found:?}, {:?}",
        start.elapsed()
    );
}
