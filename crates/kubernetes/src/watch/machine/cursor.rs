//! Cursors that are no place in history.

use lockstep_model::Cursor;

/// The cursor of a kind that is not served. No server ever gives one like it.
pub(super) const NOT_SERVED: &str = "not served";

/// Whether a server can have meant this as a place in its history. Zero and nothing mean
/// "any place" to it: a watch from there would hide what was deleted.
pub(super) fn usable(cursor: &Cursor) -> bool {
    !matches!(&*cursor.0, "" | "0" | NOT_SERVED)
}
