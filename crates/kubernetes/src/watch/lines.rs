//! Splits what arrives into lines.

use bytes::{Buf, Bytes, BytesMut};

/// The longest line: an object of etcd's largest size, told with room to spare.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Bytes that arrived and are not yet read as lines.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    bytes: BytesMut,
    /// How many of the bytes are known to hold no line end.
    searched: usize,
}

/// A line is longer than anything that a server sends.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a line is longer than {LINE_BYTES_MAX} bytes")]
pub(crate) struct LineTooLong;

impl Lines {
    /// Adds what arrived.
    ///
    /// # Errors
    ///
    /// The last line is too long to go on.
    pub(crate) fn push(&mut self, arrived: &[u8]) -> Result<(), LineTooLong> {
        if self.searched.saturating_add(arrived.len()) > LINE_BYTES_MAX {
            return Err(LineTooLong);
        }
        self.bytes.extend_from_slice(arrived);
        Ok(())
    }

    /// The next whole line without its end; empty lines are left out.
    pub(crate) fn next_line(&mut self) -> Option<Bytes> {
        loop {
            let unsearched = self.bytes.get(self.searched..).unwrap_or_default();
            let Some(found) = unsearched.iter().position(|byte| *byte == b'\n') else {
                self.searched = self.bytes.len();
                return None;
            };
            let line = self.bytes.split_to(self.searched.saturating_add(found));
            self.bytes.advance(1);
            self.searched = 0;
            if !line.is_empty() {
                return Some(line.freeze());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_wherever_the_pieces_are_cut() {
        let text = b"{\"a\":1}\n\n{\"b\":2}\n{\"c\"";
        for cut in 0..=text.len() {
            let mut lines = Lines::default();
            let mut found = Vec::new();
            let (first, second) = text.split_at(cut);
            for piece in [first, second] {
                lines.push(piece).unwrap();
                found.extend(std::iter::from_fn(|| lines.next_line()));
            }
            assert_eq!(found, [&b"{\"a\":1}"[..], b"{\"b\":2}"]);
        }
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut lines = Lines::default();
        let piece = vec![b'x'; LINE_BYTES_MAX];
        lines.push(&piece).unwrap();
        assert_eq!(lines.next_line(), None);
        let refused = lines.push(b"x").unwrap_err();
        assert_eq!(refused.to_string(), "a line is longer than 16777216 bytes");
    }
}
