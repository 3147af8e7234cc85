//! Manifests as people write them, bad ones included.

use super::*;

const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n";

fn yaml(text: &str) -> Parsed {
    parse(Format::Yaml, text).unwrap()
}

fn complaints(parsed: &Parsed) -> Vec<String> {
    let complaints = parsed.complaints.iter();
    complaints
        .map(|complaint| format!("{}: {}", complaint.line, complaint.reason))
        .collect()
}

fn names(parsed: &Parsed) -> Vec<String> {
    let objects = parsed.objects.iter();
    objects
        .map(|(key, (line, _))| format!("{line}: {key}"))
        .collect()
}

fn fault(format: Format, text: &str) -> String {
    let fault = parse(format, text).unwrap_err();
    format!("{}: {}", fault.line, fault.reason)
}

#[test]
fn every_document_is_read_with_its_line() {
    let parsed = yaml(&format!(
        "# a comment\n{SERVICE}---\n---\n# none\n---\n\n{{apiVersion: v1, kind: Node, \
         metadata: {{name: n1}}}}\n---\nkind: Deployment\napiVersion: apps/v1\n"
    ));
    assert_eq!(names(&parsed), ["10: nodes n1", "2: services default/web"]);
    assert_eq!(complaints(&parsed), [""; 0]);
}

/// YAML once took these for yes and no; a port named `n` is neither.
#[test]
fn a_short_name_is_a_name() {
    for name in ["n", "y", "no", "on", "off"] {
        let parsed = yaml(&format!(
            "apiVersion: v1\nkind: Node\nmetadata: {{name: {name}}}\n"
        ));
        assert_eq!(names(&parsed), [format!("1: nodes {name}")]);
    }
}

#[test]
fn a_file_may_be_empty() {
    for text in ["", "\n", "# nothing\n", "---\n", "---\n---\n"] {
        assert_eq!(yaml(text), Parsed::default());
    }
    for text in ["", "\n  "] {
        assert_eq!(parse(Format::Json, text), Ok(Parsed::default()));
    }
}

