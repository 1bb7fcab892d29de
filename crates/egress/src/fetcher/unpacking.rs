//! Reading an answer's body: unpacked, and no further than its limits.
//!
//! Owns the limits on what a body becomes. Invariant: memory held is the limit on the body and a few windows, however
//! little was sent and however long it goes on.
//! Begin at [`read`].

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder};
use bytes::Bytes;
use futures::TryStreamExt;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, HeaderMap};
use palyra_ports::{BodyCompleteness, FetchFailure, FetchLimits};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt};
use tokio_util::io::StreamReader;

/// Up to here a body may unpack as far as it likes: short pages repeat themselves.
const RATIO_FREE_BYTES: u64 = 1 << 20;
/// How much is unpacked at a time.
const PIECE_BYTES: usize = 16 << 10;

/// How a body is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyEncoding {
    Plain,
    Gzip,
    Brotli,
}

/// Reads a body to its end or to the limit.
pub(super) async fn read(
    body: Incoming,
    headers: &HeaderMap,
    limits: &FetchLimits,
) -> Result<(Bytes, BodyCompleteness), FetchFailure> {
    let packing = packing(headers)?;
    let received = Arc::new(AtomicU64::new(0));
    let counter = received.clone();
    let pieces = body.into_data_stream().map_err(io::Error::other).inspect_ok(move |piece| {
        counter.fetch_add(piece.len() as u64, Ordering::Relaxed);
    });
    let mut packed = Box::pin(StreamReader::new(pieces));
    let mut unpacked: Pin<Box<dyn AsyncRead + Send + '_>> = match packing {
        BodyEncoding::Plain => Box::pin(packed),
        // An empty body is packed by nobody, whatever the header says.
        BodyEncoding::Gzip | BodyEncoding::Brotli if ends_at_once(&mut packed).await? => Box::pin(packed),
        BodyEncoding::Gzip => Box::pin(GzipDecoder::new(packed)),
        BodyEncoding::Brotli => {
            refuse_large_window(&mut packed).await?;
            Box::pin(BrotliDecoder::new(packed))
        }
    };
    collect(&mut unpacked, &received, limits).await
}

async fn collect(
    unpacked: &mut Pin<Box<dyn AsyncRead + Send + '_>>,
    received: &AtomicU64,
    limits: &FetchLimits,
) -> Result<(Bytes, BodyCompleteness), FetchFailure> {
    let mut whole = Vec::new();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let room = limits.body_bytes_max - whole.len();
        // One byte more than there is room for tells a body that fits from one that goes on.
        let ask = room.saturating_add(1).min(PIECE_BYTES);
        let length = unpacked.read(&mut piece[..ask]).await.map_err(|_| broken())?;
        if length == 0 {
            return Ok((whole.into(), BodyCompleteness::Whole));
        }
        whole.extend_from_slice(&piece[..length.min(room)]);
        let ratio_max = u64::from(limits.unpacking_ratio_max);
        let far = received.load(Ordering::Relaxed).saturating_mul(ratio_max).max(RATIO_FREE_BYTES);
        if whole.len() as u64 > far {
            return Err(FetchFailure::Answer { reason: "it unpacks to far more than was sent" });
        }
        if length > room {
            return Ok((whole.into(), BodyCompleteness::Cut));
        }
    }
}

fn packing(headers: &HeaderMap) -> Result<BodyEncoding, FetchFailure> {
    let mut values = headers.get_all(CONTENT_ENCODING).iter();
    let (first, second) = (values.next(), values.next());
    let unknown = FetchFailure::Answer { reason: "it is packed in a way that was not asked for" };
    match (first.map(|value| value.as_bytes().to_ascii_lowercase()), second) {
        (None, _) => Ok(BodyEncoding::Plain),
        (Some(name), None) => match name.as_slice() {
            b"" | b"identity" => Ok(BodyEncoding::Plain),
            b"gzip" | b"x-gzip" => Ok(BodyEncoding::Gzip),
            b"br" => Ok(BodyEncoding::Brotli),
            // Packed twice, too: nobody does that but to unpack further than one layer can.
            _ => Err(unknown),
        },
        (Some(_), Some(_)) => Err(unknown),
    }
}

async fn ends_at_once(packed: &mut (impl AsyncBufRead + Unpin)) -> Result<bool, FetchFailure> {
    packed.fill_buf().await.map(<[u8]>::is_empty).map_err(|_| broken())
}

/// The decoder also takes windows of up to a gibibyte, which is no part of the `br` coding (RFC 7932, section 9.1).
async fn refuse_large_window(packed: &mut (impl AsyncBufRead + Unpin)) -> Result<(), FetchFailure> {
    const LARGE_WINDOW: u8 = 0b001_0001;
    let first = packed.fill_buf().await.map_err(|_| broken())?.first().copied();
    match first {
        Some(byte) if byte & 0x7f == LARGE_WINDOW => Err(broken()),
        Some(_) | None => Ok(()),
    }
}

fn broken() -> FetchFailure {
    FetchFailure::Answer { reason: "its body is damaged or ended too early" }
}
