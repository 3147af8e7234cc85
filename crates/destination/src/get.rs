//! `Get`: the endpoints of a service.

use bytes::Bytes;
use linkerd2_proxy_api::destination::GetDestination;
use lockstep_model::{Target, Text};
use lockstep_resolution::{
    Client, EndpointStream, Refusal, State, Topic, servable, target, topics_of_get,
};
use std::sync::Arc;

use crate::{
    answers::{Answers, Cell, Frames},
    metrics::Method,
    speaker::Speaker,
};

/// What a `Get` asks, and where its answer is kept.
pub(crate) struct GetAsked {
    path: Text,
    target: Target,
    client: Client,
    answers: Arc<Answers>,
    cell: Option<Arc<Cell>>,
}

impl GetAsked {
    fn cell(&mut self, state: &State) -> Arc<Cell> {
        let own = self.cell.take();
        let cell = self.answers.cell(state, &self.target, &self.client, own);
        self.cell.insert(cell).clone()
    }
}

/// A `Get` stream.
pub(crate) struct GetSpeaker {
    asked: GetAsked,
    stream: EndpointStream,
    unsaid: Unsaid,
}

impl Speaker for GetSpeaker {
    const METHOD: Method = Method::Get;

    type Asked = GetAsked;

    fn ask(
        state: &State,
        request: &GetDestination,
        answers: &Arc<Answers>,
    ) -> Result<GetAsked, Refusal> {
        Ok(GetAsked {
            path: request.path.as_str().into(),
            target: target(state, &request.path)?,
            client: Client::from_token(&request.context_token),
            answers: answers.clone(),
            cell: None,
        })
    }

    fn topics_of(state: &State, asked: &mut GetAsked) -> Vec<Topic> {
        // Nobody claims an address of nothing, and a name that is made up needs no cell.
        let contested = match state.content().service(&asked.target.service) {
            Some(_) => asked.cell(state).contested(state),
            None => Arc::default(),
        };
        topics_of_get(&asked.target, &asked.client, &contested)
    }

    fn open(state: &State, asked: GetAsked) -> Result<Self, Refusal> {
        servable(state, &asked.target, &asked.path)?;
        let mut speaker = Self {
            asked,
            stream: EndpointStream::default(),
            unsaid: Unsaid::default(),
        };
        speaker.look(state);
        Ok(speaker)
    }

    fn topics(&mut self, state: &State) -> Vec<Topic> {
        Self::topics_of(state, &mut self.asked)
    }

    fn look(&mut self, state: &State) {
        let cell = self.asked.cell(state);
        self.unsaid = Unsaid::from(cell.advance(state, &mut self.stream));
    }

    fn next(&mut self) -> Option<Bytes> {
        self.unsaid.next()
    }
}

/// The messages of one look at the state that are not written yet: a large set
/// travels in several.
#[derive(Default)]
struct Unsaid {
    frames: Frames,
    written: usize,
}

impl From<Frames> for Unsaid {
    fn from(frames: Frames) -> Self {
        Self { frames, written: 0 }
    }
}

impl Unsaid {
    fn next(&mut self) -> Option<Bytes> {
        let frame = self.frames.get(self.written).cloned();
        match frame {
            Some(_) => self.written += 1,
            // A stream that waits for the next change holds on to nothing.
            None => *self = Self::default(),
        }
        frame
    }
}
