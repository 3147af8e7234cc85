//! Job -> who owns it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use lockstep_model::{Fact, FactKind, OwnerFact};

use super::{
    Converted, Unusable,
    metadata::{key, single_owner},
};

pub(super) fn convert(metadata: &ObjectMeta) -> Result<Converted, Unusable> {
    Ok(Converted {
        key: key(FactKind::Job, metadata)?,
        fact: Fact::Owner(OwnerFact {
            owner: single_owner(metadata),
        }),
        skipped: Vec::new(),
    })
}
