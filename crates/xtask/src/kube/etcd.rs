//! etcd: how it is started, and the three questions we put to its HTTP gateway.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

/// More than any of the questions needs on a loaded machine.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Our answers are a few hundred bytes; a compaction or range never lists objects.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// Why etcd did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum EtcdError {
    /// The connection failed.
    #[error("no answer from etcd at {address} to {path}")]
    Connection {
        /// Where etcd listens.
        address: SocketAddr,
        /// What was asked.
        path: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// etcd answered, but not with what was asked for.
    #[error("etcd at {address} answered {path} with: {answer}")]
    Refused {
        /// Where etcd listens.
        address: SocketAddr,
        /// What was asked.
        path: &'static str,
        /// The answer, head and body.
        answer: String,
    },
}

/// Where etcd listens on loopback.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Ports {
    pub(super) client: u16,
    pub(super) peer: u16,
}

/// The command line.
pub(super) fn arguments(ports: Ports, data: &Path) -> Vec<String> {
    let client = format!("http://127.0.0.1:{}", ports.client);
    let peer = format!("http://127.0.0.1:{}", ports.peer);
    vec![
        "--name=etcd".to_owned(),
        format!("--data-dir={}", data.display()),
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=etcd={peer}"),
        // Test data need not survive a power cut, only the death of the process.
        "--unsafe-no-fsync".to_owned(),
        "--log-level=warn".to_owned(),
    ]
}

/// Asks etcd over its plain HTTP gateway.
#[derive(Copy, Clone, Debug)]
pub(super) struct Client {
    address: SocketAddr,
}

impl Client {
    pub(super) fn new(port: u16) -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        }
    }

    pub(super) fn healthy(self) -> bool {
        self.ask("GET", "/health", "")
            .is_ok_and(|answer| answer["health"] == "true")
    }

    /// The newest revision: what Kubernetes calls the resource version.
    pub(super) fn revision(self) -> Result<u64, EtcdError> {
        let path = "/v3/kv/range";
        // The key is one zero byte in base64: it is never written, and any range
        // tells the revision in its header.
        let answer = self.ask("POST", path, &json!({"key": "AA=="}).to_string())?;
        let revision = answer["header"]["revision"]
            .as_str()
            .and_then(|text| text.parse().ok());
        revision.ok_or_else(|| self.refused(path, answer.to_string()))
    }

    /// Forgets all history before `revision` and returns once it is gone from the disk.
    pub(super) fn compact(self, revision: u64) -> Result<(), EtcdError> {
        let question = json!({"revision": revision.to_string(), "physical": true});
        self.ask("POST", "/v3/kv/compaction", &question.to_string())
            .map(|_| ())
    }

    fn ask(self, method: &str, path: &'static str, body: &str) -> Result<Value, EtcdError> {
        let address = self.address;
        let answer =
            exchange(address, method, path, body).map_err(|source| EtcdError::Connection {
                address,
                path,
                source,
            })?;
        body_of(&answer).ok_or_else(|| self.refused(path, answer))
    }

    fn refused(self, path: &'static str, answer: String) -> EtcdError {
        EtcdError::Refused {
            address: self.address,
            path,
            answer,
        }
    }
}

/// Sends one HTTP/1.0 request, whose answer is never chunked and ends with the connection.
fn exchange(address: SocketAddr, method: &str, path: &str, body: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, ANSWER_TIMEOUT)?;
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{body}"
    )?;
    let mut answer = String::new();
    stream.take(ANSWER_BYTES_MAX).read_to_string(&mut answer)?;
    Ok(answer)
}

/// The JSON body of an answer with status 200.
fn body_of(answer: &str) -> Option<Value> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?;
    if status != "200" {
        return None;
    }
    serde_json::from_str(body).ok()
}

#[cfg(test)]
mod tests {
    use std::net::{Shutdown, TcpListener};
    use std::thread;

    use super::*;

    /// Answers one connection with `answer`, whatever is asked.
    fn etcd_that_says(answer: &'static str) -> Client {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut question = [0; 1024];
            let _ = stream.read(&mut question).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            // Closed with a part of the question unread, the connection would be
            // reset and the answer lost.
            stream.shutdown(Shutdown::Write).unwrap();
            stream.read_to_end(&mut Vec::new()).unwrap();
        });
        Client { address }
    }

    #[test]
    fn the_revision_comes_from_the_header() {
        let etcd = etcd_that_says("HTTP/1.0 200 OK\r\n\r\n{\"header\":{\"revision\":\"210\"}}");
        assert_eq!(etcd.revision().unwrap(), 210);
    }

    #[test]
    fn an_answer_without_a_revision_is_refused() {
        let etcd = etcd_that_says("HTTP/1.0 200 OK\r\n\r\n{\"header\":{}}");
        let expected = format!(
            "etcd at {} answered /v3/kv/range with: {{\"header\":{{}}}}",
            etcd.address
        );
        assert_eq!(etcd.revision().unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_refusal_is_shown_whole() {
        let etcd = etcd_that_says("HTTP/1.0 400 Bad Request\r\n\r\n{\"message\":\"future\"}");
        let expected = format!(
            "etcd at {} answered /v3/kv/compaction with: HTTP/1.0 400 Bad Request\r\n\r\n{}",
            etcd.address, "{\"message\":\"future\"}"
        );
        assert_eq!(etcd.compact(7).unwrap_err().to_string(), expected);
    }

    #[test]
    fn an_answer_that_is_not_json_is_refused() {
        let etcd = etcd_that_says("HTTP/1.0 200 OK\r\n\r\nhello");
        assert!(matches!(
            etcd.revision().unwrap_err(),
            EtcdError::Refused { .. }
        ));
    }
}
