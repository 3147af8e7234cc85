//! Damage to seeds, the same in every run: bits, bytes, lengths, words, cuts, splices, and for
//! JSON the values in it.

mod json;

use serde_json::Value;
use std::{fs, path::Path};

/// The most bytes of a damaged seed.
const BYTES_MAX: usize = 16 * 1024;
/// The most changes at a time, as a power of two.
const CHANGES_LOG_MAX: usize = 4;

/// Numbers that look random and are always the same.
pub(crate) struct Dice(u64);

impl Dice {
    /// xorshift64*.
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `bound`; 0 if there is none.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap();
        let rolled = (self.roll() >> 16).checked_rem(bound).unwrap_or(0);
        usize::try_from(rolled).unwrap()
    }

    pub(crate) fn pick<'a, T>(&mut self, each: &'a [T]) -> &'a T {
        &each[self.below(each.len())]
    }

    fn byte(&mut self) -> u8 {
        self.roll().to_le_bytes()[5]
    }
}

/// Gives one damaged seed after the other.
pub(crate) struct Mutator<'a> {
    dice: Dice,
    seeds: &'a [Vec<u8>],
    words: &'a [Vec<u8>],
    /// Every seed that is JSON, a value for each line.
    values: Vec<Vec<Value>>,
}

impl<'a> Mutator<'a> {
    pub(crate) fn of(name: &str, seeds: &'a [Vec<u8>], words: &'a [Vec<u8>]) -> Self {
        let begin = name.bytes().fold(0x9e37_79b9_7f4a_7c15, |all, byte| {
            (all ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self {
            dice: Dice(begin),
            seeds,
            words,
            values: seeds.iter().filter_map(|seed| json::lines(seed)).collect(),
        }
    }

    pub(crate) fn next(&mut self) -> Vec<u8> {
        // Most of what is no JSON any more ends in the decoder.
        if !self.values.is_empty() && self.dice.below(8) > 0 {
            return json::damaged(&mut self.dice, &self.values);
        }
        let mut bytes = self.dice.pick(self.seeds).clone();
        let changes = 1_usize << self.dice.below(CHANGES_LOG_MAX + 1);
        for _ in 0..changes {
            self.change(&mut bytes);
            bytes.truncate(BYTES_MAX);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let dice = &mut self.dice;
        let place = dice.below(bytes.len() + 1);
        let length = dice.below(16.min(bytes.len() - place) + 1);
        match dice.below(10) {
            0 => bytes.truncate(place),
            1 => bytes.insert(place, dice.byte()),
            2 => drop(bytes.drain(place..place + length)),
            3 => insert(bytes, place, &dice.pick(self.words).clone()),
            4 => insert(
                bytes,
                place,
                &dice.pick(LENGTHS).to_le_bytes()[..=dice.below(8).min(7)],
            ),
            5 => {
                let other = dice.pick(self.seeds);
                let from = dice.below(other.len());
                let tail = other[from..].to_vec();
                bytes.truncate(place);
                bytes.extend(tail);
            }
            6 => {
                let again = bytes[place..place + length].to_vec();
                insert(bytes, place, &again.repeat(1 + dice.below(20)));
            }
            kind => {
                let (byte, bit) = (dice.byte(), 1 << dice.below(8));
                if let Some(there) = bytes.get_mut(place) {
                    match kind {
                        7 => *there ^= bit,
                        8 => *there = byte,
                        _ => *there = there.wrapping_add(byte % 5).wrapping_sub(2),
                    }
                }
            }
        }
    }
}

/// Lengths and marks of lengths that decoders trip over.
const LENGTHS: &[u64] = &[
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    u64::MAX,
    // The varints of the log: a mark, and a number of 8 bytes.
    0xffff_ffff_ffff_fffd,
    0x0000_00ff_ffff_fffd,
];

fn insert(bytes: &mut Vec<u8>, place: usize, what: &[u8]) {
    bytes.splice(place..place, what.iter().copied());
}

/// The words of the dictionary, which is written as libFuzzer reads it.
pub(crate) fn words(folder: &Path) -> Vec<Vec<u8>> {
    let text = fs::read_to_string(folder.join("words.dict")).unwrap();
    let quoted = text.lines().filter(|line| line.starts_with('"'));
    quoted.map(|line| unquoted(line).into_bytes()).collect()
}

fn unquoted(line: &str) -> String {
    let inner = line.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    inner
        .expect("a quoted word")
        .replace("\\\"", "\"")
        .replace("\\\\", "\\")
}
