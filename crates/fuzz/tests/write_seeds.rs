//! Writes the seeds anew: run by hand, after the formats of which they are examples have changed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use lockstep_contract::yaml;
use lockstep_position::{HistoryId, LogId, ReplicaId, Term};
use lockstep_proto::{admin::v1 as admin, peer::v1 as wire};
use lockstep_state::{Batch, Command, codec};
use prost::Message;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The most seeds of one kind of object: the first of each shape.
const OBJECTS_MAX: usize = 24;

fn crates() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn put(target: &str, name: &str, bytes: &[u8]) {
    let folder = crates().join("fuzz/seeds").join(target);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), bytes).unwrap();
}

#[test]
#[ignore = "writes files"]
fn write_seeds() {
    texts();
    objects();
    durable();
    folders();
    peers();
    requests();
}

fn texts() {
    let authorities = [
        "web.shop.svc.cluster.local",
        "web.shop.svc.cluster.local:8080",
        "pod-0.web.shop.svc.cluster.local:+080",
        "[web.shop.svc.cluster.local]:80",
        "a.b.web.shop.svc.cluster.local:80",
        "web.shop.svc.cluster.local.:80",
        "10.1.0.1:80",
        "[fd00::1]:80",
        "[::ffff:10.1.0.1]:80",
        "fd00::1",
        "mesh.example.org\nweb.shop.svc.mesh.example.org:65535",
        "\nweb.shop.svc.:1",
    ];
    let tokens = [
        "{\"ns\":\"shop\", \"nodeName\":\"node-a\", \"pod\":\"web-1\"}\n",
        "ns:shop",
        "ns:shop:x",
        "{\"NS\":\"shop\",\"nodename\":5,\"zz\":[1,{\"ns\":\"x\"}]}",
        "{\"ns\":\"\\u0000\\ud83d\\ude00\"}",
        "{\"ns\":{\"ns\":{\"ns\":null}}}",
        "[\"ns\"]",
    ];
    for (number, text) in authorities.iter().enumerate() {
        put("authority", &format!("{number:02}.txt"), text.as_bytes());
    }
    for (number, text) in tokens.iter().enumerate() {
        put("token", &format!("{number:02}.txt"), text.as_bytes());
    }
}

