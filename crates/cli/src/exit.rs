//! What a script learns from a verb without reading its output.

use anstyle::Style;
use std::process::ExitCode;

use crate::table::{BAD, DOUBTFUL, GOOD};

/// The outcome of a verb, as the exit code of the process.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: yes, all is as it should be.
    Yes,
    /// 1: no, or a difference was found.
    No,
    /// 2: it could not be found out.
    Unknown,
}

impl Exit {
    /// The code that the process ends with. Range: 0 to 2.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Yes => 0,
            Self::No => 1,
            Self::Unknown => 2,
        }
    }

    /// The outcome of a comparison, for JSON.
    pub(crate) const fn verdict(self) -> &'static str {
        match self {
            Self::Yes => "equal",
            Self::No => "different",
            Self::Unknown => "unknown",
        }
    }

    /// The colour to say it in.
    pub(crate) const fn style(self) -> Style {
        match self {
            Self::Yes => GOOD,
            Self::No => BAD,
            Self::Unknown => DOUBTFUL,
        }
    }

    /// The outcome of two questions: a difference outweighs what could not be found out, because
    /// nothing that is still unknown can undo it.
    pub(crate) const fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Yes, Self::Yes) => Self::Yes,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_outweighs_what_is_unknown() {
        assert_eq!(Exit::Yes.and(Exit::Yes), Exit::Yes);
        assert_eq!(Exit::Yes.and(Exit::Unknown), Exit::Unknown);
        assert_eq!(Exit::Unknown.and(Exit::No), Exit::No);
        assert_eq!(Exit::No.and(Exit::Yes), Exit::No);
    }

    #[test]
    fn the_codes_are_fixed() {
        assert_eq!(
            [Exit::Yes, Exit::No, Exit::Unknown].map(Exit::code),
            [0, 1, 2]
        );
    }
}
