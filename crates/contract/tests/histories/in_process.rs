//! The real service without sockets: the generated client calls it in this process, and
//! takes a message only when it is asked to.

use futures::FutureExt;
use linkerd2_proxy_api::destination::{
    DestinationProfile, Update, destination_client::DestinationClient,
};
use lockstep_contract::{board::Board, code, json, serve::asking};
use lockstep_destination::{DestinationService, Metrics, service};
use prometheus_client::registry::Registry;
use serde_json::Value;
use std::{collections::BTreeMap, sync::Arc};
use tonic::{Status, Streaming};

use crate::{
    play::Transport,
    seats::{Method, Seat},
};

/// A service, a client, and its open streams.
pub(crate) struct InProcess {
    board: Arc<Board>,
    client: DestinationClient<DestinationService<Board>>,
    open: BTreeMap<usize, Wire>,
}

enum Wire {
    Get(Streaming<Update>),
    GetProfile(Streaming<DestinationProfile>),
}

impl InProcess {
    pub(crate) fn new() -> Self {
        let board = Board::with(Vec::new());
        let metrics = Metrics::registered(&mut Registry::default());
        let service = service(board.clone(), metrics, std::future::pending());
        Self {
            board,
            client: DestinationClient::new(service),
            open: BTreeMap::new(),
        }
    }

    fn ask(&mut self, seat: &Seat) -> Result<Wire, Status> {
        let request = asking(seat.path, seat.token);
        match seat.method {
            Method::Get => {
                let opened = at_once(self.client.get(request))?;
                Ok(Wire::Get(opened.into_inner()))
            }
            Method::GetProfile => {
                let opened = at_once(self.client.get_profile(request))?;
                Ok(Wire::GetProfile(opened.into_inner()))
            }
        }
    }
}

/// Nothing in this process has to be waited for.
fn at_once<T>(answer: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    let late = || Err(Status::deadline_exceeded("no answer at once"));
    answer.now_or_never().unwrap_or_else(late)
}

impl Transport for InProcess {
    fn board(&self) -> &Board {
        &self.board
    }

    fn open(&mut self, stream: usize, seat: &Seat) -> Result<(), String> {
        let wire = self
            .ask(seat)
            .map_err(|status| code::name(status.code()).to_owned())?;
        self.open.insert(stream, wire);
        Ok(())
    }

    fn next(&mut self, stream: usize) -> Result<Option<Value>, String> {
        let message = match self.open.get_mut(&stream) {
            Some(Wire::Get(updates)) => said(updates, json::update),
            Some(Wire::GetProfile(profiles)) => said(profiles, json::profile),
            None => return Err("not open".to_owned()),
        };
        let message = message.transpose();
        message.map_err(|status| format!("ended: {status:?}"))
    }

    fn close(&mut self, stream: usize) {
        self.open.remove(&stream);
    }
}

fn said<T>(stream: &mut Streaming<T>, json: impl Fn(&T) -> Value) -> Option<Result<Value, Status>> {
    match stream.message().now_or_never()? {
        Ok(Some(message)) => Some(Ok(json(&message))),
        Ok(None) => Some(Err(Status::ok(""))),
        Err(status) => Some(Err(status)),
    }
}
