//! Accepted connections: who is at the other end, a place among the allowed number, a deadline for the greeting.
//!
//! Knows no request. Invariant: a connection holds its place until it is dropped, and one that does not greet
//! in time is dropped; after the greeting, HTTP/2 keep-alive watches over it. Begin at [`Acceptor::next`].

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::Stream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Sleep;
use tonic::transport::server::Connected;

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

/// Takes connections from one listener.
pub(crate) struct Acceptor {
    listener: Listener,
    places: Arc<Semaphore>,
    greeting_span: Duration,
    open: watch::Sender<usize>,
}

enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl Acceptor {
    pub(crate) fn unix(
        listener: UnixListener,
        connections_max: usize,
        greeting_span: Duration,
        open: watch::Sender<usize>,
    ) -> Self {
        let places = Arc::new(Semaphore::new(connections_max));
        Self { listener: Listener::Unix(listener), places, greeting_span, open }
    }

    pub(crate) fn tcp(
        listener: TcpListener,
        connections_max: usize,
        greeting_span: Duration,
        open: watch::Sender<usize>,
    ) -> Self {
        let places = Arc::new(Semaphore::new(connections_max));
        Self { listener: Listener::Tcp(listener), places, greeting_span, open }
    }

    /// Returns the connections as they come, for ever.
    pub(crate) fn into_stream(self) -> impl Stream<Item = io::Result<Connection>> + Send {
        futures::stream::unfold(self, |acceptor| async move { Some((Ok(acceptor.next().await), acceptor)) })
    }

    /// Waits for a connection that gets a place; others are closed at once.
    async fn next(&self) -> Connection {
        loop {
            let socket = match self.listener.accept().await {
                Ok(socket) => socket,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_REST).await;
                    continue;
                }
            };
            if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
                let place = Place::new(place, self.open.clone());
                return Connection::new(socket, place, self.greeting_span);
            }
            tracing::warn!("a connection was closed: there are too many");
        }
    }
}

impl Listener {
    async fn accept(&self) -> io::Result<Socket> {
        match self {
            Self::Unix(listener) => Ok(Socket::Unix(listener.accept().await?.0)),
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                // Small frames go out at once.
                stream.set_nodelay(true)?;
                Ok(Socket::Tcp(stream))
            }
        }
    }
}

/// A connection with its place.
pub(crate) struct Connection {
    socket: Socket,
    peer: Peer,
    greeting: Greeting,
    _place: Place,
}

/// A place among the allowed number, counted while it is held.
struct Place {
    _permit: OwnedSemaphorePermit,
    open: watch::Sender<usize>,
}

impl Place {
    fn new(permit: OwnedSemaphorePermit, open: watch::Sender<usize>) -> Self {
        open.send_modify(|open| *open += 1);
        Self { _permit: permit, open }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.open.send_modify(|open| *open -= 1);
    }
}

enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

enum Greeting {
    Awaited { bytes_left: usize, deadline: Pin<Box<Sleep>> },
    Said,
}

impl Connection {
    fn new(socket: Socket, place: Place, greeting_span: Duration) -> Self {
        let peer = match &socket {
            Socket::Unix(stream) => Peer::Local(stream.peer_cred().ok().map(|credentials| credentials.uid())),
            Socket::Tcp(_) => Peer::Tcp,
        };
        let deadline = Box::pin(tokio::time::sleep(greeting_span));
        let greeting = Greeting::Awaited { bytes_left: GREETING_BYTES, deadline };
        Self { socket, peer, greeting, _place: place }
    }
}

impl Connected for Connection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer
    }
}

impl Greeting {
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
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    const SOON: Duration = Duration::from_secs(10);

    async fn tcp_acceptor(
        connections_max: usize,
        greeting_span: Duration,
    ) -> (Acceptor, std::net::SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        (Acceptor::tcp(listener, connections_max, greeting_span, watch::Sender::new(0)), address)
    }

    #[tokio::test]
    async fn an_accepted_tcp_connection_sends_small_frames_at_once() {
        let (acceptor, address) = tcp_acceptor(1, SOON).await;
        let (_client, connection) = tokio::join!(TcpStream::connect(address), acceptor.next());
        let Socket::Tcp(stream) = &connection.socket else { panic!("a TCP connection came") };
        assert!(stream.nodelay().unwrap());
        assert_eq!(connection.peer, Peer::Tcp);
    }

    #[tokio::test]
    async fn a_local_peer_is_known_by_its_user() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let acceptor = Acceptor::unix(UnixListener::bind(&path).unwrap(), 1, SOON, watch::Sender::new(0));
        let (_client, connection) = tokio::join!(UnixStream::connect(&path), acceptor.next());
        assert_eq!(connection.peer, Peer::Local(Some(rustix::process::geteuid().as_raw())));
    }

    #[tokio::test]
    async fn one_connection_too_many_is_closed_and_its_place_comes_back() {
        let (acceptor, address) = tcp_acceptor(1, SOON).await;
        let (_first, taken) = tokio::join!(TcpStream::connect(address), acceptor.next());
        let mut second = TcpStream::connect(address).await.unwrap();
        let waiting = tokio::spawn(async move { acceptor.next().await.peer });
        assert_eq!(second.read(&mut [0; 1]).await.unwrap(), 0);
        drop(taken);
        let _third = TcpStream::connect(address).await.unwrap();
        assert_eq!(waiting.await.unwrap(), Peer::Tcp);
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_greet_in_time_is_cut_off_and_who_does_is_not() {
        let (acceptor, address) = tcp_acceptor(2, SOON).await;
        let (client, silent) = tokio::join!(TcpStream::connect(address), acceptor.next());
        let mut silent = silent;
        let failed = silent.read(&mut [0; 64]).await.unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
        drop(client);

        let mut greeting =
            Greeting::Awaited { bytes_left: GREETING_BYTES, deadline: Box::pin(tokio::time::sleep(SOON)) };
        futures::future::poll_fn(|context| Poll::Ready(greeting.watch(context, GREETING_BYTES)))
            .await
            .unwrap();
        tokio::time::advance(SOON * 2).await;
        futures::future::poll_fn(|context| Poll::Ready(greeting.watch(context, 0))).await.unwrap();
    }
}
