//! `cargo xtask fuzz`: one target of `crates/fuzz` with libFuzzer, on the stable compiler.
//!
//! ```text
//! rustc -vV ─host─▶ cargo build, instrumented ─▶ target/fuzz/HOST/debug/TARGET
//!                                                   │ ▲
//!                         target/fuzz/corpus/TARGET ◀─┘ └── crates/fuzz/seeds/TARGET
//! ```

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::{report, workspace};

/// What LLVM needs to count which branches are taken, and the linker to keep the tables.
const RUSTFLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
     -Cllvm-args=-sanitizer-coverage-pc-table --cfg fuzzing -Clink-dead-code -Ccodegen-units=1";
/// How long one input may take before it counts as a hang. Unit: seconds.
const INPUT_SECONDS_MAX: u32 = 20;
/// How much memory a target may take. Unit: MiB.
const MEMORY_MIB_MAX: u32 = 2048;
/// The most bytes of one input.
const INPUT_BYTES_MAX: u32 = 16 * 1024;

/// Why a target was not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum FuzzError {
    /// No target has this name.
    #[error("there is no target `{name}`; targets are {}", allowed.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// The names of the targets.
        allowed: Vec<String>,
    },
    /// A folder or a file could not be read or made.
    #[error("cannot use {}", path.display())]
    Folder {
        /// Where.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A program could not be executed.
    #[error("cannot execute {program}{advice}")]
    NoProgram {
        /// Its name.
        program: String,
        /// What to do about it; empty if there is nothing to say.
        advice: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The compiler does not say what it compiles for.
    #[error("`rustc -vV` names no host")]
    NoHost,
    /// The target could not be built.
    #[error("the build ended with {0}")]
    Build(ExitStatus),
    /// The target broke a promise, hung, or took too much memory.
    #[error("the target ended with {status}; the input that did it is below {}", inputs.display())]
    Found {
        /// How it ended.
        status: ExitStatus,
        /// Where the input is.
        inputs: PathBuf,
    },
}

/// Builds the target and runs it for so many seconds.
///
/// # Errors
///
/// [`FuzzError::Found`] when the target found something; the others say why it did not run.
pub fn run(name: &str, seconds: u32) -> Result<(), FuzzError> {
    check_name(name, &workspace().join("crates/fuzz/src/bin"))?;
    let output = output_folder();
    let program = build(name, &output)?;
    let corpus = output.join("corpus").join(name);
    let inputs = output.join("artifacts").join(name);
    for folder in [&corpus, &inputs] {
        fs::create_dir_all(folder).map_err(|source| FuzzError::Folder {
            path: folder.clone(),
            source,
        })?;
    }
    report::heading(&format!("{name} for {seconds} s"));
    let fuzz = workspace().join("crates/fuzz");
    let mut command = Command::new(&program);
    command
        .args([&corpus, &fuzz.join("seeds").join(name)])
        .arg(format!("-dict={}", fuzz.join("words.dict").display()))
        .arg(format!("-artifact_prefix={}/", inputs.display()))
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-timeout={INPUT_SECONDS_MAX}"))
        .arg(format!("-rss_limit_mb={MEMORY_MIB_MAX}"))
        .arg(format!("-max_len={INPUT_BYTES_MAX}"))
        .arg("-print_final_stats=1");
    let status = command.status().map_err(no_program(&command, ""))?;
    if !status.success() {
        return Err(FuzzError::Found { status, inputs });
    }
    report::good(&format!("{name} kept its promises"));
    Ok(())
}

/// Each target has a binary, and each of these is a target.
fn check_name(name: &str, binaries: &Path) -> Result<(), FuzzError> {
    let unread = |source| FuzzError::Folder {
        path: binaries.to_owned(),
        source,
    };
    let mut allowed = Vec::new();
    for entry in fs::read_dir(binaries).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy());
        allowed.extend(stem.map(|stem| stem.into_owned()));
    }
    allowed.sort();
    if allowed.iter().any(|target| target == name) {
        return Ok(());
    }
    let name = name.to_owned();
    Err(FuzzError::Unknown { name, allowed })
}

/// Apart from all other builds: nothing that is instrumented is of use to them.
fn output_folder() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| PathBuf::from("target"));
    workspace().join(target).join("fuzz")
}

/// Builds the target and gives back its program.
fn build(name: &str, output: &Path) -> Result<PathBuf, FuzzError> {
    let host = host()?;
    check_compiler()?;
    report::heading(&format!("build {name}, instrumented"));
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .current_dir(workspace())
        .args(["build", "--package", "lockstep-fuzz", "--bin", name])
        .args(["--features", "libfuzzer"])
        // With a target, even if it is the host, build scripts are not instrumented.
        .args(["--target", &host])
        .env("CARGO_TARGET_DIR", output)
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
        .env("RUSTFLAGS", RUSTFLAGS)
        // The flags that instrument are not stable.
        .env("RUSTC_BOOTSTRAP", "1");
    let status = command.status().map_err(no_program(&command, ""))?;
    if status.success() {
        Ok(output.join(host).join("debug").join(name))
    } else {
        Err(FuzzError::Build(status))
    }
}

/// What the compiler compiles for when it is not told.
fn host() -> Result<String, FuzzError> {
    let mut command = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let output = command.arg("-vV").output();
    let output = output.map_err(no_program(&command, ""))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    host_in(&text).ok_or(FuzzError::NoHost)
}

fn host_in(version: &str) -> Option<String> {
    let mut lines = version.lines();
    lines
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
}

/// libFuzzer is built from its sources, by the compiler that its build script finds.
fn check_compiler() -> Result<(), FuzzError> {
    let mut command = Command::new(env::var_os("CXX").unwrap_or_else(|| "c++".into()));
    command.arg("--version").stdout(Stdio::null());
    let advice = "; libFuzzer needs a C++ compiler, for example the package g++";
    let status = command.status();
    status.map_err(no_program(&command, advice)).map(drop)
}

fn no_program(
    command: &Command,
    advice: &'static str,
) -> impl FnOnce(io::Error) -> FuzzError + use<> {
    let program = command.get_program().to_string_lossy().into_owned();
    move |source| FuzzError::NoProgram {
        program,
        advice,
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_target_is_refused_with_the_allowed_ones() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["token.rs", "authority.rs"] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        assert!(check_name("token", folder.path()).is_ok());
        let error = check_name("tokens", folder.path()).unwrap_err().to_string();
        assert_eq!(
            error,
            "there is no target `tokens`; targets are authority, token"
        );
    }

    #[test]
    fn the_host_is_a_line_of_the_version() {
        let text = "rustc 1.95.0\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\nrelease: 1.95.0\n";
        assert_eq!(host_in(text).as_deref(), Some("x86_64-unknown-linux-gnu"));
        assert_eq!(host_in("rustc 1.95.0\n"), None);
        assert_eq!(FuzzError::NoHost.to_string(), "`rustc -vV` names no host");
    }

    #[test]
    fn a_missing_compiler_is_named_with_what_to_do() {
        let advice = "; libFuzzer needs a C++ compiler, for example the package g++";
        let refused = no_program(&Command::new("c++"), advice);
        assert_eq!(
            refused(io::ErrorKind::NotFound.into()).to_string(),
            "cannot execute c++; libFuzzer needs a C++ compiler, for example the package g++"
        );
    }
}
