//! Where verbs print, and what they do when nobody reads any more.

use crate::stage::{Destination, Step, no_endpoints, parse, start_proxy_port};
use lockstep_cli::{Exit, Progress, Screen, run_on};
use std::io::{self, Write};

const WEB: &str = "web.shop.svc.cluster.local:80";

/// An output that always fails in the same way.
struct Broken(io::ErrorKind);

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

async fn resolve_onto(kind: io::ErrorKind) -> (Exit, String) {
    let call = vec![Step::say(3, &no_endpoints(true))];
    let replica = start_proxy_port(Destination::default().with(WEB, &[call])).await;
    let verb = parse(&["resolve", WEB, "--address", &replica.address]);
    let (mut out, mut notes) = (Broken(kind), Vec::new());
    let exit = run_on(
        verb,
        &mut Screen::new(&mut out, &mut notes, Progress::Hidden),
    )
    .await;
    (exit, String::from_utf8(notes).unwrap())
}

#[tokio::test]
async fn a_reader_that_has_gone_is_no_error_to_print() {
    let end = resolve_onto(io::ErrorKind::BrokenPipe).await;
    assert_eq!(end, (Exit::Unknown, String::new()));
}

#[tokio::test]
async fn an_output_that_cannot_be_written_is_an_error() {
    let notes = "lockstep resolve: cannot write the output: no storage space\n".to_owned();
    assert_eq!(
        resolve_onto(io::ErrorKind::StorageFull).await,
        (Exit::Unknown, notes)
    );
}