#[test]
fn json_is_read_one_document_after_the_other() {
    let node = |name: &str| {
        format!(r#"{{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{name}"}}}}"#)
    };
    let text = format!("\n{}\n\n  {}\n{}", node("a"), node("b"), node("c"));
    let parsed = parse(Format::Json, &text).unwrap();
    assert_eq!(names(&parsed), ["2: nodes a", "4: nodes b", "5: nodes c"]);
    // JSON is YAML too.
    assert_eq!(names(&yaml(&node("a"))), ["1: nodes a"]);
}

#[test]
fn a_list_is_read_item_by_item() {
    let parsed = yaml(
        "apiVersion: v1\nkind: List\nitems:\n\
         - {apiVersion: v1, kind: Node, metadata: {name: n1}}\n\
         - {apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n\
         - {apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Node, metadata: {name: n2}}]}\n\
         - 5\n---\napiVersion: v1\nkind: List\n---\napiVersion: v1\nkind: List\nitems: n3\n",
    );
    assert_eq!(names(&parsed), ["1: nodes n1", "1: nodes n2"]);
    assert_eq!(
        complaints(&parsed),
        [
            "1: this is no Kubernetes object: it has no `kind`",
            "12: `items` of this List is not a list",
        ],
    );
}

#[test]
fn an_object_without_a_namespace_is_in_the_default_one() {
    for metadata in [
        "{name: web}",
        "{name: web, namespace: ''}",
        "{name: web, namespace: null}",
    ] {
        let parsed = yaml(&format!(
            "apiVersion: v1\nkind: Service\nmetadata: {metadata}\n"
        ));
        assert_eq!(names(&parsed), ["1: services default/web"]);
    }
}

#[test]
fn a_bad_object_is_named_and_the_others_are_read() {
    for (bad, complaint, undecodable) in [
        (
            "5",
            "1: this is no Kubernetes object: it has no `kind`",
            false,
        ),
        (
            "- a\n- b",
            "1: this is no Kubernetes object: it has no `kind`",
            false,
        ),
        (
            "kind: [Pod]",
            "1: this is no Kubernetes object: it has no `kind`",
            false,
        ),
        (
            "apiVersion: v1\nkind: Pod",
            "1: an object of pods has no metadata.name",
            false,
        ),
        (
            "apiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {ports: [{port: http}]}",
            "1: services default/bad cannot be decoded: invalid type: string \"http\", expected i32",
            true,
        ),
        (
            "apiVersion: v1\nkind: Service\nmetadata: 5",
            "1: services ? cannot be decoded: invalid type: integer `5`, expected ObjectMeta",
            false,
        ),
        (
            "apiVersion: discovery.k8s.io/v1beta1\nkind: EndpointSlice\nmetadata: {name: bad}",
            "1: EndpointSlice of apiVersion `discovery.k8s.io/v1beta1` is not read; \
             use `discovery.k8s.io/v1`",
            false,
        ),
        (
            "apiVersion: linkerd.io/v1alpha2\nkind: ServiceProfile\nmetadata: {name: bad}\n\
             spec: {routes: [{condition: {all: [{}]}}]}",
            "1: serviceprofiles default/bad is invalid: spec.routes[0].condition.all[0]: \
             must have one of all, any, method, not, pathRegex",
            false,
        ),
        (
            "apiVersion: policy.linkerd.io/v1\nkind: Server\nmetadata: {name: bad}",
            "1: Server of apiVersion `policy.linkerd.io/v1` is not read; \
             use `policy.linkerd.io/v1beta3`",
            false,
        ),
        (
            "kind: Service\nmetadata: {name: bad}",
            "1: Service of apiVersion `` is not read; use `v1`",
            false,
        ),
        (
            "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: bad}\n\
             addressType: FQDN",
            "1: endpointslices default/bad has addresses of type `FQDN`; \
             allowed are `IPv4` and `IPv6`",
            false,
        ),
    ] {
        let parsed = yaml(&format!("{bad}\n---\n{SERVICE}"));
        assert_eq!(parsed.objects.len(), 1, "{bad}");
        assert_eq!(complaints(&parsed), [complaint]);
        assert_eq!(!parsed.undecodable.is_empty(), undecodable, "{bad}");
    }
}

#[test]
fn custom_resources_are_read_in_each_of_their_versions() {
    for (api_version, kind, key) in [
        ("linkerd.io/v1alpha2", "ServiceProfile", "serviceprofiles"),
        ("policy.linkerd.io/v1beta1", "Server", "servers"),
        (
            "workload.linkerd.io/v1alpha1",
            "ExternalWorkload",
            "externalworkloads",
        ),
    ] {
        let parsed = yaml(&format!(
            "apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: web}}\nspec: {{}}\n"
        ));
        assert_eq!(names(&parsed), [format!("1: {key} default/web")]);
        assert_eq!(complaints(&parsed), [""; 0]);
    }
}

#[test]
fn skipped_parts_are_named_with_their_object() {
    let parsed = yaml(&format!("{SERVICE}spec: {{ports: [{{port: 0}}]}}\n"));
    assert_eq!(parsed.objects.len(), 1);
    assert_eq!(
        complaints(&parsed),
        ["1: services default/web: spec.ports: 0 is skipped: it is not a port (1 to 65535)"],
    );
}

#[test]
fn of_an_object_that_stands_twice_the_first_is_in_force() {
    let parsed = yaml(&format!(
        "{SERVICE}---\n{SERVICE}spec: {{type: ExternalName}}\n"
    ));
    assert_eq!(names(&parsed), ["1: services default/web"]);
    assert_eq!(
        complaints(&parsed),
        ["5: services default/web stands already at line 1, which is in force"],
    );
}

#[test]
fn text_that_is_no_yaml_is_refused_with_its_line() {
    for (text, line, reason, column) in [
        ("a: [1\n", 1, "unclosed bracket '['", 4),
        ("a: 1\n---\nb: }\n", 3, "misplaced bracket", 4),
        (
            "a: 1\na: 2\n",
            2,
            "duplicate mapping key `a` is not allowed here",
            1,
        ),
        (
            "a:\n\tb: 1\n",
            2,
            "tabs disallowed within this context (block indentation)",
            2,
        ),
        ("a: *b\n", 1, "reference to unknown value", 4),
        ("a: 'b\n", 1, "unclosed quote", 4),
        (
            "a: b: c\n",
            1,
            "mapping values are not allowed in this context",
            5,
        ),
    ] {
        let expected = format!("{line}: this is no YAML: {reason} at line {line}, column {column}");
        assert_eq!(fault(Format::Yaml, text), expected, "{text}");
    }
}

#[test]
fn text_that_is_no_json_is_refused_with_its_line() {
    for (text, expected) in [
        (
            "{}\n{",
            "2: this is no JSON: EOF while parsing an object at line 2 column 1",
        ),
        (
            "{\n\"a\": 1,\n}",
            "3: this is no JSON: trailing comma at line 3 column 1",
        ),
        (
            "kind: Pod",
            "1: this is no JSON: expected value at line 1 column 1",
        ),
    ] {
        assert_eq!(fault(Format::Json, text), expected, "{text}");
    }
}

#[test]
fn an_object_that_no_api_server_would_store_is_named_with_its_size() {
    let annotation = "x".repeat(OBJECT_BYTES_MAX);
    let object = serde_json::json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": { "name": "web", "namespace": "shop", "annotations": { "note": annotation } },
    });
    let bytes = object.to_string().len();
    let parsed = parse(Format::Json, &object.to_string()).unwrap();
    assert_eq!(names(&parsed), Vec::<String>::new());
    assert_eq!(
        complaints(&parsed),
        [format!(
            "1: an object of {bytes} bytes; an API server stores at most 1572864"
        )]
    );
}
