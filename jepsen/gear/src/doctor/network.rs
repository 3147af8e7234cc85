//! Probes of the network, all in a namespace of their own.

use std::io::{ErrorKind, Read as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};

use super::scratch::Scratch;
use crate::program::run;

/// How long a connection that should be dead may seem alive.
const PATIENCE: Duration = Duration::from_secs(2);

/// A pair of interfaces, one of them in a second namespace's place: the same one here.
pub(super) fn namespaces(scratch: &Scratch) -> anyhow::Result<()> {
    let namespace = scratch.namespace()?;
    let pair = ["type", "veth", "peer", "name", "probe-b"];
    let words = [
        &["ip", "-n", namespace, "link", "add", "probe-a"],
        pair.as_slice(),
    ]
    .concat();
    run(&words).map(drop)?;
    run(&[
        "ip", "-n", namespace, "link", "add", "probe-br", "type", "bridge",
    ])?;
    run(&[
        "ip", "-n", namespace, "link", "set", "probe-a", "master", "probe-br",
    ])
    .map(drop)
}

/// The rules that cut and lose frames.
pub(super) fn bridge_filter(scratch: &Scratch) -> anyhow::Result<()> {
    rules(
        scratch,
        "table bridge probe { set cut { type ipv4_addr . ipv4_addr; };
           chain matrix { type filter hook forward priority 0; policy accept;
             ip saddr . ip daddr @cut counter drop
             numgen random mod 100 < 30 drop; }; }",
    )
}

/// The rule that answers segments with a reset.
pub(super) fn reset_rule(scratch: &Scratch) -> anyhow::Result<()> {
    rules(
        scratch,
        "table inet probe { chain resets { type filter hook input priority 0; policy accept;
           tcp dport 9 reject with tcp reset; }; }",
    )
}

fn rules(scratch: &Scratch, text: &str) -> anyhow::Result<()> {
    scratch.run_inside(&["nft", text]).map(drop)
}

/// A connection that ends because somebody else says so.
pub(super) fn socket_kill(scratch: &Scratch) -> anyhow::Result<()> {
    scratch.room()?.run(|| {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let mut client = TcpStream::connect(address)?;
        let _server = listener.accept()?;
        client.set_read_timeout(Some(PATIENCE))?;
        let port = format!(":{}", address.port());
        run(&["ss", "-K", "-t", "dst", "127.0.0.1", "dport", "=", &port])?;
        match client.read(&mut [0]) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                bail!("the kernel destroys no sockets")
            }
            Ok(_) | Err(_) => Ok(()),
        }
    })?
}

/// An interface whose other end is a program.
pub(super) fn tap(scratch: &Scratch) -> anyhow::Result<()> {
    let words = ["ip", "tuntap", "add", "mode", "tap", "probe-tap"];
    scratch.run_inside(&words).map(drop)
}

/// The kernel's own network emulation.
pub(super) fn netem(scratch: &Scratch) -> anyhow::Result<()> {
    let words = [
        "tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms",
    ];
    scratch.run_inside(&words).map(drop)?;
    let shown = scratch.run_inside(&["tc", "qdisc", "show", "dev", "lo"])?;
    ensure!(shown.contains("netem"), "it was accepted and is not there");
    run(&["ip", "-n", scratch.namespace()?, "link", "show", "lo"])
        .map(drop)
        .context("lo is gone")
}
