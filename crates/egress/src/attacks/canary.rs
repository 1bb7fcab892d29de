//! A listener of this machine that counts who connects to it, and what is said.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What a canary answers to whatever is said.
pub(crate) const SONG: &str = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\ncanary";

/// The listener; gone when dropped.
pub(crate) struct Canary {
    address: SocketAddr,
    touches: watch::Receiver<usize>,
    heard: Arc<Mutex<Vec<u8>>>,
    _tasks: JoinSet<()>,
}

impl Canary {
    /// Listens at 127.0.0.1 and answers HTTP.
    pub(crate) async fn start() -> Self {
        Self::start_at("127.0.0.1").await
    }

    /// Listens at an address of this machine.
    pub(crate) async fn start_at(address: &str) -> Self {
        Self::listen(TcpListener::bind((address, 0)).await.unwrap())
    }

    /// Counts at a listener.
    pub(crate) fn listen(listener: TcpListener) -> Self {
        let address = listener.local_addr().unwrap();
        let (count, touches) = watch::channel(0);
        let heard = Arc::new(Mutex::new(Vec::new()));
        let all = heard.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut visitors = JoinSet::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                count.send_modify(|count| *count += 1);
                let all = all.clone();
                visitors.spawn(async move {
                    let mut piece = [0; 4096];
                    let mut said = Vec::new();
                    while let Ok(length @ 1..) = stream.read(&mut piece).await {
                        said.extend_from_slice(&piece[..length]);
                        all.lock().unwrap().extend_from_slice(&piece[..length]);
                        if said.windows(4).any(|end| end == b"\r\n\r\n") {
                            drop(stream.write_all(SONG.as_bytes()).await);
                            return;
                        }
                    }
                });
            }
        });
        Self { address, touches, heard, _tasks: tasks }
    }

    /// Returns its port.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns how many connections were made.
    pub(crate) fn touches(&self) -> usize {
        *self.touches.borrow()
    }

    /// Waits until so many connections were made.
    pub(crate) async fn touched(&self, times: usize) {
        self.touches.clone().wait_for(|count| *count >= times).await.unwrap();
    }

    /// Returns all that was said to it.
    pub(crate) fn seen_requests(&self) -> String {
        String::from_utf8_lossy(&self.heard.lock().unwrap()).into_owned()
    }
}
