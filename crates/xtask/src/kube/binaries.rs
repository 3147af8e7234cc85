//! Builds kube-apiserver and etcd from `jepsen/kube`, once per version.
//!
//! ```text
//! <cache>/lockstep/kube/lock              held while one process builds
//! <cache>/lockstep/kube/.build-XXXXXX/    a build under way; removed when it fails or is found dead
//! <cache>/lockstep/kube/<key>/            renamed into place when complete
//! ```

use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use xxhash_rust::xxh3::Xxh3;

use super::go_build;
use crate::{report, workspace};

/// What decides whether built programs can be used again, besides the Go version.
const SOURCES: [&str; 2] = ["go.mod", "go.sum"];

/// Name of the built program and the Go package it comes from.
const PROGRAMS: [(&str, &str); 2] = [
    ("etcd", "go.etcd.io/etcd/server/v3"),
    ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
];

/// How the name of a folder with a build under way begins.
const UNFINISHED: &str = ".build-";

/// The folder that holds the two built programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binaries {
    folder: PathBuf,
}

/// Why the programs could not be built or found.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// No place for the cache: the environment names none.
    #[error("no folder for built programs: set XDG_CACHE_HOME or HOME")]
    NoCacheFolder,
    /// Go is missing or does not start.
    #[error(
        "cannot run `go` (needed once to build kube-apiserver and etcd; install Go 1.26 or newer)"
    )]
    NoGo(#[source] io::Error),
    /// A Go command ended with an error; the text is its last lines.
    #[error("`{command}` in {folder} failed:\n{output}")]
    GoFailed {
        /// The command line.
        command: String,
        /// The folder it ran in.
        folder: PathBuf,
        /// The last lines it wrote to standard error.
        output: String,
    },
    /// A file or folder could not be read or written.
    #[error("cannot use {path}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl Binaries {
    /// Finds the programs of the pinned versions, or builds them, which takes minutes once.
    ///
    /// # Errors
    ///
    /// Every variant of [`BuildError`]; nothing half built is left behind.
    pub fn ensure() -> Result<Self, BuildError> {
        let module = workspace().join("jepsen/kube");
        let go = go_build::answer(&module, &["env", "GOVERSION", "GOOS", "GOARCH"])?;
        Self::ensure_in(&cache_folder()?, &key(&module, &go)?, |into| {
            build(&module, into)
        })
    }

    /// Returns the folder `key` of the cache, after `build` has filled it if it was missing.
    fn ensure_in(
        cache: &Path,
        key: &str,
        build: impl FnOnce(&Path) -> Result<(), BuildError>,
    ) -> Result<Self, BuildError> {
        let folder = cache.join(key);
        if folder.is_dir() {
            return Ok(Self { folder });
        }
        let at = |path: &Path| {
            let path = path.to_path_buf();
            move |source| BuildError::Io { path, source }
        };
        fs::create_dir_all(cache).map_err(at(cache))?;
        let lock_path = cache.join("lock");
        let lock = File::create(&lock_path).map_err(at(&lock_path))?;
        lock.lock().map_err(at(&lock_path))?;
        // Another process may have built them while this one waited for the lock.
        if !folder.is_dir() {
            // Whoever left one behind is dead: it would hold the lock otherwise.
            remove_unfinished(cache).map_err(at(cache))?;
            let unfinished = tempfile::Builder::new()
                .prefix(UNFINISHED)
                .tempdir_in(cache)
                .map_err(at(cache))?;
            build(unfinished.path())?;
            fs::rename(unfinished.path(), &folder).map_err(at(&folder))?;
        }
        Ok(Self { folder })
    }

    /// The folder of the programs.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn etcd(&self) -> PathBuf {
        self.folder.join("etcd")
    }

    pub(crate) fn api_server(&self) -> PathBuf {
        self.folder.join("kube-apiserver")
    }
}

fn cache_folder() -> Result<PathBuf, BuildError> {
    cache_folder_from(
        env::var_os("XDG_CACHE_HOME").map(Into::into),
        env::home_dir(),
    )
}

/// A relative or empty `XDG_CACHE_HOME` counts as unset, as its specification demands.
fn cache_folder_from(xdg: Option<PathBuf>, home: Option<PathBuf>) -> Result<PathBuf, BuildError> {
    let xdg = xdg.filter(|path| path.is_absolute());
    let home = home
        .filter(|path| path.is_absolute())
        .map(|path| path.join(".cache"));
    let base = xdg.or(home).ok_or(BuildError::NoCacheFolder)?;
    Ok(base.join("lockstep/kube"))
}

/// Names a build by everything it is made of, so that a changed pin builds anew.
fn key(module: &Path, go: &str) -> Result<String, BuildError> {
    let mut hash = Xxh3::new();
    for source in SOURCES {
        let path = module.join(source);
        hash.update(&fs::read(&path).map_err(|source| BuildError::Io { path, source })?);
    }
    hash.update(go.as_bytes());
    Ok(format!("{:016x}", hash.digest()))
}

fn remove_unfinished(cache: &Path) -> io::Result<()> {
    for entry in fs::read_dir(cache)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

fn build(module: &Path, into: &Path) -> Result<(), BuildError> {
    let started = Instant::now();
    let version = go_build::answer(
        module,
        &["list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes"],
    )?;
    report::progress(&format!(
        "building kube-apiserver {version} and etcd; this takes minutes, but only once"
    ));
    // Without it the server calls itself v0.0.0-master.
    let ldflags = format!("-s -w -X k8s.io/component-base/version.gitVersion={version}");
    for (name, package) in PROGRAMS {
        let mut command = Command::new("go");
        command
            .current_dir(module)
            .args(["build", "-v", "-trimpath", "-ldflags", &ldflags]);
        command.arg("-o").arg(into.join(name)).arg(package);
        go_build::run(command, name)?;
    }
    report::progress(&format!("built in {}", report::spoken(started.elapsed())));
    Ok(())
}

#[cfg(test)]
mod tests;
