//! Bytes that are no batch and no image are refused by name.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod mesh;

use lockstep_position::{LogId, Term};
use lockstep_state::{Batch, State, codec};

const TERM: Term = Term::from_u64(1);

fn state() -> State {
    let mut state = State::default();
    state.apply(
        LogId {
            term: TERM,
            index: 1,
        },
        Batch::whole(TERM, mesh::some_commands()),
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
    assert_eq!(error, "version 9 of batch, this program reads version 1");
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

#[test]
fn a_batch_cut_anywhere_is_refused() {
    let bytes = codec::encode_batch(&Batch::whole(TERM, mesh::some_commands()));
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

/// Bytes once written stay readable: a change that breaks this needs a new
/// version, not a new golden file.
#[test]
fn the_golden_bytes_of_version_one_read_back() {
    let batch = Batch::whole(TERM, mesh::some_commands());
    let golden = include_bytes!("golden/batch-v1.bin");
    assert_eq!(codec::decode_batch(golden), Ok(batch));
    let image = include_bytes!("golden/image-v1.bin");
    let read = State::from_image(&mut image.as_slice()).unwrap();
    assert_eq!(read.position(), state().position());
    assert_eq!(mesh::dump(&read), mesh::dump(&state()));
}

/// Writes the golden files of a new version: run by hand, never over an old one.
#[test]
#[ignore = "writes files"]
fn write_golden_files() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    let batch = codec::encode_batch(&Batch::whole(TERM, mesh::some_commands()));
    std::fs::write(format!("{folder}/batch-v1.bin"), batch).unwrap();
    std::fs::write(format!("{folder}/image-v1.bin"), image()).unwrap();
}
