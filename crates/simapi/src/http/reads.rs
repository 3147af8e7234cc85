//! Get, list and watch.

use futures::stream;
use http::{Response, StatusCode};

use super::answer::{self, SimBody};
use super::exchange::Ask;
use super::feed::Feed;
use super::parameters::{ListParameters, WatchParameters, resource_version};
use super::render;
use super::verb::Verb;
use crate::api::SimApi;
use crate::behaviour::GoneForm;
use crate::object::Target;
use crate::refusal::Refusal;
use crate::resource::Resource;
use crate::store::{Watch, expired_continuation};

// === reads of Ask ===

impl Ask {
    pub(super) fn get(&self, api: &SimApi, target: &Target) -> Result<Response<SimBody>, Refusal> {
        let Target { kind, key, .. } = target;
        let wanted = resource_version(self.query.text("resourceVersion"))?.unwrap_or(0);
        let object = self.read(api, |store| {
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
            render::object(self.resource(), &object, self.view),
        ))
    }

    pub(super) fn list(
        &self,
        api: &SimApi,
        namespace: Option<String>,
    ) -> Result<Response<SimBody>, Refusal> {
        let Resource { kind, .. } = self.resource();
        let selection = self.selection(kind, namespace)?;
        let ListParameters { at, page } = ListParameters::parse(&self.query)?;
        let listing = self.read(api, |store| store.list(kind, &selection, &at, page))?;
        Ok(answer::bytes(
            StatusCode::OK,
            render::list(self.resource(), &listing, self.view),
        ))
    }

    pub(super) fn watch(
        &self,
        api: &SimApi,
        namespace: Option<String>,
    ) -> Result<Response<SimBody>, Refusal> {
        let Resource { kind, .. } = self.resource();
        let selection = self.selection(kind, namespace)?;
        let parameters = WatchParameters::parse(&self.query)?;
        let opened = self.read(api, |store| {
            Watch::open(store, kind, selection, parameters.from)
        });
        match opened {
            Ok(watch) => {
                let labels = self.labels.clone();
                let feed = Feed::new(api.clone(), watch, self.view, &parameters, labels);
                let feed = feed.in_manner(self.manner);
                Ok(answer::stream(feed.lines()))
            }
            Err(refusal) if refusal.code == 410 => self.gone(api, refusal),
            Err(refusal) => Err(refusal),
        }
    }

    /// Refuses as if the resource version it names were forgotten.
    pub(super) fn expired(&self, api: &SimApi) -> Result<Response<SimBody>, Refusal> {
        let token = self.query.text("continue");
        if self.verb == Verb::Watch {
            let asked = resource_version(self.query.text("resourceVersion"))?.unwrap_or(0);
            return self.gone(api, Refusal::expired_watch(asked, api.resource_version()));
        }
        Err(match token.is_empty() {
            true => Refusal::expired_list(),
            false => expired_continuation(token)?,
        })
    }

    fn gone(&self, api: &SimApi, refusal: Refusal) -> Result<Response<SimBody>, Refusal> {
        match api.behaviour().gone {
            GoneForm::ErrorEvent => {
                api.tally().answered(&self.labels, 200);
                let line = render::error_event(&refusal);
                Ok(answer::stream(stream::iter([line])))
            }
            GoneForm::HttpStatus => Err(refusal),
        }
    }
}
