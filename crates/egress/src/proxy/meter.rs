//! Counting what passes, and noticing when nothing does.
//!
//! Owns the budget of bytes of a call. Connections that spend it at the same moment may each go over it by what they
//! had in hand, never by more.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, sleep_until};

/// Bytes that a call may still move, all its connections together.
#[derive(Debug)]
pub(super) struct Budget {
    sent: ByteAllowance,
    received: ByteAllowance,
}

#[derive(Debug)]
struct ByteAllowance {
    used: AtomicU64,
    bytes_max: u64,
}

impl Budget {
    /// Makes an unspent budget.
    pub(super) fn new(sent_bytes_max: u64, received_bytes_max: u64) -> Self {
        let allowance = |bytes_max| ByteAllowance { used: AtomicU64::new(0), bytes_max };
        Self { sent: allowance(sent_bytes_max), received: allowance(received_bytes_max) }
    }
}

impl ByteAllowance {
    fn rest(&self) -> usize {
        let rest = self.bytes_max.saturating_sub(self.used.load(Ordering::Relaxed));
        usize::try_from(rest).unwrap_or(usize::MAX)
    }

    fn spend(&self, bytes: usize) -> io::Result<()> {
        let used = self.used.fetch_add(bytes as u64, Ordering::Relaxed).saturating_add(bytes as u64);
        if used > self.bytes_max { Err(spent()) } else { Ok(()) }
    }
}

fn spent() -> io::Error {
    io::Error::new(io::ErrorKind::QuotaExceeded, "the call has moved as many bytes as it may")
}

/// When something last passed on a connection.
#[derive(Debug)]
pub(super) struct LastActivity(Mutex<Instant>);

impl Default for LastActivity {
    fn default() -> Self {
        Self(Mutex::new(Instant::now()))
    }
}

impl LastActivity {
    fn mark(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Waits until nothing has passed for so long.
    pub(super) async fn idle(&self, idle_time_max: Duration) {
        loop {
            let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner) + idle_time_max;
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }
}

/// A line whose bytes are counted.
pub(super) struct MeteredLine<Inner> {
    inner: Inner,
    activity: Arc<LastActivity>,
    budget: Option<Arc<Budget>>,
}

impl<Inner> MeteredLine<Inner> {
    /// Counts what passes; without a budget, only that something does.
    pub(super) fn new(inner: Inner, activity: Arc<LastActivity>, budget: Option<Arc<Budget>>) -> Self {
        Self { inner, activity, budget }
    }
}

impl<Inner: AsyncRead + Unpin> AsyncRead for MeteredLine<Inner> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        self.activity.mark();
        let length = buffer.filled().len() - before;
        Poll::Ready(self.budget.as_ref().map_or(Ok(()), |budget| budget.received.spend(length)))
    }
}

impl<Inner: AsyncWrite + Unpin> AsyncWrite for MeteredLine<Inner> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let rest = self.budget.as_ref().map_or(usize::MAX, |budget| budget.sent.rest());
        if rest == 0 && !bytes.is_empty() {
            return Poll::Ready(Err(spent()));
        }
        let length = ready!(Pin::new(&mut self.inner).poll_write(context, &bytes[..bytes.len().min(rest)]))?;
        self.activity.mark();
        if let Some(budget) = &self.budget {
            budget.sent.spend(length)?;
        }
        Poll::Ready(Ok(length))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
