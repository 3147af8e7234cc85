use super::*;

const ROW: &str = "
row: F3
title: one endpoint
pins: the runner itself
objects: |
  apiVersion: v1
  kind: Service
  metadata: {name: web, namespace: shop}
  spec: {ports: [{port: 80, targetPort: 8080}]}
  ---
  apiVersion: discovery.k8s.io/v1
  kind: EndpointSlice
  metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
  addressType: IPv4
  ports: [{port: 8080}]
  endpoints: [{addresses: [10.1.0.1]}]
steps:
- note: open
  open:
    get: {method: Get, path: web.shop.svc.cluster.local:80}
    bad: {method: Get, path: web}
    profile: {method: GetProfile, path: 'nobody.shop.svc.cluster.local:80'}
  expect:
    get:
    - add:
        addrs: [{addr: '10.1.0.1:8080', weight: 10000, metric_labels: {zone_locality: unknown}}]
        metric_labels: {namespace: shop, service: web}
    bad: {end: INVALID_ARGUMENT, text: 'Invalid authority: web'}
    profile: {end: NOT_FOUND}
- note: empty
  edits:
  - patch: {kind: EndpointSlice, namespace: shop, name: web-1, merge: {endpoints: []}}
  expect:
    get: [{remove: {addrs: ['10.1.0.1:8080']}}]
- note: nothing that shows
  edits:
  - patch: {kind: Service, namespace: shop, name: web, merge: {metadata: {annotations: {a: b}}}}
- note: again, by another stream
  close: [get]
  open: {second: {method: Get, path: 'web.shop.svc.cluster.local:80'}}
  expect: {second: {no_endpoints: {exists: true}}}
";

fn failure(from: &str, to: &str) -> String {
    assert!(ROW.contains(from), "{from}");
    failures(&ROW.replacen(from, to, 1))
}

fn failures(text: &str) -> String {
    let row = Row::read(text).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    match runtime.block_on(run(&row)) {
        Ok(()) => String::new(),
        Err(failures) => {
            let texts = failures.iter().map(ToString::to_string);
            texts.collect::<Vec<_>>().join("\n\n")
        }
    }
}

#[test]
fn a_row_that_is_kept_is_kept() {
    assert_eq!(failure("one endpoint", "one endpoint"), "");
    // Without a text any will do.
    assert_eq!(failure(", text: 'Invalid authority: web'", ""), "");
}

#[test]
fn a_message_that_was_not_expected_is_shown_and_can_be_pasted() {
    let text = failure(
        "    get: [{remove: {addrs: ['10.1.0.1:8080']}}]",
        "    get: []",
    );
    let expected = "step 2 (empty): told otherwise than expected (- expected, + told)
stream `get`: nothing is expected, 1 came

every message of this step, to paste where it is right:

  expect:
    get:
    - {remove: {addrs: [\"10.1.0.1:8080\"]}}
";
    assert_eq!(text, expected);
    let text = failure("['10.1.0.1:8080']", "['10.1.0.2:8080']");
    let difference = "stream `get`: \n   ...\n     {\n       \"remove\": {\n         \"addrs\": [\n \
                      -         \"10.1.0.2:8080\"\n +         \"10.1.0.1:8080\"\n         ]\n";
    assert!(text.contains(difference), "{text}");
}

#[test]
fn every_step_that_is_not_kept_is_named() {
    let text = ROW
        .replace("['10.1.0.1:8080']", "[]")
        .replace("exists: true", "exists: false");
    let text = failures(&text);
    assert!(
        text.contains("step 2 (empty): ") && text.contains("step 4 (again"),
        "{text}"
    );
    assert_eq!(text.matches("told otherwise").count(), 2);
}

#[test]
fn every_difference_counts() {
    for (from, to, difference) in [
        ("weight: 10000", "weight: 10001", "weight"),
        (
            "service: web}\n    bad",
            "service: other}\n    bad",
            "other",
        ),
        ("{end: NOT_FOUND}", "{end: UNKNOWN}", "UNKNOWN"),
        (
            "text: 'Invalid authority: web'",
            "text: 'x'",
            "Invalid authority: web",
        ),
        ("{exists: true}", "{}", "exists"),
        (
            "- note: empty",
            "- note: empty\n  close: [bad, profile]",
            "",
        ),
    ] {
        let text = failure(from, to);
        assert_eq!(text.is_empty(), difference.is_empty(), "{text}");
        assert!(text.contains(difference), "{text}");
    }
}

#[test]
fn what_cannot_be_run_says_where() {
    let text = failure(
        "name: web-1, merge: {endpoints",
        "name: web-2, merge: {endpoints",
    );
    assert_eq!(
        text,
        "step 2 (empty): there is no endpointslices shop/web-2"
    );
    let text = failure("apiVersion: v1", "apiVersion: apps/v1");
    assert_eq!(
        text,
        "before the steps: a Service of apiVersion `apps/v1` is not watched; the group must be ``"
    );
    let row = Row::read("{row: F3, title: t, pins: p, objects: 1, steps: [{note: n}]}").unwrap();
    let error = objects(&row.objects).unwrap_err().to_string();
    assert_eq!(error, "a list or a text of documents is expected, not 1");
}
