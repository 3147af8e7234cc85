//! The opening of a stream: barrier, question, topics, and the first answer.

use linkerd2_proxy_api::destination::GetDestination;
use lockstep_resolution::{Freshness, State, Topic, View, Wakes};
use std::{sync::Arc, time::Instant};
use tonic::{Status, body::Body, metadata::MetadataMap};

use crate::{
    conversation::Conversation, frame::Labelling, request::status, server::Served,
    speaker::Speaker, standing::metadata,
};

/// Opens a stream for a request that has been read.
pub(crate) async fn open<V: View, S: Speaker>(
    served: &Served<V>,
    request: GetDestination,
    labelling: Labelling,
    begun: Instant,
) -> Result<http::Response<Body>, Status> {
    if served.drain.has_begun() {
        return Err(Status::unavailable("this replica drains"));
    }
    let freshness = served.view.barrier().await;
    let state = served.view.newest();
    let refused = |state: &State, refusal| {
        let mut status = status(&refusal);
        *status.metadata_mut() = MetadataMap::from_headers(standing(served, state, freshness));
        status
    };
    let asked = S::ask(&state, &request, &served.answers);
    let mut asked = asked.map_err(|refusal| refused(&state, refusal))?;
    let topics = S::topics_of(&state, &mut asked);
    let watched = Watched::of(served.view.as_ref(), topics, |state| {
        S::topics_of(state, &mut asked)
    });
    let state = watched.state;
    let speaker = S::open(&state, asked);
    let speaker = speaker.map_err(|refusal| refused(&state, refusal))?;

    let headers = standing(served, &state, freshness);
    let conversation = Conversation {
        view: served.view.clone(),
        speaker,
        wakes: watched.wakes,
        topics: watched.topics,
        revision: state.position().revision,
        labelling,
        drain: served.drain.clone(),
        meter: served.metrics.opened(S::METHOD),
        unanswered_since: Some(begun),
        is_over: false,
    };
    let mut response = http::Response::new(Body::new(conversation));
    *response.headers_mut() = headers;
    response.headers_mut().insert(
        http::header::CONTENT_TYPE,
        tonic::metadata::GRPC_CONTENT_TYPE,
    );
    Ok(response)
}

fn standing<V: View>(served: &Served<V>, state: &State, freshness: Freshness) -> http::HeaderMap {
    metadata(&served.view.about(), state.position(), freshness)
}

/// A state, and the wakes for all that comes after it.
pub(crate) struct Watched {
    pub(crate) state: Arc<State>,
    pub(crate) topics: Vec<Topic>,
    pub(crate) wakes: Wakes,
}

impl Watched {
    /// Asks to be woken first and reads afterwards, so that no change falls
    /// between the two; again if the topics are others by then.
    pub(crate) fn of(
        view: &impl View,
        mut topics: Vec<Topic>,
        mut topics_in: impl FnMut(&State) -> Vec<Topic>,
    ) -> Self {
        loop {
            let wakes = view.subscribe(topics.clone());
            let state = view.newest();
            let now = topics_in(&state);
            if now == topics {
                return Self {
                    state,
                    topics,
                    wakes,
                };
            }
            topics = now;
        }
    }
}
