//! The shell against servers that do not answer, in time that passes by itself.

use bytes::Bytes;
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use http::{Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::StreamBody;
use kube::client::Body;
use lockstep_catalog::Listed;
use lockstep_model::{Fact, FactKey};
use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::task::JoinHandle;

use super::*;
use crate::watch::given;

mod optional;
mod restored;
mod silence;

const KIND: FactKind = FactKind::Node;

/// How a server answers one request.
enum Answer {
    /// A page without objects, at this resource version.
    EmptyPage(&'static str),
    /// These bytes, and then the end.
    Closed(&'static str),
    /// These bytes, and then nothing more.
    Open(&'static str),
    /// Not at all.
    Never,
    /// With 429, and this many seconds to wait.
    Busy(u32),
}

/// A follower of a scripted server.
struct Scene {
    asked: Arc<Mutex<Vec<(u64, String)>>>,
    events: mpsc::Receiver<SourceEvent>,
    _follower: JoinHandle<()>,
}

impl Scene {
    /// Answers each request as scripted, and those after the script never.
    fn play(resume: Option<&str>, script: Vec<Answer>) -> Self {
        let begun = Instant::now();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = asked.clone();
        let mut script = script.into_iter();
        let service = tower::service_fn(move |request: Request<Body>| {
            let uri = request.uri().to_string();
            // Which second it was asked in says enough, chance decides the rest.
            log.lock().unwrap().push((begun.elapsed().as_secs(), uri));
            let answer = script.next().unwrap_or(Answer::Never);
            async move { Ok::<_, Infallible>(respond(answer).await) }
        });
        let (sender, events) = mpsc::channel(100);
        let follower = Follower::new(&given(service), KIND);
        let resume = resume.map(|cursor| Cursor(cursor.into()));
        Self {
            asked,
            events,
            _follower: tokio::spawn(follower.run(begin(resume), sender)),
        }
    }

    /// The next event that tells of objects.
    async fn next(&mut self) -> SourceEvent {
        loop {
            let event = self.events.recv().await.unwrap();
            if event != (SourceEvent::Alive { kind: KIND }) {
                return event;
            }
        }
    }

    /// The first so many requests, each with its second.
    async fn requests(&self, count: usize) -> Vec<(u64, String)> {
        loop {
            let asked = self.asked.lock().unwrap().clone();
            if asked.len() >= count {
                return asked;
            }
            sleep(Duration::from_millis(10)).await;
        }
    }
}

fn begin(resume: Option<Cursor>) -> Begin {
    resume.map_or(Begin::Afresh(None), Begin::After)
}

type AnyBody = StreamBody<BoxStream<'static, Result<Frame<Bytes>, Infallible>>>;

async fn respond(answer: Answer) -> Response<AnyBody> {
    match answer {
        Answer::EmptyPage(version) => {
            let page = format!(r#"{{"metadata":{{"resourceVersion":"{version}"}},"items":[]}}"#);
            Response::new(body(page, stream::empty().boxed()))
        }
        Answer::Closed(text) => Response::new(body(text, stream::empty().boxed())),
        Answer::Open(text) => Response::new(body(text, stream::pending().boxed())),
        Answer::Never => std::future::pending().await,
        Answer::Busy(seconds) => Response::builder()
            .status(StatusCode::TOO_MANY_REQUESTS)
            .header("retry-after", seconds)
            .body(body("", stream::empty().boxed()))
            .unwrap(),
    }
}

fn body(
    text: impl Into<Bytes>,
    then: BoxStream<'static, Result<Frame<Bytes>, Infallible>>,
) -> AnyBody {
    let told = stream::iter([Ok(Frame::data(text.into()))]);
    StreamBody::new(told.chain(then).boxed())
}

/// The seconds, and where each watch began; `list` for a list.
fn shape(requests: &[(u64, String)]) -> Vec<(u64, &str)> {
    let requests = requests.iter();
    requests
        .map(|(second, uri)| match uri.split_once("resourceVersion=") {
            Some((_, from)) => (*second, from),
            None => (*second, "list"),
        })
        .collect()
}

fn changed(name: &str, at: &str) -> SourceEvent {
    SourceEvent::Changed {
        key: FactKey::named(KIND, "", name),
        fact: Some(Fact::Node(None)),
        cursor: Cursor(at.into()),
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_watch_is_given_up_soon_after_its_time_and_resumed() {
    let event = "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"8\"}}}\n";
    let mut scene = Scene::play(None, vec![Answer::EmptyPage("7"), Answer::Open(event)]);
    let requests = scene.requests(3).await;
    let shape = shape(&requests);
    assert_eq!(shape[..2], [(0, "list"), (0, "7")]);
    let (second, from) = shape[2];
    assert_eq!(from, "8");
    assert!((20..=25).contains(&second), "given up after {second} s");
    let listed = SourceEvent::Listed(Listed {
        kind: KIND,
        facts: [].into(),
        unread: [].into(),
        cursor: Cursor("7".into()),
    });
    assert_eq!(scene.next().await, listed);
    assert_eq!(scene.next().await, changed("a", "8"));
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_not_answered_is_given_up_too() {
    let scene = Scene::play(Some("7"), vec![Answer::Never]);
    let requests = scene.requests(2).await;
    assert_eq!(shape(&requests), [(0, "7"), (10, "7")]);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_does_not_come_is_asked_again() {
    let scene = Scene::play(None, vec![Answer::Never, Answer::EmptyPage("7")]);
    let requests = scene.requests(3).await;
    assert_eq!(shape(&requests), [(0, "list"), (30, "list"), (30, "7")]);
}

#[tokio::test(start_paused = true)]
async fn a_busy_server_is_left_alone_as_long_as_it_asks_for() {
    let scene = Scene::play(
        None,
        vec![Answer::Busy(7), Answer::EmptyPage("7"), Answer::Busy(20)],
    );
    let requests = scene.requests(4).await;
    assert_eq!(
        shape(&requests),
        [(0, "list"), (7, "list"), (7, "7"), (27, "7")],
    );
}

#[tokio::test(start_paused = true)]
async fn a_line_that_is_cut_off_is_no_event_and_comes_again_whole() {
    let cut = "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"8\"}}}\n\
               {\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"b\",\"resour";
    let whole = "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"b\",\"resourceVersion\":\"9\"}}}\n";
    let mut scene = Scene::play(Some("7"), vec![Answer::Closed(cut), Answer::Open(whole)]);
    assert_eq!(scene.next().await, changed("a", "8"));
    assert_eq!(scene.next().await, changed("b", "9"));
    let requests = scene.requests(2).await;
    assert_eq!(shape(&requests), [(0, "7"), (0, "8")]);
}

#[tokio::test(start_paused = true)]
async fn a_line_of_garbage_ends_the_watch_and_is_resumed_before_it() {
    let garbage = "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"8\"}}}\n\
                   <html>\n";
    let scene = Scene::play(Some("7"), vec![Answer::Open(garbage)]);
    let requests = scene.requests(2).await;
    assert_eq!(shape(&requests), [(0, "7"), (0, "8")]);
}
