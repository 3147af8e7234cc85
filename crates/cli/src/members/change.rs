//! `lockstep members remove`, `add` and `promote`: other replicas belong to the group.

use clap::Args;
use lockstep_proto::admin::v1::RemoveMembers;
use lockstep_proto::admin::v1::change_members_request::Change;
use serde::Serialize;
use std::time::Duration;

use super::leader::{leader, note_missing};
use crate::admin::Admin;
use crate::ask::in_time;
use crate::screen::{Format, Screen};
use crate::status::AdminArgs;
use crate::{Exit, VerbError};

/// A leader gives a majority five seconds to confirm a change before it answers.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(6);

const REMOVE_HELP: &str = "\
All are removed at once. A replica that was removed may run on: it is never confirmed as fresh, it says
so, and it stays out, also when it restarts and although it is in --peers, until `lockstep members add`.
To make a group smaller, remove first, then end the processes; to replace a lost volume nothing need be
removed, since the replica comes back under its name and takes its place by itself.

Refused is what would leave voters without a majority that can be reached, --force or not. What only
leaves a group that can lose less must be insisted on with --force.

Exit codes: 0 done; 1 refused, with the reason; 2 no leader was found, another change is under way, or
no majority confirmed the change in time, so that it may be done or not: look with `lockstep members`.

Fields of the JSON output:
  done     what is true now, one sentence";

const OTHER_HELP: &str = "\
Exit codes: 0 done; 1 refused, with the reason; 2 no leader was found, another change is under way, or
no majority confirmed the change in time, so that it may be done or not: look with `lockstep members`.

Fields of the JSON output:
  done     what is true now, one sentence";

/// Ends the membership of replicas, for good.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = REMOVE_HELP)]
pub(super) struct RemoveArgs {
    #[command(flatten)]
    ask: ChangeArgs,
    /// The names or ids of the members, all removed at once
    #[arg(required = true)]
    names: Vec<String>,
    /// Does it although the group can lose less afterwards
    #[arg(long)]
    force: bool,
}

/// Takes a replica in again that was removed.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = OTHER_HELP)]
pub(super) struct AddArgs {
    #[command(flatten)]
    ask: ChangeArgs,
    /// Its name, one of the leader's --peers
    name: String,
}

/// Gives a learner a vote now.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = OTHER_HELP)]
pub(super) struct PromoteArgs {
    #[command(flatten)]
    ask: ChangeArgs,
    /// Its name or id
    name: String,
}

#[derive(Args, Clone, Debug)]
struct ChangeArgs {
    #[command(flatten)]
    admins: AdminArgs,
    /// The form of the output
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    output: Format,
}

/// A change as a JSON document.
#[derive(Debug, Serialize)]
struct Document<'a> {
    done: &'a str,
}

pub(super) async fn remove(args: &RemoveArgs, screen: &mut Screen<'_>) -> Result<Exit, VerbError> {
    let (members, force) = (args.names.clone(), args.force);
    let remove = Change::Remove(RemoveMembers { members, force });
    change(&args.ask, remove, screen).await
}

pub(super) async fn add(args: &AddArgs, screen: &mut Screen<'_>) -> Result<Exit, VerbError> {
    change(&args.ask, Change::Add(args.name.clone()), screen).await
}

pub(super) async fn promote(
    args: &PromoteArgs,
    screen: &mut Screen<'_>,
) -> Result<Exit, VerbError> {
    change(&args.ask, Change::Promote(args.name.clone()), screen).await
}

async fn change(
    args: &ChangeArgs,
    change: Change,
    screen: &mut Screen<'_>,
) -> Result<Exit, VerbError> {
    let asked = args.admins.ask().await;
    let Some((leader, _)) = leader(&asked) else {
        note_missing(&asked, screen)?;
        return Ok(Exit::Unknown);
    };
    let changed = async { Admin::connect(leader).await?.change_members(change).await };
    let within = args.admins.timeout.max(CHANGE_TIMEOUT);
    let done = in_time(leader, within, changed).await?.done;
    match args.output {
        Format::Json => screen.document(&Document { done: &done })?,
        Format::Table => screen.line(done)?,
    }
    Ok(Exit::Yes)
}
