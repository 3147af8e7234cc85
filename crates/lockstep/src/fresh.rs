//! `dev --fresh`: removes what earlier runs left, and nothing else.
//!
//! Every folder is judged before the first is removed, so that a folder given by mistake, or one
//! that another process works in, survives whole.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use crate::group::{DEV_CLUSTER, replica_name};

/// What a replica keeps in its data folder.
const OURS: [&str; 11] = [
    "given-up",
    "identity",
    "identity.tmp",
    "lock",
    "log.redb",
    "promise",
    "quarantine-settled.json",
    "quarantine.json",
    "quarantine.tmp",
    "set-aside",
    "snapshots",
];

/// Why data is not removed. Nothing was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FreshError {
    /// It is not what a replica leaves.
    #[error(
        "--fresh: {} holds `{found}`, which no replica wrote; nothing was removed, choose another \
         --data",
        folder.display()
    )]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// A name in it.
        found: String,
    },
    /// A replica of `serve` lives there.
    #[error(
        "--fresh: {} belongs to cluster `{cluster}`, not to `lockstep dev`; nothing was removed, \
         choose another --data",
        folder.display()
    )]
    OtherCluster {
        /// The folder.
        folder: PathBuf,
        /// The cluster.
        cluster: String,
    },
    /// Another process has it open.
    #[error(
        "--fresh: {} is in use by another process; nothing was removed, stop that process or \
         choose another --data",
        folder.display()
    )]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// The system did not let us look or remove.
    #[error("--fresh: cannot empty {}", folder.display())]
    Io {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// Removes the data of `count` replicas below `data`.
///
/// # Errors
///
/// [`FreshError`]; but for `Io` everything is still there.
pub(crate) fn empty(data: &Path, count: usize) -> Result<(), FreshError> {
    let folders = (1..=count).map(|number| data.join(replica_name(number)));
    let folders: Vec<PathBuf> = folders.filter(|folder| folder.exists()).collect();
    // Held until all are removed: no replica may start in between.
    let _locks = folders
        .iter()
        .map(|folder| claim(folder))
        .collect::<Result<Vec<_>, _>>()?;
    for folder in &folders {
        fs::remove_dir_all(folder).map_err(|source| io_error(folder, source))?;
    }
    Ok(())
}

/// Judges a folder by what is in it, and locks it if there is a lock.
fn claim(folder: &Path) -> Result<Option<File>, FreshError> {
    let failed = |source| io_error(folder, source);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    let identity = fs::read_to_string(folder.join("identity")).unwrap_or_default();
    judge(folder, names, &identity)?;
    match File::options().write(true).open(folder.join("lock")) {
        Ok(file) => match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Err(FreshError::InUse {
                folder: folder.to_owned(),
            }),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(failed(source)),
    }
}

/// A damaged folder may go, as long as all in it has names that a replica gives.
fn judge(folder: &Path, mut names: Vec<String>, identity: &str) -> Result<(), FreshError> {
    names.sort();
    if let Some(found) = names
        .into_iter()
        .find(|name| !OURS.contains(&name.as_str()))
    {
        return Err(FreshError::Foreign {
            folder: folder.to_owned(),
            found,
        });
    }
    match cluster_of(identity) {
        Some(cluster) if cluster != DEV_CLUSTER => Err(FreshError::OtherCluster {
            folder: folder.to_owned(),
            cluster,
        }),
        Some(_) | None => Ok(()),
    }
}

/// The cluster that an identity names; `None` if it cannot be read.
fn cluster_of(identity: &str) -> Option<String> {
    let first = identity.lines().next()?;
    let identity: serde_json::Value = serde_json::from_str(first).ok()?;
    Some(identity.get("cluster")?.as_str()?.to_owned())
}

fn io_error(folder: &Path, source: io::Error) -> FreshError {
    FreshError::Io {
        folder: folder.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_storage::{DataFolder, OpenAs};

    fn data_of(cluster: &str) -> tempfile::TempDir {
        let data = tempfile::tempdir().unwrap();
        for number in 1..=2 {
            let name = replica_name(number);
            let who = OpenAs {
                cluster,
                name: &name,
            };
            drop(DataFolder::open(&data.path().join(&name), who).unwrap());
        }
        data
    }

    /// What it says, with the folder of the test left out.
    fn refusal(data: &Path) -> String {
        let text = empty(data, 2).unwrap_err().to_string();
        text.replace(&format!("{}/", data.display()), "")
    }

    #[test]
    fn what_replicas_left_is_removed_and_the_rest_stays() {
        let data = data_of(DEV_CLUSTER);
        fs::create_dir(data.path().join("shop")).unwrap();
        empty(data.path(), 2).unwrap();
        assert!(data.path().join("shop").exists());
        assert!(!data.path().join("replica-1").exists());
        assert!(!data.path().join("replica-2").exists());
        empty(data.path(), 2).unwrap();
    }

    #[test]
    fn a_folder_that_is_not_ours_survives_with_its_neighbours() {
        let data = data_of(DEV_CLUSTER);
        fs::write(data.path().join("replica-2/thesis.tex"), "").unwrap();
        assert_eq!(
            refusal(data.path()),
            "--fresh: replica-2 holds `thesis.tex`, which no replica wrote; nothing was removed, \
             choose another --data"
        );
        assert!(data.path().join("replica-1/identity").exists());
        assert!(data.path().join("replica-2/thesis.tex").exists());
    }

    #[test]
    fn data_of_another_cluster_survives() {
        let data = data_of("production");
        assert_eq!(
            refusal(data.path()),
            "--fresh: replica-1 belongs to cluster `production`, not to `lockstep dev`; nothing \
             was removed, choose another --data"
        );
        assert!(data.path().join("replica-1/identity").exists());
    }

    #[test]
    fn data_in_use_survives() {
        let data = data_of(DEV_CLUSTER);
        let who = OpenAs {
            cluster: DEV_CLUSTER,
            name: "replica-2",
        };
        let open = DataFolder::open(&data.path().join("replica-2"), who).unwrap();
        assert_eq!(
            refusal(data.path()),
            "--fresh: replica-2 is in use by another process; nothing was removed, stop that \
             process or choose another --data"
        );
        drop(open);
        assert!(data.path().join("replica-1/identity").exists());
    }

    #[test]
    fn damaged_data_may_go() {
        let data = data_of(DEV_CLUSTER);
        fs::write(data.path().join("replica-1/identity"), [0xff, 0xfe]).unwrap();
        fs::remove_file(data.path().join("replica-2/lock")).unwrap();
        empty(data.path(), 2).unwrap();
        assert!(!data.path().join("replica-1").exists());
    }

    #[test]
    fn what_is_no_folder_is_named_with_the_cause() {
        let data = tempfile::tempdir().unwrap();
        fs::write(data.path().join("replica-1"), "").unwrap();
        assert_eq!(refusal(data.path()), "--fresh: cannot empty replica-1");
        assert!(data.path().join("replica-1").exists());
    }
}
