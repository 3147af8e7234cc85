//! Node -> the zone it is in.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use lockstep_model::{Fact, FactKind};

use super::{
    Converted, Unusable,
    metadata::{key, label},
};

const ZONE: &str = "topology.kubernetes.io/zone";

pub(super) fn convert(metadata: &ObjectMeta) -> Result<Converted, Unusable> {
    Ok(Converted {
        key: key(FactKind::Node, metadata)?,
        fact: Fact::Node(label(metadata, ZONE)),
        skipped: Vec::new(),
    })
}
