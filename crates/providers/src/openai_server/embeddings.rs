//! `POST /embeddings`: vectors of texts, as OpenAI and most servers of its format make them.
//!
//! Asks for base64, which is a quarter of the size, and takes lists of numbers from servers that know only those. Invariant: an
//! answer has one vector for each text, in the order of the texts, also where the server lists them in another order.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use palyra_ports::embed_texts::{EMBEDDING_DIMENSIONS_MAX, EmbeddingRequest, TextEmbeddings};
use palyra_types::model::{BYTES_PER_TOKEN_ESTIMATED, ModelFailure, ModelName, TokenUsage, UsageSource};
use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::usage::usage;
use crate::wire_format::failure::malformed;
use crate::wire_format::link::ServerLink;

/// Bytes of an answer, at most.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes of an answer beside its vectors.
const FRAME_BYTES_MAX: usize = 64 * 1024;
/// Bytes of one component, at most, written as a decimal number.
const COMPONENT_BYTES_MAX: usize = 24;

/// A request as the server reads it.
#[derive(Serialize)]
struct WireRequest<'a> {
    model: &'a str,
    input: Vec<&'a str>,
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<u32>,
}

/// An answer of the server.
#[derive(Deserialize)]
struct WireAnswer {
    data: Vec<WireVector>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct WireVector {
    /// Servers that leave it out list the vectors in the order of the texts.
    #[serde(default)]
    index: Option<usize>,
    embedding: WireNumbers,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WireNumbers {
    Base64(String),
    List(Vec<f32>),
}

/// Makes a vector of each text.
pub(super) async fn embed(
    link: &ServerLink,
    address: &Url,
    model: &ModelName,
    request: &EmbeddingRequest,
) -> Result<TextEmbeddings, ModelFailure> {
    let body = render(model, request);
    let answer = link.post_for_document(address, body, answer_bytes_max(request.texts().len())).await?;
    read(&answer, request)
}

fn render(model: &ModelName, request: &EmbeddingRequest) -> String {
    let wire = WireRequest {
        model: model.as_str(),
        input: request.texts().iter().map(|text| text.expose().as_str()).collect(),
        encoding_format: "base64",
        dimensions: request.dimensions(),
    };
    serde_json::json!(wire).to_string()
}

/// Returns how many bytes of an answer are read: enough for the largest vectors of few texts, and a limit for many.
fn answer_bytes_max(texts: usize) -> usize {
    let of_one = (EMBEDDING_DIMENSIONS_MAX as usize).saturating_mul(COMPONENT_BYTES_MAX);
    of_one.saturating_mul(texts).saturating_add(FRAME_BYTES_MAX).min(ANSWER_BYTES_MAX)
}

fn read(body: &[u8], request: &EmbeddingRequest) -> Result<TextEmbeddings, ModelFailure> {
    let answer: WireAnswer =
        serde_json::from_slice(body).map_err(|_| malformed("the answer is not a list of embeddings"))?;
    let count = request.texts().len();
    if answer.data.len() != count {
        let detail = format!("the answer has {} vectors for {count} texts", answer.data.len());
        return Err(malformed(&detail));
    }
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; count];
    for (position, entry) in answer.data.into_iter().enumerate() {
        let index = entry.index.unwrap_or(position);
        let place = vectors.get_mut(index).filter(|place| place.is_none());
        let place =
            place.ok_or_else(|| malformed("the numbers of the vectors are not those of the texts"))?;
        *place = Some(entry.embedding.numbers()?);
    }
    let usage = usage(&answer.usage).unwrap_or_else(|| estimated(request));
    let vectors = vectors.into_iter().flatten().collect();
    TextEmbeddings::new(vectors, count, usage).map_err(|error| malformed(&error.to_string()))
}

impl WireNumbers {
    fn numbers(self) -> Result<Vec<f32>, ModelFailure> {
        let text = match self {
            Self::List(numbers) => return Ok(numbers),
            Self::Base64(text) => text,
        };
        let bytes = STANDARD.decode(text).map_err(|_| malformed("a vector is not valid base64"))?;
        let (numbers, rest) = bytes.as_chunks();
        if !rest.is_empty() {
            return Err(malformed("a vector is not a sequence of numbers of four bytes"));
        }
        Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }
}

fn estimated(request: &EmbeddingRequest) -> TokenUsage {
    let input_tokens = (request.bytes() as u64).div_ceil(BYTES_PER_TOKEN_ESTIMATED);
    TokenUsage { input_tokens, source: UsageSource::Estimated, ..TokenUsage::default() }
}

#[cfg(test)]
mod tests {
    use palyra_types::Redacted;
    use palyra_types::model::ModelFailureClass;
    use serde_json::json;

