//! Lists the source afresh and compares: what `lockstep check` asks the leader.

use lockstep_admin::AuditError;
use lockstep_catalog::{Catalog, FactSource, Listed, SourceEvent};
use lockstep_model::{ServiceId, Settings, Target};
use lockstep_position::{HistoryId, LogId, Term};
use lockstep_proto::admin::v1 as pb;
use lockstep_replica::{Replica, label_of};
use lockstep_resolution::{Answer, Place, servable};
use lockstep_state::{Batch, State};
use std::sync::Arc;

use crate::Source;

/// Compares the committed state with a fresh list, and says what proxies must be told.
pub(crate) async fn audit(
    replica: &Replica,
    source: &Source,
    settings: &Arc<Settings>,
) -> Result<pb::AuditReply, AuditError> {
    let listed = source
        .list()
        .await
        .map_err(|error| AuditError::Source(error.to_string()))?;
    let committed = replica.published().newest();
    if !committed.is_synced() {
        return Err(AuditError::NotSynced(
            "no complete list was committed yet".to_owned(),
        ));
    }
    let differences = lockstep_catalog::audit(&committed, listed.clone(), settings)
        .map_err(|error| AuditError::Source(error.to_string()))?;
    Ok(pb::AuditReply {
        position: Some(label_of(committed.position())),
        differences: differences.iter().map(ToString::to_string).collect(),
        expected: expected(&afresh(listed, settings), settings),
    })
}

/// The state that a cluster with this list, and no past, would have.
fn afresh(listed: Vec<Listed>, settings: &Arc<Settings>) -> State {
    let mut state = State::default();
    let mut catalog = Catalog::resume(&state, settings.clone(), HistoryId::from_u128(1));
    for list in listed {
        catalog.observe(SourceEvent::Listed(list));
    }
    let commands = catalog.reconcile(&state);
    let log_id = LogId {
        term: Term::default(),
        index: 0,
    };
    state.apply(log_id, Batch::whole(log_id.term, commands));
    state
}

fn expected(state: &State, settings: &Settings) -> Vec<pb::Expected> {
    let services = state.content().services();
    let targets = services.flat_map(|(service, record)| {
        record
            .ports
            .iter()
            .map(|port| target(service.clone(), port.port))
    });
    // A proxy that asks for others is refused, so there is nothing to compare.
    targets
        .filter(|target| servable(state, target, "").is_ok())
        .map(|target| expected_of(state, &target, settings))
        .collect()
}

fn target(service: ServiceId, port: u16) -> Target {
    Target {
        service,
        port,
        hostname: None,
    }
}

fn expected_of(state: &State, target: &Target, settings: &Settings) -> pb::Expected {
    let addresses = match lockstep_resolution::endpoints(state, target, &Place::default()).answer {
        Answer::Present(set) => set.endpoints.keys().map(ToString::to_string).collect(),
        Answer::Absent | Answer::Unknown => Vec::new(),
    };
    pb::Expected {
        authority: target.authority(&settings.cluster_domain),
        addresses,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_model::{
        InternalTraffic, RemoteDiscovery, ServiceKind, ServicePort, ServiceRecord,
    };
    use lockstep_state::Command;

    #[test]
    fn only_services_that_are_served_are_expected_to_answer() {
        let plain = ServiceRecord {
            kind: ServiceKind::Endpoints,
            ports: vec![ServicePort {
                port: 80,
                name: "http".into(),
            }],
            cluster_ips: Vec::new(),
            internal_traffic: InternalTraffic::Cluster,
            opaque_ports: None,
            remote: None,
            is_federated: false,
        };
        let alias = ServiceRecord {
            kind: ServiceKind::ExternalName,
            ..plain.clone()
        };
        let federated = ServiceRecord {
            is_federated: true,
            ..plain.clone()
        };
        let remote = ServiceRecord {
            remote: Some(RemoteDiscovery {
                cluster: "east".into(),
                service: None,
            }),
            ..plain.clone()
        };
        let named = [
            ("alias", alias),
            ("federated", federated),
            ("plain", plain),
            ("remote", remote),
        ];
        let put = |(name, record): (&str, ServiceRecord)| {
            Command::PutService(ServiceId::named("shop", name), record.into())
        };
        let settings = Settings::default();
        let mut commands = vec![Command::PutSettings(settings.clone().into())];
        commands.extend(named.map(put));
        let mut state = State::default();
        let log_id = LogId {
            term: Term::default(),
            index: 0,
        };
        state.apply(log_id, Batch::whole(log_id.term, commands));
        let authorities: Vec<String> = expected(&state, &settings)
            .into_iter()
            .map(|expected| expected.authority)
            .collect();
        assert_eq!(authorities, ["plain.shop.svc.cluster.local:80"]);
    }
}
