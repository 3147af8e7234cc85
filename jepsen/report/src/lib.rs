//! What a run leaves for people and for scripts.
//!
//! ```text
//! History ─┬─▶ Run ─▶ lag, latency, freshness ─▶ Plot ─▶ SVG
//! Judgement┘      └─▶ lanes ─▶ timeline.html         results.json, report.md
//! ```
//!
//! Everything but the last step, the files, is a pure function; equal runs leave equal files.

mod clock;
mod freshness;
mod lag;
mod latency;
mod markdown;
mod picture;
mod plot;
mod quantiles;
mod results;
mod scale;
mod thin;
mod timeline;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lockstep_jepsen_checkers::{History, Judgement, Limits, Run};

pub use results::results;

/// What a run was given, if it left that; shown in the report. Written by whoever ran it.
const CONFIG: &str = "config.json";

/// Why a report is not there, or not whole.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}", path.display())]
pub struct WriteError {
    path: PathBuf,
    source: io::Error,
}

/// Writes `results.json`, `report.md`, `timeline.html`, `lag.svg`, `latency.svg` and
/// `freshness.svg` into a run's folder, which is made if it is not there. Files of these names
/// are replaced. If the folder has a `config.json`, the report shows it.
///
/// # Errors
///
/// [`WriteError`] names the folder or the file that could not be written.
pub fn write(history: &History, judgement: &Judgement, folder: &Path) -> Result<(), WriteError> {
    let limits = Limits::default();
    let run = Run::of(history, &limits);
    let config = fs::read_to_string(folder.join(CONFIG)).ok();
    let files = [
        ("results.json", format!("{:#}\n", results(&run, judgement))),
        (
            "report.md",
            markdown::report(&run, judgement, config.as_deref()),
        ),
        ("timeline.html", timeline::page(&run, judgement)),
        ("lag.svg", lag::plot(&run).svg()),
        ("latency.svg", latency::plot(&run).svg()),
        ("freshness.svg", freshness::plot(&run).svg()),
    ];
    let failed = |path: &Path, source| WriteError {
        path: path.to_owned(),
        source,
    };
    fs::create_dir_all(folder).map_err(|source| failed(folder, source))?;
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|source| failed(&path, source))?;
    }
    Ok(())
}
