//! Metric labels: what proxies put on the metrics of an address, each key with
//! `dst_` in front.

use lockstep_model::{Mirror, NamedBy, SliceRecord, Text};
use std::{borrow::Cow, collections::BTreeMap};

/// The key of a label; owned only for kinds of owner that are not built in.
pub type LabelKey = Cow<'static, str>;

/// Labels by key.
pub type Labels = BTreeMap<LabelKey, Text>;

/// Adds a label whose key is known to this program.
pub(crate) fn put(labels: &mut Labels, key: &'static str, value: &Text) {
    labels.insert(Cow::Borrowed(key), value.clone());
}

/// The labels that a slice gives to all of its addresses.
pub(crate) fn of_slice(slice: &SliceRecord) -> Labels {
    let mut labels = Labels::new();
    // The value of the label that names the service, which clients know to be empty
    // where an owner names it instead.
    let service = match slice.named_by {
        NamedBy::Label => slice.service.name.clone(),
        NamedBy::Owner => Text::default(),
    };
    put(&mut labels, "service", &service);
    put(&mut labels, "namespace", &slice.service.namespace);
    of_mirror(&slice.mirror, &mut labels);
    labels
}

fn of_mirror(mirror: &Mirror, labels: &mut Labels) {
    let Some(cluster) = &mirror.cluster else {
        return;
    };
    put(labels, "target_cluster", cluster);
    let remote = mirror.remote_service.as_deref().unwrap_or_default();
    let mut parts = remote.split('.');
    if let (Some(service), Some(namespace)) = (parts.next(), parts.next()) {
        put(labels, "target_service", &service.into());
        put(labels, "target_service_namespace", &namespace.into());
    }
}

/// The labels that all of `each` agree on; none of nothing.
pub(crate) fn common<'labels>(mut each: impl Iterator<Item = &'labels Labels>) -> Labels {
    let mut common = each.next().cloned().unwrap_or_default();
    for labels in each {
        common.retain(|key, value| labels.get(key) == Some(value));
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_model::{AddressFamily, ServiceId};

    fn slice(cluster: Option<&str>, remote: Option<&str>) -> SliceRecord {
        SliceRecord {
            service: ServiceId::named("shop", "web"),
            named_by: NamedBy::Label,
            family: AddressFamily::V4,
            ports: Vec::new(),
            endpoints: Vec::new(),
            mirror: Mirror {
                gateway_identity: None,
                remote_service: remote.map(Into::into),
                cluster: cluster.map(Into::into),
            },
        }
    }

    fn labels(slice: &SliceRecord) -> Vec<(String, String)> {
        let owned = |(key, value): (LabelKey, Text)| (key.into_owned(), value.to_string());
        of_slice(slice).into_iter().map(owned).collect()
    }

    fn with_service(more: &[(&str, &str)]) -> Vec<(String, String)> {
        [("namespace", "shop"), ("service", "web")]
            .iter()
            .chain(more)
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn a_mirrored_service_names_its_origin() {
        let full = [
            ("target_cluster", "east"),
            ("target_service", "web"),
            ("target_service_namespace", "prod"),
        ];
        for (cluster, remote, more) in [
            (None, None, &full[..0]),
            (None, Some("web.prod.svc.east.local"), &full[..0]),
            (Some("east"), None, &full[..1]),
            (Some("east"), Some("web"), &full[..1]),
            (Some("east"), Some(""), &full[..1]),
            (Some("east"), Some("web.prod.svc.east.local"), &full[..]),
        ] {
            assert_eq!(
                labels(&slice(cluster, remote)),
                with_service(more),
                "{cluster:?} {remote:?}"
            );
        }
    }

    #[test]
    fn a_slice_that_its_owner_names_has_no_name_of_a_service() {
        let owned = SliceRecord {
            named_by: NamedBy::Owner,
            ..slice(None, None)
        };
        let expected =
            [("namespace", "shop"), ("service", "")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        assert_eq!(labels(&owned), expected);
    }

    #[test]
    fn only_what_all_agree_on_is_common() {
        let set = |pairs: &[(&'static str, &str)]| -> Labels {
            let pair = |(key, value): &(&'static str, &str)| (Cow::Borrowed(*key), (*value).into());
            pairs.iter().map(pair).collect()
        };
        let one = set(&[("service", "web"), ("target_cluster", "east")]);
        let other = set(&[("service", "web"), ("target_cluster", "west")]);
        assert_eq!(
            common([&one, &other].into_iter()),
            set(&[("service", "web")])
        );
        assert_eq!(common(std::iter::once(&one)), one);
        assert_eq!(common(std::iter::empty()), Labels::new());
    }
}
