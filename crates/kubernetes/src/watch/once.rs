//! A list of one kind, once, for whoever does not follow it.

use lockstep_catalog::{Listed, SourceError};
use lockstep_model::FactKind;

use super::{
    ask::page,
    failure::{Failure, FailureKind},
    machine::nothing,
    page::{Gathered, Turned},
    version::Version,
};
use crate::{Metrics, access::Access};

/// Lists one kind once, without a second try. A kind that a cluster may do without and
/// does is listed as empty. What cannot be used is neither named nor counted: whoever
/// follows the kind does that, and an audit would only repeat it.
///
/// # Errors
///
/// The first page that could not be had.
pub(crate) async fn list(
    access: &Access,
    kind: FactKind,
    metrics: &Metrics,
) -> Result<Listed, SourceError> {
    metrics.list_begun(kind);
    let mut version = Version::best(kind);
    for _ in 0..Version::count(kind) {
        match list_in(access, version).await {
            Err(failure) if failure.kind == FailureKind::NotServed && kind.is_optional() => {
                version = version.next();
            }
            Err(Failure { reason, .. }) => return Err(SourceError { kind, reason }),
            Ok(listed) => return Ok(listed),
        }
    }
    Ok(nothing(kind))
}

async fn list_in(access: &Access, version: Version) -> Result<Listed, Failure> {
    let mut gathered = Gathered::default();
    loop {
        let (page, _) = page(access, version, gathered.token()).await?;
        gathered = match gathered.turn(version.kind(), page) {
            Turned::More(gathered) => gathered,
            Turned::Complete(listed) => return Ok(listed),
            Turned::Torn => return Err(Failure::passing("pages of two moments")),
        };
    }
}
