//! Leaves out what nobody could see: points that would lie on each other.

use std::collections::BTreeSet;

/// A point of a picture. Unit: the picture's own, about one dot of a screen.
pub(crate) type Point = (f64, f64);

/// One point for each cell of two by two units.
pub(crate) fn dots(points: impl IntoIterator<Item = Point>) -> Vec<Point> {
    let mut cells = BTreeSet::new();
    let points = points.into_iter();
    points
        .filter(|(x, y)| cells.insert((column(x / 2.0), column(y / 2.0))))
        .collect()
}

/// For each column of one unit the first, the lowest, the highest and the last point, in the
/// order of the line, whose points must have rising x.
pub(crate) fn line(points: impl IntoIterator<Item = Point>) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::new();
    let mut here: Vec<Point> = Vec::new();
    for point in points {
        let same = here
            .first()
            .is_some_and(|it| column(it.0) == column(point.0));
        if !same {
            kept.append(&mut extremes(&here));
            here.clear();
        }
        here.push(point);
    }
    kept.append(&mut extremes(&here));
    kept
}

fn extremes(column: &[Point]) -> Vec<Point> {
    let by_height = |a: &usize, b: &usize| {
        let height = |at: &usize| column.get(*at).map_or(0.0, |point| point.1);
        height(a).total_cmp(&height(b))
    };
    let places = 0..column.len();
    let ends = [0, column.len().saturating_sub(1)];
    let reached = [places.clone().min_by(by_height), places.max_by(by_height)];
    let kept: BTreeSet<usize> = ends
        .into_iter()
        .chain(reached.into_iter().flatten())
        .collect();
    kept.into_iter()
        .filter_map(|at| column.get(at).copied())
        .collect()
}

/// The whole number below.
fn column(value: f64) -> i64 {
    // A picture is some hundred units wide.
    #[allow(clippy::cast_possible_truncation, reason = "saturates, which is right")]
    let column = value.floor() as i64;
    column
}

#[cfg(test)]
mod tests {
    use super::{dots, line};

    #[test]
    fn dots_on_each_other_are_one() {
        let points = [(1.0, 1.0), (1.5, 0.5), (3.0, 1.0), (1.0, 9.0)];
        assert_eq!(dots(points), [(1.0, 1.0), (3.0, 1.0), (1.0, 9.0)]);
    }

    #[test]
    fn a_line_keeps_what_stands_out() {
        let many = (0..1000).map(|at| {
            let height = if at == 500 { 99.0 } else { 1.0 };
            (f64::from(at) / 2000.0, height)
        });
        let kept = line(many);
        assert!(kept.len() <= 4, "{kept:?}");
        assert!(kept.contains(&(0.25, 99.0)));
    }

    #[test]
    fn a_line_of_few_points_is_kept() {
        let points = [(0.0, 1.0), (1.0, 2.0), (2.0, 1.0)];
        assert_eq!(line(points), points);
    }
}
