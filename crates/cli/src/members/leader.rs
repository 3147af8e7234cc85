//! Which of the replicas that were asked leads.

use lockstep_proto::admin::v1::{Role, StatusReply};

use crate::admin::Asked;
use crate::screen::Screen;
use crate::{Address, VerbError};

/// The leader's address and status: of several that say they lead, the one of the newest term does.
pub(super) fn leader(asked: &[Asked]) -> Option<(&Address, &StatusReply)> {
    let leads = |status: &StatusReply| status.role() == Role::Leader && !status.lacks_quorum;
    newest(asked, leads)
}

/// Of those that answer and are meant, the one of the newest term.
pub(super) fn newest(
    asked: &[Asked],
    is_meant: impl Fn(&StatusReply) -> bool,
) -> Option<(&Address, &StatusReply)> {
    let answers = asked.iter().filter_map(|asked| {
        let status = &asked.report.as_ref().ok()?.status;
        is_meant(status).then_some((&asked.address, status))
    });
    answers.max_by_key(|(_, status)| status.term)
}

/// Says that nobody leads, and who did not answer.
pub(super) fn note_missing(asked: &[Asked], screen: &mut Screen<'_>) -> Result<(), VerbError> {
    for error in asked.iter().filter_map(|asked| asked.report.as_ref().err()) {
        screen.note(error)?;
    }
    screen.note("no replica that answers leads")?;
    Ok(())
}
