use super::*;

fn error(text: &str) -> String {
    Row::read(text).unwrap_err().to_string()
}

const HEAD: &str = "{row: F3, title: t, pins: p, ";

#[test]
fn a_row_says_what_it_is_and_no_more() {
    let row = Row::read("{row: [F41, G-Q2], title: t, pins: p, not_served: r}").unwrap();
    assert_eq!(row.trial(), "F41 G-Q2 t");
    for (rest, text) in [
        (
            "}",
            "a row has one of `steps`, `where` and `not_served`; this one has none",
        ),
        (
            "where: a.rs, not_served: r}",
            "a row has one of `steps`, `where` and `not_served`; this one has several",
        ),
        (
            "not_served: r, settings: {like: both}}",
            "`like` is `chart` or `plain`, not \"both\"",
        ),
    ] {
        assert_eq!(error(&format!("{HEAD}{rest}")), text);
    }
    let unknown =
        "there is no row `F164`; rows are F1 to F163, G-Q1 to G-Q25, and `row A` to `row O`";
    assert_eq!(
        error("{row: F164, title: t, pins: p, not_served: r}"),
        unknown
    );
    assert_eq!(
        error("{row: [], title: t, pins: p, not_served: r}"),
        "`row` names no row"
    );
}

#[test]
fn a_misspelt_key_is_shown_with_its_place() {
    let text = error("row: F3\ntitle: t\npins: p\nstep: []\n");
    let begin = "error: line 4 column 1: unknown field `step`, expected one of row, title, pins,";
    assert!(text.starts_with(begin), "{text}");
    let text = error(&format!("{HEAD}steps: [{{note: n, opne: {{}}}}]}}"));
    assert!(
        text.contains("unknown field `opne`, expected one of note, edits, close, open,"),
        "{text}"
    );
    let text = error(&format!(
        "{HEAD}steps: [{{note: n, open: {{a: {{method: Put, path: x}}}}}}]}}"
    ));
    assert!(
        text.contains("unknown variant `Put`, expected one of Get, GetProfile"),
        "{text}"
    );
}

#[test]
fn a_stream_that_is_not_open_is_named_with_those_that_are() {
    let open = "{note: n, open: {a: {method: Get, path: x}, b: {method: Get, path: x}}}";
    for (steps, text) in [
        (
            format!("[{open}, {{note: n, expect: {{c: []}}}}]"),
            "step 2 expects something of `c`, which is not open; open are: a, b",
        ),
        (
            format!("[{open}, {{note: n, close: [c]}}]"),
            "step 2 closes `c`, which is not open; open are: a, b",
        ),
        (
            format!("[{open}, {{note: n, close: [a], expect: {{a: []}}}}]"),
            "step 2 expects something of `a`, which is not open; open are: b",
        ),
        (
            format!("[{open}, {open}]"),
            "step 2 opens `a`, which is open already",
        ),
    ] {
        assert_eq!(error(&format!("{HEAD}steps: {steps}}}")), text);
    }
}

#[test]
fn what_is_expected_is_messages_or_an_end() {
    let read = |text: &str| yaml::read::<Expected>(text).map_err(|error| error.to_string());
    let message = |value| ExpectedItem::Message(value);
    let one = serde_json::json!({"no_endpoints": {}});
    assert_eq!(
        read("[{no_endpoints: {}}]"),
        Ok(Expected(vec![message(one.clone())]))
    );
    assert_eq!(read("{no_endpoints: {}}"), Ok(Expected(vec![message(one)])));
    let end = ExpectedItem::End {
        code: "NOT_FOUND".into(),
        text: Some("t".into()),
    };
    assert_eq!(read("{end: NOT_FOUND, text: t}"), Ok(Expected(vec![end])));
    assert_eq!(
        read("{}"),
        Ok(Expected(vec![message(serde_json::json!({}))]))
    );
    for (text, wrong) in [
        (
            "{ad: {}}",
            "`ad` is no field of a message; known are `end`, `add`, `remove`, ",
        ),
        (
            "{end: A, txt: t}",
            "an end has `end: CODE` and perhaps `text`, not {\"end\":\"A\",",
        ),
        ("[1]", "a message or an end is expected, not 1"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.contains(wrong), "{error}");
    }
}

#[test]
fn the_page_shows_every_row_and_what_is_open() {
    let file = |name: &str, text: &str| RowFile {
        name: name.to_owned(),
        row: Row::read(text),
    };
    let files = [
        file(
            "a.yaml",
            "{row: [F3, F4], title: t, pins: p, steps: [{note: n}]}",
        ),
        file(
            "b.yaml",
            "{row: F4, title: u, pins: p, where: crates/a/src/b.rs the tests}",
        ),
        file(
            "c.yaml",
            "{row: G-Q14, title: v, pins: p, not_served: other clusters}",
        ),
        file("d.yaml", "nothing"),
    ];
    let page = table(&files);
    let line = |id: &str| {
        let begin = format!("| {id} |");
        let line = page.lines().find(|line| line.starts_with(&begin)).unwrap();
        line.rsplit('|').nth(1).unwrap().trim().to_owned()
    };
    assert_eq!(line("F3"), "[t](../crates/contract/rows/a.yaml)");
    assert_eq!(
        line("F4"),
        "[t](../crates/contract/rows/a.yaml); `crates/a/src/b.rs` the tests"
    );
    assert_eq!(line("G-Q14"), "not served: other clusters");
    assert_eq!(line("row A"), "open");
    assert!(page.contains("\n199 rows, of which 196 are open.\n"));
    assert_eq!(open_rows(&files).len(), 196);
}
