//! A request for vectors of texts.
//!
//! Owns which members are used, ignored and refused. How many texts there may be, and how long, is said by the port. Begin at
//! [`ClientEmbeddingRequest::parse`].

use palyra_ports::embed_texts::EMBEDDING_DIMENSIONS_MAX;
use palyra_types::Content;
use serde_json::Value;

use crate::error_reply::ErrorReply;
use crate::reply::embedding_list::VectorEncoding;
use crate::request::fields::FieldReader;

/// A request for vectors, as a client makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientEmbeddingRequest {
    /// The model, as the client names it.
    pub model: String,
    /// The texts.
    pub texts: Vec<Content<String>>,
    /// How the vectors are written.
    pub encoding: VectorEncoding,
    /// Components of each vector.
    pub dimensions: Option<u32>,
}

impl ClientEmbeddingRequest {
    /// Reads a request. `user` and members that are not known are ignored.
    ///
    /// # Errors
    /// [`ErrorReply`] that names the member.
    pub fn parse(body: &Value) -> Result<Self, ErrorReply> {
        let fields = FieldReader::body(body)?;
        let model = fields.text("model")?.ok_or_else(|| fields.missing("model"))?;
        let encoding = fields.one_of("encoding_format", &VectorEncoding::ALL, VectorEncoding::word)?;
        let dimensions = fields.integer("dimensions", 1..=u64::from(EMBEDDING_DIMENSIONS_MAX))?;
        Ok(Self {
            model: model.to_owned(),
            texts: texts(&fields)?,
            encoding: encoding.unwrap_or_default(),
            dimensions: dimensions.and_then(|asked| u32::try_from(asked).ok()),
        })
    }
}

fn texts(fields: &FieldReader<'_>) -> Result<Vec<Content<String>>, ErrorReply> {
    let wanted = "a string or an array of strings";
    match fields.value("input").ok_or_else(|| fields.missing("input"))? {
        Value::String(text) => Ok(vec![text.as_str().into()]),
        Value::Array(items) => items.iter().enumerate().map(|(index, item)| text(index, item)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            Err(fields.wrong("input", wanted))
        }
    }
}

fn text(index: usize, item: &Value) -> Result<Content<String>, ErrorReply> {
    match item {
        Value::String(text) => Ok(text.as_str().into()),
        Value::Number(_) | Value::Array(_) => Err(ErrorReply::unsupported(
            "input",
            "`input` has tokens, which are not read here because each model has its own: send the text as a string, or the \
             texts as an array of strings.",
        )),
        Value::Null | Value::Bool(_) | Value::Object(_) => {
            let path = format!("input[{index}]");
            let message = format!("Invalid value for `{path}`: a string is expected.");
            Err(ErrorReply::invalid(path, message).with_code("invalid_value"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(body: &Value) -> Result<ClientEmbeddingRequest, ErrorReply> {
        ClientEmbeddingRequest::parse(body)
    }

    #[test]
    fn a_text_and_a_list_of_texts_are_read_and_the_rest_has_defaults() {
        let one = read(&json!({"model": "m", "input": "one", "user": 7, "new": true})).unwrap();
        assert_eq!(one.texts, [Content::new("one".to_owned())]);
        assert_eq!((one.model.as_str(), one.encoding, one.dimensions), ("m", VectorEncoding::Float, None));
        let body = json!({"model": "m", "input": ["a", ""], "encoding_format": "base64", "dimensions": 256});
        let two = read(&body).unwrap();
        assert_eq!((two.texts.len(), two.encoding, two.dimensions), (2, VectorEncoding::Base64, Some(256)));
        let null = json!({"model": "m", "input": "x", "encoding_format": null, "dimensions": null});
        assert_eq!(read(&null).unwrap().encoding, VectorEncoding::Float);
    }

    #[test]
    fn what_is_not_read_is_named() {
        for (body, param, words) in [
            (json!({"input": "x"}), "model", "Missing required parameter"),
            (json!({"model": "m"}), "input", "Missing required parameter"),
            (json!({"model": "m", "input": 7}), "input", "a string or an array of strings"),
            (json!({"model": "m", "input": {"text": "x"}}), "input", "a string or an array of strings"),
            (json!({"model": "m", "input": [1, 2]}), "input", "send the text as a string"),
            (json!({"model": "m", "input": [[1, 2], [3]]}), "input", "send the text as a string"),
            (json!({"model": "m", "input": ["x", 1]}), "input", "send the text as a string"),
            (json!({"model": "m", "input": ["x", null]}), "input[1]", "a string is expected"),
            (
                json!({"model": "m", "input": "x", "encoding_format": "int8"}),
                "encoding_format",
                "float, base64",
            ),
            (json!({"model": "m", "input": "x", "dimensions": 0}), "dimensions", "from 1 to"),
            (json!({"model": "m", "input": "x", "dimensions": 1e9}), "dimensions", "from 1 to"),
            (json!({"model": "m", "input": "x", "dimensions": "8"}), "dimensions", "an integer"),
        ] {
            let error = read(&body).unwrap_err();
            assert_eq!((error.status(), error.param()), (400, Some(param)), "{body}");
            assert!(error.message().contains(words), "{body}: {}", error.message());
        }
        assert_eq!(read(&json!([])).unwrap_err().status(), 400);
    }
}
