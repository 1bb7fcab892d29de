//! Finding the addresses of names.
//!
//! Owns asking the system, as every program on this machine does. Knows no rule about addresses: whoever asks has to
//! judge each one. Invariant: at most [`RESOLUTIONS_MAX`] threads wait for answers, and they are of its own: a name server
//! that says nothing holds up nobody else's work; and at most [`RESOLUTIONS_OF_ONE_MAX`] of them for one caller, whether
//! it still waits for them or not.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures::future::BoxFuture;
use palyra_types::PrincipalId;
use tokio::sync::{Semaphore, oneshot};

/// How many names are looked up at once; further ones wait.
pub const RESOLUTIONS_MAX: usize = 32;
/// How many of them for one caller.
pub const RESOLUTIONS_OF_ONE_MAX: usize = 8;

/// Finds the addresses of a name.
pub trait Resolve: Send + Sync {
    /// Returns all addresses of a name, at least one. A name with a dot at its end is looked up as it stands.
    fn resolve(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// Blocks until it knows the addresses of a name.
type LookUp = fn(&str) -> io::Result<Vec<IpAddr>>;

/// Asks what the system asks: its files and name servers.
#[derive(Debug)]
pub struct SystemResolver {
    room: Arc<Semaphore>,
    look_up: LookUp,
}

impl SystemResolver {
    fn asking(look_up: LookUp) -> Self {
        Self { room: Arc::new(Semaphore::new(RESOLUTIONS_MAX)), look_up }
    }
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self::asking(|name| Ok((name, 0).to_socket_addrs()?.map(|address| address.ip()).collect()))
    }
}

impl Resolve for SystemResolver {
    fn resolve(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let (room, look_up) = (self.room.clone(), self.look_up);
        Box::pin(async move {
            let permit = room.acquire_owned().await.map_err(io::Error::other)?;
            let (tell, told) = oneshot::channel();
            std::thread::Builder::new().name("resolver".to_owned()).spawn(move || {
                // Held until the system answers, also when nobody waits for that any more.
                let _permit = permit;
                let _ = tell.send(look_up(&name));
            })?;
            told.await.map_err(io::Error::other)?
        })
    }
}

/// One caller's share of the lookups. Clones share it.
#[derive(Debug, Clone)]
pub struct LookupRoom(Arc<Semaphore>);

impl Default for LookupRoom {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(RESOLUTIONS_OF_ONE_MAX)))
    }
}

impl LookupRoom {
    /// Asks a resolver once there is room; the room is taken until the resolver is done, whoever still waits.
    ///
    /// # Errors
    /// Those of the resolver.
    pub(crate) async fn resolve(&self, resolver: &dyn Resolve, name: String) -> io::Result<Vec<IpAddr>> {
        let permit = self.0.clone().acquire_owned().await.map_err(io::Error::other)?;
        let asked = resolver.resolve(name);
        let found = tokio::spawn(async move {
            let _permit = permit;
            asked.await
        });
        found.await.map_err(io::Error::other)?
    }
}

/// The rooms of those principals for whom something is looked up.
#[derive(Debug, Default)]
pub(crate) struct LookupRooms(Mutex<HashMap<PrincipalId, Weak<Semaphore>>>);

impl LookupRooms {
    /// Returns the one room of a principal.
    pub(crate) fn of(&self, principal: PrincipalId) -> LookupRoom {
        let mut rooms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rooms.retain(|_, room| room.strong_count() > 0);
        if let Some(room) = rooms.get(&principal).and_then(Weak::upgrade) {
            return LookupRoom(room);
        }
        let room = LookupRoom::default();
        rooms.insert(principal, Arc::downgrade(&room.0));
        room
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Condvar;
    use std::time::Duration;

    use tokio::task::JoinSet;

    use super::*;

    static OPEN: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

    /// A name server that answers some names only when the test is over.
    fn slow(name: &str) -> io::Result<Vec<IpAddr>> {
        if name.starts_with("slow") {
            let (open, opened) = &OPEN;
            drop(opened.wait_while(open.lock().unwrap(), |open| !*open).unwrap());
        }
        Ok(vec![[127, 0, 0, 1].into()])
    }

    #[tokio::test]
    async fn one_caller_does_not_use_up_the_lookups_of_all() {
        let resolver = Arc::new(SystemResolver::asking(slow));
        let rooms = LookupRooms::default();
        let (greedy, other) = (PrincipalId::from_parts(1, 1), PrincipalId::from_parts(1, 2));
        let mut waiting = JoinSet::new();
        for number in 0..=RESOLUTIONS_MAX {
            let (room, resolver) = (rooms.of(greedy), resolver.clone());
            waiting.spawn(async move { room.resolve(&*resolver, format!("slow-{number}")).await });
        }
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        assert_eq!(resolver.room.available_permits(), RESOLUTIONS_MAX - RESOLUTIONS_OF_ONE_MAX);
        // Whoever gives up and asks anew takes no more by that.
        waiting.shutdown().await;
        let room = rooms.of(greedy);
        assert_eq!(room.0.available_permits(), 0);
        drop(room);
        let other = rooms.of(other);
        let found = other.resolve(&*resolver, "quick".to_owned());
        let found = tokio::time::timeout(Duration::from_secs(30), found).await;
        *OPEN.0.lock().unwrap() = true;
        OPEN.1.notify_all();
        assert_eq!(found.unwrap().unwrap().len(), 1);
    }
}
