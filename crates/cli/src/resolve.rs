//! `lockstep resolve`: plays a proxy and prints what it is told.

mod all;
mod heading;
mod once;
mod profile;
mod watch;

use clap::Args;
use std::time::Duration;

use crate::address::{default_proxies, once_each};
use crate::proxy::Question;
use crate::screen::{Format, Screen};
use crate::span::parse_span;
use crate::{Address, Exit, VerbError};

const HELP: &str = "\
Exit codes: 0 an answer was printed (with --all: all answers are equal); 1 the replica refuses
(NotFound, InvalidArgument, FailedPrecondition), or answers differ; 2 it could not be found out.

Fields of the JSON output; those of other servers than Lockstep's replicas are null:
  authority, replica, name, history, revision, digest, stale, age_ms,
  source_stale
  exists       false if there is no such service
  endpoints    array of {address, weight, zone, identity, hint, inbound_port,
               authority_override, labels}
With --watch, one object a line for each update:
  ...labels, exists, count, added and changed (arrays of endpoints), removed (array of addresses),
  ignored      why proxies ignore this update, else null
With --profile:
  ...labels, fully_qualified_name, opaque_protocol, routes, retry_budget, overrides, endpoint,
  parent, profile
With --all:
  authority, verdict (equal, different or unknown), findings (array of sentences),
  replicas     array of {address, replica, name, ..., exists, endpoints, error}";

/// Asks what a proxy would be told about an authority.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = HELP)]
pub struct ResolveArgs {
    /// What to ask about: NAME.NAMESPACE.svc.DOMAIN[:PORT], or IP:PORT with --profile
    #[arg(value_name = "AUTHORITY")]
    authority: String,
    /// Prints every update until interrupted
    #[arg(long)]
    watch: bool,
    /// Asks GetProfile instead of Get
    #[arg(long)]
    profile: bool,
    /// The proxy's context token, such as {"ns":"shop","nodeName":"node-a"}
    #[arg(
        long,
        value_name = "TOKEN",
        default_value = "",
        hide_default_value = true
    )]
    context: String,
    /// The proxy port of the replica to ask; several with --all
    ///
    /// Default: 127.0.0.1:8086, and with --all also 127.0.0.1:8186 and 127.0.0.1:8286, where
    /// `lockstep dev` listens. Of several without --all the first is asked.
    #[arg(
        long,
        value_name = "HOST:PORT",
        value_delimiter = ',',
        env = "LOCKSTEP_ADDRESS"
    )]
    address: Vec<Address>,
    /// Asks every replica and compares
    #[arg(long, conflicts_with_all = ["watch", "profile"])]
    all: bool,
    /// How long to wait for the first answer
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_span)]
    timeout: Duration,
    /// The form of the output
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    output: Format,
}

impl ResolveArgs {
    fn question(&self) -> Question {
        Question {
            authority: self.authority.clone(),
            context: self.context.clone(),
        }
    }

    /// Every address to ask with --all.
    fn addresses(&self) -> Vec<Address> {
        if self.address.is_empty() {
            default_proxies().into()
        } else {
            once_each(&self.address)
        }
    }

    /// The one address to ask without --all.
    fn address(&self) -> Address {
        let [default, ..] = default_proxies();
        self.address.first().cloned().unwrap_or(default)
    }
}

pub(crate) async fn run(args: &ResolveArgs, screen: &mut Screen<'_>) -> Result<Exit, VerbError> {
    match (args.all, args.profile, args.watch) {
        (true, _, _) => all::run(args, screen).await,
        (false, true, _) => profile::run(args, screen).await,
        (false, false, true) => watch::run(args, screen).await,
        (false, false, false) => once::run(args, screen).await,
    }
}
