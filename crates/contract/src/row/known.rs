//! Every row that there is: `rows.tsv`.

/// A row of the contract, whether something pins it or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownRow {
    /// `F1` to `F163`: a test of Linkerd's that pins behaviour. `G-Q1` to `G-Q25`: a quirk of
    /// its controller. `row A` to `row O`: a sequence of events that its controller gets wrong.
    pub id: String,
    /// What it is about.
    pub about: String,
}

/// Every row, in the order of the contract.
#[must_use]
pub fn known_rows() -> Vec<KnownRow> {
    let lines = include_str!("../../rows.tsv").lines();
    let rows = lines.filter_map(|line| line.split_once('\t'));
    let rows = rows.map(|(id, about)| KnownRow {
        id: id.to_owned(),
        about: about.to_owned(),
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_row_is_known_once() {
        let rows = known_rows();
        let ids: BTreeSet<&str> = rows.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids.len(), rows.len());
        let expected = (1..=163).map(|it| format!("F{it}"));
        let expected = expected.chain((1..=25).map(|it| format!("G-Q{it}")));
        let letters = "ABCDFGHIJLO".chars().map(|it| format!("row {it}"));
        let expected: Vec<String> = expected.chain(letters).collect();
        assert_eq!(
            rows.into_iter().map(|it| it.id).collect::<Vec<_>>(),
            expected
        );
    }
}
