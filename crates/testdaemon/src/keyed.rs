//! A server that does what it is asked once per key, and is bad at saying so.
//!
//! Owns the log of what it did: a line `asked KEY CALL` for each request and `did KEY CALL` for each first one under
//! its key, synced before it replies; CALL is what the client calls it. It drops the first replies to each call after
//! it has done what was asked, as a network does. Lives in the suite's process, so that it survives the daemons.
//! Begin at [`KeyedServer::start`].

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, SystemTime};

use palyra_ports::EffectKey;

use crate::loopback_server::LoopbackServer;

/// How often a request is made before its reply is given up.
pub const ATTEMPTS_MAX: usize = 4;

const REQUEST_BYTES_MAX: usize = 8 * 1024;
const REPLY_BYTES_MAX: u64 = 8 * 1024;
const PATIENCE: Duration = Duration::from_secs(10);

/// The server; it ends when it is dropped.
#[derive(Debug)]
pub struct KeyedServer(LoopbackServer);

/// What the server knows.
struct Ledger {
    log: File,
    done: BTreeMap<String, String>,
    replies_due: BTreeMap<String, u32>,
    replies_dropped: u32,
}

impl KeyedServer {
    /// Starts it on a port of its own; what its log says is done stays done. The first `replies_dropped` replies to
    /// each call are dropped.
    ///
    /// # Errors
    /// When no port can be had, or the log cannot be opened.
    pub fn start(log: &Path, replies_dropped: u32) -> io::Result<Self> {
        let done = done(log)?;
        let log = File::options().create(true).append(true).open(log)?;
        let mut ledger = Ledger { log, done, replies_due: BTreeMap::new(), replies_dropped };
        LoopbackServer::start(move |stream| ledger.serve(stream)).map(Self)
    }

    /// Returns where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

impl Ledger {
    fn serve(&mut self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let Some((key, call)) = read_request(&mut stream)? else {
            return stream
                .write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        };
        writeln!(self.log, "asked {key} {call}")?;
        if self.done.insert(key.clone(), call.clone()).is_none() {
            writeln!(self.log, "did {key} {call}")?;
        }
        self.log.sync_all()?;
        let replies = self.replies_due.entry(call).or_default();
        *replies += 1;
        if *replies <= self.replies_dropped {
            return Ok(());
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ndone")
    }
}

/// Reads a request's head: its key, and what the client calls it. `None` when it is no such request.
fn read_request(stream: &mut TcpStream) -> io::Result<Option<(String, String)>> {
    let mut head = Vec::new();
    let mut block = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut block)?;
        if read == 0 || head.len() + read > REQUEST_BYTES_MAX {
            return Ok(None);
        }
        head.extend_from_slice(&block[..read]);
    }
    let head = String::from_utf8_lossy(&head);
    let call =
        head.strip_prefix("POST /effects/").and_then(|rest| rest.split_once(' ')).map(|(call, _)| call);
    let key = head.lines().find_map(|line| line.strip_prefix("Idempotency-Key: "));
    let key = key.filter(|key| key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit()));
    Ok(key.zip(call).map(|(key, call)| (key.to_owned(), call.to_owned())))
}

/// Returns the keys for which a log says that something was done, each with what it was called.
///
/// # Errors
/// When the log cannot be read, or says of a key twice that it was done.
pub fn done(log: &Path) -> io::Result<BTreeMap<String, String>> {
    let text = match fs::read_to_string(log) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        text => text?,
    };
    let mut done = BTreeMap::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("did ")) {
        let (key, call) = line.split_once(' ').unwrap_or((line, ""));
        if done.insert(key.to_owned(), call.to_owned()).is_some() {
            return Err(io::Error::other(format!("{key} was done twice")));
        }
    }
    Ok(done)
}

/// Returns a key as the header writes it.
#[must_use]
pub fn header(key: EffectKey) -> String {
    key.0.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// Makes up a key that nobody has used.
#[must_use]
pub fn made_up() -> EffectKey {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut key = [0; 32];
    key[..16].copy_from_slice(&now.as_nanos().to_be_bytes());
    EffectKey(key)
}

/// Asks the server, and asks again while its reply is lost; each time under the key that is due.
///
/// # Errors
/// When no reply came: it may be done or not.
pub fn ask(address: &str, call: &str, key: impl Fn() -> EffectKey) -> io::Result<()> {
    let mut end = Err(io::ErrorKind::UnexpectedEof.into());
    for _ in 0..ATTEMPTS_MAX {
        end = ask_once(address, call, key());
        if end.is_ok() {
            break;
        }
    }
    end
}

fn ask_once(address: &str, call: &str, key: EffectKey) -> io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let key = header(key);
    write!(
        stream,
        "POST /effects/{call} HTTP/1.1\r\nHost: {address}\r\nIdempotency-Key: {key}\r\nContent-Length: 0\r\n\
         Connection: close\r\n\r\n"
    )?;
    let mut reply = String::new();
    stream.take(REPLY_BYTES_MAX).read_to_string(&mut reply)?;
    if reply.starts_with("HTTP/1.1 200 ") { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(log: &Path) -> Vec<String> {
        fs::read_to_string(log).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_lost_reply_is_asked_for_again_and_nothing_is_done_twice() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("keyed");
        let server = KeyedServer::start(&log, 2).unwrap();
        let (one, two) = (EffectKey([1; 32]), EffectKey([2; 32]));
        ask(&server.address().to_string(), "a", || one).unwrap();
        ask(&server.address().to_string(), "b", || two).unwrap();
        ask(&server.address().to_string(), "a", || one).unwrap();
        let called = [(header(one), "a".to_owned()), (header(two), "b".to_owned())];
        assert_eq!(done(&log).unwrap(), BTreeMap::from(called));
        let asked = lines(&log).iter().filter(|line| **line == format!("asked {} a", header(one))).count();
        assert_eq!(asked, 4, "two lost replies, the third, and the last call");
    }

    #[test]
    fn a_server_that_never_replies_leaves_it_open_and_has_done_it_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("keyed");
        let key = EffectKey([3; 32]);
        let server = KeyedServer::start(&log, u32::MAX).unwrap();
        assert!(ask(&server.address().to_string(), "c", || key).is_err());
        drop(server);
        assert_eq!(done(&log).unwrap().len(), 1);
        // Another one on the same log knows what is done.
        let server = KeyedServer::start(&log, 0).unwrap();
        ask(&server.address().to_string(), "c", || key).unwrap();
        assert_eq!(lines(&log).iter().filter(|line| line.starts_with("did ")).count(), 1);
    }

    #[test]
    fn a_request_without_a_key_does_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("keyed");
        let server = KeyedServer::start(&log, 0).unwrap();
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(b"POST /effects/a HTTP/1.1\r\nContent-Length: 0\r\n\r\n").unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        assert!(reply.starts_with("HTTP/1.1 400 "), "{reply}");
        assert!(lines(&log).is_empty());
    }
}
