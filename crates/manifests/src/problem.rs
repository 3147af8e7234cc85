//! What is wrong with a folder of manifests.

use std::fmt;

/// The place of a problem of the folder itself.
pub(crate) const FOLDER: &str = ".";

/// One thing that is wrong in one file. Prints as `web.yaml:12: reason`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The name of the file; `.` for the folder itself.
    pub file: String,
    /// The line, counted from 1: of the fault if the text is faulty, else where the
    /// document begins; `None` for the file as a whole.
    pub line: Option<u64>,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.reason),
            None if self.file == FOLDER => f.write_str(&self.reason),
            None => write!(f, "{}: {}", self.file, self.reason),
        }
    }
}
