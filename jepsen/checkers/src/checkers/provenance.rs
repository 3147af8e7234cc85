//! C5: every address that is told was once written by somebody, with that workload behind it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use lockstep_jepsen_model::{Asked, Cluster, Described, Identity, Kind, Message, Name, ObjectKey};
use serde_json::Value;

use crate::{Call, Guarantee, Run, Seen, Stream, Verdict, What, Written};

/// The domain of services, if no settings were committed.
const CLUSTER_DOMAIN: &str = "cluster.local";

/// What was ever written.
#[derive(Default)]
struct Known {
    /// By service and address: ports of slices, and the workloads behind.
    exposed: BTreeMap<(Name, IpAddr), (BTreeSet<u16>, BTreeSet<String>)>,
    /// The service accounts of a pod, by namespace and pod.
    accounts: BTreeMap<(String, String), BTreeSet<String>>,
    written: u64,
}

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    let streams: BTreeMap<usize, &Stream<'_>> = run
        .streams
        .iter()
        .flat_map(|stream| stream.heard.iter().map(move |heard| (heard.place, stream)))
        .collect();
    let settings = run.timeline.settings();
    let domain = settings.map_or(CLUSTER_DOMAIN, |settings| &settings.cluster_domain);
    let mut known = Known::default();
    for (place, event) in run.events() {
        match &event.what {
            What::Invoke(Call::TruthWrite(write)) => {
                for written in &write.writes {
                    if let Written::Put(object) = written {
                        known.learn(object);
                    }
                }
            }
            What::Seen(Seen::Truth(truth)) => truth.objects.iter().for_each(|it| known.learn(it)),
            What::Seen(Seen::Msg(told)) => {
                let asked = streams.get(&place);
                let asked =
                    asked.map(|stream| Asked::parse(&stream.open.question.authority, domain));
                if let (Message::Add { endpoints, .. }, Some(Ok(asked))) = (&told.message, asked) {
                    for (address, described) in endpoints {
                        verdict.count("addresses", 1);
                        if let Some(what) = known.stranger(&asked, *address, described) {
                            verdict.violate(Guarantee::NoPhantom, what, [place]);
                        }
                    }
                }
            }
            What::Seen(_) | What::Invoke(_) | What::Ok(_) | What::Fail(..) | What::Unknown(..) => {}
        }
    }
    if known.written == 0 {
        verdict.doubt("no slice was written to the API server");
    }
    if !verdict.counts.contains_key("addresses") {
        verdict.doubt("no address was told");
    }
}

// === impl Known ===

impl Known {
    fn learn(&mut self, object: &Value) {
        let Ok(key) = ObjectKey::of(object) else {
            return;
        };
        if key.kind == Kind::EndpointSlice {
            self.written += 1;
            for shown in Cluster::exposed(object) {
                let at = self.exposed.entry((shown.service, shown.ip)).or_default();
                at.0.extend(shown.ports);
                at.1.insert(shown.workload.as_deref().unwrap_or_default().to_owned());
            }
        }
        if key.kind == Kind::Pod {
            let account = object
                .pointer("/spec/serviceAccountName")
                .and_then(Value::as_str);
            let account = account.filter(|name| !name.is_empty()).unwrap_or("default");
            let pod = (key.namespace.to_string(), key.name.to_string());
            self.accounts
                .entry(pod)
                .or_default()
                .insert(account.to_owned());
        }
    }

    /// What is strange about an address, if anything is.
    fn stranger(
        &self,
        asked: &Asked,
        address: SocketAddr,
        described: &Described,
    ) -> Option<String> {
        let service = &asked.service;
        let Some((ports, workloads)) = self.exposed.get(&(service.clone(), address.ip())) else {
            return Some(format!("{address} was never written for {service}"));
        };
        if !ports.contains(&address.port()) && address.port() != asked.port {
            return Some(format!(
                "no slice of {service} ever had port {}",
                address.port()
            ));
        }
        let label = |key: &str| described.labels.get(key).map(|name| name.to_string());
        let named = label("pod")
            .or(label("external_workload"))
            .unwrap_or_default();
        if !workloads.contains(&named) {
            return Some(format!("{address} was never that of `{named}`"));
        }
        self.impostor(&service.namespace, &named, described)
    }

    /// Whether the identity of a pod is that of another one.
    fn impostor(&self, namespace: &str, pod: &str, described: &Described) -> Option<String> {
        let Some(Identity::Dns { name, server_name }) = &described.identity else {
            return None;
        };
        // A gateway has an identity without a server name, and no pod.
        let accounts = self.accounts.get(&(namespace.to_owned(), pod.to_owned()))?;
        let account = name.split('.').next().unwrap_or_default();
        let foreign = !server_name.is_empty() && !accounts.contains(account);
        foreign.then(|| format!("`{pod}` never ran as `{account}`"))
    }
}
