//! An accepted connection: plain or under TLS, on probation until it has shown a token, and closed when its client does
//! not read.
//!
//! A connection that ends with a body unread goes on reading for a moment after its last byte: closed at once, the kernel
//! would reset it, and the client would never see why.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use palyra_connections::{AdmittedConnection, NewcomerState};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;
use tokio_rustls::server::TlsStream;

/// How long a connection with an unread body is read from after its end.
const LINGER_SPAN: Duration = Duration::from_secs(2);
/// Bytes that are thrown away at a time.
const SCRATCH_BYTES: usize = 16 * 1024;

/// What the calls of a connection report to.
pub(crate) struct ConnectionState {
    pub(crate) newcomer: Arc<NewcomerState>,
    has_unread_body: AtomicBool,
}

impl ConnectionState {
    /// A request was refused with its body unread.
    pub(crate) fn note_unread_body(&self) {
        self.has_unread_body.store(true, Ordering::Relaxed);
    }
}

/// What bytes go over.
pub(crate) enum SocketStream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

macro_rules! with_stream {
    ($socket:expr, $stream:ident => $call:expr) => {
        match &mut $socket.stream {
            SocketStream::Plain(stream) => {
                let $stream = Pin::new(stream);
                $call
            }
            SocketStream::Tls(stream) => {
                let $stream = Pin::new(stream.as_mut());
                $call
            }
        }
    };
}

/// A connection with its admission.
pub(crate) struct WatchedSocket {
    stream: SocketStream,
    admitted: AdmittedConnection,
    write_span: Duration,
    /// Runs while the client does not take what is written.
    stalled: Option<Pin<Box<Sleep>>>,
    state: Arc<ConnectionState>,
    /// Runs once the last byte is written and a body is unread.
    lingers: Option<Pin<Box<Sleep>>>,
}

impl WatchedSocket {
    pub(crate) fn new(stream: SocketStream, admitted: AdmittedConnection, write_span: Duration) -> Self {
        let newcomer = Arc::clone(admitted.state());
        let state = Arc::new(ConnectionState { newcomer, has_unread_body: AtomicBool::new(false) });
        Self { stream, admitted, write_span, stalled: None, state, lingers: None }
    }

    /// Returns what the calls of the connection report to.
    pub(crate) fn state(&self) -> Arc<ConnectionState> {
        Arc::clone(&self.state)
    }

    /// Reads and forgets until the client is done, for [`LINGER_SPAN`] at most.
    fn poll_linger(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let deadline = self.lingers.get_or_insert_with(|| Box::pin(tokio::time::sleep(LINGER_SPAN)));
        if deadline.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        loop {
            let mut scratch = [0; SCRATCH_BYTES];
            let mut buffer = ReadBuf::new(&mut scratch);
            match with_stream!(self, stream => stream.poll_read(context, &mut buffer)) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Watches over a write that may have to wait; an error once it has waited too long.
    fn watch_write<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(self.write_span)));
        match stalled.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for WatchedSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.admitted.watch(context)?;
        with_stream!(self, stream => stream.poll_read(context, buffer))
    }
}

impl AsyncWrite for WatchedSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = with_stream!(self, stream => stream.poll_write(context, bytes));
        self.watch_write(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = with_stream!(self, stream => stream.poll_write_vectored(context, slices));
        self.watch_write(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        matches!(self.stream, SocketStream::Plain(_))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = with_stream!(self, stream => stream.poll_flush(context));
        self.watch_write(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingers.is_none() {
            let closed = with_stream!(self, stream => stream.poll_shutdown(context));
            match self.watch_write(context, closed) {
                Poll::Ready(Ok(())) if self.state.has_unread_body.load(Ordering::Relaxed) => {}
                closed => return closed,
            }
        }
        self.poll_linger(context).map(Ok)
    }
}
