//! The files of a folder, and what is in force because of them. Pure.

use lockstep_model::{Fact, FactKey};
use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
};

use crate::{
    Problem,
    parse::{Format, Parsed, parse},
    problem::FOLDER,
};

/// What was found in a folder: the text of each manifest, or why it could not be read.
pub(crate) type Contents = BTreeMap<String, Result<String, String>>;

/// A folder of manifests at one moment. Cloning it is cheap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Folder {
    files: BTreeMap<String, Arc<File>>,
    /// Why the folder itself could not be read, if so.
    unreadable: Option<String>,
}

/// One file: what was read last, and what of it, or of before, is in force.
#[derive(Clone, Debug)]
struct File {
    read: Result<String, String>,
    /// `None` while no version of the file was good.
    in_force: Option<BTreeMap<FactKey, (u64, Fact)>>,
    problems: Vec<Problem>,
}

impl Folder {
    /// Takes in what was found: new and changed files are parsed, files that are gone
    /// are forgotten with their objects.
    pub(crate) fn update(&mut self, contents: Contents) {
        let mut before = std::mem::take(&mut self.files);
        self.unreadable = None;
        for (name, read) in contents {
            let file = match before.remove(&name) {
                Some(file) if file.read == read => file,
                last => Arc::new(File::new(&name, read, last.as_deref())),
            };
            self.files.insert(name, file);
        }
    }

    /// The folder could not be read: everything stays in force.
    pub(crate) fn keep(&mut self, reason: String) {
        self.unreadable = Some(reason);
    }

    /// Whether any file is, or was, good.
    pub(crate) fn is_usable(&self) -> bool {
        self.files.values().any(|file| file.in_force.is_some())
    }

    /// Every object that is in force. Of two files that tell of the same object, the
    /// first by name does.
    pub(crate) fn facts(&self) -> BTreeMap<FactKey, Fact> {
        self.merge().0
    }

    /// What is wrong, by file.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let unreadable = self.unreadable.iter().map(|reason| Problem {
            file: FOLDER.to_owned(),
            line: None,
            reason: reason.clone(),
        });
        let own = self.files.values().flat_map(|file| file.problems.clone());
        let mut all: Vec<Problem> = unreadable.chain(own).chain(self.merge().1).collect();
        all.sort();
        all
    }

    fn merge(&self) -> (BTreeMap<FactKey, Fact>, Vec<Problem>) {
        let mut facts = BTreeMap::new();
        let mut clashes = Vec::new();
        let mut firsts: BTreeMap<&FactKey, &str> = BTreeMap::new();
        for (name, file) in &self.files {
            for (key, (line, fact)) in file.in_force.iter().flatten() {
                match firsts.entry(key) {
                    Entry::Vacant(vacant) => {
                        vacant.insert(name);
                        facts.insert(key.clone(), fact.clone());
                    }
                    Entry::Occupied(first) => clashes.push(Problem {
                        file: name.clone(),
                        line: Some(*line),
                        reason: format!("{key} stands in {} too, which is in force", first.get()),
                    }),
                }
            }
        }
        (facts, clashes)
    }
}

impl File {
    fn new(name: &str, read: Result<String, String>, last: Option<&Self>) -> Self {
        let kept = last.and_then(|last| last.in_force.as_ref());
        let (in_force, problems) = match &read {
            Ok(text) => match parse(format(name), text) {
                Ok(parsed) => (Some(objects(&parsed, kept)), complaints(name, parsed)),
                Err(fault) => (
                    kept.cloned(),
                    vec![Problem {
                        file: name.to_owned(),
                        line: Some(fault.line),
                        reason: fault.reason,
                    }],
                ),
            },
            Err(reason) => (
                kept.cloned(),
                vec![Problem {
                    file: name.to_owned(),
                    line: None,
                    reason: reason.clone(),
                }],
            ),
        };
        Self {
            read,
            in_force,
            problems,
        }
    }
}

/// The objects of the new version. Of one that cannot be decoded, the old version stays.
fn objects(
    parsed: &Parsed,
    kept: Option<&BTreeMap<FactKey, (u64, Fact)>>,
) -> BTreeMap<FactKey, (u64, Fact)> {
    let old = parsed.undecodable.iter().filter_map(|key| {
        let old = kept?.get(key)?;
        Some((key.clone(), old.clone()))
    });
    let mut objects: BTreeMap<FactKey, (u64, Fact)> = old.collect();
    objects.extend(parsed.objects.clone());
    objects
}

fn complaints(name: &str, parsed: Parsed) -> Vec<Problem> {
    let problems = parsed.complaints.into_iter().map(|complaint| Problem {
        file: name.to_owned(),
        line: Some(complaint.line),
        reason: complaint.reason,
    });
    problems.collect()
}

/// Whether a file of this name is a manifest; hidden files are an editor's own.
pub(crate) fn is_manifest(name: &str) -> bool {
    let ends = [".yaml", ".yml", ".json"];
    !name.starts_with('.') && ends.iter().any(|end| name.ends_with(end))
}

fn format(name: &str) -> Format {
    if name.ends_with(".json") {
        Format::Json
    } else {
        Format::Yaml
    }
}

#[cfg(test)]
mod tests;
