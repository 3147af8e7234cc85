//! What `GetProfile` says.

use linkerd2_proxy_api::destination::{DestinationProfile, RetryBudget};
use linkerd2_proxy_api::meta::{Metadata, metadata};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

use super::ResolveArgs;
use super::heading::heading;
use crate::ask::{AskError, in_time};
use crate::endpoint::{Endpoint, EndpointFields};
use crate::labels::{LabelFields, Labels};
use crate::proxy::{Opened, Proxy};
use crate::screen::{Format, Screen};
use crate::table::{Cell, HEAD, layout};
use crate::{Address, Exit, VerbError, interrupted};

/// A profile as a JSON object.
#[derive(Debug, Serialize)]
struct Document<'a> {
    authority: &'a str,
    #[serde(flatten)]
    labels: LabelFields,
    fully_qualified_name: &'a str,
    opaque_protocol: bool,
    routes: usize,
    retry_budget: Option<BudgetFields>,
    overrides: Vec<OverrideFields<'a>>,
    endpoint: Option<EndpointFields>,
    parent: Option<String>,
    profile: Option<String>,
}

#[derive(Debug, Serialize)]
struct BudgetFields {
    retry_ratio: f32,
    min_retries_per_second: u32,
    /// Absent for a time that is negative too.
    ttl_seconds: Option<f64>,
}

#[derive(Debug, Serialize)]
struct OverrideFields<'a> {
    authority: &'a str,
    weight: u32,
}

pub(super) async fn run(args: &ResolveArgs, screen: &mut Screen<'_>) -> Result<Exit, VerbError> {
    let address = args.address();
    let (mut opened, first) = in_time(&address, args.timeout, open(args, &address)).await?;
    print(args, &address, &first, screen)?;
    if !args.watch {
        return Ok(Exit::Yes);
    }
    tokio::select! {
        end = follow(args, &address, &mut opened, screen) => end,
        () = interrupted() => Ok(Exit::Yes),
    }
}

type Message = (Labels, DestinationProfile);

async fn open(
    args: &ResolveArgs,
    address: &Address,
) -> Result<(Opened<DestinationProfile>, Message), AskError> {
    let mut opened = Proxy::connect(address)
        .await?
        .open(&args.question())
        .await?;
    let first = opened.first().await?;
    Ok((opened, first))
}

async fn follow(
    args: &ResolveArgs,
    address: &Address,
    opened: &mut Opened<DestinationProfile>,
    screen: &mut Screen<'_>,
) -> Result<Exit, VerbError> {
    let ended = loop {
        match opened.next().await {
            Ok(Some(message)) => print(args, address, &message, screen)?,
            Ok(None) => break "the stream ended with status OK".to_owned(),
            Err(error) => break format!("the stream ended: {error}"),
        }
    };
    screen.note(format_args!("lockstep resolve: {ended}"))?;
    Ok(Exit::Unknown)
}

fn print(
    args: &ResolveArgs,
    address: &Address,
    (labels, profile): &Message,
    screen: &mut Screen<'_>,
) -> Result<(), VerbError> {
    let document = document(&args.authority, labels, profile);
    match (args.output, args.watch) {
        (Format::Json, true) => screen.object(&document)?,
        (Format::Json, false) => screen.document(&document)?,
        (Format::Table, _) => {
            screen.line(heading(&args.authority, what(profile), labels, address))?;
            screen.text(&table(profile))?;
        }
    }
    Ok(())
}

/// The kind of profile, in words.
fn what(profile: &DestinationProfile) -> &'static str {
    if *profile == DestinationProfile::default() {
        "empty profile (the service does not declare this port)"
    } else if profile.endpoint.is_some() {
        "endpoint profile"
    } else {
        "service profile"
    }
}

