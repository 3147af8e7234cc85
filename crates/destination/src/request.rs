//! Requests in, statuses out.

use linkerd2_proxy_api::destination::GetDestination;
use lockstep_resolution::{Meaning, Refusal};
use tonic::{
    Code, Status,
    codec::{Codec, Streaming},
};
use tonic_prost::ProstCodec;

use crate::frame::Labelling;

/// The most bytes of a request; a proxy's has some 300.
pub const REQUEST_BYTES_MAX: usize = 16 * 1024;

/// The most bytes of the text of a status. Texts repeat what the client sent,
/// and travel in a header, whose size clients limit.
pub const MESSAGE_BYTES_MAX: usize = 1024;

/// Request metadata by which a client asks for revisions in its messages.
const LABELS_HEADER: &str = "lockstep-labels";

/// Reads the one message of a request.
pub(crate) async fn read<B>(body: B) -> Result<GetDestination, Status>
where
    B: http_body::Body + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let decoder = ProstCodec::<GetDestination, GetDestination>::default().decoder();
    let mut messages = Streaming::new_request(decoder, body, None, Some(REQUEST_BYTES_MAX));
    let message = messages.message().await?;
    let message = message.ok_or_else(|| Status::internal("missing request message"))?;
    // A request ends with its message, as in every gRPC server of this kind.
    messages.trailers().await?;
    Ok(message)
}

/// Whether the client asks for revisions in its messages.
pub(crate) fn labelling(headers: &http::HeaderMap) -> Labelling {
    match headers.get(LABELS_HEADER) {
        Some(value) if value == "on" => Labelling::Revisions,
        Some(_) | None => Labelling::Plain,
    }
}

/// The status of a refused request.
pub(crate) fn status(refusal: &Refusal) -> Status {
    let code = match refusal.meaning() {
        Meaning::InvalidArgument => Code::InvalidArgument,
        Meaning::NotFound => Code::NotFound,
        Meaning::FailedPrecondition => Code::FailedPrecondition,
        Meaning::Unavailable => Code::Unavailable,
    };
    Status::new(code, shortened(refusal.to_string()))
}

fn shortened(mut text: String) -> String {
    if text.len() > MESSAGE_BYTES_MAX {
        text.truncate(text.floor_char_boundary(MESSAGE_BYTES_MAX));
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_model::ServiceId;

    #[test]
    fn each_meaning_has_its_code() {
        let path = "foo".into();
        let service = ServiceId::named("shop", "web");
        for (refusal, code, text) in [
            (
                Refusal::InvalidAuthority { path },
                Code::InvalidArgument,
                "Invalid authority: foo",
            ),
            (
                Refusal::ServiceNotFound { service },
                Code::NotFound,
                "Service web.shop not found",
            ),
            (
                Refusal::AmbiguousAddress {
                    count: 2,
                    address: lockstep_resolution::SharedAddress::Pod([10, 1, 0, 1].into()),
                },
                Code::FailedPrecondition,
                "found 2 pods with a conflicting pod network IP 10.1.0.1",
            ),
            (
                Refusal::NotSynced,
                Code::Unavailable,
                "this replica has not synced with the cluster yet",
            ),
        ] {
            let status = status(&refusal);
            assert_eq!((status.code(), status.message()), (code, text));
        }
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let refusal = Refusal::InvalidAuthority {
            path: "é".repeat(5_000).into(),
        };
        // 19 bytes of text before the path leave an odd number for it.
        let kept = (MESSAGE_BYTES_MAX - "Invalid authority: ".len()) / 2;
        let expected = format!("Invalid authority: {}...", "é".repeat(kept));
        assert_eq!(status(&refusal).message(), expected);
    }

    #[test]
    fn labels_are_on_or_not() {
        for (value, expected) in [
            (Some("on"), Labelling::Revisions),
            (Some("off"), Labelling::Plain),
            (Some("ON"), Labelling::Plain),
            (Some(""), Labelling::Plain),
            (None, Labelling::Plain),
        ] {
            let pair = value.map(|value| (LABELS_HEADER, value));
            let headers: http::HeaderMap = pair
                .into_iter()
                .map(|(key, value)| (key.parse().unwrap(), value.parse().unwrap()))
                .map(|pair: (http::HeaderName, http::HeaderValue)| pair)
                .collect();
            assert_eq!(labelling(&headers), expected, "{value:?}");
        }
    }
}
