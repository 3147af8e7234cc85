//! The context token of a client: whatever it is, it says something or nothing.

use lockstep_resolution::Client;
use serde_json::json;

/// Reads the text as a context token.
///
/// # Panics
///
/// What was read reads otherwise when it is written, or is an empty text.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let client = Client::from_token(&text);
    assert_eq!(Client::from_token(&text), client);
    let said = [&client.node, &client.namespace];
    assert!(said.into_iter().flatten().all(|it| !it.is_empty()));
    let (node, namespace) = (client.node.as_deref(), client.namespace.as_deref());
    let written = json!({ "ns": namespace, "nodeName": node, "pod": "web-1" });
    assert_eq!(Client::from_token(&format!("{written}\n")), client);
}
