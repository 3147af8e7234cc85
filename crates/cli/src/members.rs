//! `lockstep members`: who belongs to the group, and who leads it.

mod transfer;

use clap::{Args, Subcommand};

use crate::screen::Screen;
use crate::{Exit, VerbError};
use transfer::TransferArgs;

/// Says who belongs to the group and who leads it, and changes it.
#[derive(Args, Clone, Debug)]
pub struct MembersArgs {
    #[command(subcommand)]
    change: Change,
}

#[derive(Clone, Debug, Subcommand)]
enum Change {
    /// Hands the lead to another voter
    Transfer(TransferArgs),
}

pub(crate) async fn run(args: &MembersArgs, screen: &mut Screen<'_>) -> Result<Exit, VerbError> {
    match &args.change {
        Change::Transfer(args) => transfer::run(args, screen).await,
    }
}
