//! The configuration file: keys are the names of flags, so it becomes flags.
//!
//! Keys that the command line or the environment already sets are passed over;
//! the rest is put in front of the flags and judged by the same parser.

use clap::{Command, CommandFactory, FromArgMatches};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::{ConfigError, ServeConfig, args::Args, options::ServeOptions};

/// Why a configuration file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigFileError {
    /// It cannot be read.
    #[error("{file}: cannot be read")]
    Read {
        /// The file.
        file: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// It is no TOML.
    #[error("{file}: {reason}")]
    Syntax {
        /// The file.
        file: String,
        /// What is wrong, with line and column.
        reason: String,
    },
    /// A key that is no flag.
    #[error("{file}: unknown key `{key}`; the keys are {allowed}")]
    UnknownKey {
        /// The file.
        file: String,
        /// The key.
        key: String,
        /// Every key there is.
        allowed: String,
    },
    /// A value that is neither text, whole number, boolean, nor a list of these.
    #[error("{file}: `{key}` must be text, a whole number, true or false, or a list of these")]
    Value {
        /// The file.
        file: String,
        /// The key.
        key: String,
    },
    /// A value that the flag of that name would not take.
    #[error("{file}: {reason}")]
    Refused {
        /// The file.
        file: String,
        /// What the flag says of it.
        reason: String,
    },
}

/// The command line with the keys of its configuration file put in.
pub(crate) fn with_file(line: Vec<OsString>) -> Result<Vec<OsString>, ConfigFileError> {
    let Some(file) = named_file(&line).filter(|_| !asks_for_help(&line)) else {
        return Ok(line);
    };
    let read = std::fs::read_to_string(&file);
    let text = read.map_err(|source| ConfigFileError::Read {
        file: shown(&file),
        source,
    })?;
    let serve = serve_command();
    let flags = flags_of(&file, &text, &serve, |flag| is_set(&line, &serve, flag))?;
    let mut whole = line;
    // Behind the program and the verb.
    whole.splice(2..2, flags);
    Ok(whole)
}

/// The flags of `serve` without their environment, which the file is not to blame for.
fn serve_command() -> Command {
    let args = Args::command();
    let serve = args.find_subcommand("serve").cloned().unwrap_or(args);
    serve.no_binary_name(true)
}

