//! `docs/contract.md`: which row is pinned by what.

use std::collections::BTreeMap;

use super::{Row, RowFile, known_rows};

const HEAD: &str = "# The contract

What the destination API answers, row by row, and the test that pins it. Rows `F` are tests of Linkerd's own that pin
behaviour of its destination controller (linkerd2 b24cd4059), `G-Q` are quirks of that controller, and `row A` to `row O`
are sequences of events that it gets wrong; of the last two kinds a test shows the right outcome. A test file without a
folder is one of `controller/api/destination` or below it. A file of
[rows](../crates/contract/rows/README.md) has the objects, what happens to them, and every message whole.

This page is generated: `LOCKSTEP_BLESS=1 cargo test -p lockstep-contract --test table` writes it.

";

/// The page, made of the files that are rows.
#[must_use]
pub fn table(files: &[RowFile]) -> String {
    let mut shown: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in files {
        if let Ok(row) = &file.row {
            for id in &row.row {
                shown.entry(id).or_default().push(cell(&file.name, row));
            }
        }
    }
    let rows = known_rows();
    let open = rows
        .iter()
        .filter(|row| !shown.contains_key(row.id.as_str()));
    let mut text = format!(
        "{HEAD}{} rows, of which {} are open.\n\n| row | what | pinned by |\n|---|---|---|\n",
        rows.len(),
        open.count(),
    );
    for row in &rows {
        let by = shown.get(row.id.as_str());
        let by = by.map_or("open".to_owned(), |cells| cells.join("; "));
        text.push_str(&format!("| {} | {} | {by} |\n", row.id, row.about));
    }
    text
}

/// The rows that no file names.
#[must_use]
pub fn open_rows(files: &[RowFile]) -> Vec<String> {
    let rows = known_rows().into_iter().map(|it| it.id);
    let is_open = |id: &String| {
        let mut named = files.iter().filter_map(|file| file.row.as_ref().ok());
        !named.any(|row| row.row.contains(id))
    };
    rows.filter(is_open).collect()
}

fn cell(file: &str, row: &Row) -> String {
    match (&row.not_served, &row.pinned_by) {
        (Some(reason), _) => format!("not served: {reason}"),
        (None, Some(place)) => {
            let (path, words) = place.split_once(' ').unwrap_or((place, ""));
            format!("`{path}` {words}").trim_end().to_owned()
        }
        (None, None) => format!("[{}](../crates/contract/rows/{file})", row.title),
    }
}
