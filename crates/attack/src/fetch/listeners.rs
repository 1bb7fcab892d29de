//! Listeners that remember who came and what was said, and that answer as they are told.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;

/// What a canary answers to whatever is said.
const SONG: &str = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\ncanary";

/// One thing that a server does on a connection.
#[derive(Clone)]
pub(crate) enum ServerStep {
    /// Sends bytes.
    Say(Vec<u8>),
    /// Sends bytes again and again, with a pause before each time, until nobody listens.
    Repeat(Vec<u8>, Duration),
}

impl From<&str> for ServerStep {
    fn from(text: &str) -> Self {
        Self::Say(text.as_bytes().to_vec())
    }
}

/// A listener at some addresses; gone when dropped.
pub(crate) struct Listener {
    touches: Arc<AtomicUsize>,
    heard: Arc<Mutex<Vec<u8>>>,
    answer: Arc<Mutex<Vec<ServerStep>>>,
    _tasks: JoinSet<()>,
}

impl Listener {
    /// Listens at every address.
    pub(crate) fn start(addresses: &[SocketAddr]) -> io::Result<Self> {
        let (touches, heard) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let answer = Arc::new(Mutex::new(vec![ServerStep::from(SONG)]));
        let mut tasks = JoinSet::new();
        for address in addresses {
            let listener =
                listen(*address).map_err(|error| io::Error::other(format!("{address}: {error}")))?;
            let (touches, heard, answer) = (touches.clone(), heard.clone(), answer.clone());
            tasks.spawn(async move {
                let mut visitors = JoinSet::new();
                while let Ok((stream, _)) = listener.accept().await {
                    touches.fetch_add(1, Ordering::SeqCst);
                    let steps = locked(&answer).clone();
                    visitors.spawn(play(stream, heard.clone(), steps));
                }
            });
        }
        Ok(Self { touches, heard, answer, _tasks: tasks })
    }

    /// Returns how many connections were made.
    pub(crate) fn touches(&self) -> usize {
        self.touches.load(Ordering::SeqCst)
    }

    /// Forgets what was said, and says from now on what it is told to.
    pub(crate) fn answers(&self, steps: Vec<ServerStep>) {
        locked(&self.heard).clear();
        *locked(&self.answer) = steps;
    }

    /// Returns all that was said to it.
    pub(crate) fn received(&self) -> String {
        String::from_utf8_lossy(&locked(&self.heard)).into_owned()
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    if address.is_ipv6() {
        // Those of the fourth version have listeners of their own.
        rustix::net::sockopt::set_ipv6_v6only(&socket, true)?;
    }
    socket.bind(address)?;
    socket.listen(64)
}

async fn play(mut stream: TcpStream, heard: Arc<Mutex<Vec<u8>>>, steps: Vec<ServerStep>) {
    let mut piece = [0; 4096];
    let mut said = Vec::new();
    while let Ok(length @ 1..) = stream.read(&mut piece).await {
        said.extend_from_slice(&piece[..length]);
        locked(&heard).extend_from_slice(&piece[..length]);
        if said.windows(4).any(|end| end == b"\r\n\r\n") {
            break;
        }
    }
    for step in steps {
        match step {
            ServerStep::Say(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            ServerStep::Repeat(bytes, pause) => loop {
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            },
        }
    }
    // Whatever else is said is heard, too.
    drop(stream.shutdown().await);
    while let Ok(length @ 1..) = stream.read(&mut piece).await {
        locked(&heard).extend_from_slice(&piece[..length]);
    }
}
