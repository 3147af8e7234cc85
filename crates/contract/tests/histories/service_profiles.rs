//! What ServiceProfiles say, and what a client is told of it, side by side.

use serde_json::{Value, json};

/// One ServiceProfile.
struct Said {
    name: &'static str,
    spec: Value,
    /// The fields of the message that come from it, for port 80; `None` if it is invalid.
    told: Option<Value>,
}

/// The `spec` of this name.
pub(crate) fn spec(name: &str) -> Value {
    let known = all();
    let found = known.iter().find(|said| said.name == name);
    found.map_or(Value::Null, |said| said.spec.clone())
}

/// What a client is told of a ServiceProfile with this `spec`.
pub(crate) fn told(spec: &Value) -> Option<Value> {
    all().into_iter().find(|said| said.spec == *spec)?.told
}

fn all() -> Vec<Said> {
    let said = |name, spec, told| Said { name, spec, told };
    let budget = json!({"retry_ratio": 0.2, "min_retries_per_second": 10, "ttl": "10s"});
    vec![
        said("nothing", json!({}), Some(json!({"retry_budget": budget}))),
        said(
            "opaque ports",
            json!({"opaquePorts": ["80"]}),
            Some(json!({"retry_budget": budget})),
        ),
        said(
            "routes",
            routes(),
            Some(json!({"retry_budget": budget, "routes": told_routes()})),
        ),
        said(
            "budget",
            json!({"retryBudget": {"retryRatio": 0.5, "minRetriesPerSecond": 3, "ttl": "1m30s"}}),
            Some(json!({"retry_budget": {
                "retry_ratio": 0.5, "min_retries_per_second": 3, "ttl": "90s"
            }})),
        ),
        said(
            "overrides",
            json!({"dstOverrides": [
                {"authority": "a.ns.svc.cluster.local", "weight": "500m"},
                {"authority": "b.ns.svc.cluster.local:90", "weight": "1"},
            ]}),
            Some(json!({"retry_budget": budget, "dst_overrides": [
                {"authority": "a.ns.svc.cluster.local:80", "weight": 5000},
                {"authority": "b.ns.svc.cluster.local:90", "weight": 10_000},
            ]})),
        ),
        said(
            "empty condition",
            json!({"routes": [{"name": "r", "condition": {}}]}),
            None,
        ),
        said("bad status", bad_status(), None),
        said("bad type", json!({"routes": "all"}), None),
    ]
}

fn routes() -> Value {
    json!({"routes": [{
        "name": "get",
        "condition": {"method": "get", "pathRegex": "/a"},
        "isRetryable": true,
        "timeout": "1.5s",
        "responseClasses": [{"condition": {"status": {"min": 500, "max": 599}}, "isFailure": true}],
    }, {
        "name": "odd",
        "condition": {"method": "brew"},
        "timeout": "soon",
    }]})
}

fn told_routes() -> Value {
    json!([{
        "condition": {"all": {"matches": [
            {"method": {"registered": "GET"}}, {"path": {"regex": "/a"}},
        ]}},
        "is_retryable": true,
        "timeout": "1.500s",
        "metrics_labels": {"route": "get"},
        "response_classes": [{
            "condition": {"status": {"min": 500, "max": 599}}, "is_failure": true,
        }],
    }, {
        "condition": {"method": {"unregistered": "BREW"}},
        "metrics_labels": {"route": "odd"},
    }])
}

fn bad_status() -> Value {
    json!({"routes": [{
        "name": "r",
        "condition": {"method": "GET"},
        "responseClasses": [{"condition": {"status": {"min": 99}}}],
    }]})
}
