//! The command line: which verb, with which flags.

use clap::{Parser, Subcommand};
use lockstep_cli::Verb;

use crate::{dev::DevArgs, options::ServeOptions};

/// The discovery control plane of a service mesh, replicated: equal revisions mean equal answers.
#[derive(Debug, Parser)]
#[command(
    name = "lockstep",
    bin_name = "lockstep",
    version,
    max_term_width = 100
)]
pub(crate) struct Args {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The verbs that run replicas, and those that ask them.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs three replicas in one process on loopback, from a folder of manifests or a cluster
    Dev(DevArgs),
    /// Runs one replica, as the StatefulSet does
    Serve(Box<ServeOptions>),
    /// Ask running replicas.
    #[command(flatten)]
    Ask(Verb),
}
