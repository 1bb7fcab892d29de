//! A server on a port of its own that takes one connection after the other, on a thread of the suite.
//!
//! Owns how it begins and ends; what is done with a connection is handed in. Begin at [`LoopbackServer::start`].

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// The server; it ends when it is dropped.
#[derive(Debug)]
pub(crate) struct LoopbackServer {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    accepts: Option<JoinHandle<()>>,
}

impl LoopbackServer {
    /// Starts it; a connection that `serve` fails with is given up, as a client that goes away is.
    ///
    /// # Errors
    /// When no port is free.
    pub(crate) fn start(
        mut serve: impl FnMut(TcpStream) -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let accepts = std::thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || {
                for stream in listener.incoming() {
                    if is_over.load(Ordering::Acquire) {
                        return;
                    }
                    let _ = stream.and_then(&mut serve);
                }
            }
        });
        Ok(Self { address, is_over, accepts: Some(accepts) })
    }

    /// Returns where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for LoopbackServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        // The thread waits for a connection, so it gets one.
        let _ = TcpStream::connect(self.address);
        if let Some(accepts) = self.accepts.take() {
            let _ = accepts.join();
        }
    }
}
