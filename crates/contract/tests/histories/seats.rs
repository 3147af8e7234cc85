//! The clients of every history: what each asks, and who it is.

/// Which method of the API.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    GetProfile,
}

/// One client.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Seat {
    pub(crate) name: &'static str,
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) token: &'static str,
}

const NONE: &str = "";
const NODE_A: &str = r#"{"ns":"client","nodeName":"node-a","pod":"c"}"#;
const NODE_B: &str = "{\"nodeName\":\"node-b\"}\n";
const UNKNOWN: &str = r#"{"ns":"client","nodeName":"node-z"}"#;
const GARBAGE: &str = "{\"nodeName\":";

const WEB: &str = "web.ns.svc.cluster.local:80";

const fn get(name: &'static str, path: &'static str, token: &'static str) -> Seat {
    let method = Method::Get;
    Seat {
        name,
        method,
        path,
        token,
    }
}

const fn profile(name: &'static str, path: &'static str, token: &'static str) -> Seat {
    let method = Method::GetProfile;
    Seat {
        name,
        method,
        path,
        token,
    }
}

pub(crate) const SEATS: &[Seat] = &[
    get("web without token", WEB, NONE),
    get("web on node-a", WEB, NODE_A),
    get("web on node-b", WEB, NODE_B),
    get("web on an unknown node", WEB, UNKNOWN),
    get("web with garbage", WEB, GARBAGE),
    get("web 443", "web.ns.svc.cluster.local:443", NODE_A),
    get("web undeclared", "web.ns.svc.cluster.local:8080", NODE_B),
    get("h0 of web", "h0.web.ns.svc.cluster.local:80", NODE_A),
    get("api", "api.ns.svc.cluster.local:80", NODE_A),
    profile("profile of web", WEB, NONE),
    profile("profile of web for client", WEB, NODE_A),
    profile(
        "profile of web undeclared",
        "web.ns.svc.cluster.local:8080",
        NODE_A,
    ),
    profile("profile of web's IP", "10.96.0.1:80", NODE_A),
    profile("profile of a shared IP", "10.96.0.3:80", NONE),
    profile("profile of p0", "10.0.0.1:8080", NODE_A),
    profile("profile of p1's IPv6", "[fd00::10:0:0:2]:8081", NONE),
    profile("profile of p0's host port", "192.168.0.1:18080", NONE),
    profile("profile of vm0", "10.9.0.1:8080", NODE_B),
    profile(
        "profile of h0 of web",
        "h0.web.ns.svc.cluster.local:8080",
        NODE_A,
    ),
    profile("profile of nobody", "10.8.0.1:3306", GARBAGE),
];
