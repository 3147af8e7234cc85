//! How one look at three replicas is drawn.

use super::*;
use crate::ask::AskError;
use lockstep_position::{Digest, HistoryId, Position, Term};
use lockstep_proto::admin::v1 as pb;

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn leader() -> Asked {
    let log_id = |index| Some(pb::LogId { term: 3, index });
    let kind = |resource: &str, cursor: &str, facts| pb::Kind {
        resource: resource.to_owned(),
        cursor: cursor.to_owned(),
        facts,
        age_ms: None,
    };
    let member = |name: &str, voter, matched| pb::Member {
        name: name.to_owned(),
        voter,
        matched,
        ..pb::Member::default()
    };
    let status = StatusReply {
        replica: "00000000000000ab".to_owned(),
        name: "replica-1".to_owned(),
        version: "0.1.0".to_owned(),
        role: Role::Leader.into(),
        term: 3,
        log: Some(pb::LogPointers {
            last: log_id(57),
            snapshot: log_id(50),
            ..Default::default()
        }),
        freshness: Some(pb::Freshness {
            state: freshness::State::Fresh.into(),
            age_ms: Some(12),
            limit_ms: 5_000,
            source_age_ms: Some(12_345),
            source_limit_ms: 30_000,
            ready: true,
            meaning: "all that was committed is applied".to_owned(),
        }),
        streams: Some(pb::Streams {
            get: 4,
            get_profile: 2,
        }),
        source: Some(pb::Source {
            description: "folder shop".to_owned(),
            following: true,
            kinds: vec![kind("services", "7", 12), kind("pods", "", 0)],
            problems: vec!["a.yaml: line 3 is no mapping".to_owned()],
        }),
        members: vec![
            member("replica-1", true, Some(57)),
            member("replica-2", false, None),
        ],
        resources: Some(pb::Resources {
            memory_bytes: 25 * 1024 * 1024,
            log_bytes: 1536,
            snapshot_bytes: 800,
            uptime_ms: 185_000,
        }),
        proxy_address: "127.0.0.1:8086".to_owned(),
        ..StatusReply::default()
    };
    let position = Position {
        history: HistoryId::from_u128(1),
        revision: Revision::from_u64(41),
        state_digest: Digest::from_u128(0xabc << 80),
        applied: Some(lockstep_position::LogId {
            term: Term::from_u64(3),
            index: 57,
        }),
        ..Position::default()
    };
    Asked {
        address: "127.0.0.1:9996".parse().unwrap(),
        report: Ok(Report { status, position }),
    }
}

fn new_follower() -> Asked {
    let status = StatusReply {
        name: "replica-2".to_owned(),
        role: Role::Follower.into(),
        freshness: Some(pb::Freshness {
            state: freshness::State::Syncing.into(),
            ..pb::Freshness::default()
        }),
        source: Some(pb::Source::default()),
        warnings: vec!["the log is shorter than promised".to_owned()],
        ..StatusReply::default()
    };
    let report = Report {
        status,
        position: Position::default(),
    };
    Asked {
        address: "127.0.0.1:10096".parse().unwrap(),
        report: Ok(report),
    }
}

fn silent() -> Asked {
    let address: crate::Address = "127.0.0.1:10196".parse().unwrap();
    let reason = "Connection refused".to_owned();
    let error = AskError::Unreachable {
        address: address.clone(),
        reason,
    };
    Asked {
        address,
        report: Err(error),
    }
}

#[test]
fn replicas_stand_side_by_side() {
    let expected = [
        "            replica-1                    replica-2            127.0.0.1:10196",
        "admin       127.0.0.1:9996               127.0.0.1:10096      127.0.0.1:10196",
        "id          00000000000000ab             -                    -",
        "version     0.1.0                        -                    -",
        "role        leader                       follower             unreachable: Connection refused",
        "term        3                            0                    -",
        "revision    r41                          r0                   -",
        "digest      000000000abc                 000000000000         -",
        "behind      0                            41                   -",
        "freshness   fresh, 12ms of 5.0s          syncing, no age yet  -",
        "source age  12.3s of 30.0s               unknown              -",
        "ready       yes                          no                   -",
        "streams     4 get, 2 profile             -                    -",
        "memory      25 MiB                       -                    -",
        "log         last T3-I57                  -                    -",
        "            applied T3-I57",
        "            1.5 KiB",
        "snapshot    T3-I50, 800 B                none                 -",
        "up          3m 5s                        -                    -",
        "source      folder shop                  not followed here    -",
        "            12 services at 7",
        "            0 pods, not synced",
        "members     replica-1 voter, matched 57  -                    -",
        "            replica-2 learner",
        "proxies     127.0.0.1:8086               -                    -",
        "warnings    1, see below                 1, see below         -",
    ];
    let drawn = plain(&table(&[leader(), new_follower(), silent()]));
    assert_eq!(drawn.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_leader_without_a_quorum_says_so() {
    let mut lacking = leader();
    if let Ok(report) = &mut lacking.report {
        report.status.lacks_quorum = true;
    }
    let drawn = plain(&table(&[lacking]));
    let role = drawn.lines().find(|line| line.starts_with("role"));
    assert_eq!(role, Some("role        leader (no quorum)"));
}

#[test]
fn what_is_too_long_for_a_column_stands_below() {
    let lines: Vec<_> = below(&[leader(), new_follower(), silent()])
        .iter()
        .map(|line| plain(line))
        .collect();
    assert_eq!(
        lines,
        [
            "replica-1 cannot use: a.yaml: line 3 is no mapping",
            "replica-2 warns: the log is shorter than promised",
        ]
    );
}

#[test]
fn sizes_have_the_unit_that_fits() {
    for (count, text) in [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (25 * 1024 * 1024, "25 MiB"),
        (u64::MAX, "16777215 TiB"),
    ] {
        assert_eq!(bytes(count), text);
    }
}
