//! A relay between the daemon and the model's server that remembers every byte and when it passed.
//!
//! Owns one connection upstream for each request, so that an exchange ends with its connection. Changes
//! nothing but the `Connection` header. Invariant: a client that leaves takes its upstream connection along.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};

use super::http;

/// More than any request of these cases; a longer one is cut off and fails visibly.
const REQUEST_BYTES_MAX: usize = 4 * 1024 * 1024;

/// One request and what was answered.
#[derive(Debug, Clone)]
pub(super) struct HttpExchange {
    pub(super) request: Vec<u8>,
    pub(super) response: Vec<u8>,
    /// When the last byte of the answer so far came by.
    pub(super) last_byte: Instant,
}

/// A running relay; its threads end with the process.
#[derive(Debug)]
pub(super) struct HttpRelay {
    pub(super) address: SocketAddr,
    exchanges: Arc<Log>,
}

type Log = Mutex<Vec<Arc<Mutex<HttpExchange>>>>;

impl HttpRelay {
    /// Starts relaying to `upstream` from a free port.
    pub(super) fn start(upstream: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("could not open a port for the relay")?;
        let address = listener.local_addr().context("could not read the relay's port")?;
        let exchanges = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&exchanges);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || relay(client, upstream, &shared));
            }
        });
        Ok(Self { address, exchanges })
    }

    /// Takes what passed since the last call: requests for completions only.
    pub(super) fn take(&self) -> Vec<HttpExchange> {
        let all = std::mem::take(&mut *lock(&self.exchanges));
        let all = all.iter().map(|exchange| lock(exchange).clone());
        all.filter(|exchange| exchange.request.starts_with(b"POST ")).collect()
    }
}

/// Relays one request; errors end it, as they would without us in between.
fn relay(mut client: TcpStream, upstream: SocketAddr, exchanges: &Log) {
    let Ok(request) = read_request(&mut client) else { return };
    let Ok(mut server) = TcpStream::connect(upstream) else { return };
    if server.write_all(&closing(&request)).is_err() {
        return;
    }
    watch_for_leaving(&client, &server);
    let exchange = HttpExchange { request, response: Vec::new(), last_byte: Instant::now() };
    let exchange = Arc::new(Mutex::new(exchange));
    lock(exchanges).push(Arc::clone(&exchange));
    let mut buffer = [0; 16 * 1024];
    while let Ok(count) = server.read(&mut buffer) {
        if count == 0 || client.write_all(&buffer[..count]).is_err() {
            break;
        }
        let mut exchange = lock(&exchange);
        exchange.response.extend_from_slice(&buffer[..count]);
        exchange.last_byte = Instant::now();
    }
    // Ignored: either end may be gone already, which is what is wanted.
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the upstream connection when the client's ends.
fn watch_for_leaving(client: &TcpStream, server: &TcpStream) {
    let (Ok(mut client), Ok(server)) = (client.try_clone(), server.try_clone()) else { return };
    thread::spawn(move || {
        while client.read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
        // Ignored: it may have ended by itself.
        let _ = server.shutdown(Shutdown::Both);
    });
}

fn read_request(client: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut request = Vec::new();
    let mut buffer = [0; 16 * 1024];
    while !is_whole(&request) && request.len() < REQUEST_BYTES_MAX {
        let count = client.read(&mut buffer)?;
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        request.extend_from_slice(&buffer[..count]);
    }
    Ok(request)
}

fn is_whole(request: &[u8]) -> bool {
    let Some(end) = http::find(request, b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&request[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
    request.len() >= end + 4 + length
}

/// Asks the server to close after its answer, so that the end of the connection is the end of the answer.
fn closing(request: &[u8]) -> Vec<u8> {
    match http::find(request, b"\r\n") {
        Some(end) => {
            [&request[..end], b"\r\nConnection: close", &without_connection(&request[end..])].concat()
        }
        None => request.to_vec(),
    }
}

fn without_connection(rest: &[u8]) -> Vec<u8> {
    let lower = rest.to_ascii_lowercase();
    let head_end = http::find(rest, b"\r\n\r\n").unwrap_or(rest.len());
    let Some(from) = http::find(&lower[..head_end], b"\r\nconnection:") else { return rest.to_vec() };
    let to = http::find(&rest[from + 2..], b"\r\n").map_or(head_end, |length| from + 2 + length);
    [&rest[..from], &rest[to..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_whole_when_its_body_is() {
        assert!(is_whole(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
        assert!(!is_whole(b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab"));
        assert!(is_whole(b"POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc"));
    }

    #[test]
    fn the_server_is_asked_to_close_and_nothing_else_changes() {
        let sent = closing(b"POST / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\nA: b\r\n\r\nbody");
        let wanted = b"POST / HTTP/1.1\r\nConnection: close\r\nHost: h\r\nA: b\r\n\r\nbody";
        assert_eq!(sent, wanted);
    }

    #[test]
    fn an_exchange_is_remembered_and_a_client_that_leaves_is_noticed_upstream() {
        let upstream = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let relay = HttpRelay::start(upstream.local_addr().expect("bound")).expect("it starts");
        let mut client = TcpStream::connect(relay.address).expect("it listens");
        let request = b"POST /a HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi";
        client.write_all(request).expect("sent");
        let (mut server, _) = upstream.accept().expect("relayed");
        let mut relayed = vec![0; closing(request).len()];
        server.read_exact(&mut relayed).expect("the request");
        server.write_all(b"first").expect("sent");
        client.read_exact(&mut [0; 5]).expect("relayed back");
        drop(client);
        assert_eq!(server.read(&mut [0; 8]).unwrap_or(0), 0, "the server sees the end");
        let seen = relay.take();
        assert_eq!(seen.len(), 1);
        assert!(seen[0].request.starts_with(b"POST /a") && relay.take().is_empty());
    }
}
