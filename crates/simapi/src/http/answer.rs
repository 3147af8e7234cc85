//! Answers as HTTP responses.

use std::convert::Infallible;

use bytes::Bytes;
use futures::Stream;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use serde_json::Value;

use super::render;
use crate::refusal::{Form, Refusal};

/// The body of every response: one piece, or the open end of a watch.
pub type SimBody = UnsyncBoxBody<Bytes, Infallible>;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// JSON that is already written.
pub(super) fn bytes(code: StatusCode, body: Bytes) -> Response<SimBody> {
    respond(code, JSON, Full::new(body).boxed_unsync())
}

pub(super) fn json(value: &Value) -> Response<SimBody> {
    bytes(StatusCode::OK, render::json_bytes(value))
}

pub(super) fn text(text: String) -> Response<SimBody> {
    respond(
        StatusCode::OK,
        TEXT,
        Full::new(Bytes::from(text)).boxed_unsync(),
    )
}

pub(super) fn refusal(refusal: &Refusal) -> Response<SimBody> {
    let code = StatusCode::from_u16(refusal.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = match refusal.form {
        Form::Status => bytes(code, render::json_bytes(&refusal.status())),
        Form::Text => {
            let text = Full::new(Bytes::from(refusal.message.clone()));
            respond(code, TEXT, text.boxed_unsync())
        }
    };
    if let Some(seconds) = refusal.retry_after {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

/// A watch: each item of the stream is flushed as it comes.
pub(super) fn stream(items: impl Stream<Item = Bytes> + Send + 'static) -> Response<SimBody> {
    let frames = futures::StreamExt::map(items, |bytes| Ok(Frame::data(bytes)));
    respond(StatusCode::OK, JSON, StreamBody::new(frames).boxed_unsync())
}

fn respond(code: StatusCode, content_type: HeaderValue, body: SimBody) -> Response<SimBody> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}
