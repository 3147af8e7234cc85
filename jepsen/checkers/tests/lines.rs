//! A history survives the way to a file and back, and a bad line is named.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::error::Error;

use lockstep_jepsen_checkers::*;
use lockstep_jepsen_model::{Kind, Message, ObjectKey, Question};
use serde_json::json;

const REV: Rev = Rev::new(0x9f, 1207);

fn events() -> Vec<Event> {
    let open = Open {
        client: 3,
        replica: Replica(2),
        question: Question {
            authority: "web.shop.svc.cluster.local:80".into(),
            node: "".into(),
        },
        min: Some(REV),
        reads: true,
    };
    let told = Told {
        rev: Some(REV),
        stale: None,
        age_ms: Some(212),
        message: Message::Remove(vec!["10.0.0.1:80".parse().unwrap()]),
    };
    let write = TruthWrite {
        writes: vec![
            Written::Put(json!({"kind": "Node", "metadata": {"name": "a"}}).into()),
            Written::Delete(ObjectKey::new(Kind::Pod, "shop", "web-1")),
        ],
    };
    let observed = Observed {
        replica: Replica(2),
        rev: REV,
        sigma: Digest(7),
        chi: Digest(8),
        term: 4,
        applied: 1300,
    };
    let stream = Process::Stream(1182);
    let client = Process::Client(7);
    let whats = [
        (client, What::Invoke(Call::TruthWrite(write))),
        (client, What::Ok(Return::TruthWrite(vec![5532, 0]))),
        (client, What::Invoke(Call::Add(5))),
        (client, What::Unknown(Operation::Add, "timed out".into())),
        (
            Process::Client(8),
            What::Invoke(Call::Cas {
                key: 1,
                from: 2,
                to: 3,
            }),
        ),
        (
            Process::Client(8),
            What::Fail(Operation::Cas, "holds 4".into()),
        ),
        (stream, What::Invoke(Call::Open(open))),
        (stream, What::Ok(Return::Open(Opened::default()))),
        (stream, What::Seen(Seen::Msg(told))),
        (
            Process::Observer(Replica(2)),
            What::Seen(Seen::Digest(observed)),
        ),
        (Process::Nemesis, What::Seen(Seen::Phase(Phase::Healed))),
    ];
    let timed = whats.into_iter().zip(100..);
    timed
        .map(|((process, what), at)| Event { at, process, what })
        .collect()
}

fn lines() -> String {
    let mut bytes = Vec::new();
    History::from(events()).write_to(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The error of a history in which line `number` is `text`.
fn error_with(number: usize, text: &str) -> String {
    let lines = lines();
    let mut lines: Vec<&str> = lines.lines().collect();
    lines[number - 1] = text;
    let error = History::read_from(lines.join("\n").as_bytes()).expect_err(text);
    let mut message = error.to_string();
    let mut cause: Option<&dyn Error> = error.source();
    while let Some(error) = cause {
        message = format!("{message}: {error}");
        cause = error.source();
    }
    message
}

#[test]
fn a_history_reads_back() {
    let history = History::from(events());
    assert_eq!(History::read_from(lines().as_bytes()).unwrap(), history);
}

#[test]
fn a_line_is_an_operation_map_of_jepsen() {
    let lines = lines();
    let lines: Vec<&str> = lines.lines().collect();
    let parsed: serde_json::Value = serde_json::from_str(lines[8]).unwrap();
    let wanted = json!({
        "i": 8, "t": 108, "type": "info", "process": "stream-1182", "f": "msg",
        "value": {
            "rev": ["0000000000000000000000000000009f", 1207],
            "age_ms": 212,
            "message": {"remove": ["10.0.0.1:80"]},
        },
    });
    assert_eq!(parsed, wanted);
    let parsed: serde_json::Value = serde_json::from_str(lines[3]).unwrap();
    assert_eq!(parsed["value"], json!({"error": "timed out"}));
}

#[test]
fn the_edn_form_has_keywords_where_jepsen_has_them() {
    let mut bytes = Vec::new();
    History::from(events()).write_edn(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[2],
        "{:index 2, :time 102, :type :invoke, :process 7, :f :add, :value 5}"
    );
    assert_eq!(
        lines[10],
        "{:index 10, :time 110, :type :info, :process :nemesis, :f :phase, :value \"healed\"}"
    );
    assert_eq!(lines.len(), events().len());
}

#[test]
fn a_bad_line_is_named_with_what_is_allowed() {
    let line = |kind: &str, f: &str, value: &str| {
        format!(r#"{{"i":1,"t":101,"type":"{kind}","process":7,"f":"{f}","value":{value}}}"#)
    };
    let cases = [
        (
            line("okay", "add", "5"),
            "`okay` is no type; allowed are `invoke`, `ok`, `fail` and `info`",
        ),
        (
            line("invoke", "ad", "5"),
            "`invoke ad`: unknown variant `ad`, expected one of `truth-write`, `open`, `read`, \
             `write`, `cas`, `add`",
        ),
        (
            line("invoke", "add", "true"),
            "`invoke add`: invalid type: boolean `true`, expected u64",
        ),
        (
            line(
                "info",
                "role",
                r#"{"replica":"2","term":1,"role":"leader"}"#,
            ),
            "`info role`: `2` is no replica; allowed are `n0`, `n1`, `n2` and so on",
        ),
    ];
    for (text, problem) in cases {
        assert_eq!(error_with(2, &text), format!("line 2: {problem}"));
    }
}

#[test]
fn a_torn_line_and_a_lost_line_and_time_that_goes_back_are_found() {
    let torn = error_with(11, r#"{"i":10,"t":110,"type":"in"#);
    assert!(
        torn.starts_with("line 11: no event: EOF while parsing"),
        "{torn}"
    );
    let add = |i: usize, t: u64| {
        format!(r#"{{"i":{i},"t":{t},"type":"invoke","process":7,"f":"add","value":1}}"#)
    };
    assert_eq!(
        error_with(3, &add(3, 102)),
        "line 3: `i` is 3 where 2 comes next"
    );
    assert_eq!(
        error_with(3, &add(2, 99)),
        "line 3: `t` is 99, before 101 of the line above"
    );
}

#[test]
fn a_process_that_is_none_is_refused() {
    let text = r#"{"i":0,"t":1,"type":"invoke","process":"client-7","f":"add","value":1}"#;
    let error = error_with(1, text);
    let wanted = "`client-7` is no process; allowed are a number, `stream-NUMBER`, `obs-REPLICA` \
                  and `nemesis`";
    assert!(error.contains(wanted), "{error}");
}

#[test]
fn a_client_number_is_never_handed_out_twice() {
    let mut numbers = ClientNumbers::default();
    assert_eq!(
        [numbers.fresh(), numbers.fresh(), numbers.fresh()],
        [0, 1, 2]
    );
}
