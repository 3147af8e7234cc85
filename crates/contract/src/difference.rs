//! What differs between two values, line by line, for people.

use serde_json::Value;

/// How many equal lines are shown around a difference.
const CONTEXT_LINES: usize = 3;

/// The most pairs of lines that are aligned; what is larger is shown as replaced whole.
const PAIRS_MAX: usize = 4_000_000;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Side {
    Both,
    Left,
    Right,
}

/// The lines of `left` (`-`) that `right` (`+`) has otherwise, with some around them;
/// empty if there are none.
#[must_use]
pub fn of_texts(left: &str, right: &str) -> String {
    let (left, right): (Vec<&str>, Vec<&str>) = (left.lines().collect(), right.lines().collect());
    let lines = aligned(&left, &right);
    let differs: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, (side, _))| *side != Side::Both)
        .map(|(at, _)| at)
        .collect();
    let mut text = String::new();
    let mut is_cut = false;
    for (at, (side, line)) in lines.iter().enumerate() {
        let is_near = differs.iter().any(|it| it.abs_diff(at) <= CONTEXT_LINES);
        match (is_near, side) {
            (false, _) if !is_cut => text.push_str("   ...\n"),
            (false, _) => {}
            (true, Side::Both) => text.push_str(&format!("   {line}\n")),
            (true, Side::Left) => text.push_str(&format!(" - {line}\n")),
            (true, Side::Right) => text.push_str(&format!(" + {line}\n")),
        }
        is_cut = !is_near;
    }
    if differs.is_empty() {
        String::new()
    } else {
        text
    }
}

/// As [`of_texts`], of values printed with one field on each line.
#[must_use]
pub fn of_values(left: &Value, right: &Value) -> String {
    of_texts(&format!("{left:#}"), &format!("{right:#}"))
}

fn aligned<'a>(left: &[&'a str], right: &[&'a str]) -> Vec<(Side, &'a str)> {
    let same = left.iter().zip(right).take_while(|(l, r)| l == r).count();
    let mut lines: Vec<(Side, &str)> = left.iter().take(same).map(|it| (Side::Both, *it)).collect();
    let left = left.get(same..).unwrap_or_default();
    let right = right.get(same..).unwrap_or_default();
    if left.len().saturating_mul(right.len()) > PAIRS_MAX {
        lines.extend(left.iter().map(|it| (Side::Left, *it)));
        lines.extend(right.iter().map(|it| (Side::Right, *it)));
    } else {
        lines.extend(longest_common(left, right));
    }
    lines
}

/// The alignment that keeps the most lines.
fn longest_common<'a>(left: &[&'a str], right: &[&'a str]) -> Vec<(Side, &'a str)> {
    // kept[l][r]: how many lines can be kept of left[l..] and right[r..].
    let mut kept = vec![vec![0_usize; right.len() + 1]; left.len() + 1];
    let at = |kept: &[Vec<usize>], l: usize, r: usize| -> usize {
        kept.get(l).and_then(|row| row.get(r)).copied().unwrap_or(0)
    };
    for (l, one) in left.iter().enumerate().rev() {
        for (r, other) in right.iter().enumerate().rev() {
            let best = if one == other {
                at(&kept, l + 1, r + 1) + 1
            } else {
                at(&kept, l + 1, r).max(at(&kept, l, r + 1))
            };
            if let Some(cell) = kept.get_mut(l).and_then(|row| row.get_mut(r)) {
                *cell = best;
            }
        }
    }
    let (mut l, mut r) = (0, 0);
    let mut lines = Vec::new();
    loop {
        match (left.get(l), right.get(r)) {
            (Some(one), Some(other)) if one == other => {
                lines.push((Side::Both, *one));
                (l, r) = (l + 1, r + 1);
            }
            (Some(one), other) if other.is_none() || at(&kept, l + 1, r) >= at(&kept, l, r + 1) => {
                lines.push((Side::Left, *one));
                l += 1;
            }
            (_, Some(other)) => {
                lines.push((Side::Right, *other));
                r += 1;
            }
            (Some(_) | None, None) => return lines,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn equal_values_have_no_difference() {
        assert_eq!(of_values(&json!({"a": [1, 2]}), &json!({"a": [1, 2]})), "");
    }

    #[test]
    fn a_difference_is_shown_with_what_is_around_it() {
        let left = json!({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7});
        let right = json!({"a": 1, "b": 2, "c": 3, "d": 4, "e": 6, "f": 6, "g": 7, "h": 8});
        let expected = "   ...\n     \"b\": 2,\n     \"c\": 3,\n     \"d\": 4,\n -   \"e\": 5,\n \
                        +   \"e\": 6,\n     \"f\": 6,\n -   \"g\": 7\n +   \"g\": 7,\n \
                        +   \"h\": 8\n   }\n";
        assert_eq!(of_values(&left, &right), expected);
    }

    #[test]
    fn what_is_only_on_one_side_is_shown() {
        assert_eq!(of_texts("", "a\n"), " + a\n");
        assert_eq!(of_texts("a\nb\n", "b\n"), " - a\n   b\n");
    }
}