fn table(profile: &DestinationProfile) -> String {
    if *profile == DestinationProfile::default() {
        return String::new();
    }
    let overrides = profile.dst_overrides.iter();
    let overrides = overrides.map(|split| format!("{} weight {}", split.authority, split.weight));
    let endpoint = endpoint(profile);
    let rows = [
        ("NAME", profile.fully_qualified_name.clone()),
        (
            "OPAQUE",
            if profile.opaque_protocol { "yes" } else { "no" }.to_owned(),
        ),
        ("ROUTES", profile.routes.len().to_string()),
        (
            "RETRIES",
            profile
                .retry_budget
                .as_ref()
                .map(budget_text)
                .unwrap_or_default(),
        ),
        ("OVERRIDES", overrides.collect::<Vec<_>>().join("\n")),
        (
            "PARENT",
            profile
                .parent_ref
                .as_ref()
                .and_then(reference)
                .unwrap_or_default(),
        ),
        (
            "PROFILE",
            profile
                .profile_ref
                .as_ref()
                .and_then(reference)
                .unwrap_or_default(),
        ),
        (
            "ENDPOINT",
            endpoint.as_ref().map(endpoint_text).unwrap_or_default(),
        ),
    ];
    layout(&rows.map(|(key, value)| vec![Cell::styled(HEAD, key), Cell::new(value)]))
}

fn endpoint(profile: &DestinationProfile) -> Option<Endpoint> {
    Endpoint::read(profile.endpoint.clone()?, &BTreeMap::new())
}

fn endpoint_text(endpoint: &Endpoint) -> String {
    let parts = [
        endpoint.address.to_string(),
        format!("weight {}", endpoint.weight()),
        endpoint.hint(),
        endpoint.identity().unwrap_or_default().to_owned(),
        endpoint.own_labels(),
    ];
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

fn budget_text(budget: &RetryBudget) -> String {
    let percent = budget.retry_ratio * 100.0;
    let at_least = budget.min_retries_per_second;
    let ttl = budget
        .ttl
        .as_ref()
        .map(|ttl| format!(", counted over {ttl}"));
    format!(
        "{percent}% more, at least {at_least} a second{}",
        ttl.unwrap_or_default()
    )
}

/// `core/Service shop/web:80`; nothing for a reference to a blank resource.
fn reference(metadata: &Metadata) -> Option<String> {
    let resource = match metadata.kind.as_ref()? {
        metadata::Kind::Default(name) => return Some(format!("default {name}")),
        metadata::Kind::Resource(resource) => resource,
    };
    let port = if resource.port == 0 {
        String::new()
    } else {
        format!(":{}", resource.port)
    };
    let (group, kind) = (&resource.group, &resource.kind);
    let (namespace, name) = (&resource.namespace, &resource.name);
    (!name.is_empty()).then(|| format!("{group}/{kind} {namespace}/{name}{port}"))
}

fn document<'a>(
    authority: &'a str,
    labels: &Labels,
    profile: &'a DestinationProfile,
) -> Document<'a> {
    let overrides = profile.dst_overrides.iter();
    let overrides = overrides
        .map(|split| OverrideFields {
            authority: &split.authority,
            weight: split.weight,
        })
        .collect();
    let budget = profile.retry_budget.as_ref();
    Document {
        authority,
        labels: labels.fields(),
        fully_qualified_name: &profile.fully_qualified_name,
        opaque_protocol: profile.opaque_protocol,
        routes: profile.routes.len(),
        retry_budget: budget.map(|budget| BudgetFields {
            retry_ratio: budget.retry_ratio,
            min_retries_per_second: budget.min_retries_per_second,
            ttl_seconds: budget
                .ttl
                .and_then(|ttl| Duration::try_from(ttl).ok())
                .map(|ttl| ttl.as_secs_f64()),
        }),
        overrides,
        endpoint: endpoint(profile).map(|endpoint| endpoint.fields()),
        parent: profile.parent_ref.as_ref().and_then(reference),
        profile: profile.profile_ref.as_ref().and_then(reference),
    }
}
