//! The server as a value: a handle to share, a service to call, a tool to use.

mod control;

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use ::http::{Request, Response};
use bytes::Bytes;
use http_body::Body;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::behaviour::{Behaviour, Judgement};
use crate::clock::UnixSeconds;
use crate::http::{SimBody, Verb, exchange};
use crate::kind::Kind;
use crate::object::{self, metadata};
use crate::resource::Resource;
use crate::store::{ObjectKey, Store};
use crate::tally::{Counts, Tally};

/// How a new server starts.
#[derive(Clone, Debug)]
pub struct Options {
    /// The newest events kept; older ones are compacted away. Unit: events.
    pub window: usize,
    /// How it behaves until told otherwise.
    pub behaviour: Behaviour,
    /// The custom kinds installed at first.
    pub crds: Crds,
}

/// Which custom kinds a new server has installed, each in all its versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Crds {
    /// None; [`SimApi::install_crd`] installs them one by one.
    None,
    /// All.
    #[default]
    All,
}

/// A simulated API server. Clones are handles of the same server.
///
/// It is a `tower::Service`, so that `kube::Client::new(api, "default")` talks
/// to it without a socket; [`SimApi::serve`] puts it on one.
#[derive(Clone, Debug)]
pub struct SimApi {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    store: Mutex<Store>,
    /// The store's revision, to wake watches by.
    newest: watch::Sender<u64>,
    /// Counts the orders to close all watches.
    closings: watch::Sender<u64>,
    behaviour: Mutex<Behaviour>,
    tally: Tally,
}

/// Why the programmatic handle refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum UseError {
    /// The object's `apiVersion` and `kind`, or the given name, is none of the
    /// kinds this server knows.
    #[error("unknown kind {kind:?}; the server knows those listed under /api/v1 and /apis")]
    UnknownKind {
        /// The kind as given.
        kind: String,
    },
    /// The kind is compiled into the server, so that nothing installs it.
    #[error("{kind:?} is no custom kind; those are ServiceProfile, Server, ExternalWorkload")]
    NotCustom {
        /// The kind as given.
        kind: String,
    },
    /// The custom kind never had this version.
    #[error("{kind} has no version {version:?}; its versions are {known}")]
    UnknownVersion {
        /// The kind as given.
        kind: String,
        /// The version as given.
        version: String,
        /// All its versions, newest first.
        known: String,
    },
    /// The object has no `metadata.name`.
    #[error("{kind} without metadata.name")]
    Unnamed {
        /// The object's kind.
        kind: String,
    },
    /// What was then is not remembered.
    #[error("resource version {resource_version} is older than the history of the server")]
    Forgotten {
        /// The resource version as given.
        resource_version: u64,
    },
    /// There is no such object to delete.
    #[error("{kind} {namespace}/{name} not found")]
    Missing {
        /// The kind as given.
        kind: String,
        /// The namespace as given; empty for cluster kinds.
        namespace: String,
        /// The name as given.
        name: String,
    },
}

/// Namespaces that the real server makes for itself.
const FIRST_NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

// === impl Options ===

impl Default for Options {
    fn default() -> Self {
        Self {
            window: 10_000,
            behaviour: Behaviour::default(),
            crds: Crds::default(),
        }
    }
}

// === impl SimApi ===

impl SimApi {
    /// A server with the namespaces every cluster has, and nothing else.
    pub fn new(options: Options) -> Self {
        let mut store = Store::new(options.window);
        if options.crds == Crds::None {
            for kind in Kind::custom() {
                store.uninstall(kind);
            }
        }
        let shared = Shared {
            store: Mutex::new(store),
            newest: watch::Sender::new(0),
            closings: watch::Sender::new(0),
            behaviour: Mutex::new(options.behaviour),
            tally: Tally::default(),
        };
        let api = Self {
            shared: Arc::new(shared),
        };
        for name in FIRST_NAMESPACES {
            // Cannot be refused: the kind is known and it has a name.
            let _ = api.apply(json!({
                "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name},
                "status": {"phase": "Active"},
            }));
        }
        api
    }

