//! Accepted connections: who is at the other end, a permit, and a deadline for the HTTP/2 preface.
//!
//! Knows no request. Invariant: a connection that does not send its preface in time is dropped; afterwards HTTP/2
//! keep-alive watches over it. Begin at [`ConnectionAcceptor::next`].

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::Stream;
use palyra_connections::{AdmittedConnection, ConnectionAdmission, ConnectionPermit, NewcomerState};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{mpsc, watch};
use tokio::time::Sleep;
use tonic::transport::server::Connected;

use crate::limits::ServeLimits;

/// Bytes of the HTTP/2 connection preface.
const GREETING_BYTES: usize = 24;
/// Rest after a failed accept, so that a lack of descriptors does not become a hot loop.
const ACCEPT_REST: Duration = Duration::from_millis(50);

/// Who is at the other end, as the kernel says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// A process on the Unix socket, with its user if the kernel named one.
    Local(Option<u32>),
    /// Somebody on the TCP listener.
    Tcp,
}

/// What the gate knows of the connection that a call comes over.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionInfo {
    pub(crate) peer: Peer,
    /// Over TCP, where it is yet to be shown who calls.
    pub(crate) standing: Option<Arc<NewcomerState>>,
}

/// Takes connections from one listener.
pub(crate) struct ConnectionAcceptor {
    listener: Listener,
    greeting_span: Duration,
    admission: ConnectionAdmission,
}

enum Listener {
    Unix { listener: UnixListener, rebound: Option<mpsc::Receiver<std::os::unix::net::UnixListener>> },
    Tcp(TcpListener),
}

impl ConnectionAcceptor {
    pub(crate) fn unix(listener: UnixListener, limits: ServeLimits, open: watch::Sender<usize>) -> Self {
        Self::new(Listener::Unix { listener, rebound: None }, limits, open)
    }

    /// Lets the sockets that come take the place of the one before.
    pub(crate) fn rebound(
        mut self,
        sockets: Option<mpsc::Receiver<std::os::unix::net::UnixListener>>,
    ) -> Self {
        if let Listener::Unix { rebound, .. } = &mut self.listener {
            *rebound = sockets;
        }
        self
    }

    pub(crate) fn tcp(listener: TcpListener, limits: ServeLimits, open: watch::Sender<usize>) -> Self {
        Self::new(Listener::Tcp(listener), limits, open)
    }

    fn new(listener: Listener, limits: ServeLimits, open: watch::Sender<usize>) -> Self {
        let admission = ConnectionAdmission::new(limits.admission(), open);
        Self { listener, greeting_span: limits.greeting_span, admission }
    }

    /// Returns the connections as they come, for ever.
    pub(crate) fn into_stream(self) -> impl Stream<Item = io::Result<Connection>> + Send {
        futures::stream::unfold(
            self,
            |mut acceptor| async move { Some((Ok(acceptor.next().await), acceptor)) },
        )
    }

    /// Waits for a connection that gets a permit; others are closed at once.
    async fn next(&mut self) -> Connection {
        loop {
            let socket = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = self.admission.closed().log_when_due() => continue,
            };
            let (socket, address) = match socket {
                Ok(socket) => socket,
                Err(error) => {
                    self.admission.closed().note_failed(&error);
                    tokio::time::sleep(ACCEPT_REST).await;
                    continue;
                }
            };
            let admitted = match address {
                None => self.admission.admit_known().map(AdmissionKind::Known),
                Some(address) => self.admission.admit(address).map(AdmissionKind::OnProbation),
            };
            if let Some(admitted) = admitted {
                return Connection::new(socket, admitted, self.greeting_span);
            }
        }
    }
}

impl Listener {
    /// Returns a connection, and from where it comes over TCP.
    async fn accept(&mut self) -> io::Result<(Socket, Option<IpAddr>)> {
        match self {
            Self::Unix { listener, rebound } => loop {
                let next = async {
                    match rebound {
                        Some(rebound) => rebound.recv().await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    accepted = listener.accept() => return Ok((Socket::Unix(accepted?.0), None)),
                    next = next => match next {
                        Some(socket) => {
                            socket.set_nonblocking(true)?;
                            *listener = UnixListener::from_std(socket)?;
                        }
                        None => *rebound = None,
                    },
                }
            },
            Self::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                // Small frames go out at once.
                stream.set_nodelay(true)?;
                Ok((Socket::Tcp(stream), Some(address.ip())))
            }
        }
    }
}

/// A connection with its permit.
pub(crate) struct Connection {
    socket: Socket,
    peer: Peer,
    greeting: PrefaceState,
    admitted: AdmissionKind,
}

/// What a connection was admitted with.
enum AdmissionKind {
    /// On the Unix socket, where the kernel names the other end.
    Known(#[expect(dead_code, reason = "counts while the connection is open")] ConnectionPermit),
    /// Over TCP, until it has shown a token.
    OnProbation(AdmittedConnection),
}

enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

enum PrefaceState {
    Awaited { bytes_left: usize, deadline: Pin<Box<Sleep>> },
    Said,
}

impl Connection {
    fn new(socket: Socket, admitted: AdmissionKind, greeting_span: Duration) -> Self {
        let peer = match &socket {
            Socket::Unix(stream) => Peer::Local(stream.peer_cred().ok().map(|credentials| credentials.uid())),
            Socket::Tcp(_) => Peer::Tcp,
        };
        let deadline = Box::pin(tokio::time::sleep(greeting_span));
        let greeting = PrefaceState::Awaited { bytes_left: GREETING_BYTES, deadline };
        Self { socket, peer, greeting, admitted }
    }

    fn standing(&self) -> Option<&Arc<NewcomerState>> {
        match &self.admitted {
            AdmissionKind::Known(_) => None,
            AdmissionKind::OnProbation(admitted) => Some(admitted.state()),
        }
    }

    /// Returns an error once a connection without a token has had its time, or has to make way.
    fn watch_probation(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        match &mut self.admitted {
            AdmissionKind::Known(_) => Ok(()),
            AdmissionKind::OnProbation(admitted) => admitted.watch(context),
        }
    }
}

impl Connected for Connection {
    type ConnectInfo = ConnectionInfo;

    fn connect_info(&self) -> ConnectionInfo {
        ConnectionInfo { peer: self.peer, standing: self.standing().cloned() }
    }
}

impl PrefaceState {
    /// Takes note of a read; an error once the deadline has passed without a greeting.
    fn watch(&mut self, context: &mut Context<'_>, bytes_read: usize) -> io::Result<()> {
        let Self::Awaited { bytes_left, deadline } = self else { return Ok(()) };
        *bytes_left = bytes_left.saturating_sub(bytes_read);
        if *bytes_left == 0 {
            *self = Self::Said;
        } else if deadline.as_mut().poll(context).is_ready() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(())
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.watch_probation(context)?;
        let before = buffer.filled().len();
        let read = match &mut self.socket {
            Socket::Unix(stream) => Pin::new(stream).poll_read(context, buffer),
            Socket::Tcp(stream) => Pin::new(stream).poll_read(context, buffer),
        };
        self.greeting.watch(context, buffer.filled().len() - before)?;
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.socket {
            Socket::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
            Socket::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.socket {
            Socket::Unix(stream) => Pin::new(stream).poll_write_vectored(context, slices),
            Socket::Tcp(stream) => Pin::new(stream).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Unix(stream) => Pin::new(stream).poll_flush(context),
            Socket::Tcp(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Unix(stream) => Pin::new(stream).poll_shutdown(context),
            Socket::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

#[cfg(test)]
mod tests;
