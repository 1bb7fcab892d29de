//! What cannot be written, and how an error of Palyra looks.

use palyra_types::ErrorCode;
use serde_json::{Value, json};

/// A stream takes nothing more.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The reader of standard output is gone.
    #[error("standard output is closed")]
    Closed,
    /// Standard output cannot be written.
    #[error("cannot write to standard output, {0}")]
    Failed(std::io::Error),
}

/// Returns an error, its mend, and how to read its page.
pub fn error_lines(code: ErrorCode, message: &str) -> Vec<String> {
    let said = if message.is_empty() { code.summary() } else { message };
    vec![
        format!("error[{code}]: {said}"),
        format!("  {}", code.mend()),
        format!("  `palyra explain {code}` says more"),
    ]
}

/// Returns an error as a value: `{"error":{"code","slug","message","mend"}}`; without a code where there is none.
pub fn error_json(code: Option<ErrorCode>, message: &str, own_mend: Option<String>) -> Value {
    let message = match code {
        Some(code) if message.is_empty() => code.summary(),
        _ => message,
    };
    let mend = own_mend.or_else(|| code.map(|code| code.mend().to_owned()));
    json!({ "error": {
        "code": code.map(|code| code.to_string()).unwrap_or_default(),
        "slug": code.map(ErrorCode::slug).unwrap_or_default(),
        "message": message,
        "mend": mend.unwrap_or_default(),
    } })
}
