//! The binary as a script meets it: exit codes, and one line that says what is wrong.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::{fs, path::Path, process::Command};
use tempfile::TempDir;

/// How one run ended: the exit code, what it printed, and its errors.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

/// Runs the binary in a folder, with nothing in its environment but `variables`.
fn lockstep(folder: &Path, variables: &[(&str, &str)], words: &[&str]) -> Ended {
    let output = Command::new(env!("CARGO_BIN_EXE_lockstep"))
        .current_dir(folder)
        .env_clear()
        .envs(variables.iter().copied())
        .args(words)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Ended {
        code: output.status.code(),
        out: text(&output.stdout),
        err: text(&output.stderr),
    }
}

/// A run that must fail with these first words on standard error, and print nothing.
#[track_caller]
fn assert_refused(folder: &Path, variables: &[(&str, &str)], words: &[&str], err: &str) {
    let ended = lockstep(folder, variables, words);
    assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{ended:?}");
    assert!(ended.err.starts_with(err), "{}", ended.err);
}

/// A folder with a configuration file that only lacks what a test adds.
fn folder_with(line: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let good =
        "name = \"a\"\ndata = \"data\"\npeers = [\"a=127.0.0.1:1\"]\nmanifests = \"nowhere\"\n";
    fs::write(folder.path().join("l.toml"), format!("{good}{line}\n")).unwrap();
    folder
}

const SERVE: [&str; 3] = ["serve", "--config", "l.toml"];

#[test]
fn every_verb_has_help_with_its_exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    for verb in ["dev", "serve", "resolve", "status", "check"] {
        let ended = lockstep(folder.path(), &[], &[verb, "--help"]);
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{verb}");
        assert!(ended.out.contains("Exit codes: 0 "), "{}", ended.out);
    }
}

#[test]
fn help_needs_no_configuration_file() {
    let folder = tempfile::tempdir().unwrap();
    let missing = [("LOCKSTEP_CONFIG", "missing.toml")];
    let ended = lockstep(folder.path(), &missing, &["serve", "--help"]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
    assert_refused(
        folder.path(),
        &missing,
        &["serve"],
        "lockstep serve: missing.toml: cannot be read: No such file or directory (os error 2)\n",
    );
}

#[test]
fn a_bad_key_is_named_with_its_file_and_what_it_may_be() {
    for (line, err) in [
        (
            "heartbeat-ms = 5",
            "lockstep serve: l.toml: invalid value '5' for '--heartbeat-ms <MS>': must be a whole \
             number from 20 to 5000\n",
        ),
        (
            "log-format = \"xml\"",
            "lockstep serve: l.toml: invalid value 'xml' for '--log-format <FORMAT>' [possible \
             values: text, json]\n",
        ),
        (
            "serve-terminating-endpoints = \"last\"",
            "lockstep serve: l.toml: invalid value 'last' for '--serve-terminating-endpoints \
             <true|false>' [possible values: true, false]\n",
        ),
        (
            "admin-listen = \"localhost:1\"",
            "lockstep serve: l.toml: --admin-listen: `localhost:1` is not IP:PORT, such as \
             0.0.0.0:8086\n",
        ),
        (
            "heartbeat_ms = 100",
            "lockstep serve: l.toml: unknown key `heartbeat_ms`; the keys are admin-listen, ",
        ),
        (
            "heartbeat-ms = 0.5",
            "lockstep serve: l.toml: `heartbeat-ms` must be text, a whole number, true or false, \
             or a list of these\n",
        ),
        (
            "name = \"b\"",
            "lockstep serve: l.toml: TOML parse error at line 5, column 1\n",
        ),
    ] {
        assert_refused(folder_with(line).path(), &[], &SERVE, err);
    }
}

#[test]
fn an_empty_file_leaves_the_required_flags_missing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("l.toml"), "").unwrap();
    let err = "error: the following required arguments were not provided:\n  --name <NAME>\n";
    assert_refused(folder.path(), &[], &SERVE, err);
}

#[test]
fn the_environment_wins_over_the_file_and_a_flag_over_both() {
    let folder = folder_with("");
    let variable = [("LOCKSTEP_NAME", "from-environment")];
    let err = |name: &str| format!("lockstep serve: --name: `{name}` is not one of --peers: a\n");
    assert_refused(folder.path(), &variable, &SERVE, &err("from-environment"));
    let words = ["serve", "--config=l.toml", "--name", "from-flag"];
    assert_refused(folder.path(), &variable, &words, &err("from-flag"));
}

#[test]
fn a_bad_variable_is_not_blamed_on_the_file() {
    let folder = folder_with("snapshot-keep = 10");
    assert_refused(
        folder.path(),
        &[("LOCKSTEP_HEARTBEAT_MS", "1")],
        &SERVE,
        "error: invalid value '1' for '--heartbeat-ms <MS>': must be a whole number from 20 to \
         5000\n",
    );
}

#[test]
fn a_source_on_the_line_replaces_the_other_kind_in_the_file() {
    let folder = folder_with("");
    assert_refused(
        folder.path(),
        &[],
        &["serve", "--config", "l.toml", "--kubeconfig", "missing"],
        "lockstep serve: the Kubernetes API server cannot be addressed: kubeconfig `missing` cannot \
         be read: No such file or directory (os error 2)\n",
    );
}

#[test]
fn dev_names_what_it_cannot_use() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    for (words, err) in [
        (
            ["--manifests", "missing"],
            "lockstep dev: the manifests cannot be used: folder of manifests `missing` cannot be \
             read: No such file or directory (os error 2)\n",
        ),
        (
            ["--manifests", "empty"],
            "lockstep dev: the manifests cannot be used: folder of manifests `empty` holds none: no \
             file ends in .yaml, .yml or .json\n",
        ),
        (
            ["--port", "80"],
            "error: invalid value '80' for '--port <PORT>': must be a whole number from 1024 to \
             63000\n",
        ),
        (
            ["--log-level", "verbose"],
            "lockstep dev: --log-level: `verbose` is not off, error, warn, info, debug, trace, or a \
             list such as `info,lockstep_raft=debug`\n",
        ),
    ] {
        let words = [&["dev"], words.as_slice()].concat();
        assert_refused(folder.path(), &[], &words, err);
    }
}

#[test]
fn dev_fresh_leaves_a_folder_alone_that_is_not_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let precious = folder.path().join("work/replica-2");
    fs::create_dir_all(&precious).unwrap();
    fs::write(precious.join("thesis.tex"), "").unwrap();
    assert_refused(
        folder.path(),
        &[],
        &["dev", "--fresh", "--data", "work"],
        "lockstep dev: --fresh: work/replica-2 holds `thesis.tex`, which no replica wrote; nothing \
         was removed, choose another --data\n",
    );
    assert!(precious.join("thesis.tex").exists());
}
