//! Bodies of requests: so many bytes, in so much time, within the caller's share of memory.
//!
//! Invariant: every reader of the body of an admitted request reads it through [`MeteredBody`], also the routes of other
//! surfaces; what a body took of the memory comes back when its request has been answered.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_LENGTH;
use futures::StreamExt;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use palyra_api::ApiError;
use palyra_types::{ErrorCode, PrincipalId};
use tokio::time::Sleep;

use crate::quota::{PrincipalQuota, QuotaShare};

/// Why a body does not arrive whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BodyFault {
    /// It has too many bytes.
    #[error("the body has more than {bytes_max} bytes")]
    TooLarge {
        /// Allowed.
        bytes_max: usize,
    },
    /// It took too long.
    #[error("the body did not arrive in time")]
    TooSlow,
    /// The caller or all together send too much at once.
    #[error("too much is being sent at once; try again in a moment")]
    NoRoom,
    /// The connection broke, or the framing is wrong.
    #[error("the body did not arrive whole")]
    Broken,
}

impl From<BodyFault> for ApiError {
    fn from(fault: BodyFault) -> Self {
        let code = match fault {
            BodyFault::TooLarge { .. } => ErrorCode::MessageTooLarge,
            BodyFault::TooSlow => ErrorCode::RequestTimeout,
            BodyFault::NoRoom => ErrorCode::QueueFull,
            BodyFault::Broken => ErrorCode::InvalidFrame,
        };
        Self::new(code, fault.to_string())
    }
}

/// Reads a body to its end.
///
/// # Errors
/// [`BodyFault`].
pub async fn read_body(body: Body) -> Result<Bytes, BodyFault> {
    read_body_at_most(body, usize::MAX).await
}

/// Reads a body that may be shorter than the gate allows.
pub(crate) async fn read_body_at_most(body: Body, bytes_max: usize) -> Result<Bytes, BodyFault> {
    let mut chunks = body.into_data_stream();
    let mut whole = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let chunk =
            chunk.map_err(|error| error.into_inner().downcast_ref().copied().unwrap_or(BodyFault::Broken))?;
        if chunk.len() > bytes_max - whole.len() {
            return Err(BodyFault::TooLarge { bytes_max });
        }
        whole.extend_from_slice(&chunk);
    }
    Ok(whole.into())
}

/// Refuses a body whose length is announced and too large, before a byte of it is read.
pub(crate) fn check_length(headers: &HeaderMap, bytes_max: usize) -> Result<(), ApiError> {
    let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    match length {
        Some(length) if length > bytes_max as u64 => {
            let text = format!("the body has {length} bytes; at most {bytes_max} are taken here");
            Err(ApiError::new(ErrorCode::MessageTooLarge, text))
        }
        Some(_) | None => Ok(()),
    }
}

/// What the bodies of one request take of the memory, until it is answered.
pub(crate) type BodyShare = Arc<Mutex<QuotaShare>>;

/// What a body may take.
pub(crate) struct BodyAllowance {
    pub(crate) bytes_max: usize,
    pub(crate) span: Duration,
    pub(crate) quota: Arc<PrincipalQuota>,
    pub(crate) principal: Option<PrincipalId>,
    pub(crate) share: BodyShare,
}

/// A body that ends with a [`BodyFault`] where it exceeds its allowance.
pub(crate) struct MeteredBody {
    inner: hyper::body::Incoming,
    allowance: BodyAllowance,
    bytes: usize,
    /// KiB that were taken for them.
    kib: usize,
    deadline: Pin<Box<Sleep>>,
}

impl MeteredBody {
    pub(crate) fn new(inner: hyper::body::Incoming, allowance: BodyAllowance) -> Self {
        let deadline = Box::pin(tokio::time::sleep(allowance.span));
        Self { inner, allowance, bytes: 0, kib: 0, deadline }
    }

    fn count(&mut self, bytes: usize) -> Result<(), BodyFault> {
        let bytes_max = self.allowance.bytes_max;
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > bytes_max {
            return Err(BodyFault::TooLarge { bytes_max });
        }
        let Some(principal) = self.allowance.principal else { return Ok(()) };
        let kib = self.bytes.div_ceil(1024);
        let more = u32::try_from(kib - self.kib).map_err(|_| BodyFault::NoRoom)?;
        self.kib = kib;
        let taken = self.allowance.quota.take(principal, more).ok_or(BodyFault::NoRoom)?;
        self.allowance.share.lock().unwrap_or_else(PoisonError::into_inner).add(taken);
        Ok(())
    }
}

impl HttpBody for MeteredBody {
    type Data = Bytes;
    type Error = BodyFault;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyFault>>> {
        if self.deadline.as_mut().poll(context).is_ready() {
            return Poll::Ready(Some(Err(BodyFault::TooSlow)));
        }
        let frame = match Pin::new(&mut self.inner).poll_frame(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Ready(Some(frame)) => frame.map_err(|_| BodyFault::Broken),
        };
        let counted = frame.and_then(|frame| {
            self.count(frame.data_ref().map_or(0, Bytes::len))?;
            Ok(frame)
        });
        Poll::Ready(Some(counted))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
