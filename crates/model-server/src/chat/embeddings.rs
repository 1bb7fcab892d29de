//! `POST /v1/embeddings`: what OpenAI takes, and vectors that depend on the text alone.

use serde_json::{Value, json};

use crate::exchange::Vendor;
use palyra_testkit::scripted_embeddings::letter_vector;

/// What OpenAI takes at the top level of a request.
const FIELDS: [&str; 5] = ["input", "model", "encoding_format", "dimensions", "user"];
/// Texts of one request.
const TEXTS_MAX: usize = 2_048;
/// Components of a vector, and at most so many where a request asks for another number.
const DIMENSIONS: u32 = 8;
const DIMENSIONS_MAX: u64 = 64;

/// Returns what is wrong with a body, if anything.
pub(crate) fn complaint(vendor: Vendor, body: &Value) -> Option<String> {
    let stranger = body.as_object()?.keys().find(|name| !FIELDS.contains(&name.as_str()));
    if let Some(name) = stranger.filter(|_| vendor == Vendor::OpenAi) {
        return Some(format!("Unrecognized request argument supplied: {name}"));
    }
    if body["model"].as_str().unwrap_or_default().is_empty() {
        return Some("you must provide a model parameter".to_owned());
    }
    let texts = texts(body);
    if texts.is_empty() || texts.len() > TEXTS_MAX || texts.contains(&"") {
        return Some("'$.input' is invalid. Please check the API reference.".to_owned());
    }
    if !matches!(body["encoding_format"].as_str(), None | Some("float" | "base64")) {
        return Some(
            "Invalid value: 'encoding_format'. Supported values are: 'float' and 'base64'.".to_owned(),
        );
    }
    let dimensions = &body["dimensions"];
    let fits = dimensions.is_null()
        || dimensions.as_u64().is_some_and(|asked| (1..=DIMENSIONS_MAX).contains(&asked));
    (!fits)
        .then(|| format!("Invalid value for 'dimensions' = {dimensions}. Must be at most {DIMENSIONS_MAX}."))
}

/// Returns the vectors of the texts of a request.
pub(crate) fn document(body: &Value) -> Value {
    let asked = body["dimensions"].as_u64().and_then(|asked| u32::try_from(asked).ok());
    let dimensions = asked.unwrap_or(DIMENSIONS);
    let texts = texts(body);
    let tokens: usize = texts.iter().map(|text| text.len().div_ceil(4)).sum();
    let entry = |(index, text): (usize, &&str)| {
        let vector = letter_vector(text, dimensions);
        let embedding =
            if body["encoding_format"] == "base64" { base64(&vector).into() } else { json!(vector) };
        json!({ "object": "embedding", "index": index, "embedding": embedding })
    };
    let data: Vec<Value> = texts.iter().enumerate().map(entry).collect();
    let usage = json!({ "prompt_tokens": tokens, "total_tokens": tokens });
    json!({ "object": "list", "data": data, "model": body["model"], "usage": usage })
}

/// Returns the texts; none where there is something else.
fn texts(body: &Value) -> Vec<&str> {
    match &body["input"] {
        Value::String(text) => vec![text.as_str()],
        Value::Array(texts) => {
            let read: Option<Vec<&str>> = texts.iter().map(Value::as_str).collect();
            read.unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// Encodes numbers of 32 bits, the low byte first.
fn base64(numbers: &[f32]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            text.push(if at > group.len() { '=' } else { char::from(digit) });
        }
    }
    text
}
