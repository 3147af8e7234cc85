//! `lockstep members`: who belongs to the group.

use clap::Args;

use super::leader::{leader, newest, note_missing};
use super::show::{self, Seen};
use crate::screen::{Format, Screen};
use crate::status::AdminArgs;
use crate::{Exit, VerbError};

pub(super) const HELP: &str = "\
Shown is what the leader knows: who votes, who follows without a vote, who is configured and stays out
with the reason, and who was removed. Without a leader it is what the replica of the newest term knows.

Exit codes: 0 as the leader sees it; 2 no replica that answers leads.

Fields of the JSON output:
  seen_by      the name of the replica that says so
  leads        whether it leads; all that is null is known to a leader only
  term         its term
  voters       how many replicas vote
  may_fail     how many of them may fail, and the group still commits
  members      array of {replica, name, address, role, matched, behind, acked_ago_ms, since_unix_ms};
               role: leader, voter or learner; since_unix_ms null of the first members
  outside      array of {name, address, role, why}; role: removed by an operator, or outside";

/// How to show who belongs to the group.
#[derive(Args, Clone, Debug)]
pub(super) struct ListArgs {
    #[command(flatten)]
    admins: AdminArgs,
    /// The form of the output
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    output: Format,
}

pub(super) async fn run(args: &ListArgs, screen: &mut Screen<'_>) -> Result<Exit, VerbError> {
    let asked = args.admins.ask().await;
    let leader = leader(&asked).map(|(_, status)| status);
    if leader.is_none() {
        note_missing(&asked, screen)?;
    }
    let Some(status) = leader.or_else(|| newest(&asked, |_| true).map(|(_, status)| status)) else {
        return Ok(Exit::Unknown);
    };
    let seen = Seen::by(status, leader.is_some());
    match args.output {
        Format::Json => screen.document(&seen)?,
        Format::Table => {
            screen.text(&show::table(&seen))?;
            for line in show::below(&seen) {
                screen.line(line)?;
            }
        }
    }
    Ok(if leader.is_some() {
        Exit::Yes
    } else {
        Exit::Unknown
    })
}
