//! What became of which damage, as a table: a row for each place, a column for each sort.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{Case, Fate};

/// The table, and what its words mean.
pub(super) fn table(cases: &[Case]) -> String {
    let places: BTreeSet<&str> = cases.iter().map(|case| case.place.as_str()).collect();
    let sorts: BTreeSet<&str> = cases.iter().map(|case| case.sort.as_str()).collect();
    let mut cells: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for case in cases {
        let cell = cells.entry((&case.place, &case.sort)).or_default();
        cell.insert(word(&case.fate));
    }
    let cell = |place, sort| {
        let words = cells.get(&(place, sort)).into_iter().flatten();
        let words: Vec<&str> = words.copied().collect();
        words.join("+")
    };
    let widths = sorts.iter().map(|sort| {
        let words = places.iter().map(|place| cell(*place, *sort).len());
        (*sort, words.max().unwrap_or(0).max(sort.len()))
    });
    let widths: Vec<(&str, usize)> = widths.collect();
    let first = places.iter().map(|place| place.len()).max().unwrap_or(0);
    let mut text = " ".repeat(first);
    // Writing to a string cannot fail.
    for (sort, width) in &widths {
        let _ = write!(text, "  {sort:width$}");
    }
    for place in &places {
        let _ = write!(text, "\n{place:first$}");
        for (sort, width) in &widths {
            let _ = write!(text, "  {:width$}", cell(*place, *sort));
        }
    }
    text.push('\n');
    text
}

const fn word(fate: &Fate) -> &'static str {
    match fate {
        Fate::Agrees => "agrees",
        Fate::CameBack(_) => "came-back",
        Fate::Emptied(_) => "quarantined",
        Fate::Refused(_) => "refused",
        Fate::Broken(_) => "BROKEN",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_has_a_row_and_each_sort_a_column() {
        let case = |place: &str, sort: &str, fate| Case {
            replica: "n1".to_owned(),
            place: place.to_owned(),
            sort: sort.to_owned(),
            what: String::new(),
            fate,
        };
        let cases = [
            case("lock", "cut", Fate::Agrees),
            case("promise", "cut", Fate::Emptied(String::new())),
            case("promise", "flip", Fate::Agrees),
            case("promise", "flip", Fate::Broken(Vec::new())),
        ];
        let lines: Vec<String> = table(&cases)
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect();
        assert_eq!(
            lines,
            [
                "         cut          flip",
                "lock     agrees",
                "promise  quarantined  BROKEN+agrees",
            ]
        );
    }
}
