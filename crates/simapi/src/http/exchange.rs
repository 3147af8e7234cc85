//! One request, from its head to its response.

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::request::Parts;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::Value;

use super::answer::{self, SimBody};
use super::discovery;
use super::query::Query;
use super::render::View;
use super::route::Route;
use super::verb::Verb;
use crate::api::SimApi;
use crate::behaviour::{Judgement, Manner};
use crate::clock::UnixSeconds;
use crate::kind::Kind;
use crate::refusal::Refusal;
use crate::resource::Resource;
use crate::selector::Selection;
use crate::store::Store;
use crate::tally::RequestLabels;

/// Largest body taken: `MaxRequestBodyBytes` of the real server.
const BODY_BYTES_MAX: usize = 3 * 1024 * 1024;

/// A request about objects, before its body is read.
pub(super) struct Ask {
    pub(super) verb: Verb,
    pub(super) route: Route,
    pub(super) query: Query,
    pub(super) view: View,
    pub(super) content_type: String,
    pub(super) labels: RequestLabels,
    /// How a watch is told.
    pub(super) manner: Manner,
    authorization: String,
}

/// Serves one request.
pub(crate) async fn exchange<B>(api: SimApi, request: Request<B>) -> Response<SimBody>
where
    B: Body<Data = Bytes> + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (head, body) = request.into_parts();
    let route = Route::parse(head.uri.path());
    let Some(resource) = route.resource() else {
        return about_the_server(&api, &route);
    };
    let mut ask = match Ask::parse(&head, route, resource) {
        Ok(ask) => ask,
        Err(refusal) => return answer::refusal(&refusal),
    };
    api.tally().begin(&ask.labels);
    let judged = match api.behaviour().admit(&ask.authorization) {
        Ok(()) => api.judge(ask.verb, resource.kind.plural, ask.query.text("continue")),
        Err(refusal) => Judgement::Refuse(refusal),
    };
    let served = match judged {
        Judgement::Refuse(refusal) => Err(refusal),
        Judgement::Expire => ask.expired(&api),
        Judgement::Serve => ask.served(&api, body).await,
        Judgement::Ignore => std::future::pending().await,
        Judgement::Delay(time) => {
            tokio::time::sleep(time).await;
            ask.served(&api, body).await
        }
        Judgement::Tell(manner) => {
            ask.manner = manner;
            ask.served(&api, body).await
        }
    };
    let is_open_watch = served.is_ok() && ask.verb == Verb::Watch;
    let response = served.unwrap_or_else(|refusal| answer::refusal(&refusal));
    if !is_open_watch {
        api.tally()
            .answered(&ask.labels, response.status().as_u16());
    }
    response
}

fn about_the_server(api: &SimApi, route: &Route) -> Response<SimBody> {
    let resources = api.read(Store::resources);
    let page = |found: Option<Value>| match found {
        Some(found) => answer::json(&found),
        None => answer::refusal(&Refusal::page_not_found()),
    };
    match route {
        Route::Health => answer::text("ok".to_owned()),
        Route::Version => answer::json(&discovery::version()),
        Route::Metrics => answer::text(api.tally().page()),
        Route::CoreVersions => answer::json(&discovery::core_versions()),
        Route::Groups => answer::json(&discovery::groups(&resources)),
        Route::Group(group) => page(discovery::group(group, &resources)),
        Route::Resources { group, version } => {
            page(discovery::resources(group, version, &resources))
        }
        Route::OpenApiIndex => answer::json(&discovery::openapi_index(&resources)),
        Route::OpenApi { group, version } => page(discovery::openapi(group, version, &resources)),
        Route::Unknown => page(None),
        Route::Collection { .. } | Route::Object { .. } | Route::UnknownResource => {
            answer::refusal(&Refusal::unknown_path())
        }
    }
}

async fn read_body<B>(body: B) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes> + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    match Limited::new(body, BODY_BYTES_MAX).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Refusal::too_large(BODY_BYTES_MAX)),
        Err(error) => Err(Refusal::bad_request(format!(
            "unable to read the body: {error}"
        ))),
    }
}

// === impl Ask ===

impl Ask {
    fn parse(head: &Parts, route: Route, resource: Resource) -> Result<Self, Refusal> {
        let header = |name| {
            head.headers
                .get(name)
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default()
        };
        let query = Query::parse(head.uri.query().unwrap_or_default());
        let content_type = header(CONTENT_TYPE).to_owned();
        let is_watch = query.switch("watch") == Some(true);
        let verb = Verb::of(&head.method, &route, is_watch, &content_type)
            .ok_or_else(Refusal::method_not_allowed)?;
        let labels = RequestLabels {
            verb,
            resource,
            scope: route.scope(),
            subresource: route.subresource(),
        };
        let view = View::parse(header(ACCEPT))?;
        Ok(Self {
            verb,
            route,
            query,
            view,
            content_type,
            labels,
            manner: Manner::Usual,
            authorization: header(AUTHORIZATION).to_owned(),
        })
    }

    /// What its path names.
    pub(super) fn resource(&self) -> Resource {
        self.labels.resource
    }

    /// Reads the store, unless the resource is not installed.
    pub(super) fn read<R>(
        &self,
        api: &SimApi,
        read: impl FnOnce(&Store) -> Result<R, Refusal>,
    ) -> Result<R, Refusal> {
        api.read(|store| match store.serves(self.resource()) {
            true => read(store),
            false => Err(Refusal::page_not_found()),
        })
    }

    /// Changes the store, unless the resource is not installed.
    pub(super) fn write<R>(
        &self,
        api: &SimApi,
        change: impl FnOnce(&mut Store, UnixSeconds) -> Result<R, Refusal>,
    ) -> Result<R, Refusal> {
        api.write(|store, now| match store.serves(self.resource()) {
            true => change(store, now),
            false => Err(Refusal::page_not_found()),
        })
    }

    async fn served<B>(&self, api: &SimApi, body: B) -> Result<Response<SimBody>, Refusal>
    where
        B: Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.serve(api, &read_body(body).await?)
    }

    fn serve(&self, api: &SimApi, body: &Bytes) -> Result<Response<SimBody>, Refusal> {
        match (self.verb, &self.route) {
            (Verb::List, Route::Collection { namespace, .. }) => self.list(api, namespace.clone()),
            (Verb::Watch, Route::Collection { namespace, .. }) => {
                self.watch(api, namespace.clone())
            }
            (Verb::Post, Route::Collection { namespace, .. }) => {
                self.create(api, namespace.as_deref(), body)
            }
            (Verb::DeleteCollection, Route::Collection { namespace, .. }) => {
                self.delete_collection(api, namespace.clone(), body)
            }
            (Verb::Get, Route::Object { target, .. }) => self.get(api, target),
            (Verb::Put, Route::Object { target, .. }) => self.replace(api, target, body),
            (Verb::Patch | Verb::Apply, Route::Object { target, .. }) => {
                self.patch(api, target, body)
            }
            (Verb::Delete, Route::Object { target, .. }) => self.delete(api, target, body),
            _ => Err(Refusal::method_not_allowed()),
        }
    }

    pub(super) fn selection(
        &self,
        kind: &Kind,
        namespace: Option<String>,
    ) -> Result<Selection, Refusal> {
        let (labels, fields) = (
            self.query.text("labelSelector"),
            self.query.text("fieldSelector"),
        );
        Selection::parse(kind, namespace, labels, fields)
    }
}
