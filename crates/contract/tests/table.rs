//! `docs/contract.md` says what the rows say.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use lockstep_contract::{
    difference,
    row::{folder, open_rows, rows, table},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_page_says_what_the_rows_say() {
    let page = root().join("docs/contract.md");
    let wanted = table(&rows(&folder()).unwrap());
    if std::env::var_os("LOCKSTEP_BLESS").is_some() {
        fs::write(&page, &wanted).unwrap();
    }
    let found = fs::read_to_string(&page).unwrap_or_default();
    let difference = difference::of_texts(&found, &wanted);
    assert!(
        difference.is_empty(),
        "docs/contract.md (-) is not what the rows say (+); \
         `LOCKSTEP_BLESS=1 cargo test -p lockstep-contract --test table` writes it:\n{difference}"
    );
}

#[test]
fn no_row_is_open() {
    let open = open_rows(&rows(&folder()).unwrap());
    assert!(open.is_empty(), "open are: {}", open.join(", "));
}

#[test]
fn a_test_that_pins_a_row_elsewhere_exists() {
    for file in rows(&folder()).unwrap() {
        let Ok(row) = file.row else { continue };
        if let Some(place) = row.pinned_by {
            let path = place.split(' ').next().unwrap();
            assert!(
                root().join(path).is_file(),
                "{}: there is no {path}",
                file.name
            );
        }
    }
}
