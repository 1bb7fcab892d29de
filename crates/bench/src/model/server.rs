//! The mock model: a thread of its own, answers written before they are asked for.
//!
//! Owns its thread and its socket. Knows nobody who asks. Invariant: every accepted socket has TCP_NODELAY, each
//! piece is a write of its own as it is with real servers, and those of a paced answer go out at their times,
//! however late the one before was.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};

use super::directive::AnswerDirective;
use super::wire;

/// What the server has seen.
#[derive(Debug, Clone, Copy, Default)]
pub struct ServerCounts {
    /// Requests that came in whole.
    pub asked: u64,
    /// Answers during which the one who asked went away.
    pub dropped: u64,
    /// When the last of those went.
    pub last_drop: Option<Instant>,
}

/// A running server; dropping it ends its thread.
pub struct MockModel {
    address: SocketAddr,
    seen: watch::Receiver<ServerCounts>,
    hang_up: watch::Sender<()>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl MockModel {
    /// Starts it on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port or no thread can be had.
    pub fn start() -> anyhow::Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).context("no port for the mock model")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (sender, seen) = watch::channel(ServerCounts::default());
        let (stop, stopped) = oneshot::channel();
        let hang_up = watch::Sender::new(());
        let hung_up = hang_up.subscribe();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::Builder::new().name("mock-model".to_owned()).spawn(move || {
            let local = tokio::task::LocalSet::new();
            runtime.block_on(local.run_until(async move {
                tokio::select! {
                    () = serve(listener, sender, hung_up) => {}
                    _ = stopped => {}
                }
            }));
        })?;
        Ok(Self { address, seen, hang_up, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns its address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns its base URL.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Closes every connection on which nothing is being asked.
    pub fn hang_up(&self) {
        self.hang_up.send_replace(());
    }

    /// Returns what it has seen so far.
    #[must_use]
    pub fn seen(&self) -> ServerCounts {
        *self.seen.borrow()
    }

    /// Waits until it has seen what is wanted.
    ///
    /// # Errors
    /// When its thread is gone.
    pub async fn wait_until(
        &self,
        wanted: impl FnMut(&ServerCounts) -> bool,
    ) -> anyhow::Result<ServerCounts> {
        let mut seen = self.seen.clone();
        let seen = seen.wait_for(wanted).await.context("the mock model is gone")?;
        Ok(*seen)
    }
}

impl Drop for MockModel {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

async fn serve(
    listener: std::net::TcpListener,
    seen: watch::Sender<ServerCounts>,
    hung_up: watch::Receiver<()>,
) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    let seen = Rc::new(seen);
    while let Ok((stream, _)) = listener.accept().await {
        let (seen, mut hung_up) = (Rc::clone(&seen), hung_up.clone());
        hung_up.mark_unchanged();
        // A connection that breaks is the business of the one who broke it.
        tokio::task::spawn_local(async move { drop(connection(stream, &seen, &mut hung_up).await) });
    }
}

async fn connection(
    mut stream: TcpStream,
    seen: &watch::Sender<ServerCounts>,
    hung_up: &mut watch::Receiver<()>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut input = Vec::with_capacity(16 * 1024);
    let mut at_once: HashMap<(AnswerDirective, usize), Vec<Vec<u8>>> = HashMap::new();
    loop {
        let Some(span) = wire::request(&input) else {
            let asked = !input.is_empty();
            let read = tokio::select! {
                biased;
                read = stream.read_buf(&mut input) => read?,
                _ = hung_up.changed(), if !asked => return Ok(()),
            };
            if input.len() > wire::REQUEST_BYTES_MAX || read == 0 {
                return Ok(());
            }
            continue;
        };
        let (directive, answered) = AnswerDirective::read(&input[span.body_from..span.end]);
        input.drain(..span.end);
        if !span.is_chat {
            stream.write_all(wire::NOT_FOUND).await?;
            continue;
        }
        seen.send_modify(|seen| seen.asked += 1);
        if directive.first.is_zero() && directive.gap.is_zero() {
            let make = || wire::pieces(&directive, answered).collect();
            let pieces = at_once.entry((directive, answered)).or_insert_with(make);
            stream.write_all(wire::HEAD).await?;
            for piece in pieces {
                stream.write_all(piece).await?;
            }
        } else if paced(&mut stream, &mut input, &directive, answered).await? == ClientState::Disconnected {
            let now = Instant::now();
            seen.send_modify(|seen| {
                seen.dropped += 1;
                seen.last_drop = Some(now);
            });
            return Ok(());
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum ClientState {
    Stayed,
    Disconnected,
}

/// Sends the pieces at their times, and watches meanwhile whether the one who asked is still there.
async fn paced(
    stream: &mut TcpStream,
    input: &mut Vec<u8>,
    directive: &AnswerDirective,
    answered: usize,
) -> std::io::Result<ClientState> {
    let begun = tokio::time::Instant::now();
    for (at, piece) in wire::pieces(directive, answered).enumerate() {
        let due = directive.first + directive.gap * u32::try_from(at).unwrap_or(u32::MAX);
        let due = begun + due.min(Duration::from_secs(3_600));
        loop {
            tokio::select! {
                biased;
                read = stream.read_buf(input) => if !read.is_ok_and(|read| read > 0) {
                    return Ok(ClientState::Disconnected);
                },
                () = tokio::time::sleep_until(due) => break,
            }
        }
        let piece = if at == 0 { [wire::HEAD, &piece].concat() } else { piece };
        if stream.write_all(&piece).await.is_err() {
            return Ok(ClientState::Disconnected);
        }
    }
    Ok(ClientState::Stayed)
}
