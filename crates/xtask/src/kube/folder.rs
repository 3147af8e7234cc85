//! The data folder: what lies where, and the credentials written into it.

use std::fmt::Write as _;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::StartError;

/// The data folder of one API server and its etcd.
///
/// A temporary one goes away with this value.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    // Held as long as the folder is in use.
    _lock: File,
    _temporary: Option<TempDir>,
}

impl Folder {
    /// Opens the named folder, or a new temporary one.
    pub(super) fn open(named: Option<&Path>) -> Result<Self, StartError> {
        let (path, temporary) = match named {
            Some(named) => {
                let path = fs::create_dir_all(named).and_then(|()| named.canonicalize());
                (path.map_err(failed(named))?, None)
            }
            None => {
                let temporary = tempfile::Builder::new().prefix("lockstep-kube-").tempdir();
                let temporary = temporary.map_err(failed(&std::env::temp_dir()))?;
                (temporary.path().to_path_buf(), Some(temporary))
            }
        };
        let lock = locked(&path)?;
        Ok(Self {
            path,
            _lock: lock,
            _temporary: temporary,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn etcd_data(&self) -> PathBuf {
        self.path.join("etcd")
    }

    pub(super) fn etcd_log(&self) -> PathBuf {
        self.path.join("etcd.log")
    }

    pub(super) fn api_server_log(&self) -> PathBuf {
        self.path.join("kube-apiserver.log")
    }

    pub(super) fn certificates(&self) -> PathBuf {
        self.path.join("certificates")
    }

    pub(super) fn server_certificate(&self) -> PathBuf {
        self.certificates().join("apiserver.crt")
    }

    pub(super) fn server_key(&self) -> PathBuf {
        self.certificates().join("apiserver.key")
    }

    pub(super) fn tokens(&self) -> PathBuf {
        self.path.join("tokens.csv")
    }

    pub(super) fn token(&self) -> PathBuf {
        self.path.join("token")
    }

    /// Writes a new administrator's token, for the server and for requests to it, and returns it.
    pub(super) fn write_token(&self) -> Result<String, StartError> {
        let token = new_token().map_err(failed(&self.token()))?;
        let line = format!("{token},admin,admin,\"system:masters\"\n");
        write_private(&self.tokens(), &line)?;
        write_private(&self.token(), &token)?;
        Ok(token)
    }

    /// Writes a kubeconfig with full rights to `path`.
    pub(super) fn write_kubeconfig(
        &self,
        path: &Path,
        url: &str,
        token: &str,
    ) -> Result<(), StartError> {
        write_private(path, &kubeconfig(&self.server_certificate(), url, token))
    }
}

/// Two servers over one folder would overwrite each other's credentials.
fn locked(folder: &Path) -> Result<File, StartError> {
    let path = folder.join("lock");
    let lock = File::create(&path).map_err(failed(&path))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(StartError::InUse {
            path: folder.to_path_buf(),
        }),
        Err(TryLockError::Error(source)) => Err(StartError::Folder { path, source }),
    }
}

/// Written as JSON, which is YAML too: no value needs quoting rules.
fn kubeconfig(certificate: &Path, url: &str, token: &str) -> String {
    let cluster = serde_json::json!({"server": url, "certificate-authority": certificate});
    let config = serde_json::json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "lockstep", "cluster": cluster}],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [{"name": "lockstep", "context": {"cluster": "lockstep", "user": "admin"}}],
        "current-context": "lockstep",
    });
    format!("{config:#}\n")
}

fn new_token() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    let mut token = String::new();
    for byte in bytes {
        write!(token, "{byte:02x}").map_err(io::Error::other)?;
    }
    Ok(token)
}

fn write_private(path: &Path, text: &str) -> Result<(), StartError> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o600);
    let written = options
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(failed(path))
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> StartError {
    let path = path.to_path_buf();
    move |source| StartError::Folder { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kubeconfig_names_server_certificate_and_token() {
        let text = kubeconfig(Path::new("/d/a.crt"), "https://127.0.0.1:1", "t");
        let config: serde_json::Value = serde_json::from_str(&text).unwrap();
        let cluster = serde_json::json!({
            "server": "https://127.0.0.1:1", "certificate-authority": "/d/a.crt"
        });
        assert_eq!(config["clusters"][0]["cluster"], cluster);
        assert_eq!(config["users"][0]["user"]["token"], "t");
        assert_eq!(config["contexts"][0]["name"], config["current-context"]);
    }

    #[test]
    fn a_temporary_folder_goes_away_and_a_named_one_stays() {
        let temporary = Folder::open(None).unwrap();
        let named = Folder::open(Some(&temporary.path().join("a/b"))).unwrap();
        assert_eq!(
            named.path(),
            temporary.path().canonicalize().unwrap().join("a/b")
        );
        let (temporary_path, named_path) = (temporary.path.clone(), named.path.clone());
        drop(named);
        assert!(named_path.is_dir());
        drop(temporary);
        assert!(!temporary_path.exists());
    }

    #[test]
    fn a_file_in_place_of_the_folder_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Folder::open(Some(file.path())).unwrap_err();
        let expected = format!("cannot use {}", file.path().display());
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_folder_in_use_is_refused_until_it_is_free() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().canonicalize().unwrap();
        let first = Folder::open(Some(&path)).unwrap();
        let error = Folder::open(Some(&path)).unwrap_err();
        let expected = format!("{} is in use by another API server", path.display());
        assert_eq!(error.to_string(), expected);
        drop(first);
        Folder::open(Some(&path)).unwrap();
    }

    #[test]
    fn two_tokens_differ_and_only_the_owner_reads_them() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::open(None).unwrap();
        let first = folder.write_token().unwrap();
        assert_ne!(folder.write_token().unwrap(), first);
        let mode = fs::metadata(folder.token()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
