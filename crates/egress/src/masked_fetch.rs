//! Answers to fetches that carry a credential, on their way to code that may not have it.
//!
//! Owns what of such an answer is handed on. Invariant: no byte of a header or a body is handed on that the mask has not
//! seen, and none that may be the beginning of a value whose end was cut off. Begin at [`MaskedFetch`].

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{
    BodyCompleteness, CancelFlag, FetchError, FetchHttp, FetchRequest, FetchResponse, MaskValues,
};
use palyra_types::Content;

/// Headers that ask for a part of an answer: each of two parts may hold half of a value.
const PART_HEADERS: [&str; 2] = ["range", "if-range"];

/// A fetcher that masks the answers to requests with credentials.
#[derive(Clone)]
pub struct MaskedFetch {
    inner: Arc<dyn FetchHttp>,
    mask: Arc<dyn MaskValues>,
}

impl MaskedFetch {
    /// Wraps a fetcher.
    pub fn new(inner: Arc<dyn FetchHttp>, mask: Arc<dyn MaskValues>) -> Self {
        Self { inner, mask }
    }

    fn mask_response(&self, response: FetchResponse) -> FetchResponse {
        let text = |text: &str| {
            let clean = self.whole(text.as_bytes(), BodyCompleteness::Whole);
            String::from_utf8_lossy(&clean).into_owned()
        };
        let headers = response.headers.iter().filter(|(name, _)| text(name) == *name);
        let headers = headers.map(|(name, value)| (name.clone(), Content::new(text(value.expose()))));
        FetchResponse {
            headers: headers.collect(),
            body: Content::new(self.whole(response.body.expose(), response.completeness)),
            ..response
        }
    }

    fn whole(&self, bytes: &[u8], completeness: BodyCompleteness) -> Vec<u8> {
        let mut stream = self.mask.begin();
        let mut clean = stream.push(bytes);
        match completeness {
            BodyCompleteness::Whole => clean.extend(stream.finish()),
            // What is held back may be the beginning of a value.
            BodyCompleteness::Cut => {}
        }
        clean
    }
}

impl FetchHttp for MaskedFetch {
    fn fetch(
        &self,
        mut request: FetchRequest,
        cancel: CancelFlag,
    ) -> BoxFuture<'static, Result<FetchResponse, FetchError>> {
        if request.credentials.is_empty() {
            return self.inner.fetch(request, cancel);
        }
        let asks_for_part = |name: &str| PART_HEADERS.iter().any(|part| part.eq_ignore_ascii_case(name));
        request.headers.retain(|(name, _)| !asks_for_part(name));
        let masking = self.clone();
        async move { Ok(masking.mask_response(masking.inner.fetch(request, cancel).await?)) }.boxed()
    }
}

#[cfg(test)]
mod tests;
