//! `GetProfile`: what to know of a name or an address.

use bytes::Bytes;
use linkerd2_proxy_api::destination::GetDestination;
use lockstep_resolution::{
    Client, Profile, ProfileStream, Question, Refusal, State, Topic, question, topics_of_profile,
};
use std::sync::Arc;

use crate::{answers::Answers, encode, frame::frame, metrics::Method, speaker::Speaker};

/// A `GetProfile` stream.
pub(crate) struct ProfileSpeaker {
    stream: ProfileStream,
    unsaid: Option<Profile>,
}

impl Speaker for ProfileSpeaker {
    const METHOD: Method = Method::GetProfile;

    type Asked = Question;

    fn ask(state: &State, request: &GetDestination, _: &Arc<Answers>) -> Result<Question, Refusal> {
        let client = Client::from_token(&request.context_token);
        question(state, &request.path, &client)
    }

    fn topics_of(state: &State, asked: &mut Question) -> Vec<Topic> {
        topics_of_profile(state, asked)
    }

    fn open(state: &State, asked: Question) -> Result<Self, Refusal> {
        let (stream, unsaid) = ProfileStream::open(state, asked)?;
        Ok(Self { stream, unsaid })
    }

    fn topics(&mut self, state: &State) -> Vec<Topic> {
        topics_of_profile(state, self.stream.question())
    }

    fn look(&mut self, state: &State) {
        // The newer profile replaces one that was not said yet.
        if let Some(profile) = self.stream.advance(state) {
            self.unsaid = Some(profile);
        }
    }

    fn next(&mut self) -> Option<Bytes> {
        let profile = self.unsaid.take()?;
        frame(&encode::profile(&profile))
    }
}
