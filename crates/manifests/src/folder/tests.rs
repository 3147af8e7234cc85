//! What is in force, edit after edit.

use lockstep_model::FactKind;

use super::*;

fn node(name: &str, zone: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Node\nmetadata: \
         {{name: {name}, labels: {{topology.kubernetes.io/zone: {zone}}}}}\n"
    )
}

fn contents(files: &[(&str, &str)]) -> Contents {
    let files = files.iter();
    files
        .map(|(name, text)| ((*name).to_owned(), Ok((*text).to_owned())))
        .collect()
}

fn folder(files: &[(&str, &str)]) -> Folder {
    let mut folder = Folder::default();
    folder.update(contents(files));
    folder
}

fn in_force(folder: &Folder) -> Vec<String> {
    let facts = folder.facts().into_iter();
    facts
        .map(|(key, fact)| match fact {
            Fact::Node(zone) => format!("{} in {}", key.name, zone.unwrap_or_default()),
            _ => key.to_string(),
        })
        .collect()
}

fn problems(folder: &Folder) -> Vec<String> {
    folder.problems().iter().map(ToString::to_string).collect()
}

const NOTHING: [&str; 0] = [];
const BAD: &str = "a: 1\nb: ]\n";

#[test]
fn files_add_up_and_a_file_that_is_gone_takes_its_objects_with_it() {
    let mut folder = folder(&[("a.yaml", &node("n1", "z1")), ("b.yml", &node("n2", "z2"))]);
    assert_eq!(in_force(&folder), ["n1 in z1", "n2 in z2"]);
    folder.update(contents(&[("b.yml", &node("n2", "z3"))]));
    assert_eq!(in_force(&folder), ["n2 in z3"]);
    assert_eq!(problems(&folder), NOTHING);
}

#[test]
fn a_file_that_does_not_parse_is_named_and_its_last_good_version_stays() {
    let good = node("n1", "z1");
    let mut folder = folder(&[("a.yaml", &good), ("b.yaml", BAD)]);
    assert_eq!(in_force(&folder), ["n1 in z1"]);
    let fault = "yaml:2: this is no YAML: misplaced bracket at line 2, column 4";
    assert_eq!(problems(&folder), [format!("b.{fault}")]);
    for _ in 0..2 {
        folder.update(contents(&[("a.yaml", BAD)]));
        assert_eq!(in_force(&folder), ["n1 in z1"]);
        assert_eq!(problems(&folder), [format!("a.{fault}")]);
    }
    folder.update(contents(&[("a.yaml", &node("n1", "z2"))]));
    assert_eq!(in_force(&folder), ["n1 in z2"]);
    assert_eq!(problems(&folder), NOTHING);
    folder.update(contents(&[]));
    assert_eq!(in_force(&folder), NOTHING);
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_its_last_version_stays() {
    let mut folder = folder(&[("a.yaml", &node("n1", "z1"))]);
    folder.update([("a.yaml".to_owned(), Err("no".to_owned()))].into());
    assert_eq!(in_force(&folder), ["n1 in z1"]);
    assert_eq!(problems(&folder), ["a.yaml: no"]);
    folder.keep("gone".to_owned());
    assert_eq!(in_force(&folder), ["n1 in z1"]);
    assert_eq!(problems(&folder), ["gone", "a.yaml: no"]);
}

#[test]
fn an_object_that_cannot_be_decoded_any_more_keeps_its_last_good_version() {
    let bad = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: 5}\n";
    let good = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n";
    let named = "a.yaml:1: services default/web cannot be decoded: \
                 invalid type: integer `5`, expected a sequence";
    let mut folder = folder(&[("a.yaml", bad)]);
    assert_eq!(in_force(&folder), NOTHING);
    assert_eq!(problems(&folder), [named]);
    folder.update(contents(&[("a.yaml", good)]));
    folder.update(contents(&[(
        "a.yaml",
        &format!("{bad}---\n{}", node("n1", "z1")),
    )]));
    assert_eq!(in_force(&folder), ["n1 in z1", "services default/web"]);
    assert_eq!(problems(&folder), [named]);
    folder.update(contents(&[("a.yaml", &node("n1", "z1"))]));
    assert_eq!(in_force(&folder), ["n1 in z1"]);
}

#[test]
fn an_object_that_says_nothing_usable_any_more_is_gone() {
    let slice = |family: &str| {
        format!(
            "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\naddressType: {family}\n\
             metadata: {{name: web, labels: {{kubernetes.io/service-name: web}}}}\n"
        )
    };
    let mut folder = folder(&[("a.yaml", &slice("IPv4"))]);
    assert_eq!(in_force(&folder), ["endpointslices default/web"]);
    folder.update(contents(&[("a.yaml", &slice("FQDN"))]));
    assert_eq!(in_force(&folder), NOTHING);
    assert_eq!(
        problems(&folder),
        [
            "a.yaml:1: endpointslices default/web has addresses of type `FQDN`; \
          allowed are `IPv4` and `IPv6`"
        ],
    );
}

#[test]
fn of_two_files_with_the_same_object_the_first_by_name_is_in_force() {
    let (a, b) = (node("n1", "z1"), node("n1", "z2"));
    let mut folder = folder(&[("b.yaml", &b), ("a.yaml", &a)]);
    assert_eq!(in_force(&folder), ["n1 in z1"]);
    assert_eq!(
        problems(&folder),
        ["b.yaml:1: nodes n1 stands in a.yaml too, which is in force"],
    );
    folder.update(contents(&[("b.yaml", &b)]));
    assert_eq!(in_force(&folder), ["n1 in z2"]);
    assert_eq!(problems(&folder), NOTHING);
}

#[test]
fn a_folder_is_usable_once_one_file_was_good() {
    assert!(!folder(&[]).is_usable());
    assert!(!folder(&[("a.yaml", BAD)]).is_usable());
    assert!(folder(&[("a.yaml", BAD), ("b.yaml", "")]).is_usable());
    let kind = FactKind::Node;
    assert_eq!(
        folder(&[])
            .facts()
            .keys()
            .filter(|key| key.kind == kind)
            .count(),
        0
    );
}

#[test]
fn a_name_tells_a_manifest() {
    for name in ["a.yaml", "a.yml", "a.json", "a.b.yaml"] {
        assert!(is_manifest(name));
    }
    for name in [
        "a",
        "yaml",
        "a.yaml~",
        "a.yaml.swp",
        ".a.yaml",
        "a.YAML",
        "..data",
        "#a.yaml#",
    ] {
        assert!(!is_manifest(name), "{name}");
    }
}