fn without_environment(serve: &Command) -> Command {
    serve
        .clone()
        .mut_args(|argument| argument.env(None::<&'static str>))
}

/// Help needs no file, good or bad.
fn asks_for_help(line: &[OsString]) -> bool {
    line.iter().any(|word| word == "--help" || word == "-h")
}

fn shown(file: &Path) -> String {
    file.display().to_string()
}

/// The file that `serve` names by flag or environment.
fn named_file(line: &[OsString]) -> Option<PathBuf> {
    if line.get(1)? != "serve" {
        return None;
    }
    let mut words = line.iter().skip(2);
    while let Some(word) = words.next() {
        if word == "--config" {
            return words.next().map(PathBuf::from);
        }
        if let Some(value) = word
            .to_str()
            .and_then(|word| word.strip_prefix("--config="))
        {
            return Some(value.into());
        }
    }
    std::env::var_os("LOCKSTEP_CONFIG").map(PathBuf::from)
}

/// Whether the line or the environment already sets a flag, or one that excludes it.
fn is_set(line: &[OsString], serve: &Command, flag: &str) -> bool {
    let other = match flag {
        "manifests" => Some("kubeconfig"),
        "kubeconfig" => Some("manifests"),
        _ => None,
    };
    let is_set = |flag| is_set_itself(line, serve, flag);
    is_set(flag) || other.is_some_and(is_set)
}

fn is_set_itself(line: &[OsString], serve: &Command, flag: &str) -> bool {
    let on_line = line.iter().filter_map(|word| word.to_str()).any(|word| {
        let name = word.strip_prefix("--").unwrap_or_default();
        name == flag || name.split_once('=').is_some_and(|(name, _)| name == flag)
    });
    let variable = serve
        .get_arguments()
        .find(|argument| argument.get_long() == Some(flag))
        .and_then(clap::Arg::get_env);
    on_line || variable.is_some_and(|variable| std::env::var_os(variable).is_some())
}

fn flags_of(
    file: &Path,
    text: &str,
    serve: &Command,
    is_set: impl Fn(&str) -> bool,
) -> Result<Vec<OsString>, ConfigFileError> {
    let table: toml::Table =
        text.parse()
            .map_err(|error: toml::de::Error| ConfigFileError::Syntax {
                file: shown(file),
                reason: error.to_string().trim_end().to_owned(),
            })?;
    let mut flags = Vec::new();
    for (key, value) in &table {
        let flag = flag_of(file, key, value, serve)?;
        if !is_set(key) {
            flags.push(flag.into());
        }
    }
    Ok(flags)
}

/// One key as a flag that its parser has accepted.
fn flag_of(
    file: &Path,
    key: &str,
    value: &toml::Value,
    serve: &Command,
) -> Result<String, ConfigFileError> {
    let known = |argument: &clap::Arg| argument.get_long() == Some(key);
    if key == "config" || !serve.get_arguments().any(known) {
        let allowed = allowed_keys(serve);
        return Err(ConfigFileError::UnknownKey {
            file: shown(file),
            key: key.to_owned(),
            allowed,
        });
    }
    let value = plain(value).ok_or_else(|| ConfigFileError::Value {
        file: shown(file),
        key: key.to_owned(),
    })?;
    let flag = format!("--{key}={value}");
    match judge(&flag, key, serve) {
        Ok(()) => Ok(flag),
        Err(reason) => Err(ConfigFileError::Refused {
            file: shown(file),
            reason,
        }),
    }
}

/// Judges one flag as if it stood alone.
fn judge(flag: &str, key: &str, serve: &Command) -> Result<(), String> {
    let required = ["--name=n", "--data=d", "--peers=n=h:1"];
    let others = required
        .into_iter()
        .filter(|other| !other.starts_with(&format!("--{key}=")));
    let matches = without_environment(serve)
        .try_get_matches_from(others.chain([flag]))
        .and_then(|matches| ServeOptions::from_arg_matches(&matches));
    let options = matches.map_err(|error| first_paragraph(&error))?;
    crate::logging::check(&options.log).map_err(|error| error.to_string())?;
    match ServeConfig::try_from(options) {
        // Name and peers are judged together, once all is known.
        Ok(_) | Err(ConfigError::NotAPeer { .. }) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// What clap says before its hints, in one line: the reason, and the values there are.
fn first_paragraph(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    let reason = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    reason.strip_prefix("error: ").unwrap_or(&reason).to_owned()
}

fn allowed_keys(serve: &Command) -> String {
    let mut keys: Vec<&str> = serve
        .get_arguments()
        .filter_map(clap::Arg::get_long)
        .filter(|key| *key != "config")
        .collect();
    keys.sort_unstable();
    keys.join(", ")
}

/// A value as a flag would have it.
fn plain(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Boolean(truth) => Some(truth.to_string()),
        toml::Value::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(plain).collect();
            items.map(|items| items.join(","))
        }
        toml::Value::Float(_) | toml::Value::Datetime(_) | toml::Value::Table(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(text: &str) -> Result<Vec<String>, String> {
        let flags = flags_of(Path::new("l.toml"), text, &serve_command(), |key| {
            key == "cluster"
        });
        let to_text = |flags: Vec<OsString>| {
            flags
                .into_iter()
                .map(|flag| flag.into_string().unwrap_or_default())
                .collect()
        };
        flags.map(to_text).map_err(|error| error.to_string())
    }

    #[test]
    fn keys_become_flags_unless_they_are_set_already() {
        let text = "cluster = \"other\"\npeers = [\"a=h:1\", \"b=h:2\"]\nsnapshot-after = 500\nenable-ipv6 = false\nendpoint-node-hints = true\nserve-terminating-endpoints = true\n";
        assert_eq!(
            flags(text),
            Ok(vec![
                "--enable-ipv6=false".to_owned(),
                "--endpoint-node-hints=true".to_owned(),
                "--peers=a=h:1,b=h:2".to_owned(),
                "--serve-terminating-endpoints=true".to_owned(),
                "--snapshot-after=500".to_owned(),
            ])
        );
    }

    #[test]
    fn an_unknown_key_is_named_with_the_keys_there_are() {
        let error = flags("snapshot-aftr = 5").unwrap_err();
        assert!(error.starts_with(
            "l.toml: unknown key `snapshot-aftr`; the keys are admin-listen, answer-absent-services, "
        ), "{error}");
    }

    #[test]
    fn a_value_out_of_range_is_named_with_the_range() {
        for (text, error) in [
            (
                "snapshot-after = 5",
                "l.toml: invalid value '5' for '--snapshot-after <ENTRIES>': must be a whole \
                 number from 10 to 1000000",
            ),
            (
                "heartbeat-ms = true",
                "l.toml: invalid value 'true' for '--heartbeat-ms <MS>': must be a whole number \
                 from 20 to 5000",
            ),
            (
                "heartbeat-ms = [100, 200]",
                "l.toml: invalid value '100,200' for '--heartbeat-ms <MS>': must be a whole \
                 number from 20 to 5000",
            ),
            (
                "log-format = \"xml\"",
                "l.toml: invalid value 'xml' for '--log-format <FORMAT>' [possible values: text, \
                 json]",
            ),
            (
                "log-level = 5",
                "l.toml: --log-level: `5` is not off, error, warn, info, debug, trace, or a list \
                 such as `info,lockstep_raft=debug`",
            ),
            (
                "proxy-listen = \"8086\"",
                "l.toml: --proxy-listen: `8086` is not IP:PORT, such as 0.0.0.0:8086",
            ),
            (
                "peers = [\"a=h:1\", \"b\"]",
                "l.toml: --peers: `b` is not NAME=HOST:PORT, such as replica-1=10.0.0.1:8087",
            ),
            (
                "name = \"\"",
                "l.toml: --name: `` must have 1 to 63 letters, digits, dots, dashes or \
                 underscores",
            ),
            (
                "default-opaque-ports = [25, \"http\"]",
                "l.toml: --default-opaque-ports: `http` is neither a port (0 to 65535) nor a \
                 range of ports such as `4000-4100`",
            ),
        ] {
            assert_eq!(flags(text), Err(error.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_source_on_the_line_replaces_the_other_kind_in_the_file() {
        let line = ["lockstep", "serve", "--kubeconfig=k"].map(OsString::from);
        let serve = serve_command();
        assert!(is_set(&line, &serve, "manifests"));
        assert!(is_set(&line, &serve, "kubeconfig"));
        assert!(!is_set(&line, &serve, "data"));
    }

    #[test]
    fn help_needs_no_file() {
        let line = ["lockstep", "serve", "--config", "/nowhere", "--help"].map(OsString::from);
        assert_eq!(with_file(line.to_vec()).unwrap(), line);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let line = ["lockstep", "serve", "--config=/nowhere/l.toml"].map(OsString::from);
        let error = with_file(line.to_vec()).unwrap_err();
        assert_eq!(error.to_string(), "/nowhere/l.toml: cannot be read");
    }

    #[test]
    fn what_is_no_toml_is_named_with_its_place() {
        let error = flags("name = \"a\"\nname = \"b\"").unwrap_err();
        assert_eq!(
            error,
            "l.toml: TOML parse error at line 2, column 1\n  |\n2 | name = \"b\"\n  | ^^^^\n\
             duplicate key"
        );
        let error = flags("name = ").unwrap_err();
        assert!(
            error.starts_with("l.toml: TOML parse error at line 1, column 8"),
            "{error}"
        );
        assert_eq!(
            flags("name = { a = 1 }"),
            Err(
                "l.toml: `name` must be text, a whole number, true or false, or a list of these"
                    .to_owned()
            )
        );
    }
}
