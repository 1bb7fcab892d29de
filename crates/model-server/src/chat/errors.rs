//! How the vendors of Chat Completions refuse, by status and inside a stream.
//!
//! Shapes follow what the servers send: OpenAI's `error` object, OpenRouter's with the words of the
//! provider behind it in `metadata`, vLLM's and llama.cpp's with the status as `code`, Ollama's without code.

use serde_json::{Value, json};

use super::wire;
use crate::exchange::{ModelExchange, Vendor};
use crate::fault::Fault;
use crate::refusal::Refusal;

type ErrorResponse = (u16, Value, Vec<(String, String)>);

/// Returns status, body and headers of a refusal.
pub(crate) fn refusal(fault: Fault, exchange: &ModelExchange) -> ErrorResponse {
    let refusal = said(fault, exchange);
    let headers = match fault {
        Fault::RateLimit(_) => rate_headers(exchange.vendor),
        _ => Vec::new(),
    };
    (refusal.status, shaped(exchange.vendor, &refusal), headers)
}

/// Returns the event that tells of a refusal inside a stream.
pub(crate) fn event(fault: Fault, exchange: &ModelExchange) -> Vec<u8> {
    let refusal = said(fault, exchange);
    let error = shaped(exchange.vendor, &refusal);
    let value = match exchange.vendor {
        Vendor::OpenRouter => {
            let mut chunk = wire::chunk(exchange, &json!({"content": ""}), Some("error"));
            chunk["error"] = error["error"].clone();
            chunk
        }
        Vendor::OpenAi | Vendor::Vllm | Vendor::LlamaCpp | Vendor::Ollama => error,
    };
    let done = if exchange.vendor == Vendor::Vllm { "data: [DONE]\n\n" } else { "" };
    format!("data: {value}\n\n{done}").into_bytes()
}

/// Returns an error with a status, a code and words of the test's own.
pub(crate) fn plain(vendor: Vendor, status: u16, code: &str, message: &str) -> Value {
    match vendor {
        Vendor::OpenAi => json!({"error": {"message": message, "type": code, "param": null, "code": code}}),
        Vendor::OpenRouter => json!({"error": {"message": message, "code": status}, "user_id": "user_test"}),
        Vendor::Vllm => json!({"error": {"message": message, "type": code, "param": null, "code": status}}),
        Vendor::LlamaCpp => json!({"error": {"code": status, "message": message, "type": code}}),
        Vendor::Ollama => json!({"error": {"message": message, "type": code, "param": null, "code": null}}),
    }
}

fn shaped(vendor: Vendor, refusal: &Refusal) -> Value {
    let Refusal { status, kind, code, message } = refusal;
    match vendor {
        Vendor::OpenAi => json!({"error": {"message": message, "type": kind, "param": null, "code": code}}),
        Vendor::OpenRouter => {
            let raw = json!({"error": {"message": message, "type": kind, "code": code}}).to_string();
            let metadata = json!({"raw": raw, "provider_name": "Test"});
            json!({
                "error": {"message": message, "code": status, "metadata": metadata},
                "user_id": "user_test",
            })
        }
        Vendor::Vllm | Vendor::LlamaCpp | Vendor::Ollama => plain(vendor, *status, kind, message),
    }
}

/// Says a fault in the words of the vendor; those who serve their own models know no accounts, and
/// speak as OpenAI does where they would not refuse at all.
pub(crate) fn said(fault: Fault, exchange: &ModelExchange) -> Refusal {
    let own = match exchange.vendor {
        Vendor::OpenAi => None,
        Vendor::OpenRouter => open_router(fault, exchange),
        Vendor::Vllm => vllm(fault, exchange),
        Vendor::LlamaCpp => llama_cpp(fault),
        Vendor::Ollama => ollama(fault, exchange),
    };
    own.unwrap_or_else(|| open_ai(fault, exchange))
}

