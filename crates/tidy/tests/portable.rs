//! Nothing in the repository depends on the machine it was written on.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use lockstep_tidy::{Tree, is_test_path};

/// Folders of one machine. Written in two halves, so that this file passes its own test.
const MACHINE_PATHS: &[&str] = &[concat!("/ro", "ot/"), concat!("/wo", "rk/")];

/// A folder that tests may use.
const TEST_PATH: &str = concat!("/tm", "p/");

/// Hosts that serve packages: which one is used is the business of each machine's settings.
const REGISTRY_HOSTS: &[&str] = &[
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("proxy.golang", ".org"),
    concat!("sum.golang", ".org"),
    concat!("registry.npmjs", ".org"),
    concat!("pypi", ".org"),
];

const LOCKED_SOURCE: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";

/// Whether `path` occurs as an absolute path, not as the tail of a longer one.
fn names_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line.get(..at).and_then(|head| head.chars().next_back());
        !before.is_some_and(|char| char.is_alphanumeric() || matches!(char, '.' | '-' | '_' | '}'))
    })
}

fn faults(path: &str, text: &str) -> Vec<String> {
    let test_lines = first_test_line(path, text);
    let mut faults = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let forbidden = (number < test_lines).then_some(&TEST_PATH);
        let paths = MACHINE_PATHS
            .iter()
            .chain(forbidden)
            .filter(|path| names_path(line, path));
        let hosts = REGISTRY_HOSTS.iter().filter(|host| line.contains(**host));
        let number = number + 1;
        faults.extend(
            paths
                .chain(hosts)
                .map(|found| format!("{path}:{number} names {found}")),
        );
        if path == "Cargo.lock" && line.starts_with("source = ") && line != LOCKED_SOURCE {
            faults.push(format!(
                "{path}:{number} is locked to another source: {line}"
            ));
        }
    }
    faults
}

/// Where test code begins: at once in a test file, else at the first inline test module.
fn first_test_line(path: &str, text: &str) -> usize {
    let first = text.lines().position(|line| line.trim() == "#[cfg(test)]");
    if is_test_path(path) {
        0
    } else {
        first.unwrap_or(usize::MAX)
    }
}

const NOTHING: &[String] = &[];

#[test]
fn no_file_names_a_machine() {
    let tree = Tree::of_workspace().expect("the workspace is readable");
    let faults: Vec<String> = tree
        .iter()
        .flat_map(|(path, text)| faults(path, text))
        .collect();
    assert_eq!(faults, NOTHING);
}

#[test]
fn a_machine_path_is_found_and_a_longer_path_is_not() {
    let line = format!("see {}x", MACHINE_PATHS[1]);
    assert_eq!(
        faults("a.md", &line),
        [format!("a.md:1 names {}", MACHINE_PATHS[1])]
    );
    assert_eq!(
        faults("a.md", &format!("see net{}x", MACHINE_PATHS[1])),
        NOTHING
    );
}

#[test]
fn the_test_folder_is_for_tests() {
    let text = format!("let a = \"{TEST_PATH}a\";");
    assert_eq!(faults("crates/a/src/b.rs", &text).len(), 1);
    assert_eq!(faults("crates/a/tests/b.rs", &text), NOTHING);
    assert_eq!(
        faults(
            "crates/a/src/b.rs",
            &format!("#[cfg(test)]\nmod tests {{\n{text}")
        ),
        NOTHING
    );
}

#[test]
fn a_registry_host_and_another_lock_source_are_found() {
    assert_eq!(
        faults("a.toml", &format!("x = 'https://{}'", REGISTRY_HOSTS[0])).len(),
        1
    );
    assert_eq!(faults("Cargo.lock", LOCKED_SOURCE), NOTHING);
    assert_eq!(
        faults("Cargo.lock", "source = \"git+https://example.org/x\"").len(),
        1
    );
}