/// Objects of the recorded scenarios, one of each shape.
fn objects() {
    let mut shapes = BTreeMap::<String, BTreeSet<String>>::new();
    let mut scenarios: Vec<PathBuf> = fs::read_dir(crates().join("contract/corpus"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    scenarios.sort();
    for scenario in scenarios {
        let number = scenario.file_name().unwrap().to_str().unwrap()[..3].to_owned();
        let text = fs::read_to_string(scenario.join("objects.yaml")).unwrap();
        let objects = yaml::documents(&text.replace(&format!("-{number}"), "")).unwrap();
        for object in &objects {
            let kind = object["kind"].as_str().unwrap().to_owned();
            let target = match kind.as_str() {
                "ServiceProfile" => "service_profile",
                "EndpointSlice" => "slice",
                "Namespace" => continue,
                _ => "object",
            };
            let known = shapes.entry(kind.clone()).or_default();
            if known.len() < OBJECTS_MAX && known.insert(shape(object)) {
                let name = format!("{number}-{}-{}.json", kind.to_lowercase(), known.len());
                put(target, &name, object.to_string().as_bytes());
            }
        }
        if shapes
            .entry("all".to_owned())
            .or_default()
            .insert(shape(&objects[1..].into()))
        {
            let lines: Vec<String> = objects[1..].iter().map(Value::to_string).collect();
            if lines.len() < 8 && number.ends_with('0') {
                put(
                    "object",
                    &format!("{number}.jsonl"),
                    lines.join("\n").as_bytes(),
                );
            }
        }
    }
}

/// The fields that an object has.
fn shape(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| format!("{key}{}", shape(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            let shapes: BTreeSet<String> = items.iter().map(shape).collect();
            format!("[{}]", Vec::from_iter(shapes).join(","))
        }
        Value::Null => "0".to_owned(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => String::new(),
    }
}

fn durable() {
    let golden = crates().join("state/tests/golden");
    let batch = fs::read(golden.join("batch-v2.bin")).unwrap();
    put(
        "image",
        "golden.bin",
        &fs::read(golden.join("image-v2.bin")).unwrap(),
    );
    put("image", "empty.bin", &{
        let mut bytes = Vec::new();
        let image = lockstep_state::State::default().image();
        image.write(&mut bytes).unwrap();
        bytes
    });
    let Batch { term, commands, .. } = codec::decode_batch(&batch).unwrap();
    put("batch", "golden.bin", &batch);
    let mut kinds = BTreeSet::new();
    for (number, command) in commands.into_iter().enumerate() {
        // Some small ones, one of each kind of command.
        let name = match &command {
            Command::Remember(key, _) => format!("remember-{}", key.kind),
            other => format!("{other:?}")
                .split('(')
                .next()
                .unwrap()
                .to_lowercase(),
        };
        if kinds.insert(name.clone()) {
            let batch = Batch::whole(term, vec![command]);
            put(
                "batch",
                &format!("{number:02}-{name}.bin"),
                &codec::encode_batch(&batch),
            );
        }
    }
}

/// The first byte says which file, as the target reads it.
fn folders() {
    use lockstep_storage::{DataFolder, OpenAs};
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let (cluster, name) = ("prod", "replica-1");
    let opened = DataFolder::open(folder.path(), OpenAs { cluster, name }).unwrap();
    opened
        .remember_history(HistoryId::from_u128(0xabc))
        .unwrap();
    let last = LogId {
        term: Term::from_u64(1),
        index: 3,
    };
    let mut writer = opened.snapshots().writer(last, b"meta").unwrap();
    writer.write_all(&[2; 300]).unwrap();
    let snapshot = writer.finish().unwrap();
    opened.snapshots().keep(&snapshot).unwrap();
    opened.close().unwrap();
    let snapshots = fs::read_dir(folder.path().join("snapshots")).unwrap();
    let snapshot = snapshots.map(|it| it.unwrap().path()).next().unwrap();
    let files = [
        (0, folder.path().join("identity")),
        (1, folder.path().join("promise")),
        (2, snapshot),
    ];
    for (how, path) in files {
        let bytes = fs::read(&path).unwrap();
        let ending = path.extension().map_or("bin", |it| it.to_str().unwrap());
        put(
            "folder",
            &format!("{how}.{ending}"),
            &[&[how], &bytes[..]].concat(),
        );
        put(
            "folder",
            &format!("{how}-as-is.{ending}"),
            &[&[how | 0x80], &bytes[..]].concat(),
        );
    }
    put("folder", "3-one-byte.bin", &[3, 0, 0, 9, 1]);
    put(
        "folder",
        "3-three-bytes.bin",
        &[3, 0, 16, 0, 255, 0, 1, 80, 4, 1, 0, 0, 128],
    );
}

fn membership() -> wire::Membership {
    let member = |number| wire::Member {
        id: ReplicaId::from_u64(number).as_u64(),
        name: format!("replica-{number}"),
        address: format!("10.0.0.{number}:4100"),
        since_unix_ms: 1_796_601_600_000,
    };
    wire::Membership {
        voters: vec![
            wire::VoterSet { ids: vec![1, 2] },
            wire::VoterSet { ids: vec![2, 3] },
        ],
        members: vec![member(1), member(2), member(3)],
        dismissed: vec![wire::Dismissed {
            name: "replica-4".to_owned(),
            address: "10.0.0.4:4100".to_owned(),
        }],
    }
}

fn peers() {
    let log_id = |index| wire::LogId { term: 4, index };
    let route = wire::Route {
        cluster: "prod".to_owned(),
        from: 1,
        to: 2,
        history: HistoryId::from_u128(7)
            .as_u128()
            .to_be_bytes()
            .to_vec()
            .into(),
    };
    let id = |id| ReplicaId::from_u64(id).as_u64();
    let ballot = wire::Ballot {
        term: 4,
        candidate: id(1),
        committed: true,
    };
    let membership = membership();
    let entry = |index, kind, payload: Vec<u8>| wire::Entry {
        log_id: Some(log_id(index)),
        kind,
        payload: payload.into(),
    };
    let append = wire::AppendRequest {
        route: Some(route.clone()),
        ballot: Some(ballot),
        previous: Some(log_id(7)),
        entries: vec![
            entry(8, 0, Vec::new()),
            entry(9, 1, b"abc".to_vec()),
            entry(10, 2, membership.encode_to_vec()),
        ],
        committed: Some(log_id(7)),
    };
    put("peer", "append.bin", &append.encode_to_vec());
    let vote = wire::VoteRequest {
        route: Some(route.clone()),
        ballot: Some(ballot),
        last: Some(log_id(9)),
        leadership_transfer: true,
    };
    put("peer", "vote.bin", &vote.encode_to_vec());
    let meta = wire::SnapshotMeta {
        last: Some(log_id(9)),
        membership_log_id: Some(log_id(3)),
        membership: Some(membership),
    };
    put("peer", "meta.bin", &meta.encode_to_vec());
    let head = wire::SnapshotHead {
        route: Some(route),
        ballot: Some(ballot),
        meta: Some(meta),
    };
    let part = wire::SnapshotPart {
        part: Some(wire::snapshot_part::Part::Head(head)),
    };
    put("peer", "head.bin", &part.encode_to_vec());
    labels();
}

fn labels() {
    let label = admin::Position {
        history: HistoryId::from_u128(5).to_string(),
        revision: 7,
        state_digest: HistoryId::from_u128(8).to_string(),
        path_digest: HistoryId::from_u128(9).to_string(),
        applied: Some(admin::LogId { term: 2, index: 11 }),
    };
    put("peer", "label.bin", &label.encode_to_vec());
}

/// The first byte says how it is sent; the rest is a message of three texts.
fn requests() {
    let field = |tag: u8, text: &str| {
        let length = u8::try_from(text.len()).unwrap();
        [&[tag << 3 | 2, length], text.as_bytes()].concat()
    };
    let paths = [
        "web.shop.svc.cluster.local:80",
        "pod-0.web.shop.svc.cluster.local",
        "10.0.0.1:80",
        "web",
    ];
    for (number, path) in paths.iter().enumerate() {
        let token = "{\"ns\":\"shop\",\"nodeName\":\"node-a\"}";
        let message = [field(1, "k8s"), field(2, path), field(3, token)].concat();
        for how in [0, 1, 5] {
            let name = format!("{number}-{how}.bin");
            put("request", &name, &[&[how], &message[..]].concat());
        }
    }
    put("request", "bare.bin", &[2, 0, 0, 0, 0, 3, 18, 1, b'a']);
    put("request", "empty.bin", &[4]);
}
