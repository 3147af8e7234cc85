use super::*;
use crate::yaml;
use lockstep_model::ServiceId;

const OBJECTS: &str = "
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
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
";

fn mesh() -> Mesh {
    let objects = yaml::documents(OBJECTS).unwrap();
    let mut mesh = Mesh::new(Settings::default(), objects).unwrap();
    assert!(!mesh.commit().is_empty());
    mesh
}

fn edit(text: &str) -> Edit {
    yaml::read(text).unwrap()
}

fn endpoints(mesh: &Mesh) -> usize {
    let slices = mesh.state().content().slices();
    slices.map(|(_, slice)| slice.endpoints.len()).sum()
}

#[test]
fn the_first_commit_syncs_and_the_second_has_nothing_to_say() {
    let mut mesh = mesh();
    assert!(mesh.state().is_synced());
    assert_eq!(endpoints(&mesh), 1);
    assert_eq!(mesh.commit(), []);
    assert_eq!(mesh.objects().len(), 2);
}

#[test]
fn edits_change_the_state_at_the_next_commit() {
    let mut mesh = mesh();
    let two = "patch: {kind: EndpointSlice, namespace: shop, name: web-1, \
               merge: {endpoints: [{addresses: [10.1.0.1]}, {addresses: [10.1.0.2]}]}}";
    mesh.edit(edit(two)).unwrap();
    assert_eq!(endpoints(&mesh), 1);
    mesh.commit();
    assert_eq!(endpoints(&mesh), 2);
    mesh.edit(edit(
        "delete: {kind: Service, namespace: shop, name: web, grace: 30}",
    ))
    .unwrap();
    mesh.commit();
    let web = ServiceId::named("shop", "web");
    assert!(mesh.state().content().service(&web).is_some());
    mesh.edit(edit("delete: {kind: Service, namespace: shop, name: web}"))
        .unwrap();
    mesh.commit();
    assert!(mesh.state().content().service(&web).is_none());
}

#[test]
fn a_relist_of_the_same_changes_nothing() {
    let mut mesh = mesh();
    let before = *mesh.state().position();
    mesh.edit(edit("relist: EndpointSlice")).unwrap();
    mesh.commit();
    assert_eq!(mesh.state().position().revision, before.revision);
    assert_eq!(endpoints(&mesh), 1);
}

#[test]
fn what_went_unseen_is_gone_with_the_next_list() {
    let mut mesh = mesh();
    let unseen = "delete: {kind: EndpointSlice, namespace: shop, name: web-1, unseen: true}";
    mesh.edit(edit(unseen)).unwrap();
    assert_eq!(mesh.commit(), []);
    assert_eq!(endpoints(&mesh), 1);
    mesh.edit(edit("relist: EndpointSlice")).unwrap();
    mesh.commit();
    assert_eq!(endpoints(&mesh), 0);
}

#[test]
fn while_a_watch_is_lost_nothing_is_told_and_nothing_committed() {
    let mut mesh = mesh();
    mesh.lose(FactKind::EndpointSlice);
    let delete = "delete: {kind: EndpointSlice, namespace: shop, name: web-1}";
    mesh.edit(edit(delete)).unwrap();
    mesh.edit(edit("delete: {kind: Service, namespace: shop, name: web}"))
        .unwrap();
    assert_eq!(mesh.commit(), []);
    assert_eq!(endpoints(&mesh), 1);
    mesh.edit(edit("relist: EndpointSlice")).unwrap();
    mesh.commit();
    assert_eq!(endpoints(&mesh), 0);
    assert_eq!(mesh.state().content().services().count(), 0);
}

#[test]
fn a_bad_object_is_named_and_says_nothing() {
    let mut mesh = mesh();
    let fqdn =
        "patch: {kind: EndpointSlice, namespace: shop, name: web-1, merge: {addressType: FQDN}}";
    mesh.edit(edit(fqdn)).unwrap();
    mesh.commit();
    assert_eq!(endpoints(&mesh), 0);
    let complaint = "endpointslices shop/web-1 has addresses of type `FQDN`; \
                     allowed are `IPv4` and `IPv6`";
    assert_eq!(mesh.complaints(), [complaint]);
}

#[test]
fn an_edit_that_cannot_be_made_says_why() {
    for (text, error) in [
        (
            "relist: Namespace",
            "objects of kind `Namespace` are not watched",
        ),
        (
            "delete: {kind: Pods, name: a}",
            "objects of kind `Pods` are not watched",
        ),
        (
            "delete: {kind: Pod, namespace: shop, name: a}",
            "there is no pods shop/a",
        ),
        (
            "patch: {kind: Node, name: a, merge: {}}",
            "there is no nodes a",
        ),
        (
            "apply: {kind: Pod}",
            "an object needs `kind` and `metadata.name`; this has not both: {\"kind\":\"Pod\"}",
        ),
        (
            "apply: {apiVersion: linkerd.io/v1, kind: Server, metadata: {name: a}}",
            "a Server of apiVersion `linkerd.io/v1` is not watched; \
             the group must be `policy.linkerd.io`",
        ),
    ] {
        let mut mesh = mesh();
        assert_eq!(mesh.edit(edit(text)).unwrap_err().to_string(), error);
    }
}
