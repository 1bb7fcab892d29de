//! `/v1/embeddings`.

use std::convert::Infallible;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use palyra_ports::embed_texts::{EmbeddingModelName, EmbeddingRequestError};
use palyra_runtime::{EmbeddingQuery, EmbeddingRefusal};
use palyra_types::ErrorCode;

use super::openai_call::OpenAiCall;
use crate::error_reply::ErrorReply;
use crate::reply::embedding_list::EmbeddingList;
use crate::reply::failure::{budget_refusal, request_failure};
use crate::request::embedding_request::ClientEmbeddingRequest;

/// Numbers of an answer that is sent with its length; a larger one is sent while it is written.
const WHOLE_NUMBERS_MAX: usize = 64 * 1024;

/// Makes a vector of each text.
pub(crate) async fn create(mut call: OpenAiCall) -> Result<Response, ErrorReply> {
    let body = call.json().await?;
    let ClientEmbeddingRequest { model, texts, encoding, dimensions } =
        ClientEmbeddingRequest::parse(&body.value)?;
    drop(body);
    let models = &call.services.state.models;
    let unknown = || model_without_embeddings(&model, &models.embedding_models());
    let name = EmbeddingModelName::parse(&model).ok_or_else(unknown)?;
    let query = EmbeddingQuery { model: name, texts, dimensions };
    let embeddings = models.embed(call.caller().actor.principal, query).await;
    let embeddings = embeddings.map_err(|refusal| match refusal {
        EmbeddingRefusal::UnknownModel { .. } => unknown(),
        EmbeddingRefusal::Request(error) => request_refusal(error),
        EmbeddingRefusal::Dimensions { .. } => {
            let message = format!("Invalid value for `dimensions`: {refusal}. Leave it out.");
            ErrorReply::invalid("dimensions", message).with_code("invalid_value")
        }
        EmbeddingRefusal::Busy => ErrorReply::of_code(ErrorCode::QueueFull, ErrorCode::QueueFull.summary()),
        EmbeddingRefusal::Budget(refused) => budget_refusal(refused.code()),
        EmbeddingRefusal::Model(failure) => request_failure(failure.class, failure.retry_after),
    })?;
    Ok(list_response(EmbeddingList { model, encoding, embeddings }))
}

fn list_response(list: EmbeddingList) -> Response {
    let body = if list.numbers_count() > WHOLE_NUMBERS_MAX {
        Body::from_stream(futures::stream::iter(list.into_parts().map(Ok::<_, Infallible>)))
    } else {
        Body::from(list.into_parts().collect::<String>())
    };
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Refuses a model, and names those that a client can use instead.
fn model_without_embeddings(model: &str, offered: &[EmbeddingModelName]) -> ErrorReply {
    if offered.is_empty() {
        return ErrorReply::model_not_found(model);
    }
    let names: Vec<String> = offered.iter().map(|name| format!("`{name}`")).collect();
    ErrorReply::model_not_found(model).with_message(format!(
        "The model `{}` makes no embeddings here; use {}.",
        ErrorReply::shown_model(model),
        names.join(" or ")
    ))
}

/// Names the text that is beyond a limit.
fn request_refusal(error: EmbeddingRequestError) -> ErrorReply {
    use EmbeddingRequestError as Error;
    let param = match error {
        Error::EmptyText { index } | Error::TextTooLong { index, .. } => format!("input[{index}]"),
        Error::NoTexts | Error::TooManyTexts { .. } | Error::TooManyBytes { .. } => "input".to_owned(),
        Error::DimensionsOutOfRange { .. } => "dimensions".to_owned(),
    };
    let message = format!("Invalid value for `{param}`: {error}.");
    ErrorReply::invalid(param, message).with_code("invalid_value")
}

#[cfg(test)]
mod tests {
    use palyra_types::model::ModelRef;

    use super::*;

    #[test]
    fn an_unknown_model_is_refused_with_the_names_of_others() {
        let offered =
            [EmbeddingModelName::OfProvider(ModelRef::new("local", "nomic")), EmbeddingModelName::Embedded];
        let error = model_without_embeddings("gpt-4o", &offered);
        assert_eq!(
            (error.status(), error.code(), error.param()),
            (404, Some("model_not_found"), Some("model"))
        );
        assert_eq!(
            error.message(),
            "The model `gpt-4o` makes no embeddings here; use `local/nomic` or `palyra-embedded`."
        );
        assert!(model_without_embeddings("gpt-4o", &[]).message().contains("does not exist"));
    }

    #[test]
    fn a_request_beyond_a_limit_names_its_field() {
        use EmbeddingRequestError as Error;
        for (error, param) in [
            (Error::NoTexts, "input"),
            (Error::TooManyTexts { count: 9 }, "input"),
            (Error::TooManyBytes { bytes: 9 }, "input"),
            (Error::EmptyText { index: 3 }, "input[3]"),
            (Error::TextTooLong { index: 4, bytes: 9 }, "input[4]"),
            (Error::DimensionsOutOfRange { asked: 0 }, "dimensions"),
        ] {
            let reply = request_refusal(error);
            assert_eq!((reply.status(), reply.param()), (400, Some(param)));
            assert_eq!(reply.headers(), [("x-should-retry", "false".to_owned())]);
        }
    }
}