fn open_ai(fault: Fault, exchange: &ModelExchange) -> Refusal {
    const INVALID: &str = "invalid_request_error";
    let model = &exchange.model;
    match fault {
        Fault::Auth => {
            Refusal::new(401, INVALID, "Incorrect API key provided: sk-****test. You can find your API key in the dashboard.")
                .coded("invalid_api_key")
        }
        Fault::Permission => {
            Refusal::new(403, INVALID, &format!("Project `proj_test` does not have access to model `{model}`"))
                .coded("model_not_found")
        }
        Fault::RateLimit(_) => {
            Refusal::new(429, "requests", &format!("Rate limit reached for {model} in organization org-test on requests per min (RPM): Limit 3, Used 3, Requested 1."))
                .coded("rate_limit_exceeded")
        }
        Fault::Quota => {
            Refusal::new(429, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details.")
                .coded("insufficient_quota")
        }
        Fault::Overloaded => Refusal::new(503, "service_unavailable_error", "The engine is currently overloaded, please try again later"),
        Fault::UnknownModel => {
            Refusal::new(404, INVALID, &format!("The model `{model}` does not exist or you do not have access to it."))
                .coded("model_not_found")
        }
        Fault::ContextExceeded => {
            Refusal::new(400, INVALID, "This model's maximum context length is 128000 tokens. However, your messages resulted in 128042 tokens. Please reduce the length of the messages.")
                .coded("context_length_exceeded")
        }
        Fault::TooLarge => Refusal::new(413, INVALID, "Request body is too large"),
        Fault::ContentPolicy => {
            Refusal::new(400, INVALID, "Your request was rejected as a result of our safety system.")
                .coded("content_policy_violation")
        }
        Fault::BadRequest => Refusal::new(400, INVALID, "Invalid value: 'x'.").coded("invalid_value"),
        Fault::Server(status) => {
            Refusal::new(status, "server_error", "The server had an error while processing your request. Sorry about that!")
        }
        _ => panic!("{fault:?} is no refusal"),
    }
}

fn open_router(fault: Fault, exchange: &ModelExchange) -> Option<Refusal> {
    let model = &exchange.model;
    Some(match fault {
        Fault::Auth => Refusal::new(401, "auth", "User not found."),
        Fault::Quota => Refusal::new(
            402,
            "credits",
            "Insufficient credits. Add more using https://example.invalid/credits",
        ),
        Fault::RateLimit(_) => Refusal::new(429, "rate_limit", "Provider returned error"),
        Fault::Overloaded => Refusal::new(502, "provider", "Provider returned error"),
        Fault::ContentPolicy => Refusal::new(403, "moderation", "Input flagged by moderation: violence"),
        Fault::UnknownModel => Refusal::new(404, "not_found", &format!("No endpoints found for {model}.")),
        _ => return None,
    })
}

fn vllm(fault: Fault, exchange: &ModelExchange) -> Option<Refusal> {
    let model = &exchange.model;
    Some(match fault {
        Fault::Auth => Refusal::new(401, "UnauthorizedError", "Unauthorized"),
        Fault::UnknownModel => {
            Refusal::new(404, "NotFoundError", &format!("The model `{model}` does not exist."))
        }
        Fault::ContextExceeded => Refusal::new(
            400,
            "BadRequestError",
            "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages.",
        ),
        Fault::BadRequest => {
            Refusal::new(400, "BadRequestError", "1 validation error for ChatCompletionRequest")
        }
        Fault::Server(status) => {
            Refusal::new(status, "InternalServerError", "EngineCore encountered an issue.")
        }
        _ => return None,
    })
}

fn llama_cpp(fault: Fault) -> Option<Refusal> {
    Some(match fault {
        Fault::Auth => Refusal::new(401, "authentication_error", "Invalid API Key"),
        Fault::ContextExceeded => Refusal::new(
            400,
            "exceed_context_size_error",
            "the request exceeds the available context size, try increasing it",
        ),
        Fault::Overloaded => Refusal::new(503, "unavailable_error", "Loading model"),
        Fault::BadRequest => Refusal::new(400, "invalid_request_error", "\"messages\" must be an array"),
        Fault::Server(status) => Refusal::new(status, "server_error", "failed to process the request"),
        _ => return None,
    })
}

fn ollama(fault: Fault, exchange: &ModelExchange) -> Option<Refusal> {
    let model = &exchange.model;
    Some(match fault {
        Fault::UnknownModel => Refusal::new(
            404,
            "not_found_error",
            &format!("model \"{model}\" not found, try pulling it first"),
        ),
        Fault::BadRequest => Refusal::new(400, "invalid_request_error", "[] is too short - 'messages'"),
        Fault::Overloaded => Refusal::new(
            503,
            "api_error",
            "server busy, please try again.  maximum pending requests exceeded",
        ),
        Fault::Server(status) => Refusal::new(status, "api_error", "llama runner process has terminated"),
        _ => return None,
    })
}

fn rate_headers(vendor: Vendor) -> Vec<(String, String)> {
    let headers: &[(&str, &str)] = match vendor {
        Vendor::OpenAi => &[
            ("x-ratelimit-limit-requests", "3"),
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "20s"),
            ("x-ratelimit-limit-tokens", "40000"),
            ("x-ratelimit-remaining-tokens", "39700"),
            ("x-ratelimit-reset-tokens", "6m0s"),
        ],
        Vendor::OpenRouter => &[
            ("X-RateLimit-Limit", "20"),
            ("X-RateLimit-Remaining", "0"),
            ("X-RateLimit-Reset", "1445412540000"),
        ],
        Vendor::Vllm | Vendor::LlamaCpp | Vendor::Ollama => &[],
    };
    headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}
