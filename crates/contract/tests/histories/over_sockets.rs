//! The real service behind a socket, as proxies reach it. Every message is taken as soon as
//! it is sent, and kept until it is asked for.

use lockstep_contract::{
    board::Board,
    corpus,
    serve::Served,
    streams::{Heard, Streams},
};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use tokio::runtime::Runtime;

use crate::{
    play::Transport,
    seats::{Method, Seat},
};

/// A server, a connection to it, and what came on its streams.
pub(crate) struct OverSockets<'a> {
    runtime: &'a Runtime,
    served: &'a Served,
    streams: Streams<'a>,
    inbox: BTreeMap<String, VecDeque<Heard>>,
}

impl<'a> OverSockets<'a> {
    pub(crate) fn new(runtime: &'a Runtime, served: &'a Served) -> Self {
        Self {
            runtime,
            served,
            streams: runtime.block_on(Streams::to(served)),
            inbox: BTreeMap::new(),
        }
    }

    /// Takes all that was sent.
    fn settle(&mut self) {
        self.runtime.block_on(self.streams.settle());
        for (name, heard) in self.streams.take() {
            self.inbox.entry(name).or_default().extend(heard);
        }
    }
}

impl Transport for OverSockets<'_> {
    fn board(&self) -> &Board {
        &self.served.board
    }

    fn open(&mut self, stream: usize, seat: &Seat) -> Result<(), String> {
        self.settle();
        let name = stream.to_string();
        let method = match seat.method {
            Method::Get => corpus::Method::Get,
            Method::GetProfile => corpus::Method::GetProfile,
        };
        let opening = self.streams.open(&name, method, seat.path, seat.token);
        self.runtime.block_on(opening);
        self.settle();
        let heard = self.inbox.get(&name).and_then(VecDeque::front);
        let Some(Heard::End(end)) = heard else {
            return Ok(());
        };
        let code = end.code.clone();
        self.close(stream);
        Err(code)
    }

    fn next(&mut self, stream: usize) -> Result<Option<Value>, String> {
        self.settle();
        let inbox = self.inbox.get_mut(&stream.to_string());
        match inbox.and_then(VecDeque::pop_front) {
            None => Ok(None),
            Some(Heard::Message(message)) => Ok(Some(message)),
            Some(Heard::End(end)) => Err(format!("ended: {end:?}")),
        }
    }

    fn close(&mut self, stream: usize) {
        self.settle();
        self.streams.close(&stream.to_string());
        // The server must know, or it says something more that nobody counts.
        self.settle();
    }
}
