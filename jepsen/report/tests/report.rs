//! What a run leaves: every file, readable alone, saying what the checkers found.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

/// The run that the checkers' own tests let go wrong.
#[path = "../../checkers/tests/anomalies/scene.rs"]
#[allow(dead_code, reason = "made for the tests of the checkers")]
mod scene;

use std::fs;
use std::path::Path;

use lockstep_jepsen_checkers::*;
use lockstep_jepsen_report as report;
use scene::{N1, N2, Scene, add};
use serde_json::Value;

const FILES: [&str; 6] = [
    "results.json",
    "report.md",
    "timeline.html",
    "lag.svg",
    "latency.svg",
    "freshness.svg",
];

fn written(scene: &Scene, folder: &Path) -> [String; 6] {
    let history = scene.history();
    let judgement = judge(&history, &scene.limits);
    report::write(&history, &judgement, folder).unwrap();
    FILES.map(|name| fs::read_to_string(folder.join(name)).unwrap())
}

#[test]
fn every_file_is_there_and_needs_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let texts = written(&Scene::new(), &folder.path().join("a/b"));
    for (name, text) in FILES.iter().zip(&texts) {
        let text = text.replace("http://www.w3.org/2000/svg", "");
        for outside in ["http:", "https:", "src=", "@import", "url("] {
            assert!(!text.contains(outside), "{name} names {outside}");
        }
    }
    let [_, markdown, page, lag, latency, freshness] = texts;
    assert!(markdown.starts_with("# Run: valid\n"), "{markdown}");
    assert!(page.contains("<b>n3</b>") && page.contains("♛ 3"), "{page}");
    for svg in [&lag, &latency, &freshness] {
        // Text is text, and both grounds are thought of.
        assert!(svg.contains("</text>"), "{svg}");
        assert!(svg.contains("prefers-color-scheme: dark"), "{svg}");
        assert!(svg.len() < 50_000, "{} bytes", svg.len());
    }
    assert!(lag.contains(">cut</title>"), "{lag}");
    assert!(lag.contains(">n3: p50 "), "{lag}");
    assert!(latency.contains(">written to told: p50 "), "{latency}");
    assert!(
        latency.contains(">operations, failed or unknown: p50 1 s"),
        "{latency}"
    );
    assert!(
        freshness.contains(">older than said: 0 claims</text>"),
        "{freshness}"
    );
}

#[test]
fn what_is_broken_is_told_by_its_guarantee_on_every_page() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::new();
    scene.edit(|event| match &mut event.what {
        // The replica that is cut off says that it is fresh.
        What::Seen(Seen::Claim(claim)) if !claim.fresh => {
            claim.fresh = true;
            claim.age = Some(1_000_000);
            true
        }
        _ => false,
    });
    let [results, markdown, page, _, _, freshness] = written(&scene, folder.path());
    let results: Value = serde_json::from_str(&results).unwrap();
    assert_eq!(
        (&results["verdict"], &results["exit_code"]),
        (&"invalid".into(), &1.into())
    );
    let checkers = results["checkers"].as_array().unwrap();
    let found = checkers
        .iter()
        .find(|it| it["checker"] == "C6 freshness")
        .unwrap();
    let sentence = Guarantee::FreshOrSaysSo.sentence();
    assert_eq!(found["verdict"], "invalid");
    assert_eq!(found["violations"][0]["sentence"], sentence);
    assert!(markdown.contains(sentence), "{markdown}");
    assert!(page.contains("class=\"flag bad\""), "{page}");
    // Every line that is named can be looked up on the page.
    let line = found["violations"][0]["lines"][0].as_u64().unwrap();
    assert!(page.contains(&format!("[{line},")), "{page}");
    assert!(
        !freshness.contains(">older than said: 0 claims</text>"),
        "{freshness}"
    );
}

#[test]
fn a_hundred_thousand_events_fit_on_one_page() {
    let mut scene = Scene::new();
    for number in 0..50_000_u32 {
        let seconds = 1.0 + f64::from(number) / 600.0;
        scene.claim(seconds, N1, number % 2 == 0, 1);
        scene.told(seconds, 1, 1 + u64::from(number), add(&[1]));
    }
    for number in 0..1_000_u32 {
        scene.life(2.0 + f64::from(number) / 20.0, N2, LifeState::Down(Some(1)));
    }
    let history = scene.history();
    assert!(history.events().len() > 100_000);
    let judgement = judge_by(&history, &scene.limits, &[CheckerId::Freshness]);
    let folder = tempfile::tempdir().unwrap();
    report::write(&history, &judgement, folder.path()).unwrap();
    for name in FILES {
        let bytes = fs::metadata(folder.path().join(name)).unwrap().len();
        assert!(bytes < 4_000_000, "{name} has {bytes} bytes");
    }
}

#[test]
fn what_was_run_is_told_if_the_run_left_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("config.json"), "{\"seed\": 41}\n").unwrap();
    let [_, markdown, ..] = written(&Scene::new(), folder.path());
    assert!(
        markdown.contains("```json\n{\"seed\": 41}\n```"),
        "{markdown}"
    );
}

#[test]
fn a_run_of_nothing_leaves_a_report_too() {
    let folder = tempfile::tempdir().unwrap();
    let history = History::new();
    let judgement = judge(&history, &Limits::default());
    report::write(&history, &judgement, folder.path()).unwrap();
    let text = fs::read_to_string(folder.path().join("lag.svg")).unwrap();
    assert!(text.contains("nothing of this was written"), "{text}");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let history = History::new();
    let judgement = judge(&history, &Limits::default());
    let error = report::write(&history, &judgement, &file.join("run")).unwrap_err();
    let place = file.join("run");
    assert_eq!(
        error.to_string(),
        format!("cannot write {}", place.display())
    );
}
