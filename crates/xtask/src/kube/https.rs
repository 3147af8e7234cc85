//! One request to the API server, over TLS.
//!
//! In HTTP/1.0: an answer then ends with its connection, in one piece.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto::ring};

use super::RequestError;
use super::folder::Folder;

/// Longest silence of the server; a watch of ours ends within a second.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// A list of everything in a test's server is far smaller.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// What is asked; `body` is the media type and the content.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'a> {
    pub(super) method: &'static str,
    pub(super) path: &'a str,
    pub(super) body: Option<(&'static str, &'a str)>,
}

/// Code and reason, for example `200 OK`, and the body.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Answer {
    status: String,
    body: String,
}

/// Sends a GET with full rights and returns the body of a 200.
pub(super) fn get(folder: &Folder, port: u16, path: &str) -> Result<String, RequestError> {
    let request = Request {
        method: "GET",
        path,
        body: None,
    };
    send(folder, port, request)
}

/// Sends a request with full rights and returns the body of a 200 or 201.
pub(super) fn send(
    folder: &Folder,
    port: u16,
    request: Request<'_>,
) -> Result<String, RequestError> {
    let credentials = |reason: String| RequestError::Credentials {
        folder: folder.path().to_path_buf(),
        reason,
    };
    let config = config(&folder.server_certificate()).map_err(credentials)?;
    let token = std::fs::read_to_string(folder.token()).map_err(|e| credentials(e.to_string()))?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let answer = exchange(config, address, &text(&request, &token)).map_err(|source| {
        RequestError::Connection {
            address,
            path: request.path.to_owned(),
            source,
        }
    })?;
    match answer.status.as_bytes() {
        [b'2', b'0', b'0' | b'1', b' ', ..] => Ok(answer.body),
        _ => Err(RequestError::Refused {
            method: request.method,
            path: request.path.to_owned(),
            status: answer.status,
            body: answer.body.trim().to_owned(),
        }),
    }
}

fn config(certificate: &Path) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(certificate).map_err(|e| e.to_string())?;
    for certificate in certificates {
        let certificate = certificate.map_err(|e| e.to_string())?;
        roots.add(certificate).map_err(|e| e.to_string())?;
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

fn text(request: &Request<'_>, token: &str) -> String {
    let Request { method, path, body } = request;
    let head = format!("{method} {path} HTTP/1.0\r\nAuthorization: Bearer {token}\r\n");
    match body {
        None => format!("{head}\r\n"),
        Some((media, content)) => {
            let length = content.len();
            format!("{head}Content-Type: {media}\r\nContent-Length: {length}\r\n\r\n{content}")
        }
    }
}

fn exchange(config: ClientConfig, address: SocketAddr, request: &str) -> io::Result<Answer> {
    let socket = TcpStream::connect_timeout(&address, ANSWER_TIMEOUT)?;
    socket.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    socket.set_write_timeout(Some(ANSWER_TIMEOUT))?;
    let name = ServerName::from(address.ip());
    let session = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(session, socket);
    stream.write_all(request.as_bytes())?;
    let mut bytes = Vec::new();
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes)?;
    parsed(&String::from_utf8_lossy(&bytes))
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the answer is not HTTP/1"))
}

fn parsed(answer: &str) -> Option<Answer> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let (version, status) = head.lines().next()?.split_once(' ')?;
    version.starts_with("HTTP/1.").then(|| Answer {
        status: status.to_owned(),
        body: body.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_written_with_its_body() {
        let request = Request {
            method: "PATCH",
            path: "/a",
            body: Some(("application/json", "{}")),
        };
        assert_eq!(
            text(&request, "t"),
            "PATCH /a HTTP/1.0\r\nAuthorization: Bearer t\r\nContent-Type: application/json\r\n\
             Content-Length: 2\r\n\r\n{}"
        );
    }

    #[test]
    fn an_answer_is_its_status_and_its_body() {
        let answer = parsed("HTTP/1.0 404 Not Found\r\nDate: now\r\n\r\nnone\r\n\r\n");
        let expected = Answer {
            status: "404 Not Found".to_owned(),
            body: "none\r\n\r\n".to_owned(),
        };
        assert_eq!(answer, Some(expected));
        for garbage in ["", "HTTP/1.0 200 OK", "\r\n\r\n", "SSH-2.0 x\r\n\r\n"] {
            assert_eq!(parsed(garbage), None, "{garbage:?}");
        }
    }

    #[test]
    fn without_credentials_and_without_a_server_nothing_is_asked() {
        let folder = Folder::open(None).unwrap();
        let error = get(&folder, 1, "/readyz").unwrap_err().to_string();
        let expected = format!(
            "cannot read the credentials in {}: ",
            folder.path().display()
        );
        assert!(error.starts_with(&expected), "{error}");
        std::fs::create_dir(folder.certificates()).unwrap();
        std::fs::write(folder.server_certificate(), "").unwrap();
        folder.write_token().unwrap();
        let error = get(&folder, 1, "/readyz").unwrap_err().to_string();
        let expected = "no answer from the API server at 127.0.0.1:1 to /readyz";
        assert_eq!(error, expected);
    }
}
