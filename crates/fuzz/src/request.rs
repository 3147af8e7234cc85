//! A request of a proxy, as the bytes of its body.

use prost::Message;

use crate::{
    batch,
    served::{Asked, Method, Server, framed, is_meant},
};

/// Sends the bytes to a server of a small mesh. The first one says how: which method, whether
/// with the head of a message in front, whether with labels.
///
/// # Panics
///
/// The server waits, sends half a message, or gives a status to a readable request that it
/// does not mean.
pub fn run(data: &[u8]) {
    let Some((how, rest)) = data.split_first() else {
        return;
    };
    let method = if how & 1 == 0 {
        Method::Get
    } else {
        Method::GetProfile
    };
    let is_bare = how & 2 != 0;
    let labels = if how & 4 == 0 { "off" } else { "on" };
    let body = if is_bare {
        rest.to_vec().into()
    } else {
        framed(rest)
    };
    let mut server = Server::of(batch::golden_state());
    let status = server.ask(method, body, labels);
    let is_readable = !is_bare && Asked::decode(rest).is_ok();
    assert!(is_meant(status) || !is_readable, "status {status:?}");
}
