//! Get, list and watch.

use futures::stream;
use http::{Response, StatusCode};

use super::answer::{self, SimBody};
use super::exchange::Ask;
use super::feed::Feed;
use super::parameters::{ListParameters, WatchParameters, resource_version};
use super::render;
use crate::api::SimApi;
use crate::behaviour::GoneForm;
use crate::kind::Kind;
use crate::object::Target;
use crate::refusal::Refusal;
use crate::store::Watch;

// === reads of Ask ===

impl Ask {
    pub(super) fn get(&self, api: &SimApi, target: &Target) -> Result<Response<SimBody>, Refusal> {
        let Target { kind, key, .. } = target;
        let wanted = resource_version(self.query.text("resourceVersion"))?.unwrap_or(0);
        let object = api.read(|store| {
            if wanted > store.revision() {
                return Err(Refusal::too_new(wanted, store.revision()));
            }
            store
                .find(kind, key)
                .cloned()
                .ok_or_else(|| Refusal::not_found(kind, &key.name))
        })?;
        Ok(answer::bytes(
            StatusCode::OK,
            render::object(&object, self.view),
        ))
    }

    pub(super) fn list(
        &self,
        api: &SimApi,
        kind: &'static Kind,
        namespace: Option<String>,
    ) -> Result<Response<SimBody>, Refusal> {
        let selection = self.selection(kind, namespace)?;
        let ListParameters { at, page } = ListParameters::parse(&self.query)?;
        let listing = api.read(|store| store.list(kind, &selection, &at, page))?;
        Ok(answer::bytes(
            StatusCode::OK,
            render::list(kind, &listing, self.view),
        ))
    }

    pub(super) fn watch(
        &self,
        api: &SimApi,
        kind: &'static Kind,
        namespace: Option<String>,
    ) -> Result<Response<SimBody>, Refusal> {
        let selection = self.selection(kind, namespace)?;
        let parameters = WatchParameters::parse(&self.query)?;
        let opened = api.read(|store| Watch::open(store, kind, selection, parameters.from));
        match opened {
            Ok(watch) => {
                let labels = self.labels.clone();
                let feed = Feed::new(api.clone(), watch, self.view, &parameters, labels);
                Ok(answer::stream(feed.lines()))
            }
            Err(refusal) if refusal.code == 410 && api.behaviour().gone == GoneForm::ErrorEvent => {
                api.tally().answered(&self.labels, 200);
                let line = render::error_event(&refusal);
                Ok(answer::stream(stream::iter([line])))
            }
            Err(refusal) => Err(refusal),
        }
    }
}
