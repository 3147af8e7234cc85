//! What a request does.

use std::fmt;

use http::Method;

use super::route::Route;

/// What a request does, as the real server's metrics name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Reads one object.
    Get,
    /// Reads a collection.
    List,
    /// Follows a collection.
    Watch,
    /// Creates an object.
    Post,
    /// Replaces an object.
    Put,
    /// Changes an object.
    Patch,
    /// Changes an object by server-side apply.
    Apply,
    /// Deletes an object.
    Delete,
    /// Deletes what is selected of a collection.
    DeleteCollection,
}

// === impl Verb ===

impl Verb {
    /// The verb of a request, or `None` if the route does not allow the method.
    pub(super) fn of(
        method: &Method,
        route: &Route,
        is_watch: bool,
        content_type: &str,
    ) -> Option<Self> {
        match (method, route) {
            (&Method::GET | &Method::HEAD, Route::Collection { .. }) if is_watch => {
                Some(Self::Watch)
            }
            (&Method::GET | &Method::HEAD, Route::Collection { .. }) => Some(Self::List),
            (&Method::GET | &Method::HEAD, _) => Some(Self::Get),
            (&Method::POST, Route::Collection { .. }) => Some(Self::Post),
            (&Method::PUT, Route::Object { .. }) => Some(Self::Put),
            (&Method::PATCH, Route::Object { .. }) if content_type.contains("apply-patch") => {
                Some(Self::Apply)
            }
            (&Method::PATCH, Route::Object { .. }) => Some(Self::Patch),
            (&Method::DELETE, Route::Object { .. }) => Some(Self::Delete),
            (&Method::DELETE, Route::Collection { .. }) => Some(Self::DeleteCollection),
            _ => None,
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Get => "GET",
            Self::List => "LIST",
            Self::Watch => "WATCH",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Apply => "APPLY",
            Self::Delete => "DELETE",
            Self::DeleteCollection => "DELETECOLLECTION",
        })
    }
}