    use super::*;

    fn request(texts: &[&'static str], dimensions: Option<u32>) -> EmbeddingRequest {
        let texts = texts.iter().map(|text| Redacted::from(*text)).collect();
        EmbeddingRequest::new(texts, dimensions).expect("within the limits")
    }

    #[test]
    fn a_request_has_the_texts_in_order_and_dimensions_only_where_they_were_asked_for() {
        let body = |dimensions| -> Value {
            let body = render(&ModelName::new("m/n"), &request(&["one", "two"], dimensions));
            serde_json::from_str(&body).expect("JSON")
        };
        let plain = json!({"model": "m/n", "input": ["one", "two"], "encoding_format": "base64"});
        assert_eq!(body(None), plain);
        assert_eq!(body(Some(256))["dimensions"], 256);
    }

    #[test]
    fn answers_of_many_servers_are_read_in_the_order_of_the_texts() {
        let usage = json!({"prompt_tokens": 5, "total_tokens": 5});
        for (data, usage, tokens) in [
            (
                json!([{"index": 0, "embedding": [1.0, 0]}, {"index": 1, "embedding": [0.5, -2.0]}]),
                usage.clone(),
                5,
            ),
            (json!([{"index": 1, "embedding": [0.5, -2]}, {"index": 0, "embedding": [1, 0]}]), json!({}), 2),
            (json!([{"embedding": [1, 0]}, {"embedding": [0.5, -2]}]), Value::Null, 2),
            (
                json!([{"index": 0, "embedding": "AACAPwAAAAA="}, {"index": 1, "embedding": "AAAAPwAAAMA="}]),
                usage,
                5,
            ),
        ] {
            let body = json!({"object": "list", "data": data, "model": "other", "usage": usage}).to_string();
            let read = read(body.as_bytes(), &request(&["one", "two"], None)).expect("an answer");
            assert_eq!(read.vectors(), [[1.0, 0.0], [0.5, -2.0]], "{body}");
            assert_eq!(read.usage().input_tokens, tokens, "{body}");
        }
    }

    #[test]
    fn what_is_not_an_answer_is_malformed_and_says_why() {
        for (data, why) in [
            (json!("<html>"), "not a list"),
            (json!([]), "0 vectors for 2 texts"),
            (json!([{"embedding": [1]}]), "1 vectors"),
            (json!([{"embedding": [1]}, {"embedding": [1]}, {"embedding": [1]}]), "3 vectors"),
            (
                json!([{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]),
                "not those of the texts",
            ),
            (
                json!([{"index": 0, "embedding": [1]}, {"index": 2, "embedding": [1]}]),
                "not those of the texts",
            ),
            (json!([{"embedding": [1]}, {"embedding": [1, 2]}]), "2 components"),
            (json!([{"embedding": []}, {"embedding": []}]), "0 components"),
            (json!([{"embedding": [1]}, {"embedding": [1e39]}]), "not a finite number"),
            (json!([{"embedding": [1]}, {"embedding": [null]}]), "not a list"),
            (json!([{"embedding": [1]}, {"embedding": "AAAA"}]), "four bytes"),
            (json!([{"embedding": [1]}, {"embedding": "?"}]), "base64"),
            (json!([{"embedding": [1]}, {"embedding": "AADAfw=="}]), "not a finite number"),
        ] {
            let body = json!({"data": data}).to_string();
            let failure = read(body.as_bytes(), &request(&["one", "two"], None)).expect_err("no answer");
            assert_eq!(failure.class, ModelFailureClass::Malformed);
            assert!(failure.detail.expose().contains(why), "{body}: {}", failure.detail.expose());
        }
    }

    #[test]
    fn the_bytes_of_an_answer_grow_with_the_texts_up_to_a_limit() {
        assert!(answer_bytes_max(1) < 512 * 1024);
        assert_eq!(answer_bytes_max(2_048), ANSWER_BYTES_MAX);
    }
}
