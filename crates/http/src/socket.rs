//! An accepted connection: plain or under TLS, on probation until it has shown a token, and closed when its client does
//! not read.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use palyra_connections::{AdmittedConnection, NewcomerState};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;
use tokio_rustls::server::TlsStream;

/// What bytes go over.
pub(crate) enum SocketStream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// A connection with its admission.
pub(crate) struct WatchedSocket {
    stream: SocketStream,
    admitted: AdmittedConnection,
    write_span: Duration,
    /// Runs while the client does not take what is written.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl WatchedSocket {
    pub(crate) fn new(stream: SocketStream, admitted: AdmittedConnection, write_span: Duration) -> Self {
        Self { stream, admitted, write_span, stalled: None }
    }

    /// Returns what the calls of the connection report to.
    pub(crate) fn newcomer(&self) -> Arc<NewcomerState> {
        Arc::clone(self.admitted.state())
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
        let closed = with_stream!(self, stream => stream.poll_shutdown(context));
        self.watch_write(context, closed)
    }
}
