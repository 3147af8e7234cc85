//! The configuration file: keys are the names of flags, so it becomes flags.
//!
//! Keys that the command line or the environment already sets are passed over;
//! the rest is put in front of the flags and judged by the same parser.

use clap::{Command, CommandFactory, Parser};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::args::Args;

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
    /// A value that is neither text, number, boolean, nor a list of these.
    #[error("{file}: `{key}` must be text, a number, true or false, or a list of these")]
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
    let Some(file) = named_file(&line) else {
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

fn serve_command() -> Command {
    let args = Args::command();
    args.find_subcommand("serve").cloned().unwrap_or(args)
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

/// Whether the line or the environment already sets a flag.
fn is_set(line: &[OsString], serve: &Command, flag: &str) -> bool {
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
    let required = ["--name=n", "--data=d", "--peers=n=h:1"];
    let others = required
        .into_iter()
        .filter(|other| !other.starts_with(&format!("--{key}=")));
    let line = ["lockstep", "serve", flag.as_str()]
        .into_iter()
        .chain(others);
    match Args::try_parse_from(line) {
        Ok(_) => Ok(flag),
        Err(error) => {
            let text = error.render().to_string();
            let reason = text.lines().next().unwrap_or_default();
            let reason = reason.strip_prefix("error: ").unwrap_or(reason).to_owned();
            Err(ConfigFileError::Refused {
                file: shown(file),
                reason,
            })
        }
    }
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
        let text = "cluster = \"other\"\npeers = [\"a=h:1\", \"b=h:2\"]\nsnapshot-after = 500\nenable-ipv6 = false\n";
        assert_eq!(
            flags(text),
            Ok(vec![
                "--peers=a=h:1,b=h:2".to_owned(),
                "--snapshot-after=500".to_owned(),
                "--enable-ipv6=false".to_owned(),
            ])
            .map(|mut expected: Vec<String>| {
                expected.sort_by_key(|flag| text.find(&flag[2..flag.find('=').unwrap()]).unwrap());
                expected
            })
        );
    }

    #[test]
    fn an_unknown_key_is_named_with_the_keys_there_are() {
        let error = flags("snapshot-aftr = 5").unwrap_err();
        assert!(error.starts_with(
            "l.toml: unknown key `snapshot-aftr`; the keys are admin-listen, cluster, cluster-domain, "
        ), "{error}");
    }

    #[test]
    fn a_value_out_of_range_is_named_with_the_range() {
        assert_eq!(
            flags("snapshot-after = 5"),
            Err("l.toml: invalid value '5' for '--snapshot-after <ENTRIES>': 5 is not in 10..=1000000"
                .to_owned())
        );
        assert_eq!(
            flags("log-format = \"xml\""),
            Err("l.toml: invalid value 'xml' for '--log-format <LOG_FORMAT>'".to_owned())
        );
    }

    #[test]
    fn what_is_no_toml_is_named_with_its_place() {
        let error = flags("name = ").unwrap_err();
        assert!(
            error.starts_with("l.toml: TOML parse error at line 1, column 8"),
            "{error}"
        );
        assert_eq!(
            flags("name = { a = 1 }"),
            Err(
                "l.toml: `name` must be text, a number, true or false, or a list of these"
                    .to_owned()
            )
        );
    }
}
