//! The settings of the mesh, from flags.

use lockstep_model::{Http2Params, InvalidPortRange, KeepAlive, Settings, TransportMode};
use serde::Deserialize;

use crate::options::{MeshOptions, TransportModeOption};

/// Why a setting of the mesh cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSettings {
    /// The default opaque ports are no list of ports.
    #[error("--default-opaque-ports: {0}")]
    OpaquePorts(InvalidPortRange),
    /// The HTTP/2 parameters are not the JSON that Linkerd's chart passes.
    #[error("--meshed-http2-client-params: {0}")]
    Http2(String),
    /// A domain is none.
    #[error("--{flag}: `{text}` is not a domain such as cluster.local")]
    Domain {
        /// The flag.
        flag: &'static str,
        /// What it said.
        text: String,
    },
    /// A namespace is none.
    #[error("--controller-namespace: `{0}` is not a namespace such as linkerd")]
    Namespace(String),
}

pub(crate) fn settings(options: &MeshOptions) -> Result<Settings, InvalidSettings> {
    check_domain("cluster-domain", &options.cluster_domain)?;
    if !options.identity_trust_domain.is_empty() {
        check_domain("identity-trust-domain", &options.identity_trust_domain)?;
    }
    if !is_label(&options.controller_namespace) {
        return Err(InvalidSettings::Namespace(
            options.controller_namespace.clone(),
        ));
    }
    let http2 = options
        .meshed_http2_client_params
        .as_deref()
        .filter(|text| !text.is_empty());
    Ok(Settings {
        cluster_domain: options.cluster_domain.as_str().into(),
        control_plane: options.controller_namespace.as_str().into(),
        trust_domain: options.identity_trust_domain.as_str().into(),
        default_opaque_ports: options
            .default_opaque_ports
            .parse()
            .map_err(InvalidSettings::OpaquePorts)?,
        transport_mode: match options.outbound_transport_mode {
            TransportModeOption::Transparent => TransportMode::Transparent,
            TransportModeOption::TransportHeader => TransportMode::TransportHeader,
        },
        h2_upgrade: options.enable_h2_upgrade,
        ipv6: options.enable_ipv6,
        zone_weights: options.ext_endpoint_zone_weights,
        meshed_http2: http2.map(parse_http2).transpose()?,
        node_hints: options.beyond.endpoint_node_hints,
        serve_terminating: options.beyond.serve_terminating_endpoints,
        answer_absent: options.beyond.answer_absent_services,
    })
}

fn check_domain(flag: &'static str, text: &str) -> Result<(), InvalidSettings> {
    if text.split('.').all(is_label) {
        Ok(())
    } else {
        Err(InvalidSettings::Domain {
            flag,
            text: text.to_owned(),
        })
    }
}

/// One part of a DNS name.
fn is_label(text: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    (1..=63).contains(&text.len()) && text.chars().all(plain)
}

/// The JSON of the flag, as Linkerd's chart writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Http2Json {
    keep_alive: Option<KeepAliveJson>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeepAliveJson {
    interval: DurationJson,
    timeout: DurationJson,
    #[serde(default)]
    while_idle: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DurationJson {
    #[serde(default)]
    seconds: u32,
    #[serde(default)]
    nanos: u32,
}

impl DurationJson {
    fn as_ms(&self) -> u64 {
        u64::from(self.seconds) * 1000 + u64::from(self.nanos) / 1_000_000
    }
}

fn parse_http2(text: &str) -> Result<Http2Params, InvalidSettings> {
    let json: Http2Json =
        serde_json::from_str(text).map_err(|error| InvalidSettings::Http2(error.to_string()))?;
    let keep_alive = json.keep_alive.map(|keep_alive| KeepAlive {
        interval_ms: keep_alive.interval.as_ms(),
        timeout_ms: keep_alive.timeout.as_ms(),
        while_idle: keep_alive.while_idle,
    });
    Ok(Http2Params { keep_alive })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameters_of_linkerds_chart_are_read() {
        let text = r#"{"keep_alive":{"interval":{"seconds":10},"timeout":{"seconds":3},"while_idle":true}}"#;
        let keep_alive = KeepAlive {
            interval_ms: 10_000,
            timeout_ms: 3_000,
            while_idle: true,
        };
        assert_eq!(
            parse_http2(text),
            Ok(Http2Params {
                keep_alive: Some(keep_alive)
            })
        );
    }

    #[test]
    fn other_json_is_refused_with_its_place() {
        assert_eq!(
            parse_http2(r#"{"keepalive":{}}"#).unwrap_err().to_string(),
            "--meshed-http2-client-params: unknown field `keepalive`, expected `keep_alive` at line 1 column 12",
        );
    }
}
