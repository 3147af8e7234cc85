//! SVG as text: shapes with classes, so that one file is readable on light and on dark ground.

use std::fmt::Write as _;

use crate::thin::Point;

/// Colours by the ground that the reader prefers. No other file is needed to look at a picture.
const STYLE: &str = include_str!("picture.css");

/// A picture under construction.
pub(crate) struct Picture {
    text: String,
}

/// Where a text begins, lies or ends.
#[derive(Copy, Clone)]
pub(crate) enum Anchor {
    /// At its begin.
    Start,
    /// In its middle.
    Middle,
    /// At its end.
    End,
}

/// A rectangle.
#[derive(Copy, Clone)]
pub(crate) struct Area {
    /// Its left edge.
    pub(crate) x: f64,
    /// Its upper edge.
    pub(crate) y: f64,
    /// From left to right.
    pub(crate) width: f64,
    /// From top to bottom.
    pub(crate) height: f64,
}

// === impl Picture ===

impl Picture {
    /// An empty ground of a size, with a title for those who cannot see it.
    pub(crate) fn new(width: f64, height: f64, title: &str) -> Self {
        let title = escaped(title);
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
             <rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>\n"
        );
        Self { text }
    }

    /// A rectangle that says what it is when pointed at.
    pub(crate) fn area(&mut self, class: &str, area: Area, says: &str) {
        let Area {
            x,
            y,
            width,
            height,
        } = area;
        let says = escaped(says);
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.text,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\"><title>{says}</title></rect>"
        );
    }

    /// A line through points.
    pub(crate) fn line(&mut self, class: &str, points: &[Point]) {
        let mut path = String::new();
        for (x, y) in points {
            let step = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{step}{x:.1} {y:.1}");
        }
        self.path(class, &path);
    }

    /// Dots at points: lines of no length with round ends.
    pub(crate) fn dots(&mut self, class: &str, points: &[Point]) {
        let mut path = String::new();
        for (x, y) in points {
            let _ = write!(path, "M{x:.1} {y:.1}h0");
        }
        self.path(class, &path);
    }

    fn path(&mut self, class: &str, path: &str) {
        if !path.is_empty() {
            let _ = writeln!(self.text, "<path class=\"{class}\" d=\"{path}\"/>");
        }
    }

    /// A text.
    pub(crate) fn text(&mut self, class: &str, at: Point, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y) = at;
        let text = escaped(text);
        let _ = writeln!(
            self.text,
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
        );
    }

    /// The whole file.
    pub(crate) fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
}

/// Text that no reader of SVG or HTML takes for anything else.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // Not allowed in XML, whatever its form.
            char if char.is_control() && char != '\n' => escaped.push(' '),
            char => escaped.push(char),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{Anchor, Picture, escaped};

    #[test]
    fn text_stays_text() {
        assert_eq!(
            escaped("a<b & \"c\"\u{0}>"),
            "a&lt;b &amp; &quot;c&quot; &gt;"
        );
        let mut picture = Picture::new(10.0, 10.0, "x<y");
        picture.text("ink", (1.0, 2.0), Anchor::End, "1 < 2");
        let text = picture.finish();
        assert!(text.contains(">1 &lt; 2</text>"), "{text}");
        assert!(text.contains("<title>x&lt;y</title>"), "{text}");
    }
}
