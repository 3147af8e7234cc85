//! The cache of built programs, without building any.

use super::*;

/// A module folder with the two files that make the key.
fn module() -> tempfile::TempDir {
    let module = tempfile::tempdir().unwrap();
    for source in SOURCES {
        fs::write(module.path().join(source), source).unwrap();
    }
    module
}

/// A build that only leaves a file behind.
fn building(into: &Path) -> Result<(), BuildError> {
    fs::write(into.join("etcd"), "built").unwrap();
    Ok(())
}

fn failing(into: &Path) -> Result<(), BuildError> {
    building(into)?;
    Err(BuildError::NoCacheFolder)
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<_> = entries.map(name).collect();
    names.sort();
    names
}

#[test]
fn the_cache_is_under_xdg_then_home() {
    let at = |xdg: Option<&str>, home: Option<&str>| {
        cache_folder_from(xdg.map(Into::into), home.map(Into::into))
    };
    assert_eq!(
        at(Some("/x"), Some("/h")).unwrap(),
        Path::new("/x/lockstep/kube")
    );
    assert_eq!(
        at(None, Some("/h")).unwrap(),
        Path::new("/h/.cache/lockstep/kube")
    );
    assert_eq!(
        at(Some("not/absolute"), Some("/h")).unwrap(),
        at(None, Some("/h")).unwrap()
    );
    assert_eq!(
        at(Some(""), None).unwrap_err().to_string(),
        "no folder for built programs: set XDG_CACHE_HOME or HOME"
    );
}

#[test]
fn a_missing_pin_is_named() {
    let module = tempfile::tempdir().unwrap();
    let expected = format!("cannot use {}", module.path().join("go.mod").display());
    assert_eq!(key(module.path(), "go1").unwrap_err().to_string(), expected);
}

#[test]
fn each_pin_and_the_go_version_change_the_key() {
    let module = module();
    let first = key(module.path(), "go1").unwrap();
    assert_eq!(key(module.path(), "go1").unwrap(), first);
    assert_ne!(key(module.path(), "go2").unwrap(), first);
    for source in SOURCES {
        fs::write(module.path().join(source), "changed").unwrap();
        assert_ne!(key(module.path(), "go1").unwrap(), first, "{source}");
        fs::write(module.path().join(source), source).unwrap();
    }
}

#[test]
fn a_second_call_builds_nothing() {
    let cache = tempfile::tempdir().unwrap();
    let first = Binaries::ensure_in(cache.path(), "key", building).unwrap();
    assert_eq!(fs::read(first.etcd()).unwrap(), b"built");
    assert_eq!(
        Binaries::ensure_in(cache.path(), "key", failing).unwrap(),
        first
    );
}

#[test]
fn a_failed_build_leaves_nothing_and_the_next_one_succeeds() {
    let cache = tempfile::tempdir().unwrap();
    let error = Binaries::ensure_in(cache.path(), "key", failing).unwrap_err();
    assert!(matches!(error, BuildError::NoCacheFolder));
    assert_eq!(names_in(cache.path()), ["lock"]);
    Binaries::ensure_in(cache.path(), "key", building).unwrap();
    assert_eq!(names_in(cache.path()), ["key", "lock"]);
}

#[test]
fn what_a_killed_build_left_is_removed_by_the_next() {
    let cache = tempfile::tempdir().unwrap();
    fs::create_dir(cache.path().join(".build-killed")).unwrap();
    Binaries::ensure_in(cache.path(), "key", building).unwrap();
    assert_eq!(names_in(cache.path()), ["key", "lock"]);
}

#[test]
fn of_two_builds_at_once_one_waits_and_finds_the_other_s() {
    let cache = tempfile::tempdir().unwrap();
    let builds = std::sync::atomic::AtomicUsize::new(0);
    let ensure = || {
        Binaries::ensure_in(cache.path(), "key", |into| {
            builds.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            building(into)
        })
    };
    std::thread::scope(|scope| {
        let calls = [scope.spawn(ensure), scope.spawn(ensure)];
        for call in calls {
            call.join().unwrap().unwrap();
        }
    });
    assert_eq!(builds.into_inner(), 1);
}
