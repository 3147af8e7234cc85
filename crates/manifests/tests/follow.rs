//! A folder, opened, followed and edited.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use lockstep_catalog::{FactSession, FactSource, Resume, SourceEvent};
use lockstep_manifests::{ManifestSession, ManifestSource};
use lockstep_model::{Cursor, Fact, FactKey, FactKind};
use std::{collections::BTreeMap, error::Error, fs, path::Path, time::Duration};
use tempfile::TempDir;

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(30);

fn node(name: &str, zone: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Node\nmetadata: \
         {{name: {name}, labels: {{topology.kubernetes.io/zone: {zone}}}}}\n"
    )
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn refusal(path: &Path) -> String {
    let error = ManifestSource::open(path).unwrap_err();
    let text = error.to_string().replace(&path.display().to_string(), "F");
    match error.source() {
        Some(cause) => format!("{text}: {cause}"),
        None => text,
    }
}

async fn next(session: &mut ManifestSession) -> Vec<SourceEvent> {
    loop {
        let events = tokio::time::timeout(PATIENCE, session.next()).await;
        let events = events.expect("the session fell silent");
        if !is_alive(&events) {
            return events;
        }
    }
}

/// Whether this only says that the folder is there.
fn is_alive(events: &[SourceEvent]) -> bool {
    let alive = FactKind::ALL.map(|kind| SourceEvent::Alive { kind });
    events == alive
}

/// Saves a file in one step, so that no state between two can be seen.
fn save(folder: &TempDir, name: &str, text: &str) {
    let beside = folder.path().join(format!(".{name}.tmp"));
    fs::write(&beside, text).unwrap();
    fs::rename(beside, folder.path().join(name)).unwrap();
}

/// Waits for a change, whatever is told before it.
async fn change(session: &mut ManifestSession, expected: &str) {
    while !changes(session)
        .await
        .iter()
        .any(|change| change == expected)
    {}
}

/// The next changes, as text.
async fn changes(session: &mut ManifestSession) -> Vec<String> {
    let events = next(session).await.into_iter();
    let changes = events.map(|event| match event {
        SourceEvent::Changed { key, fact, cursor } => {
            assert_eq!(cursor, Cursor("manifests".into()));
            match fact {
                Some(Fact::Node(zone)) => format!("{key} in {}", zone.unwrap_or_default()),
                Some(_) => format!("{key}"),
                None => format!("{key} is gone"),
            }
        }
        other => panic!("not a change: {other:?}"),
    });
    changes.collect()
}

async fn listed(session: &mut ManifestSession) -> BTreeMap<FactKey, Fact> {
    let mut facts = BTreeMap::new();
    let mut kinds = Vec::new();
    for event in next(session).await {
        match event {
            SourceEvent::Listed(listed) => {
                assert_eq!(listed.cursor, Cursor("manifests".into()));
                kinds.push(listed.kind);
                facts.extend(listed.facts);
            }
            other => panic!("not a list: {other:?}"),
        }
    }
    assert_eq!(kinds, FactKind::ALL);
    facts
}

/// Opens a folder, follows it, and takes in the lists.
async fn following(folder: &TempDir) -> (ManifestSource, ManifestSession) {
    let source = ManifestSource::open(folder.path()).unwrap();
    let mut session = source.follow(Resume::new());
    listed(&mut session).await;
    (source, session)
}

fn problems(source: &ManifestSource) -> Vec<String> {
    source.problems().iter().map(ToString::to_string).collect()
}

