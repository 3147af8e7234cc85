//! Kubeconfigs that lead nowhere.

use std::{error::Error, fs};

use lockstep_catalog::FactSource;

use super::*;

/// The error with its source, as a log shows it.
async fn refusal(text: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    fs::write(&path, text).unwrap();
    let error = connect(Some(&path)).await.unwrap_err();
    let cause = error.source().map(ToString::to_string).unwrap_or_default();
    (error.to_string().replace(&shown(&path), "config"), cause)
}

#[tokio::test]
async fn a_file_that_is_missing_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nothing");
    let error = connect(Some(&path)).await.unwrap_err();
    let expected = format!("kubeconfig `{}` cannot be read", path.display());
    assert_eq!(error.to_string(), expected);
    let cause = error.source().unwrap().to_string();
    assert_eq!(cause, "No such file or directory (os error 2)");
}

#[tokio::test]
async fn a_file_that_is_no_kubeconfig_is_named_with_line_and_reason() {
    let (error, cause) = refusal("clusters: [}\n").await;
    assert_eq!(
        error,
        "kubeconfig `config` is not valid YAML of a kubeconfig"
    );
    assert!(cause.contains("line 1"), "{cause}");
    let (error, _) = refusal("clusters: 5\n").await;
    assert_eq!(
        error,
        "kubeconfig `config` is not valid YAML of a kubeconfig"
    );
}

#[tokio::test]
async fn a_file_without_a_current_context_is_named() {
    for text in ["", "kind: Config\n"] {
        let (error, _) = refusal(text).await;
        assert_eq!(
            error,
            "kubeconfig `config` has no current-context; set one with `kubectl config use-context`"
        );
    }
}

#[tokio::test]
async fn a_context_that_leads_nowhere_is_named() {
    let (error, cause) = refusal("current-context: a\n").await;
    assert_eq!(error, "kubeconfig `config` cannot be used");
    assert_eq!(cause, "failed to load current context: a");
    let context = "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n";
    let (error, cause) = refusal(context).await;
    assert_eq!(error, "kubeconfig `config` cannot be used");
    assert_eq!(cause, "failed to load the cluster of context: c");
}

#[tokio::test]
async fn certificates_that_are_none_are_refused_with_the_server_named() {
    let (error, cause) = refusal(
        "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n\
         clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\nusers: [{name: u, \
         user: {client-certificate-data: bm9uZQ==, client-key-data: bm9uZQ==}}]\n",
    )
    .await;
    assert_eq!(
        error,
        "no client can be made for API server https://127.0.0.1:1/"
    );
    assert_eq!(
        cause,
        "rustls tls error: identity PEM is missing a private key: the key must be PKCS8 or RSA/PKCS1"
    );
}

#[tokio::test]
async fn an_address_that_is_no_url_is_refused() {
    for url in [
        "",
        "localhost",
        "127.0.0.1:80",
        "ftp://host",
        "http://",
        "/pods",
    ] {
        let error = connect_to(url).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("`{url}` is not the URL of an API server, such as `https://10.0.0.1:6443`"),
        );
    }
}

#[tokio::test]
async fn a_source_is_described_by_its_url() {
    let source = connect_to("http://127.0.0.1:8001").unwrap();
    assert_eq!(source.describe(), "http://127.0.0.1:8001/");
}
