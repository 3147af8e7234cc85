//! Text in columns.

use anstyle::{AnsiColor, Style};
use std::fmt::Write;

pub(crate) const PLAIN: Style = Style::new();
pub(crate) const HEAD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const DOUBTFUL: Style = AnsiColor::Yellow.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default();

const GAP: &str = "  ";

/// `text` in `style`, for a line outside a table.
pub(crate) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// One field: lines of text, all in one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    lines: Vec<String>,
    style: Style,
}

impl Cell {
    /// A field that shows nothing as `-`, so that no column looks forgotten.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self::styled(PLAIN, text)
    }

    pub(crate) fn styled(style: Style, text: impl Into<String>) -> Self {
        let text: String = text.into();
        let text = if text.is_empty() {
            "-".to_owned()
        } else {
            text
        };
        Self {
            lines: text.lines().map(visible).collect(),
            style,
        }
    }

    fn width(&self) -> usize {
        self.lines
            .iter()
            .map(|line| line.chars().count())
            .max()
            .unwrap_or(0)
    }
}

/// What a server sends must not move the cursor or change colours.
fn visible(line: &str) -> String {
    line.chars()
        .map(|char| if char.is_control() { '\u{fffd}' } else { char })
        .collect()
}

/// Rows of cells; every column as wide as its widest line, the last one without padding.
pub(crate) fn layout(rows: &[Vec<Cell>]) -> String {
    let widths = widths(rows);
    let mut text = String::new();
    for row in rows {
        let height = row.iter().map(|cell| cell.lines.len()).max().unwrap_or(0);
        for line in 0..height {
            text.push_str(&row_line(row, line, &widths));
            text.push('\n');
        }
    }
    text
}

fn widths(rows: &[Vec<Cell>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(Cell::width)
            .max()
            .unwrap_or(0)
    };
    (0..columns).map(width).collect()
}

fn row_line(row: &[Cell], line: usize, widths: &[usize]) -> String {
    let mut text = String::new();
    let mut pending = 0;
    for (cell, width) in row.iter().zip(widths) {
        let content = cell.lines.get(line).map_or("", String::as_str);
        if !content.is_empty() {
            text.extend(std::iter::repeat_n(' ', pending));
            pending = 0;
            let style = cell.style;
            // Writing to a string cannot fail.
            let _ = write!(text, "{style}{content}{style:#}");
        }
        pending += width - content.chars().count() + GAP.len();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(texts: &[&str]) -> Vec<Cell> {
        texts.iter().map(|text| Cell::new(*text)).collect()
    }

    #[test]
    fn columns_align_and_lines_end_without_blanks() {
        let rows = [
            row(&["A", "LONGER", "C"]),
            row(&["wide one", "", "x"]),
            row(&["y", "z", "é"]),
        ];
        assert_eq!(
            layout(&rows),
            "A         LONGER  C\nwide one  -       x\ny         z       é\n"
        );
    }

    #[test]
    fn a_cell_may_have_several_lines() {
        let rows = [
            row(&["k", "one\ntwo\nthree", "x\ny"]),
            row(&["l", "four", ""]),
        ];
        assert_eq!(
            layout(&rows),
            "k  one    x\n   two    y\n   three\nl  four   -\n"
        );
    }

    #[test]
    fn what_would_move_the_cursor_is_not_printed() {
        assert_eq!(
            layout(&[row(&["a\x1b[2Jb\rc"])]),
            "a\u{fffd}[2Jb\u{fffd}c\n"
        );
    }

    #[test]
    fn colour_takes_no_width() {
        let rows = [
            vec![Cell::styled(GOOD, "ok"), Cell::new("x")],
            row(&["long", "y"]),
        ];
        assert_eq!(layout(&rows), "\x1b[32mok\x1b[0m    x\nlong  y\n");
    }

    #[test]
    fn nothing_is_laid_out_as_nothing() {
        assert_eq!(layout(&[]), "");
    }
}