#[test]
fn a_folder_that_cannot_be_a_source_is_named() {
    let missing = tempfile::tempdir().unwrap().path().join("missing");
    assert_eq!(
        refusal(&missing),
        "folder of manifests `F` cannot be read: No such file or directory (os error 2)"
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    assert_eq!(
        refusal(file.path()),
        "folder of manifests `F` cannot be read: Not a directory (os error 20)"
    );
    assert_eq!(
        refusal(folder(&[("README.md", "")]).path()),
        "folder of manifests `F` holds none: no file ends in .yaml, .yml or .json"
    );
    assert_eq!(
        refusal(folder(&[("b.json", "{\n"), ("a.json", "\n]")]).path()),
        "folder of manifests `F` holds none that can be read: \
         a.json:2: this is no JSON: expected value at line 2 column 1"
    );
}

#[tokio::test]
async fn everything_is_listed_first_whatever_the_cursor() {
    let folder = folder(&[("a.yaml", &node("n1", "z1")), ("b.json", "]")]);
    let source = ManifestSource::open(folder.path()).unwrap();
    assert_eq!(source.describe(), folder.path().display().to_string());
    let cursor = Cursor("manifests".into());
    let resume = FactKind::ALL.map(|kind| (kind, cursor.clone())).into();
    let mut session = source.follow(resume);
    let facts = listed(&mut session).await;
    let key = FactKey::named(FactKind::Node, "", "n1");
    assert_eq!(facts, [(key, Fact::Node(Some("z1".into())))].into());
    let audit = source.list().await.unwrap().into_iter();
    assert_eq!(
        audit
            .flat_map(|list| list.facts)
            .collect::<BTreeMap<_, _>>(),
        facts
    );
}

#[tokio::test]
async fn edits_are_followed() {
    let folder = folder(&[("a.yaml", &node("n1", "z1"))]);
    let (_, mut session) = following(&folder).await;
    let at = |name: &str| folder.path().join(name);
    // Written in place.
    fs::write(at("a.yaml"), node("n1", "z2")).unwrap();
    change(&mut session, "nodes n1 in z2").await;
    // Written beside and moved over, as many editors save.
    save(&folder, "a.yaml", &node("n1", "z3"));
    assert_eq!(changes(&mut session).await, ["nodes n1 in z3"]);
    // The old one moved away first, as others do.
    fs::rename(at("a.yaml"), at("a.yaml~")).unwrap();
    fs::write(at("a.yaml"), node("n1", "z4")).unwrap();
    change(&mut session, "nodes n1 in z4").await;
    // A new file, a file gone, a file renamed.
    save(&folder, "b.yaml", &node("n2", "z1"));
    assert_eq!(changes(&mut session).await, ["nodes n2 in z1"]);
    fs::remove_file(at("a.yaml")).unwrap();
    assert_eq!(changes(&mut session).await, ["nodes n1 is gone"]);
    fs::rename(at("b.yaml"), at("c.yaml")).unwrap();
    save(&folder, "d.yaml", &node("n3", "z1"));
    assert_eq!(changes(&mut session).await, ["nodes n3 in z1"]);
}

#[tokio::test]
async fn a_rewrite_without_effect_tells_nothing() {
    let folder = folder(&[("a.yaml", &node("n1", "z1"))]);
    let (_, mut session) = following(&folder).await;
    let same = format!("# only a comment\n{}", node("n1", "z1"));
    save(&folder, "a.yaml", &same);
    save(&folder, "b.yaml", &node("n2", "z1"));
    assert_eq!(changes(&mut session).await, ["nodes n2 in z1"]);
}

#[tokio::test]
async fn a_bad_edit_is_named_and_changes_nothing_not_even_for_the_next_session() {
    let folder = folder(&[("a.yaml", &node("n1", "z1"))]);
    let (source, mut session) = following(&folder).await;
    save(&folder, "a.yaml", "a: [\n");
    save(&folder, "b.yaml", &node("n2", "z1"));
    assert_eq!(changes(&mut session).await, ["nodes n2 in z1"]);
    assert_eq!(
        problems(&source),
        ["a.yaml:1: this is no YAML: unclosed bracket '[' at line 1, column 4"],
    );
    drop(session);
    let mut session = source.clone().follow(Resume::new());
    assert_eq!(listed(&mut session).await.len(), 2);
    assert_eq!(source.list().await.unwrap()[0].facts.len(), 2);
    save(&folder, "a.yaml", &node("n1", "z2"));
    assert_eq!(changes(&mut session).await, ["nodes n1 in z2"]);
    assert_eq!(problems(&source), [""; 0]);
}

#[tokio::test]
async fn a_wait_that_is_given_up_loses_nothing() {
    let folder = folder(&[("a.yaml", &node("n1", "z1"))]);
    let (_, mut session) = following(&folder).await;
    save(&folder, "a.yaml", &node("n1", "z2"));
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        assert!(tokio::time::Instant::now() < deadline, "nothing was told");
        // Shorter than the time for which a folder must be left alone.
        let given_up = Duration::from_millis(3);
        if let Ok(events) = tokio::time::timeout(given_up, session.next()).await {
            assert_eq!(events.len(), 1);
            return;
        }
    }
}

