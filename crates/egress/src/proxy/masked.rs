//! Answers to requests that carry a credential, on their way to a program that may not have it.
//!
//! Owns what such a request may ask for and what of its answer is handed on. Invariant: no byte of a header or a body
//! reaches the program that the mask has not seen; what cannot be searched is not handed on.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, IF_RANGE, RANGE,
};
use palyra_ports::{MaskStream, MaskValues};

/// Lets a request be answered only by what can be searched: not packed, and not in parts that each hold half of a value.
pub(super) fn ask_plainly(headers: &mut HeaderMap) {
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.remove(RANGE);
    headers.remove(IF_RANGE);
}

/// Returns whether the answer's body can be searched.
pub(super) fn is_searchable(headers: &HeaderMap) -> bool {
    let mut encodings = headers.get_all(CONTENT_ENCODING).iter();
    encodings.all(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Returns headers without secrets; one whose name holds one is left out.
pub(super) fn mask_headers(headers: &HeaderMap, mask: &dyn MaskValues) -> HeaderMap {
    let whole = |bytes: &[u8]| {
        let mut stream = mask.begin();
        let mut clean = stream.push(bytes);
        clean.extend(stream.finish());
        clean
    };
    let mut masked = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        // The length may be another one.
        if name == CONTENT_LENGTH || whole(name.as_str().as_bytes()) != name.as_str().as_bytes() {
            continue;
        }
        if let Ok(value) = HeaderValue::from_bytes(&whole(value.as_bytes())) {
            masked.append(HeaderName::clone(name), value);
        }
    }
    masked
}

/// A body of which only what was searched is handed on; trailers are not.
pub(super) struct MaskedBody {
    body: Incoming,
    /// `None` once everything was handed on.
    mask: Option<Box<dyn MaskStream>>,
}

impl MaskedBody {
    pub(super) fn new(body: Incoming, mask: Box<dyn MaskStream>) -> Self {
        Self { body, mask: Some(mask) }
    }

    pub(super) fn poll_frame(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        while let Some(mask) = &mut self.mask {
            let clean = match std::task::ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => mask.push(&bytes),
                    Err(_) => continue,
                },
                Some(Err(error)) => {
                    self.mask = None;
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    let rest = mask.finish();
                    self.mask = None;
                    rest
                }
            };
            if !clean.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(Bytes::from(clean)))));
            }
        }
        Poll::Ready(None)
    }

    pub(super) fn is_end_stream(&self) -> bool {
        self.mask.is_none()
    }

    pub(super) fn size_hint(&self) -> SizeHint {
        if self.is_end_stream() { SizeHint::with_exact(0) } else { SizeHint::default() }
    }
}
