//! Log lines, on standard error.

use tracing_subscriber::{EnvFilter, fmt};

use crate::options::{LogFormat, LogOptions};

/// Why the lines cannot be chosen so.
#[derive(Debug, thiserror::Error)]
#[error(
    "--log-level: `{text}` is not off, error, warn, info, debug, trace, or a list such as \
     `info,lockstep_raft=debug`"
)]
pub(crate) struct InvalidLogLevel {
    text: String,
}

/// Starts logging for the process; the first call wins.
pub(crate) fn start(options: &LogOptions) -> Result<(), InvalidLogLevel> {
    let filter = EnvFilter::try_new(quieted(&options.log_level)).map_err(|_| InvalidLogLevel {
        text: options.log_level.clone(),
    })?;
    let lines = fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A second start, as in tests, keeps the first one's lines.
    let _ = match options.log_format {
        LogFormat::Text => lines.with_target(false).with_ansi(is_terminal()).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    Ok(())
}

/// The Raft library tells every tick at info; one word for all means our lines.
fn quieted(level: &str) -> String {
    if level.contains(['=', ',']) {
        level.to_owned()
    } else {
        format!("{level},openraft=error")
    }
}

fn is_terminal() -> bool {
    std::io::IsTerminal::is_terminal(&std::io::stderr())
}
