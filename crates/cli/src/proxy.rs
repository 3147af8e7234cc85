//! Plays a proxy: asks a replica what a proxy would ask.

use linkerd2_proxy_api::destination::{DestinationProfile, GetDestination, Update};
use prost::Message;
use std::time::Duration;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::metadata::MetadataValue;
use tonic::transport::Channel;
use tonic::{Request, Streaming};

use crate::Address;
use crate::ask::{AskError, MESSAGE_BYTES_MAX, connect, in_time};
use crate::codec::{Labelled, LabelledCodec};
use crate::labels::{self, Labels};
use crate::told::{Answer, Told};

/// A message on the stream of one of the two calls.
pub(crate) trait StreamMessage: Message + Default + 'static {
    /// The path of the call.
    const PATH: &'static str;
}

/// What a proxy asks.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// `name.namespace.svc.domain:port`, or an address for a profile.
    pub(crate) authority: String,
    /// The proxy's token; empty for a client on no node.
    pub(crate) context: String,
}

/// A connection to a replica's proxy port.
#[derive(Clone, Debug)]
pub(crate) struct Proxy {
    address: Address,
    channel: Channel,
}

/// An open stream.
#[derive(Debug)]
pub(crate) struct Opened<M> {
    address: Address,
    labels: Labels,
    messages: Streaming<Labelled<M>>,
}

/// The first usable answer of a stream, with the labels of its message.
#[derive(Clone, Debug)]
pub(crate) struct FirstAnswer {
    pub(crate) labels: Labels,
    pub(crate) answer: Answer,
}

impl StreamMessage for Update {
    const PATH: &'static str = "/io.linkerd.proxy.destination.Destination/Get";
}

impl StreamMessage for DestinationProfile {
    const PATH: &'static str = "/io.linkerd.proxy.destination.Destination/GetProfile";
}

// === impl Proxy ===

impl Proxy {
    pub(crate) async fn connect(address: &Address) -> Result<Self, AskError> {
        Ok(Self {
            address: address.clone(),
            channel: connect(address).await?,
        })
    }

    /// Opens a stream; comes back when the response headers do.
    pub(crate) async fn open<M: StreamMessage>(
        &self,
        question: &Question,
    ) -> Result<Opened<M>, AskError> {
        let mut client =
            Grpc::new(self.channel.clone()).max_decoding_message_size(MESSAGE_BYTES_MAX);
        client
            .ready()
            .await
            .map_err(|error| AskError::Unreachable {
                address: self.address.clone(),
                reason: error.to_string(),
            })?;
        let path = PathAndQuery::from_static(M::PATH);
        let codec = LabelledCodec::<GetDestination, M>::default();
        let response = client
            .server_streaming(request(question), path, codec)
            .await;
        let response = response.map_err(|status| AskError::from_status(&self.address, &status))?;
        let labels = Labels::read(response.metadata()).map_err(|error| AskError::Unreadable {
            address: self.address.clone(),
            reason: error.to_string(),
        })?;
        Ok(Opened {
            address: self.address.clone(),
            labels,
            messages: response.into_inner(),
        })
    }

    /// The first answer to a `Get`, which is the whole set.
    pub(crate) async fn first_answer(&self, question: &Question) -> Result<FirstAnswer, AskError> {
        let mut opened = self.open::<Update>(question).await?;
        loop {
            let (labels, update) = opened.first().await?;
            // What a proxy ignores does not count as an answer.
            let mut told = Told::default();
            told.hear(update.update);
            if let Some(answer) = told.into_answer() {
                return Ok(FirstAnswer { labels, answer });
            }
        }
    }
}

/// Connects and asks for the first answer, all within `within`.
pub(crate) async fn ask_once(
    address: &Address,
    question: &Question,
    within: Duration,
) -> Result<FirstAnswer, AskError> {
    let asked = async { Proxy::connect(address).await?.first_answer(question).await };
    in_time(address, within, asked).await
}

fn request(question: &Question) -> Request<GetDestination> {
    let mut request = Request::new(GetDestination {
        scheme: String::new(),
        path: question.authority.clone(),
        context_token: question.context.clone(),
    });
    let (header, value) = labels::ASK;
    request
        .metadata_mut()
        .insert(header, MetadataValue::from_static(value));
    request
}

// === impl Opened ===

impl<M: StreamMessage> Opened<M> {
    /// The next message with its labels; `None` when the stream ended well.
    pub(crate) async fn next(&mut self) -> Result<Option<(Labels, M)>, AskError> {
        let next = self.messages.message().await;
        let next = next.map_err(|status| AskError::from_status(&self.address, &status))?;
        Ok(next.map(|labelled| (self.labels.at(labelled.revision), labelled.message)))
    }

    /// As [`Self::next`], where an end is no answer.
    pub(crate) async fn first(&mut self) -> Result<(Labels, M), AskError> {
        let address = self.address.clone();
        self.next().await?.ok_or(AskError::Ended { address })
    }
}
