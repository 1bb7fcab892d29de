//! Reads what went wrong: the shapes errors come in, and a table from signs to classes.
//!
//! Owns the sentence a failure carries and the look-up; the tables are the formats'. Knows no credential:
//! who has one scrubs it, and only then cuts the sentence to what is kept, so that no half of one is left.

use std::time::Duration;

use palyra_types::Content;
use palyra_types::model::{ModelFailure, ModelFailureClass};
use serde_json::Value;

/// How much of what a provider said is kept.
pub(crate) const DETAIL_BYTES_MAX: usize = 2 * 1024;
/// How much of it is carried to where credentials are scrubbed.
const DETAIL_RAW_BYTES_MAX: usize = 4 * DETAIL_BYTES_MAX;

/// Characters of a web page that a failure repeats.
const HEADING_CHARS_MAX: usize = 80;
/// How a web page begins, in lower case.
const PAGE_BEGINNINGS: [&str; 4] = ["<!doctype html", "<html", "<head", "<?xml"];
/// The status of a server that does not know the method of a request.
const NOT_IMPLEMENTED: u16 = 501;

/// Where a sign is looked for; signs are in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureSign {
    /// In the error's code or type.
    Code(&'static str),
    /// In the error's words, where servers have no code for it.
    Words(&'static str),
    /// Nowhere: the status is enough.
    Any,
}

/// A row fits when the status lies between its two and the sign is there; the first that fits counts.
/// Errors inside a stream, which has begun with 200, are looked up under status 0.
pub(crate) struct FailureRow(
    pub(crate) u16,
    pub(crate) u16,
    pub(crate) FailureSign,
    pub(crate) ModelFailureClass,
);

/// A table of a wire format, read from top to bottom; what no row fits is `Permanent`.
pub(crate) type Rows = &'static [FailureRow];

/// Makes the failure of an answer that breaks its own format.
pub(crate) fn malformed(detail: &str) -> ModelFailure {
    failure(ModelFailureClass::Malformed, detail)
}

/// Makes a failure.
pub(crate) fn failure(class: ModelFailureClass, detail: &str) -> ModelFailure {
    let detail = bounded(detail, DETAIL_RAW_BYTES_MAX).to_owned();
    ModelFailure { class, detail: Content::new(detail), retry_after: None }
}

/// Returns the beginning of a text, cut between characters.
pub(crate) fn bounded(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// Makes the failure that an object inside a stream reports.
pub(crate) fn stream_failure(rows: Rows, value: &Value) -> ModelFailure {
    let said = ErrorDetails::read(value);
    let sentence = match said.sentence() {
        sentence if sentence.is_empty() => "the server broke off with an error it does not name".to_owned(),
        sentence => sentence,
    };
    failure(classify(rows, said.status.unwrap_or(0), &said), &sentence)
}

/// Makes the failure that a refused request reports.
pub(crate) fn status_failure(
    rows: Rows,
    status: u16,
    body: &[u8],
    retry_after: Option<Duration>,
) -> ModelFailure {
    let said = match serde_json::from_slice::<Value>(body) {
        Ok(value) => ErrorDetails::read(&value),
        Err(_) => {
            ErrorDetails { words: String::from_utf8_lossy(body).trim().to_owned(), ..ErrorDetails::default() }
        }
    };
    // A redirect is one whatever its page says.
    let page = page_heading(&said.words).filter(|_| status >= 400);
    let sentence = match &page {
        Some(heading) if heading.is_empty() => "the server answers with a web page".to_owned(),
        Some(heading) => format!("the server answers with a web page (\"{heading}\")"),
        None => said.sentence(),
    };
    let detail = match (status, sentence.as_str()) {
        (300..=399, _) => {
            format!("HTTP {status}: the server answers with a redirect, and redirects are not followed")
        }
        (_, "") => format!("HTTP {status}"),
        _ => format!("HTTP {status}: {sentence}"),
    };
    let detail = match retry_after {
        Some(pause) => format!("{detail}; it asks to wait {} s", pause.as_secs_f64().ceil()),
        None => detail,
    };
    let class = match classify(rows, status, &said) {
        // Such a server has no place where a model is asked; a page of a proxy that is out of order is another thing.
        class if page.is_some() && (class == ModelFailureClass::Permanent || status == NOT_IMPLEMENTED) => {
            ModelFailureClass::Malformed
        }
        class => class,
    };
    ModelFailure { retry_after, ..failure(class, &detail) }
}

/// Returns the title of a web page, or the beginning of its text; `None` for what does not look like a page.
fn page_heading(body: &str) -> Option<String> {
    let lower = body.trim_start().to_ascii_lowercase();
    if !PAGE_BEGINNINGS.iter().any(|beginning| lower.starts_with(beginning)) {
        return None;
    }
    // Lower case in ASCII keeps every place in the text.
    let body = body.trim_start();
    let title = lower.find("<title").and_then(|at| {
        let from = at + lower[at..].find('>')? + 1;
        let to = from + lower[from..].find('<')?;
        Some(&body[from..to])
    });
    let text = title.map_or_else(|| without_tags(body), str::to_owned);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(words.chars().take(HEADING_CHARS_MAX).collect())
}

fn without_tags(body: &str) -> String {
    let mut is_tag = false;
    let visible = body.chars().map(|c| {
        let shown = if is_tag || c == '<' { ' ' } else { c };
        is_tag = c == '<' || (is_tag && c != '>');
        shown
    });
    visible.collect()
}

fn classify(rows: Rows, status: u16, said: &ErrorDetails) -> ModelFailureClass {
    let code = said.code.to_ascii_lowercase();
    let words = said.words.to_ascii_lowercase();
    let fits = |row: &&FailureRow| {
        (row.0..=row.1).contains(&status)
            && match row.2 {
                FailureSign::Code(sign) => code.contains(sign),
                FailureSign::Words(sign) => words.contains(sign),
                FailureSign::Any => true,
            }
    };
    rows.iter().find(fits).map_or(ModelFailureClass::Permanent, |row| row.3)
}

/// What an error object says.
#[derive(Debug, Default)]
struct ErrorDetails {
    status: Option<u16>,
    code: String,
    words: String,
}

impl ErrorDetails {
    /// Reads the shapes in use: `{"error": {...}}`, `{"error": "...", "code"}`, `{"message"}`, `{"detail"}` as
    /// words or as a list, a list of one.
    fn read(value: &Value) -> Self {
        let value = value.as_array().and_then(|all| all.first()).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let at = |place: &str| error.pointer(place).and_then(Value::as_str).unwrap_or_default();
        let words = [at("/message"), at("/detail"), at("/detail/0/msg"), error.as_str().unwrap_or_default()];
        let mut words = words.into_iter().find(|words| !words.is_empty()).unwrap_or_default().to_owned();
        // Routers wrap the words of whom they asked.
        if !at("/metadata/raw").is_empty() {
            words = format!("{words}: {}", at("/metadata/raw"));
        }
        let number = error.get("code").or_else(|| error.get("status")).and_then(Value::as_u64);
        let status = number.and_then(|n| u16::try_from(n).ok()).filter(|n| (400..=599).contains(n));
        let beside = value.get("code").and_then(Value::as_str).filter(|_| error.is_string());
        let codes =
            [at("/code"), at("/type"), at("/status"), at("/details/error_code"), at("/metadata/error_type")];
        let mut code = String::new();
        for part in codes.into_iter().chain(beside) {
            // Servers like to say it twice.
            if !part.is_empty() && !code.split(' ').any(|said| said == part) {
                code = format!("{code} {part}").trim().to_owned();
            }
        }
        Self { status, code, words }
    }

    fn sentence(&self) -> String {
        match (self.words.as_str(), self.code.as_str()) {
            ("", code) => code.to_owned(),
            (words, "") => words.to_owned(),
            (words, code) => format!("{words} ({code})"),
        }
    }
}

#[cfg(test)]
mod tests;
