//! What a server says back of a credential is not handed on, wherever it says it.

use std::sync::Mutex;

use palyra_ports::{BoundCredential, CredentialHandle, MaskStream};

use super::*;

const VALUE: &[u8] = b"walnut-harbour";

/// Masks one value, and holds back what may be its beginning.
struct OneValue;

impl MaskValues for OneValue {
    fn begin(&self) -> Box<dyn MaskStream> {
        Box::new(OneStream(Vec::new()))
    }
}

struct OneStream(Vec<u8>);

impl MaskStream for OneStream {
    fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.0.extend_from_slice(piece);
        let mut out = Vec::new();
        while !self.0.is_empty() {
            if self.0.starts_with(VALUE) {
                self.0.drain(..VALUE.len());
                out.extend_from_slice(b"<masked>");
            } else if VALUE.starts_with(&self.0) {
                break;
            } else {
                out.push(self.0.remove(0));
            }
        }
        out
    }

    fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }
}

/// Answers as it was told, and remembers which headers it was sent.
struct Scripted {
    body: &'static [u8],
    completeness: BodyCompleteness,
    sent: Mutex<Vec<String>>,
}

impl FetchHttp for Scripted {
    fn fetch(
        &self,
        request: FetchRequest,
        _: CancelFlag,
    ) -> BoxFuture<'static, Result<FetchResponse, FetchError>> {
        *self.sent.lock().expect("unpoisoned") = request.headers.into_iter().map(|(name, _)| name).collect();
        let header = |name: &str, value: &str| (name.to_owned(), Content::new(value.to_owned()));
        let response = FetchResponse {
            url: request.url,
            hops: Vec::new(),
            status: 200,
            headers: vec![
                header("x-heard", "you said walnut-harbour"),
                header("x-walnut-harbour", "a"),
                header("etag", "b"),
            ],
            body: Content::new(self.body.to_vec()),
            completeness: self.completeness,
        };
        async move { Ok(response) }.boxed()
    }
}

/// Returns the headers, the body, and the headers that were sent.
async fn fetched(
    (body, completeness): (&'static [u8], BodyCompleteness),
    credentials: Vec<BoundCredential>,
) -> (Vec<(String, String)>, Vec<u8>, Vec<String>) {
    let scripted = Arc::new(Scripted { body, completeness, sent: Mutex::default() });
    let fetch = MaskedFetch::new(Arc::clone(&scripted) as _, Arc::new(OneValue));
    let mut request = FetchRequest { credentials, ..FetchRequest::get("https://a.example/") };
    for name in ["Range", "if-range", "accept"] {
        request.headers.push((name.to_owned(), "x".into()));
    }
    let answer = fetch.fetch(request, CancelFlag::default()).await.expect("an answer");
    let headers = answer.headers.into_iter().map(|(name, value)| (name, value.into_exposed())).collect();
    let sent = scripted.sent.lock().expect("unpoisoned").clone();
    (headers, answer.body.into_exposed(), sent)
}

fn credential() -> BoundCredential {
    let handle = CredentialHandle("forge".to_owned());
    BoundCredential { host: "a.example".to_owned(), port: 443, handle, used_by: None }
}

#[tokio::test]
async fn an_answer_to_a_request_with_a_credential_is_masked() {
    let whole = (&b"you said walnut-harbour, walnut"[..], BodyCompleteness::Whole);
    let (headers, body, sent) = fetched(whole, vec![credential()]).await;
    assert_eq!(body, b"you said <masked>, walnut");
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(headers, [pair("x-heard", "you said <masked>"), pair("etag", "b")]);
    assert_eq!(sent, ["accept"], "no part is asked for");
    // The control: who sends no credential hears what is said.
    let (headers, body, sent) = fetched(whole, Vec::new()).await;
    assert_eq!((body.as_slice(), headers.len(), sent.len()), (whole.0, 3, 3));
}

#[tokio::test]
async fn half_a_value_at_a_cut_is_not_handed_on() {
    let cut = (&b"you said walnut-har"[..], BodyCompleteness::Cut);
    assert_eq!(fetched(cut, vec![credential()]).await.1, b"you said ");
    assert_eq!(fetched(cut, Vec::new()).await.1, cut.0);
}
