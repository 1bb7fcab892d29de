//! The filtering proxy: the only way out of a program's network.
//!
//! Owns the listener's loop and the life of its connections. Who may be asked is `gate`'s to say, the rest is
//! carried by `forward` and `tunnel`. Invariant: a program is connected to no server that its grant does not name, and
//! when the session ends nothing of it is left. Whom such a server speaks for inside of TLS, it alone knows.
//! Begin at `serve_all`.

use std::io;
use std::net::TcpListener as StdListener;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use palyra_ports::{
    EgressContacts, EgressGrant, EgressSession, FillCredential, GuardEgress, GuardEgressError, MaskValues,
};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::resolve::LookupRoom;
use crate::server_line::{HEADER_BYTES_MIN, HEADERS_MAX, UpstreamConnector};
use contacts::ContactLog;
use meter::{Budget, LastActivity, MeteredLine};

mod contacts;
mod gate;
mod meter;

mod client_hello;
mod forward;
mod masked;
mod tunnel;

/// The pause after a connection that could not be taken, so that a full table of descriptors is no busy loop; the end of
/// one that is served cuts it short.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves programs on listeners that lead nowhere but here.
#[derive(Clone)]
pub struct FilteringProxy {
    lines: UpstreamConnector,
    credentials: Arc<dyn FillCredential>,
    mask: Option<Arc<dyn MaskValues>>,
}

impl FilteringProxy {
    /// Makes a proxy.
    pub fn new(lines: UpstreamConnector, credentials: Arc<dyn FillCredential>) -> Self {
        Self { lines, credentials, mask: None }
    }

    /// Takes secrets out of the answers to requests that carry one, so that a server that says one back does not hand
    /// it to the program.
    #[must_use]
    pub fn masking(self, mask: Arc<dyn MaskValues>) -> Self {
        Self { mask: Some(mask), ..self }
    }
}

impl GuardEgress for FilteringProxy {
    fn serve(
        &self,
        listener: OwnedFd,
        grant: EgressGrant,
    ) -> Result<Box<dyn EgressSession>, GuardEgressError> {
        let refused = |cause| GuardEgressError { cause };
        let runtime = Handle::try_current().map_err(|cause| refused(io::Error::other(cause)))?;
        let listener = StdListener::from(listener);
        // A descriptor that is no socket of the internet says so here.
        listener.local_addr().map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let listener = TcpListener::from_std(listener).map_err(refused)?;
        let budget = Budget::new(grant.limits.sent_bytes_max, grant.limits.received_bytes_max);
        let call = Arc::new(Call {
            contacts: ContactLog::new(grant.limits.contacts_max),
            budget: Arc::new(budget),
            grant,
            lines: self.lines.looking_up_in(LookupRoom::default()),
            drivers: TaskTracker::new(),
            credentials: self.credentials.clone(),
            mask: self.mask.clone(),
        });
        let ended = CancellationToken::new();
        let serving = runtime.spawn(serve_all(listener, call.clone(), ended.clone()));
        Ok(Box::new(Session { call, ended, serving: Some(serving) }))
    }
}

/// What all connections of one call share.
struct Call {
    grant: EgressGrant,
    lines: UpstreamConnector,
    credentials: Arc<dyn FillCredential>,
    mask: Option<Arc<dyn MaskValues>>,
    contacts: ContactLog,
    budget: Arc<Budget>,
    /// What carries requests to servers.
    drivers: TaskTracker,
}

struct Session {
    call: Arc<Call>,
    ended: CancellationToken,
    serving: Option<JoinHandle<()>>,
}

impl EgressSession for Session {
    fn contacts(&self) -> EgressContacts {
        self.call.contacts.list()
    }

    fn stop(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.ended.cancel();
            if let Some(serving) = self.serving.take() {
                drop(serving.await);
            }
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

/// Whether connections are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AcceptState {
    Yes,
    /// After a moment.
    Soon,
    /// Never again: the listener is none any more.
    No,
}

impl AcceptState {
    fn after(error: &io::Error) -> Self {
        // As accept(2) says it of what does not listen.
        const EBADF: i32 = 9;
        const EINVAL: i32 = 22;
        const ENOTSOCK: i32 = 88;
        const EOPNOTSUPP: i32 = 95;
        match error.raw_os_error() {
            Some(EBADF | EINVAL | ENOTSOCK | EOPNOTSUPP) => Self::No,
            Some(_) | None => Self::Soon,
        }
    }
}

async fn serve_all(listener: TcpListener, call: Arc<Call>, ended: CancellationToken) {
    let room = Arc::new(Semaphore::new(call.grant.limits.connections_max));
    let mut connections = JoinSet::new();
    let mut taking = AcceptState::Yes;
    loop {
        let next = tokio::select! {
            biased;
            () = ended.cancelled() => break,
            Some(_) = connections.join_next() => {
                taking = if taking == AcceptState::Soon { AcceptState::Yes } else { taking };
                continue;
            }
            () = sleep(ACCEPT_PAUSE), if taking == AcceptState::Soon => {
                taking = AcceptState::Yes;
                continue;
            }
            next = accept(&listener, &room), if taking == AcceptState::Yes => next,
        };
        match next {
            Ok((stream, permit)) => {
                let call = call.clone();
                connections.spawn(async move {
                    serve_one(stream, call).await;
                    drop(permit);
                });
            }
            Err(error) => taking = AcceptState::after(&error),
        }
    }
    drop(listener);
    connections.shutdown().await;
    call.drivers.close();
    call.drivers.wait().await;
}

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let permit = room.clone().acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, permit))
}

/// Where a request leaves a tunnel for when its connection is handed over.
type TunnelSlot = Arc<Mutex<Option<tunnel::Tunnel>>>;

async fn serve_one(stream: TcpStream, call: Arc<Call>) {
    let limits = call.grant.limits;
    drop(stream.set_nodelay(true));
    let activity = Arc::new(LastActivity::default());
    let slot = TunnelSlot::default();
    let client = MeteredLine::new(stream, activity.clone(), None);
    let (for_requests, requests_slot) = (call.clone(), slot.clone());
    let requests = service_fn(move |request| {
        let (call, slot) = (for_requests.clone(), requests_slot.clone());
        async move { Ok::<_, std::convert::Infallible>(forward::answer(request, &call, &slot).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_time_max)
        .max_buf_size(limits.header_bytes_max.max(HEADER_BYTES_MIN))
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(client), requests)
        .with_upgrades();
    let work = async {
        if served.await.is_ok() {
            let tunnel = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(tunnel) = tunnel {
                tunnel.run(&call).await;
            }
        }
    };
    tokio::select! {
        () = work => (),
        () = activity.idle(limits.idle_time_max) => (),
        () = sleep(limits.connection_time_max) => (),
    }
}

#[cfg(test)]
mod tests;
