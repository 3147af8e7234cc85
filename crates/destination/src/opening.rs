//! The opening of a stream: barrier, question, topics, and the first answer.

use linkerd2_proxy_api::destination::GetDestination;
use lockstep_resolution::{Admission, Barrier, State, Topic, View, Wakes};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tonic::{Status, body::Body};

use crate::{
    conversation::Conversation, frame::Labelling, leaving::Leaving, request::status,
    server::Served, speaker::Speaker, standing::metadata,
};

/// How long a client should wait before it asks a replica again that turned it away.
const PUSHBACK: Duration = Duration::from_secs(1);

/// Where gRPC's retries look for that; milliseconds.
const PUSHBACK_HEADER: &str = "grpc-retry-pushback-ms";

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
    let barrier = served.view.barrier().await;
    let state = served.view.newest();
    let labelled = |state: &State, mut status: Status| {
        let headers = standing(served, state, barrier);
        status.metadata_mut().as_mut().extend(headers);
        status
    };
    // Behind the barrier: it may just have shown that all is well.
    if let Admission::Closed(why) = served.view.claim().admission {
        return Err(labelled(&state, turned_away(why)));
    }
    let refused = |state: &State, refusal| labelled(state, status(&refusal));
    let asked = S::ask(&state, &request, &served.answers);
    let mut asked = asked.map_err(|refusal| refused(&state, refusal))?;
    let topics = S::topics_of(&state, &mut asked);
    let watched = Watched::of(served.view.as_ref(), topics, |state| {
        S::topics_of(state, &mut asked)
    });
    let state = watched.state;
    let speaker = S::open(&state, asked);
    let speaker = speaker.map_err(|refusal| refused(&state, refusal))?;

    let conversation = Conversation {
        view: served.view.clone(),
        speaker,
        wakes: watched.wakes,
        topics: watched.topics,
        revision: state.position().revision,
        labelling,
        drain: served.drain.clone(),
        leaving: Leaving::when(served.view.ending()),
        meter: served.metrics.opened(S::METHOD),
        unanswered_since: Some(begun),
        is_over: false,
    };
    let mut response = http::Response::new(Body::new(conversation));
    // Last of all: the claim is of the moment in which it is handed over.
    *response.headers_mut() = standing(served, &state, barrier);
    response.headers_mut().insert(
        http::header::CONTENT_TYPE,
        tonic::metadata::GRPC_CONTENT_TYPE,
    );
    Ok(response)
}

fn standing<V: View>(served: &Served<V>, state: &State, barrier: Barrier) -> http::HeaderMap {
    let claim = served.view.claim().behind(barrier);
    metadata(&served.view.about(), state.position(), &claim)
}

/// Refuses a stream that another replica should serve, and asks for a pause
/// before this one is tried again.
fn turned_away(why: &'static str) -> Status {
    let mut status = Status::unavailable(why);
    let pause = PUSHBACK.as_millis().to_string();
    if let Ok(pause) = pause.parse() {
        status.metadata_mut().insert(PUSHBACK_HEADER, pause);
    }
    status
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
