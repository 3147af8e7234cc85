//! `lockstep members`: who belongs to the group, and who leads it.

mod change;
mod leader;
mod list;
mod show;
mod transfer;

use clap::{Args, Subcommand};

use crate::screen::Screen;
use crate::{Exit, VerbError};
use change::{AddArgs, PromoteArgs, RemoveArgs};
use list::ListArgs;
use transfer::TransferArgs;

/// Says who belongs to the group and who leads it, and changes it.
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true, after_long_help = list::HELP)]
pub struct MembersArgs {
    #[command(subcommand)]
    change: Option<Change>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Clone, Debug, Subcommand)]
enum Change {
    /// Ends the membership of replicas, for good
    Remove(RemoveArgs),
    /// Takes a replica in again that was removed
    Add(AddArgs),
    /// Gives a learner a vote now
    Promote(PromoteArgs),
    /// Hands the lead to another voter
    Transfer(TransferArgs),
}

pub(crate) async fn run(args: &MembersArgs, screen: &mut Screen<'_>) -> Result<Exit, VerbError> {
    match &args.change {
        None => list::run(&args.list, screen).await,
        Some(Change::Remove(args)) => change::remove(args, screen).await,
        Some(Change::Add(args)) => change::add(args, screen).await,
        Some(Change::Promote(args)) => change::promote(args, screen).await,
        Some(Change::Transfer(args)) => transfer::run(args, screen).await,
    }
}