#[tokio::test]
async fn a_folder_that_disappears_leaves_everything_in_force() {
    let folder = folder(&[("a.yaml", &node("n1", "z1"))]);
    let (source, session) = following(&folder).await;
    drop(session);
    let path = folder.path().to_owned();
    drop(folder);
    let mut session = source.follow(Resume::new());
    assert_eq!(listed(&mut session).await.len(), 1);
    assert_eq!(
        problems(&source),
        ["the folder cannot be read: No such file or directory (os error 2)"],
    );
    let error = source.list().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "nodes could not be listed: {}: No such file or directory (os error 2)",
            path.display()
        ),
    );
}

#[tokio::test]
async fn the_shop_has_no_problems() {
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
    let source = ManifestSource::open(&shop).unwrap();
    assert_eq!(problems(&source), [""; 0]);
    let lists = source.list().await.unwrap();
    let count = |kind: FactKind| {
        let lists = lists.iter().filter(|list| list.kind == kind);
        lists.map(|list| list.facts.len()).sum::<usize>()
    };
    assert_eq!(count(FactKind::Node), 3);
    assert!(
        count(FactKind::Service) >= 12,
        "{}",
        count(FactKind::Service)
    );
    assert!(count(FactKind::Pod) >= count(FactKind::Service));
}

#[tokio::test]
async fn a_folder_that_is_removed_and_made_again_is_followed_on() {
    let folder = folder(&[("a.yaml", &node("a", "north"))]);
    let (source, mut session) = following(&folder).await;
    fs::remove_dir_all(folder.path()).unwrap();
    while problems(&source).is_empty() {
        // Nothing can be told while the folder is away; the problem is what we wait for.
        let waited = tokio::time::timeout(Duration::from_millis(50), session.next()).await;
        drop(waited);
    }
    assert_eq!(
        problems(&source),
        ["the folder cannot be read: No such file or directory (os error 2)"]
    );
    let unreached = source.reach().await.unwrap_err().to_string();
    let away = "No such file or directory (os error 2)";
    let expected = format!("nodes could not be listed: {}: {away}", source.describe());
    assert_eq!(unreached, expected);
    fs::create_dir(folder.path()).unwrap();
    save(&folder, "a.yaml", &node("a", "south"));
    change(&mut session, "nodes a in south").await;
    save(&folder, "a.yaml", &node("a", "west"));
    change(&mut session, "nodes a in west").await;
    assert_eq!(problems(&source), Vec::<String>::new());
    source.reach().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_folder_that_is_left_alone_says_that_it_is_there_and_one_that_is_away_does_not() {
    let folder = folder(&[("a.yaml", &node("a", "east"))]);
    let source = ManifestSource::open(folder.path()).unwrap();
    let mut session = source.follow(Resume::new());
    next(&mut session).await;
    for _ in 0..2 {
        let events = tokio::time::timeout(PATIENCE, session.next())
            .await
            .unwrap();
        assert!(is_alive(&events), "{events:?}");
    }
    fs::remove_dir_all(folder.path()).unwrap();
    // Longer than it takes to say so twice.
    let away = Duration::from_secs(11);
    let told = tokio::time::timeout(away, session.next()).await;
    assert!(told.is_err(), "{told:?}");
}
