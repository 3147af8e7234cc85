//! From whom to whom: carried by every request, checked before anything else.

use bytes::Bytes;
use lockstep_position::{HistoryId, ReplicaId};
use lockstep_proto::peer::v1::Route;
use std::sync::{Arc, OnceLock};
use tonic::Status;

/// Who this replica is, as others address it. A cheap handle.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub(crate) cluster: Arc<str>,
    pub(crate) name: Arc<str>,
    pub(crate) id: ReplicaId,
    /// Set once, when the history becomes known.
    pub(crate) history: Arc<OnceLock<HistoryId>>,
    /// Whether it may join a group and never make one.
    pub(crate) joins_only: bool,
}

impl Address {
    /// A request's route from here to a replica; `None` when its id is not yet known.
    pub(crate) fn route_to(&self, to: Option<ReplicaId>) -> Route {
        Route {
            cluster: self.cluster.as_ref().to_owned(),
            from: self.id.as_u64(),
            to: to.map_or(0, ReplicaId::as_u64),
            history: history_to_wire(self.history.get().copied()),
        }
    }

    /// Refuses a request of another cluster or history, or for another replica.
    pub(crate) fn check(&self, route: Option<&Route>) -> Result<(), Status> {
        let route = self.check_cluster(route)?;
        if route.to != self.id.as_u64() {
            let to = ReplicaId::from_u64(route.to);
            return Err(Status::failed_precondition(format!(
                "replica `{}` is {}, not {to}",
                self.name, self.id
            )));
        }
        Ok(())
    }

    /// Refuses a request of another cluster or history, whoever it is for.
    pub(crate) fn check_cluster<'route>(
        &self,
        route: Option<&'route Route>,
    ) -> Result<&'route Route, Status> {
        let route = route.ok_or_else(|| Status::invalid_argument("`route` is missing"))?;
        if route.cluster != *self.cluster {
            return Err(Status::failed_precondition(format!(
                "replica `{}` belongs to cluster `{}`, not to `{}`",
                self.name, self.cluster, route.cluster
            )));
        }
        let theirs = history_from_wire(&route.history)?;
        match (self.history.get(), theirs) {
            (Some(ours), Some(theirs)) if *ours != theirs => {
                Err(Status::failed_precondition(format!(
                    "replica `{}` belongs to history {ours}, not to {theirs}",
                    self.name
                )))
            }
            (Some(_) | None, Some(_) | None) => Ok(route),
        }
    }
}

/// A history as a message field; empty when unknown.
pub(crate) fn history_to_wire(history: Option<HistoryId>) -> Bytes {
    history.map_or_else(Bytes::new, |history| {
        Bytes::copy_from_slice(&history.as_u128().to_be_bytes())
    })
}

/// A history from a message field.
pub(crate) fn history_from_wire(bytes: &[u8]) -> Result<Option<HistoryId>, Status> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let bytes = bytes
        .try_into()
        .map_err(|_| Status::invalid_argument("`history` is not 16 bytes long"))?;
    Ok(Some(HistoryId::from_u128(u128::from_be_bytes(bytes))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(history: Option<u128>) -> Address {
        let known = OnceLock::new();
        if let Some(history) = history {
            known.set(HistoryId::from_u128(history)).unwrap();
        }
        Address {
            cluster: "prod".into(),
            name: "replica-1".into(),
            id: ReplicaId::from_u64(1),
            history: Arc::new(known),
            joins_only: false,
        }
    }

    fn refusal(ours: Option<u128>, change: impl FnOnce(&mut Route)) -> String {
        let mut route = address(Some(7)).route_to(Some(ReplicaId::from_u64(1)));
        change(&mut route);
        match address(ours).check(Some(&route)) {
            Ok(()) => String::new(),
            Err(status) => status.message().to_owned(),
        }
    }

    #[test]
    fn a_request_for_somebody_else_is_refused_by_name() {
        assert_eq!(refusal(Some(7), |_| ()), "");
        assert_eq!(refusal(None, |_| ()), "");
        assert_eq!(refusal(Some(7), |route| route.history = Bytes::new()), "");
        assert_eq!(
            refusal(Some(7), |route| route.cluster = "test".to_owned()),
            "replica `replica-1` belongs to cluster `prod`, not to `test`"
        );
        assert_eq!(
            refusal(Some(7), |route| route.to = 2),
            "replica `replica-1` is 0000000000000001, not 0000000000000002"
        );
        assert_eq!(
            refusal(Some(8), |_| ()),
            "replica `replica-1` belongs to history 00000000000000000000000000000008, \
             not to 00000000000000000000000000000007"
        );
        assert_eq!(
            refusal(Some(7), |route| route.history = Bytes::from_static(b"x")),
            "`history` is not 16 bytes long"
        );
        assert_eq!(
            address(None).check(None).unwrap_err().message(),
            "`route` is missing"
        );
    }
}
