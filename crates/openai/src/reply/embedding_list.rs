//! Vectors as clients read them.
//!
//! Owns the list and both ways to write a vector. Invariant: both have the same numbers, to the last bit: a number of 32 bits is
//! written with all digits that a reader of 64 bits needs. Begin at [`EmbeddingList`].

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use palyra_ports::embed_texts::TextEmbeddings;
use serde_json::json;

/// How the numbers of a vector are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VectorEncoding {
    /// As a list of numbers.
    #[default]
    Float,
    /// As base64 of numbers of 32 bits, the low byte first.
    Base64,
}

impl VectorEncoding {
    /// Both ways.
    pub const ALL: [Self; 2] = [Self::Float, Self::Base64];

    /// Returns the word for it in a request.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::Base64 => "base64",
        }
    }
}

/// A list of vectors.
pub struct EmbeddingList {
    /// The model, as the request named it.
    pub model: String,
    /// How the vectors are written.
    pub encoding: VectorEncoding,
    /// The vectors.
    pub embeddings: TextEmbeddings,
}

impl EmbeddingList {
    /// Returns how many numbers all vectors have.
    #[must_use]
    pub fn numbers_count(&self) -> usize {
        self.embeddings.vectors().iter().map(Vec::len).sum()
    }

    /// Returns the body of the answer in parts, each made when it is asked for: a text of all numbers takes several times
    /// the bytes of the numbers.
    pub fn into_parts(self) -> impl Iterator<Item = String> + Send + 'static {
        let Self { model, encoding, embeddings } = self;
        let tokens = embeddings.usage().input_tokens;
        let usage = json!({ "prompt_tokens": tokens, "total_tokens": tokens });
        let tail = format!("],\"model\":{},\"usage\":{usage}}}", json!(model));
        let entries = embeddings.into_vectors().into_iter().enumerate().map(move |(index, vector)| {
            let comma = if index == 0 { "" } else { "," };
            format!(
                "{comma}{{\"object\":\"embedding\",\"index\":{index},\"embedding\":{}}}",
                written(encoding, &vector)
            )
        });
        let head = "{\"object\":\"list\",\"data\":[".to_owned();
        std::iter::once(head).chain(entries).chain(std::iter::once(tail))
    }
}

fn written(encoding: VectorEncoding, vector: &[f32]) -> String {
    match encoding {
        VectorEncoding::Float => {
            let numbers: Vec<String> =
                vector.iter().map(|number| json!(f64::from(*number)).to_string()).collect();
            format!("[{}]", numbers.join(","))
        }
        VectorEncoding::Base64 => {
            let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
            format!("\"{}\"", STANDARD.encode(bytes))
        }
    }
}

#[cfg(test)]
mod tests {
    use palyra_types::model::{TokenUsage, UsageSource};
    use serde_json::Value;

    use super::*;

    fn body(encoding: VectorEncoding, vectors: Vec<Vec<f32>>) -> Value {
        let usage = TokenUsage { input_tokens: 9, source: UsageSource::Reported, ..TokenUsage::default() };
        let count = vectors.len();
        let embeddings = TextEmbeddings::new(vectors, count, usage).unwrap();
        let list = EmbeddingList { model: "a \"model\"".to_owned(), encoding, embeddings };
        let text: String = list.into_parts().collect();
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_list_has_each_vector_with_its_number_and_the_usage() {
        let body = body(VectorEncoding::Float, vec![vec![1.0, -0.5], vec![0.0, 2.0]]);
        let expected = json!({
            "object": "list",
            "data": [
                { "object": "embedding", "index": 0, "embedding": [1.0, -0.5] },
                { "object": "embedding", "index": 1, "embedding": [0.0, 2.0] },
            ],
            "model": "a \"model\"",
            "usage": { "prompt_tokens": 9, "total_tokens": 9 },
        });
        assert_eq!(body, expected);
    }

    #[test]
    fn both_ways_have_the_same_numbers() {
        let vector = vec![0.1, -1.0 / 3.0, 1e-20, f32::MIN_POSITIVE, f32::MAX, 0.0, -0.0, 5e-45];
        let floats = body(VectorEncoding::Float, vec![vector.clone()]);
        let packed = body(VectorEncoding::Base64, vec![vector.clone()]);
        let bytes = STANDARD.decode(packed["data"][0]["embedding"].as_str().unwrap()).unwrap();
        let unpacked: Vec<f32> = bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        let bits = |numbers: &[f32]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&unpacked), bits(&vector));
        let floats = floats["data"][0]["embedding"].as_array().unwrap();
        for (float, number) in floats.iter().zip(unpacked) {
            assert_eq!(float.as_f64().unwrap().to_bits(), f64::from(number).to_bits());
        }
    }

    #[test]
    fn base64_is_that_of_the_low_byte_first() {
        let body = body(VectorEncoding::Base64, vec![vec![1.0, -2.0]]);
        assert_eq!(body["data"][0]["embedding"], "AACAPwAAAMA=");
    }
}
