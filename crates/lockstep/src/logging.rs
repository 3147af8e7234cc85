//! Log lines, on standard error.

use tracing_subscriber::{EnvFilter, fmt};

use crate::options::{LogFormat, LogOptions};

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

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
    let filter = filter(&options.log_level)?;
    let lines = fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A second start, as in tests, keeps the first one's lines.
    let _ = match options.log_format {
        LogFormat::Text => lines.with_target(false).with_ansi(is_terminal()).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    Ok(())
}

/// Judges the options without starting anything.
pub(crate) fn check(options: &LogOptions) -> Result<(), InvalidLogLevel> {
    filter(&options.log_level).map(drop)
}

fn filter(text: &str) -> Result<EnvFilter, InvalidLogLevel> {
    let invalid = || InvalidLogLevel {
        text: text.to_owned(),
    };
    // tracing takes a misspelt level for the name of a crate, and then says nothing at all.
    if !text
        .split(',')
        .all(|part| part.contains('=') || is_level(part))
    {
        return Err(invalid());
    }
    EnvFilter::try_new(quieted(text)).map_err(|_| invalid())
}

fn is_level(word: &str) -> bool {
    LEVELS.contains(&word.trim())
}

/// The Raft library tells every tick at info, and the Kubernetes client every failure that we tell
/// with more words; one word for all means our lines.
fn quieted(level: &str) -> String {
    if level.contains(['=', ',']) {
        level.to_owned()
    } else {
        format!("{},openraft=error,kube_client=off", level.trim())
    }
}

fn is_terminal() -> bool {
    std::io::IsTerminal::is_terminal(&std::io::stderr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_words_or_lists() {
        for text in [
            "off",
            "info",
            " debug ",
            "info,lockstep_raft=debug",
            "lockstep_ingest=trace",
        ] {
            assert!(filter(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn anything_else_is_named_with_the_levels() {
        for text in ["", "verbose", "5", "info,", "raft=loud", "a=b=c"] {
            let expected = format!(
                "--log-level: `{text}` is not off, error, warn, info, debug, trace, or a list such \
                 as `info,lockstep_raft=debug`"
            );
            let error = filter(text).map(|_| ()).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}
