//! The text files of the workspace, by path.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What holds no source: version control (a file in a linked work tree), build output, a local
/// run's data.
const SKIPPED: &[&str] = &[".git", "target", "lockstep-dev", "node_modules"];

/// Every text file of a folder, by its path relative to that folder, with `/` between the parts.
///
/// Symbolic links and files that are not UTF-8 are left out.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    files: BTreeMap<String, String>,
}

// === impl Tree ===

impl Tree {
    /// Reads the workspace this crate belongs to.
    ///
    /// # Errors
    ///
    /// Whatever the file system reports.
    pub fn of_workspace() -> io::Result<Self> {
        let mut tree = Self::default();
        tree.read_folder(&workspace_root(), "")?;
        Ok(tree)
    }

    /// Makes a tree from pairs of path and text, for the rules' own tests.
    pub fn of_files<const N: usize>(files: [(&str, &str); N]) -> Self {
        Self {
            files: files
                .map(|(path, text)| (path.to_owned(), text.to_owned()))
                .into(),
        }
    }

    /// All files, in path order, as (path, text).
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The files whose name ends in `.` and `extension`.
    pub fn with_extension(&self, extension: &str) -> impl Iterator<Item = (&str, &str)> {
        let suffix = format!(".{extension}");
        self.iter().filter(move |(path, _)| path.ends_with(&suffix))
    }

    /// The text at `path`, if there is such a file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether there is a file at `path`, or a folder with a file in it.
    pub fn holds(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        self.files.contains_key(path) || self.files.keys().any(|file| file.starts_with(&folder))
    }

    /// The manifests of the crates, as (short name, text).
    pub fn crate_manifests(&self) -> impl Iterator<Item = (String, &str)> {
        self.iter().filter_map(|(path, text)| {
            let name = crate_of(path)?;
            (path == format!("{}/Cargo.toml", crate_folder(&name))).then_some((name, text))
        })
    }

    fn read_folder(&mut self, root: &Path, folder: &str) -> io::Result<()> {
        for entry in fs::read_dir(root.join(folder))? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let path = if folder.is_empty() {
                name.clone()
            } else {
                format!("{folder}/{name}")
            };
            let kind = entry.file_type()?;
            if SKIPPED.contains(&name.as_str()) {
                continue;
            } else if kind.is_dir() {
                self.read_folder(root, &path)?;
            } else if kind.is_file() {
                self.read_file(root, path)?;
            }
        }
        Ok(())
    }

    fn read_file(&mut self, root: &Path, path: String) -> io::Result<()> {
        match fs::read_to_string(root.join(&path)) {
            Ok(text) => {
                self.files.insert(path, text);
                Ok(())
            }
            // Not text, or an editor's temporary file that is gone again.
            Err(error) => match error.kind() {
                io::ErrorKind::InvalidData | io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            },
        }
    }
}

/// The short name of the crate that a path lies in: `x` in `crates/x`, `jepsen-x` in `jepsen/x`.
pub fn crate_of(path: &str) -> Option<String> {
    let mut parts = path.split('/');
    match (parts.next()?, parts.next()?, parts.next()) {
        ("crates", name, Some(_)) => Some(name.to_owned()),
        ("jepsen", name, Some(_)) => Some(format!("jepsen-{name}")),
        (_, _, _) => None,
    }
}

/// The folder of a crate, by its short name.
pub fn crate_folder(name: &str) -> String {
    match name.strip_prefix("jepsen-") {
        Some(name) => format!("jepsen/{name}"),
        None => format!("crates/{name}"),
    }
}

/// The workspace's root folder.
pub fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether a path names test code only: `tests/`, `benches/` or a file `tests.rs`.
pub fn is_test_path(path: &str) -> bool {
    path.split('/')
        .any(|part| matches!(part, "tests" | "benches" | "tests.rs"))
}

/// Whether a path names generated code, which no hand-made rule applies to.
pub fn is_generated(path: &str) -> bool {
    path.starts_with("crates/proto/src/gen/")
}

#[cfg(test)]
mod tests {
    use super::{Tree, is_test_path};

    #[test]
    fn a_tree_holds_files_and_the_folders_above_them() {
        let tree = Tree::of_files([("a/b/c.rs", "")]);
        assert!(tree.holds("a/b/c.rs") && tree.holds("a/b") && tree.holds("a/"));
        assert!(!tree.holds("a/b/c") && !tree.holds("b"));
    }

    #[test]
    fn only_manifests_of_crates_are_crate_manifests() {
        let tree = Tree::of_files([
            ("Cargo.toml", ""),
            ("crates/model/Cargo.toml", "here"),
            ("crates/model/fixtures/Cargo.toml", ""),
            ("jepsen/model/Cargo.toml", "there"),
            ("jepsen/Cargo.toml", ""),
        ]);
        assert_eq!(
            tree.crate_manifests().collect::<Vec<_>>(),
            [
                ("model".to_owned(), "here"),
                ("jepsen-model".to_owned(), "there")
            ]
        );
    }

    #[test]
    fn test_paths_are_told_by_their_parts() {
        assert!(is_test_path("crates/a/tests/b.rs") && is_test_path("crates/a/src/b/tests.rs"));
        assert!(!is_test_path("crates/latests/src/contests.rs"));
    }
}