    /// Stores an object whole, status included, whether or not it was there,
    /// and answers the resource version of the newest change.
    ///
    /// Content is not judged, so that tests can store what the real server
    /// would refuse. Its namespace is made when missing. Storing what is there
    /// already changes nothing.
    ///
    /// # Errors
    ///
    /// [`UseError::UnknownKind`] and [`UseError::Unnamed`].
    pub fn apply(&self, object: Value) -> Result<u64, UseError> {
        let text = |field: &str| {
            object
                .get(field)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let (api_version, name) = (text("apiVersion"), text("kind"));
        let resource = Resource::of_object(api_version, name)
            .filter(|resource| self.read(|store| store.serves(*resource)));
        let Some(Resource { kind, .. }) = resource else {
            return Err(UseError::UnknownKind {
                kind: format!("{api_version} {name}"),
            });
        };
        if metadata::text(&object, "name").is_empty() {
            return Err(UseError::Unnamed {
                kind: name.to_owned(),
            });
        }
        self.write(|store, now| object::apply_whole(store, kind, object, now));
        Ok(self.resource_version())
    }

    /// Stores every object of a manifest: one object, a `List` with `items`,
    /// or a JSON array of objects.
    ///
    /// # Errors
    ///
    /// As [`SimApi::apply`], for the first object that is refused; those
    /// before it are stored.
    pub fn load(&self, manifest: Value) -> Result<u64, UseError> {
        match manifest {
            Value::Array(objects) => {
                for object in objects {
                    self.load(object)?;
                }
                Ok(self.resource_version())
            }
            Value::Object(mut fields) if fields.get("items").is_some_and(Value::is_array) => {
                self.load(fields.remove("items").unwrap_or_default())
            }
            object => self.apply(object),
        }
    }

    /// Removes an object at once, whatever its finalizers and grace period,
    /// and answers the resource version of the removal.
    ///
    /// `kind` is a kind or its plural name, `namespace` empty for cluster
    /// kinds.
    ///
    /// # Errors
    ///
    /// [`UseError::UnknownKind`] and [`UseError::Missing`].
    pub fn delete(&self, kind: &str, namespace: &str, name: &str) -> Result<u64, UseError> {
        let known = Kind::named(kind).ok_or_else(|| UseError::UnknownKind {
            kind: kind.to_owned(),
        })?;
        let key = ObjectKey::new(namespace, name);
        match self.write(|store, _| store.remove(known, &key).map(|_| store.revision())) {
            Some(revision) => Ok(revision),
            None => Err(UseError::Missing {
                kind: kind.to_owned(),
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            }),
        }
    }

    /// The newest state of an object; `kind` and `namespace` as in
    /// [`SimApi::delete`].
    pub fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<Arc<Value>> {
        let kind = Kind::named(kind)?;
        self.read(|store| store.find(kind, &ObjectKey::new(namespace, name)).cloned())
    }

    /// Forgets all history: whoever asks for an older resource version from
    /// now on is told 410. Open watches go on and miss nothing.
    pub fn compact(&self) {
        self.write(|store, _| store.compact());
    }

    /// Ends every open watch cleanly, after what it has still to send.
    pub fn close_watches(&self) {
        self.shared
            .closings
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    /// The resource version of the newest change, of whatever kind.
    pub fn resource_version(&self) -> u64 {
        self.read(Store::revision)
    }

    /// Requests and open watches by verb and resource.
    pub fn counts(&self) -> Counts {
        self.shared.tally.counts()
    }

    /// How the server behaves now.
    pub fn behaviour(&self) -> Behaviour {
        self.shared
            .behaviour
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Changes how the server behaves from the next request on.
    pub fn set_behaviour(&self, behaviour: Behaviour) {
        *self
            .shared
            .behaviour
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = behaviour;
    }

    /// Judges a request, and uses up the fault it meets.
    pub(crate) fn judge(&self, verb: Verb, resource: &str, token: &str) -> Judgement {
        self.shared
            .behaviour
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .judge(verb, resource, token)
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.shared.tally
    }

    pub(crate) fn read<R>(&self, read: impl FnOnce(&Store) -> R) -> R {
        read(
            &self
                .shared
                .store
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Changes the store and wakes the watches.
    pub(crate) fn write<R>(&self, change: impl FnOnce(&mut Store, UnixSeconds) -> R) -> R {
        let (result, revision) = {
            let mut store = self
                .shared
                .store
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            (change(&mut store, UnixSeconds::now()), store.revision())
        };
        self.shared.newest.send_if_modified(|newest| {
            // A restored store is at an older one.
            let is_other = revision != *newest;
            *newest = revision;
            is_other
        });
        result
    }

    /// Wakes the watches, though no object changed.
    fn wake_watches(&self) {
        self.shared.newest.send_modify(|_| {});
    }

    pub(crate) fn follow_revision(&self) -> watch::Receiver<u64> {
        self.shared.newest.subscribe()
    }

    pub(crate) fn follow_closings(&self) -> watch::Receiver<u64> {
        self.shared.closings.subscribe()
    }
}

impl<B> tower::Service<Request<B>> for SimApi
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<SimBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let api = self.clone();
        Box::pin(async move { Ok(exchange(api, request).await) })
    }
}
