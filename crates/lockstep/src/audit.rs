//! Lists the source afresh and compares: what `lockstep check` asks the leader.

use lockstep_admin::AuditError;
use lockstep_catalog::{Catalog, FactSource, Listed, SourceEvent};
use lockstep_model::{ServiceId, ServiceKind, Settings, Target};
use lockstep_position::{HistoryId, LogId, Term};
use lockstep_proto::admin::v1 as pb;
use lockstep_replica::{Replica, label_of};
use lockstep_resolution::{Answer, Place};
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
    let with_endpoints = services.filter(|(_, record)| record.kind == ServiceKind::Endpoints);
    let targets = with_endpoints.flat_map(|(service, record)| {
        record
            .ports
            .iter()
            .map(|port| target(service.clone(), port.port))
    });
    targets
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
    let addresses = match lockstep_resolution::endpoints(state, target, &Place::default()) {
        Answer::Present(set) => set.endpoints.keys().map(ToString::to_string).collect(),
        Answer::Absent | Answer::Unknown => Vec::new(),
    };
    pb::Expected {
        authority: target.authority(&settings.cluster_domain),
        addresses,
    }
}
