//! The recorded scenarios: objects, steps, what the real controller answered, and what is
//! right where that is wrong. The layout is in the corpus's own README.

mod expected;
mod recording;
mod steps;

use lockstep_model::Settings;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use crate::yaml::{self, YamlError};

pub use expected::{Expected, ExpectedError, Rule, What, When};
pub use recording::{End, Entry, Fresh, Instance, Recording, Stream};
pub use steps::{CorpusEdit, Method, Opening, Script, Step};

/// One recorded scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its folder, such as `012-clusterip-basic`.
    pub name: String,
    /// The objects before step 1, in the order of creation.
    pub objects: Vec<Value>,
    /// What was done.
    pub script: Script,
    /// What was answered.
    pub recordings: BTreeMap<Instance, Recording>,
    /// What is right where that is wrong.
    pub expected: Option<Expected>,
}

/// Why the corpus cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A file or folder cannot be read.
    #[error("{path} cannot be read")]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is no YAML or not of the form that the README describes.
    #[error("{path} is not of the form that the corpus's README describes")]
    Yaml {
        /// The file.
        path: PathBuf,
        /// Where, and what is wrong.
        source: YamlError,
    },
    /// A file is no JSON or not of the form that the README describes.
    #[error("{path} is not of the form that the corpus's README describes")]
    Json {
        /// The file.
        path: PathBuf,
        /// Where, and what is wrong.
        source: serde_json::Error,
    },
    /// An `expected.json` says something that is not understood.
    #[error("{path} cannot be used")]
    Expected {
        /// The file.
        path: PathBuf,
        /// What is not understood.
        source: ExpectedError,
    },
}

impl Scenario {
    /// The settings to replay it with: those of the recorded instance, and what is right in
    /// row O, an endpoint that serves while it terminates, only where that is the question.
    #[must_use]
    pub fn settings(&self, instance: Instance) -> Settings {
        let quirk = self.expected.as_ref().map(|it| it.quirk.as_str());
        Settings {
            serve_terminating: quirk == Some("O"),
            ..instance.settings()
        }
    }
}

/// Where the corpus is.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// Reads all scenarios of a folder, in the order of their names.
///
/// # Errors
///
/// The first file that cannot be read or understood.
pub fn scenarios(folder: &Path) -> Result<Vec<Scenario>, CorpusError> {
    let unreadable = |source| CorpusError::Unreadable {
        path: folder.to_owned(),
        source,
    };
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.join("steps.yaml").is_file() {
            folders.push(path);
        }
    }
    folders.sort();
    folders.iter().map(|folder| scenario(folder)).collect()
}

/// Reads the scenario of one folder.
///
/// # Errors
///
/// The first file that cannot be read or understood.
pub fn scenario(folder: &Path) -> Result<Scenario, CorpusError> {
    let name = folder.file_name().unwrap_or_default();
    let objects = folder.join("objects.yaml");
    let yaml = |path: &Path, source| CorpusError::Yaml {
        path: path.to_owned(),
        source,
    };
    let objects = yaml::documents(&text(&objects)?).map_err(|source| yaml(&objects, source))?;
    let script = folder.join("steps.yaml");
    let script = yaml::read(&text(&script)?).map_err(|source| yaml(&script, source))?;
    let mut recordings = BTreeMap::new();
    for instance in Instance::ALL {
        let path = folder.join(format!("linkerd.{instance}.json"));
        recordings.insert(instance, json(&path)?);
    }
    let path = folder.join("expected.json");
    let expected = path.is_file().then(|| expected(&path)).transpose()?;
    Ok(Scenario {
        name: name.to_string_lossy().into_owned(),
        objects: objects.into_iter().filter(|it| !it.is_null()).collect(),
        script,
        recordings,
        expected,
    })
}

fn text(path: &Path) -> Result<String, CorpusError> {
    fs::read_to_string(path).map_err(|source| CorpusError::Unreadable {
        path: path.to_owned(),
        source,
    })
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, CorpusError> {
    serde_json::from_str(&text(path)?).map_err(|source| CorpusError::Json {
        path: path.to_owned(),
        source,
    })
}

fn expected(path: &Path) -> Result<Expected, CorpusError> {
    Expected::try_from(&json::<Value>(path)?).map_err(|source| CorpusError::Expected {
        path: path.to_owned(),
        source,
    })
}
