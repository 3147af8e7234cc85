//! `lockstep members transfer`: another replica leads.

use clap::Args;
use lockstep_proto::admin::v1::TransferLeadershipReply;
use serde::Serialize;

use super::leader::{leader, note_missing};
use crate::admin::Admin;
use crate::ask::in_time;
use crate::screen::{Format, Screen};
use crate::status::AdminArgs;
use crate::{Exit, VerbError};

const HELP: &str = "\
Asks the replicas which of them leads, and the leader to hand over. The leader waits until the other
one holds all of its log, so that changes wait for milliseconds and no stream ends.

Exit codes: 0 another replica leads; 1 the one asked for cannot lead; 2 no leader was found, or the
other one did not take the lead in time.

Fields of the JSON output:
  from     the name of the replica that led
  to       the name of the replica that leads: the one asked for, or another that was faster
  term     the term that it leads";

/// Hands the lead to another voter.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = HELP)]
pub(super) struct TransferArgs {
    #[command(flatten)]
    admins: AdminArgs,
    /// The name or id of the voter that is to lead, the most caught-up one if not given
    name: Option<String>,
    /// The form of the output
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    output: Format,
}

/// A hand-over as a JSON document.
#[derive(Debug, Serialize)]
struct Document<'a> {
    from: &'a str,
    to: &'a str,
    term: u64,
}

pub(super) async fn run(args: &TransferArgs, screen: &mut Screen<'_>) -> Result<Exit, VerbError> {
    let asked = args.admins.ask().await;
    let Some((leader, _)) = leader(&asked) else {
        note_missing(&asked, screen)?;
        return Ok(Exit::Unknown);
    };
    let to = args.name.as_deref().unwrap_or_default();
    let handed = async { Admin::connect(leader).await?.transfer_leadership(to).await };
    let handed = in_time(leader, args.admins.timeout, handed).await?;
    print(&handed, args.output, screen)?;
    Ok(Exit::Yes)
}

fn print(
    handed: &TransferLeadershipReply,
    output: Format,
    screen: &mut Screen<'_>,
) -> Result<(), VerbError> {
    let TransferLeadershipReply { from, to, term } = handed;
    let term = *term;
    match output {
        Format::Json => screen.document(&Document { from, to, term })?,
        Format::Table => {
            screen.line(format_args!("{from} handed the lead to {to}, term {term}"))?
        }
    }
    Ok(())
}
