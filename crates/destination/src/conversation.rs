//! One open stream: a response body that is polled when its client can take
//! data, and not before.

use bytes::Bytes;
use http::HeaderMap;
use http_body::Frame;
use lockstep_position::Revision;
use lockstep_resolution::{Topic, View, ViewClosed, Wakes};
use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Instant,
};
use tonic::Status;

use crate::{
    drain::Drain,
    frame::{Labelling, labelled},
    leaving::Leaving,
    metrics::StreamMeter,
    opening::Watched,
    speaker::Speaker,
};

/// One open stream.
pub(crate) struct Conversation<V, S> {
    pub(crate) view: Arc<V>,
    pub(crate) speaker: S,
    pub(crate) wakes: Wakes,
    pub(crate) topics: Vec<Topic>,
    /// Of the state that the speaker looked at last.
    pub(crate) revision: Revision,
    pub(crate) labelling: Labelling,
    pub(crate) drain: Drain,
    pub(crate) leaving: Leaving,
    pub(crate) meter: StreamMeter,
    /// When the request came, until its first message is written.
    pub(crate) unanswered_since: Option<Instant>,
    pub(crate) is_over: bool,
}

impl<V: View, S: Speaker> http_body::Body for Conversation<V, S> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        if this.is_over {
            return Poll::Ready(None);
        }
        let frame = match ready!(this.poll_message(context)) {
            Ok(message) => Frame::data(message),
            Err(status) => {
                this.is_over = true;
                Frame::trailers(trailers(&status))
            }
        };
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.is_over
    }
}

impl<V: View, S: Speaker> Conversation<V, S> {
    /// The next message, or the status that ends the stream between two.
    fn poll_message(&mut self, context: &mut Context<'_>) -> Poll<Result<Bytes, Status>> {
        loop {
            if let Some(status) = self.leaving.poll_at_once(context) {
                return Poll::Ready(Err(status));
            }
            if let Some(message) = self.next() {
                return Poll::Ready(Ok(message));
            }
            if let Some(status) = self.leaving.gently() {
                return Poll::Ready(Err(status));
            }
            if self.drain.poll_begun(context).is_ready() {
                // Not an error: the proxy asks another replica at once.
                return Poll::Ready(Err(Status::ok("")));
            }
            match ready!(self.wakes.poll_changed(context)) {
                Ok(()) => self.look_again(),
                Err(closed @ ViewClosed) => {
                    return Poll::Ready(Err(Status::unavailable(closed.to_string())));
                }
            }
        }
    }

    fn next(&mut self) -> Option<Bytes> {
        let frame = self.speaker.next()?;
        self.meter.message();
        if let Some(begun) = self.unanswered_since.take() {
            self.meter.first_message_after(begun.elapsed());
        }
        Some(labelled(frame, self.labelling, self.revision))
    }

    fn look_again(&mut self) {
        let mut state = self.view.newest();
        let topics = self.speaker.topics(&state);
        if topics != self.topics {
            let speaker = &mut self.speaker;
            let watched = Watched::of(self.view.as_ref(), topics, |state| speaker.topics(state));
            state = watched.state;
            self.topics = watched.topics;
            self.wakes = watched.wakes;
        }
        self.revision = state.position().revision;
        self.speaker.look(&state);
    }
}

fn trailers(status: &Status) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    // Fails for no text: whatever is not printable is encoded.
    let _ = status.add_header(&mut trailers);
    trailers
}
