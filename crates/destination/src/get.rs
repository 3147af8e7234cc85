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

/// What a `Get` asks.
pub(crate) struct GetAsked {
    path: Text,
    target: Target,
    client: Client,
}

/// A `Get` stream.
pub(crate) struct GetSpeaker {
    asked: GetAsked,
    answers: Arc<Answers>,
    cell: Option<Arc<Cell>>,
    stream: EndpointStream,
    unsaid: Unsaid,
}

impl Speaker for GetSpeaker {
    const METHOD: Method = Method::Get;

    type Asked = GetAsked;

    fn ask(state: &State, request: &GetDestination) -> Result<GetAsked, Refusal> {
        Ok(GetAsked {
            path: request.path.as_str().into(),
            target: target(state, &request.path)?,
            client: Client::from_token(&request.context_token),
        })
    }

    fn topics(_: &State, asked: &GetAsked) -> Vec<Topic> {
        topics_of_get(&asked.target, &asked.client)
    }

    fn open(state: &State, asked: GetAsked, answers: &Arc<Answers>) -> Result<Self, Refusal> {
        servable(state, &asked.target, &asked.path)?;
        let mut speaker = Self {
            asked,
            answers: answers.clone(),
            cell: None,
            stream: EndpointStream::default(),
            unsaid: Unsaid::default(),
        };
        speaker.look(state);
        Ok(speaker)
    }

    fn asked(&self) -> &GetAsked {
        &self.asked
    }

    fn look(&mut self, state: &State) {
        let GetAsked { target, client, .. } = &self.asked;
        let cell = self.answers.cell(state, target, client, self.cell.take());
        self.unsaid = Unsaid::from(cell.advance(state, &mut self.stream));
        self.cell = Some(cell);
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
