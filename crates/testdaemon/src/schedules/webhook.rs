//! The receiver of webhooks, which lives with the suite and keeps every request.
//!
//! Owns the ledger: a line `ID BODY` for each request, written before it is answered. Begin at [`WebhookServer::start`].

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::loopback_server::LoopbackServer;

use super::place::{KillPlace, PlaceWatch};

/// The file of a house with a line for each request.
pub(super) const HOOKED: &str = "hooked";
const REQUEST_BYTES_MAX: usize = 64 * 1024;
const PATIENCE: Duration = Duration::from_secs(10);
const TAKEN: &[u8] = b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// The server; it ends when it is dropped.
#[derive(Debug)]
pub(super) struct WebhookServer(LoopbackServer);

/// What the server writes, and what it keeps.
struct RequestReceiver {
    ledger: PathBuf,
    watch: PlaceWatch,
    /// Requests without an answer. They stay open, so that the daemon goes on waiting until it is killed.
    unanswered: Vec<TcpStream>,
}

/// A request as the ledger has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WebhookRequest {
    /// Its `webhook-id`.
    pub(super) id: String,
    /// Its body.
    pub(super) body: String,
}

impl WebhookServer {
    /// Starts it on a port of its own.
    ///
    /// # Errors
    /// When no port is free.
    pub(super) fn start(ledger: &Path, watch: PlaceWatch) -> io::Result<Self> {
        let mut receiver = RequestReceiver { ledger: ledger.to_owned(), watch, unanswered: Vec::new() };
        LoopbackServer::start(move |stream| receiver.serve(stream)).map(Self)
    }

    /// Returns where it listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

impl RequestReceiver {
    fn serve(&mut self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let Some(WebhookRequest { id, body }) = read_request(&mut stream)? else { return Ok(()) };
        let mut ledger = File::options().create(true).append(true).open(&self.ledger)?;
        ledger.write_all(format!("{id} {}\n", body.replace('\n', " ")).as_bytes())?;
        if self.watch.reach(KillPlace::WebhookTaken) {
            self.unanswered.push(stream);
            return Ok(());
        }
        stream.write_all(TAKEN)
    }
}

/// Reads a request; `None` where the connection ends before it is whole, or it has no id.
fn read_request(stream: &mut TcpStream) -> io::Result<Option<WebhookRequest>> {
    let mut bytes = Vec::new();
    let mut block = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = header(head, "content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            if body.len() >= length {
                let id = header(head, "webhook-id");
                return Ok(id.map(|id| WebhookRequest { id: id.to_owned(), body: body.to_owned() }));
            }
        }
        let read = stream.read(&mut block)?;
        if read == 0 || bytes.len() + read > REQUEST_BYTES_MAX {
            return Ok(None);
        }
        bytes.extend_from_slice(&block[..read]);
    }
}

fn header<'a>(head: &'a str, wanted: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case(wanted).then(|| value.trim())
    })
}

/// Returns the requests of a ledger, in order.
///
/// # Errors
/// When it cannot be read.
pub(super) fn requests(ledger: &Path) -> io::Result<Vec<WebhookRequest>> {
    let text = match std::fs::read_to_string(ledger) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        text => text?,
    };
    let request = |line: &str| {
        let (id, body) = line.split_once(' ').unwrap_or((line, ""));
        WebhookRequest { id: id.to_owned(), body: body.to_owned() }
    };
    Ok(text.lines().map(request).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(address: SocketAddr, id: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).unwrap();
        let head = format!("POST /hook HTTP/1.1\r\nWebhook-Id: {id}\r\nContent-Length: 4\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(b"body").unwrap();
        stream
    }

    #[tokio::test]
    async fn each_request_is_in_the_ledger_and_one_at_the_place_has_no_answer() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = folder.path().join("hooked");
        let watch = PlaceWatch::new();
        let server = WebhookServer::start(&ledger, watch.clone()).unwrap();
        watch.set(Some(KillPlace::WebhookTaken));
        let unanswered = send(server.address(), "msg_1");
        watch.reached().await;
        unanswered.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let mut block = [0; 16];
        assert!((&unanswered).read(&mut block).is_err(), "it stays open without an answer");
        let mut answer = String::new();
        send(server.address(), "msg_1").read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 204 "), "{answer}");
        let request = WebhookRequest { id: "msg_1".to_owned(), body: "body".to_owned() };
        assert_eq!(requests(&ledger).unwrap(), [request.clone(), request]);
    }
}
