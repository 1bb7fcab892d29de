//! Finding the addresses of names.
//!
//! Owns asking the system, as every program on this machine does. Knows no rule about addresses: whoever asks has to
//! judge each one. Invariant: at most [`RESOLUTIONS_MAX`] threads wait for answers, and they are of its own: a name server
//! that says nothing holds up nobody else's work.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::sync::{Semaphore, oneshot};

/// How many names are looked up at once; further ones wait.
pub const RESOLUTIONS_MAX: usize = 32;

/// Finds the addresses of a name.
pub trait Resolve: Send + Sync {
    /// Returns all addresses of a name, at least one. A name with a dot at its end is looked up as it stands.
    fn resolve(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// Asks what the system asks: its files and name servers.
#[derive(Debug)]
pub struct SystemResolver {
    room: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self { room: Arc::new(Semaphore::new(RESOLUTIONS_MAX)) }
    }
}

impl Resolve for SystemResolver {
    fn resolve(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let room = self.room.clone();
        Box::pin(async move {
            let permit = room.acquire_owned().await.map_err(io::Error::other)?;
            let (tell, told) = oneshot::channel();
            std::thread::Builder::new().name("resolver".to_owned()).spawn(move || {
                // Held until the system answers, also when nobody waits for that any more.
                let _permit = permit;
                let found = (name.as_str(), 0).to_socket_addrs();
                let _ = tell.send(found.map(|found| found.map(|address| address.ip()).collect()));
            })?;
            told.await.map_err(io::Error::other)?
        })
    }
}
