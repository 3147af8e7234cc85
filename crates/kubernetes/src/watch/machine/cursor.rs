//! What can be said of two cursors.

use lockstep_model::Cursor;

/// The cursor of a kind that is not served. No server ever gives one like it.
pub(super) const NOT_SERVED: &str = "not served";

/// Whether a server can have meant this as a place in its history. Zero and nothing mean
/// "any place" to it: a watch from there would hide what was deleted.
pub(super) fn usable(cursor: &Cursor) -> bool {
    !matches!(&*cursor.0, "" | "0" | NOT_SERVED)
}

/// Whether `cursor` is surely older than `floor`. Cursors are opaque and usually only
/// compared for equality; but an API server's own are decimal numbers that grow, and a
/// list that goes back in time must not be believed. What is no number is not judged.
pub(super) fn is_older(cursor: &Cursor, floor: &Cursor) -> bool {
    match (number(cursor), number(floor)) {
        (Some(cursor), Some(floor)) => cursor < floor,
        (Some(_) | None, _) => false,
    }
}

fn number(cursor: &Cursor) -> Option<u64> {
    let is_decimal = cursor.0.bytes().all(|byte| byte.is_ascii_digit());
    is_decimal.then(|| cursor.0.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_are_ordered() {
        let is_older =
            |cursor: &str, floor: &str| is_older(&Cursor(cursor.into()), &Cursor(floor.into()));
        assert!(is_older("9", "10"));
        assert!(!is_older("10", "10"));
        assert!(!is_older("11", "10"));
        for opaque in ["", "a9", "+9", "99999999999999999999999"] {
            assert!(!is_older(opaque, "10"));
            assert!(!is_older("9", opaque));
        }
    }
}
