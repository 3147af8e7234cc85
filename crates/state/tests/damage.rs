//! Bytes that are no batch and no image are refused by name.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod mesh;

use lockstep_position::{LogId, Term};
use lockstep_state::{Batch, Command, State, codec};

const TERM: Term = Term::from_u64(1);

fn golden_batch() -> Batch {
    let commands = mesh::some_commands().into_iter();
    Batch::whole(TERM, commands.chain(mesh::some_facts()).collect())
}

fn state() -> State {
    let mut state = State::default();
    state.apply(
        LogId {
            term: TERM,
            index: 1,
        },
        golden_batch(),
    );
    state
}

fn image() -> Vec<u8> {
    let mut bytes = Vec::new();
    state().image().write(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_batch_of_an_unknown_version_is_refused() {
    let error = codec::decode_batch(&[9, 0, 0]).unwrap_err().to_string();
    assert_eq!(error, "version 9 of batch, this program reads version 2");
    let error = codec::decode_batch(&[]).unwrap_err().to_string();
    assert_eq!(error, "no bytes: a value starts with its version");
}

#[test]
fn bytes_behind_a_batch_are_refused() {
    let mut bytes = codec::encode_batch(&Batch::whole(TERM, Vec::new()));
    bytes.extend([1, 2]);
    let error = codec::decode_batch(&bytes).unwrap_err().to_string();
    assert_eq!(error, "batch is damaged: 2 bytes follow its end");
}

/// Memory for it cannot even be asked for.
#[test]
fn a_text_of_an_impossible_length_is_refused() {
    let zone = "z".repeat(100);
    let put = Command::PutNode("node-a".into(), zone.as_str().into());
    let bytes = codec::encode_batch(&Batch::whole(TERM, vec![put]));
    let (before, text) = bytes.split_at(bytes.len() - zone.len());
    let before = before.strip_suffix(&[100]).unwrap();
    // The mark of a length of eight bytes.
    let damaged = [before, &[253], &u64::MAX.to_le_bytes(), text].concat();
    let error = codec::decode_batch(&damaged).unwrap_err().to_string();
    assert_eq!(error, "batch is damaged: LimitExceeded");
}

#[test]
fn a_batch_cut_anywhere_is_refused() {
    let bytes = codec::encode_batch(&golden_batch());
    for length in 0..bytes.len() {
        assert!(
            codec::decode_batch(&bytes[..length]).is_err(),
            "cut to {length} bytes"
        );
    }
}

#[test]
fn an_image_cut_anywhere_is_refused() {
    let bytes = image();
    for length in 0..bytes.len() {
        assert!(
            State::from_image(&mut &bytes[..length]).is_err(),
            "cut to {length} bytes"
        );
    }
}

#[test]
fn a_flipped_byte_of_an_image_never_becomes_other_content() {
    let bytes = image();
    let truth = mesh::dump(&state());
    for place in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x10;
        if let Ok(state) = State::from_image(&mut damaged.as_slice()) {
            assert_eq!(mesh::dump(&state), truth, "byte {place}");
        }
    }
}

/// Bytes once released stay readable: a change that breaks this needs a new
/// version, not a new golden file.
#[test]
fn the_golden_bytes_of_version_two_read_back() {
    let golden = include_bytes!("golden/batch-v2.bin");
    assert_eq!(codec::decode_batch(golden), Ok(golden_batch()));
    let image = include_bytes!("golden/image-v2.bin");
    let read = State::from_image(&mut image.as_slice()).unwrap();
    assert_eq!(read.position(), state().position());
    assert_eq!(mesh::dump(&read), mesh::dump(&state()));
    assert_eq!(read.memory().facts(), state().memory().facts());
    assert_eq!(read.memory().cursors(), state().memory().cursors());
}

/// Version 1 was never released, and its fields are not those of today.
#[test]
fn bytes_of_version_one_are_refused() {
    let first = |bytes: &[u8]| [&[1], bytes.get(1..).unwrap()].concat();
    let batch = first(include_bytes!("golden/batch-v2.bin"));
    let error = codec::decode_batch(&batch).unwrap_err().to_string();
    assert_eq!(error, "version 1 of batch, this program reads version 2");
    let image = first(include_bytes!("golden/image-v2.bin"));
    let error = State::from_image(&mut image.as_slice()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "version 1 of the image, this program reads version 2"
    );
}

/// Writes the golden files of a new version: run by hand, never over an old one.
#[test]
#[ignore = "writes files"]
fn write_golden_files() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    let batch = codec::encode_batch(&golden_batch());
    std::fs::write(format!("{folder}/batch-v2.bin"), batch).unwrap();
    std::fs::write(format!("{folder}/image-v2.bin"), image()).unwrap();
}
