//! Lines for the person who waits: headings, progress, the closing summary.
//!
//! All go to standard error, in colour on a terminal and plain elsewhere, so
//! that standard output holds results only.

use std::time::Duration;

use anstyle::{AnsiColor, Style};

const HEADING: Style = AnsiColor::Cyan.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Prints the heading of a step.
pub fn heading(text: &str) {
    anstream::eprintln!("{HEADING}== {text}{HEADING:#}");
}

/// Prints a line that shows that long work moves.
pub fn progress(text: &str) {
    anstream::eprintln!("   {text}");
}

/// Prints that something ended well.
pub fn good(text: &str) {
    anstream::eprintln!("{GOOD}{text}{GOOD:#}");
}

/// Prints that something failed.
pub fn bad(text: &str) {
    anstream::eprintln!("{BAD}{text}{BAD:#}");
}

/// Writes a duration as people say it: `0.4 s`, `12.0 s`, `3 min 05 s`.
#[must_use]
pub fn spoken(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds < 60 {
        format!("{:.1} s", duration.as_secs_f64())
    } else {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_people_say_them() {
        assert_eq!(spoken(Duration::from_millis(420)), "0.4 s");
        assert_eq!(spoken(Duration::from_secs(185)), "3 min 05 s");
    }
}
