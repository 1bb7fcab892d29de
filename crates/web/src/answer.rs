//! From an answer to the text that a model reads.
//!
//! Owns the line in the tool's own voice, in which nothing of the server's stands but what was read: a number, an
//! origin, a type that everybody knows, a size. Everything else is in the fence. Invariant: secrets are taken out of a
//! text before any of it is left out, so that no part of one is told.
//! Begin at [`TextAnswer::of`].

use std::fmt::Write;

use palyra_html::{PageExtent, PageLimits, TextPage, read_page, visible};
use palyra_ports::{BodyCompleteness, FetchHop, FetchMethod, FetchResponse, Redactor};

use crate::clean::{clean, clean_cut, clean_page};
use crate::failure::{FAILURE_FROM, WebFailure};
use crate::text::{ContentKind, DeclaredType, decode};

/// The longest address that is told.
const URL_BYTES_MAX: usize = 1024;
/// The longest value of a header that is told.
const VALUE_CHARS_MAX: usize = 512;
/// Headers that say something to who reads a page.
const TOLD_HEADERS: [&str; 9] = [
    "content-language",
    "last-modified",
    "etag",
    "link",
    "location",
    "retry-after",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "www-authenticate",
];

/// How a page is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageForm {
    /// As a person would read it.
    Readable,
    /// Its source.
    Source,
}

/// A request's method, and how its page is wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnswerRequest {
    pub(crate) method: FetchMethod,
    pub(crate) form: PageForm,
}

/// An answer as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextAnswer {
    /// One line of ours.
    pub(crate) head: String,
    /// What the server said.
    pub(crate) text: String,
    /// Whether the server says that the request failed.
    pub(crate) failed: bool,
}

impl TextAnswer {
    /// Reads an answer; blocks for as long as a page takes.
    ///
    /// # Errors
    /// [`WebFailure::Binary`] and [`WebFailure::PageUnreadable`]; of a failed request the type is told and no more.
    pub(crate) fn of(
        response: &FetchResponse,
        AnswerRequest { method, form }: AnswerRequest,
        redactor: &dyn Redactor,
    ) -> Result<Self, WebFailure> {
        let body = response.body.expose().as_slice();
        let declared = DeclaredType::read(header(response, "content-type"));
        let failed = response.status >= FAILURE_FROM;
        let (mut head, mut text) = front(response, method, redactor);
        if body.is_empty() {
            head.push_str("; no body");
            return Ok(Self { head, text: clean(redactor, &text), failed });
        }
        let kind = ContentKind::of(&declared, body);
        let of_type = declared.describe();
        let cut = match response.completeness {
            BodyCompleteness::Whole => "",
            BodyCompleteness::Cut => " and more, of which nothing was read",
        };
        let mut is_cut = response.completeness == BodyCompleteness::Cut;
        let _ = write!(head, "; {of_type}, {} bytes{cut}", body.len());
        match (kind, form) {
            (ContentKind::Binary, _) if failed => head.push_str("; it is not text and not shown"),
            (ContentKind::Binary, _) => {
                return Err(WebFailure::Binary(format!(
                    "the answer is not text: {of_type}, {} bytes{cut}; only text is shown",
                    body.len()
                )));
            }
            (ContentKind::Html, PageForm::Readable) => {
                let page = page(&clean_page(redactor, &decode(&declared, kind, body)))?;
                head.push_str("; as Markdown");
                if page.whole == PageExtent::Cut {
                    head.push_str(", not all of it");
                    is_cut = true;
                }
                if !page.title.is_empty() {
                    let _ = writeln!(text, "title: {}", page.title);
                }
                join(&mut text, &page.markdown);
            }
            (ContentKind::Html, PageForm::Source) | (ContentKind::Text, _) => {
                let source = decode(&declared, kind, body).replace("\r\n", "\n");
                let seen = visible(&source);
                if seen.len() < source.len() {
                    head.push_str("; without invisible characters");
                }
                join(&mut text, &seen);
            }
        }
        let text = if is_cut { clean_cut(redactor, &text) } else { clean(redactor, &text) };
        Ok(Self { head, text, failed })
    }
}

/// Begins our line and the server's text.
fn front(response: &FetchResponse, method: FetchMethod, redactor: &dyn Redactor) -> (String, String) {
    let url = shortened(&clean(redactor, response.url.expose()));
    let headers = headers(response, method, redactor);
    let way = way(&response.hops, method);
    if response.hops.is_empty() {
        return (format!("HTTP {} from {url}{way}", response.status), headers);
    }
    // Where redirects led is the servers' word.
    let origin = origin(response.url.expose());
    (format!("HTTP {} from {origin}{way}", response.status), format!("url: {url}\n{headers}"))
}

fn join(text: &mut String, body: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(body);
}

fn page(source: &str) -> Result<TextPage, WebFailure> {
    read_page(source, &PageLimits::default())
        .map_err(|error| WebFailure::PageUnreadable(format!("{error}; ask for its source with `raw`")))
}

fn header<'r>(response: &'r FetchResponse, name: &str) -> Option<&'r str> {
    response.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.expose().as_str())
}

/// The headers that matter; all of them where nothing else was asked for.
fn headers(response: &FetchResponse, method: FetchMethod, redactor: &dyn Redactor) -> String {
    let is_shown = |name: &str| method == FetchMethod::Head || TOLD_HEADERS.contains(&name);
    let mut text = String::new();
    for (name, value) in response.headers.iter().filter(|(name, _)| is_shown(name)) {
        let value: String = visible(value.expose()).chars().filter(|c| !c.is_control()).collect();
        let line = clean(redactor, &format!("{name}: {value}"));
        text.extend(line.chars().take(name.len() + ": ".len() + VALUE_CHARS_MAX).chain(['\n']));
    }
    text
}

/// How many redirects led to an answer, how it was asked in the end, and what made another question of a change.
fn way(hops: &[FetchHop], method: FetchMethod) -> String {
    let Some(last) = hops.last() else { return String::new() };
    let mut text = format!(" after {} redirect(s), as {}", hops.len(), last.next.as_str());
    if let Some(turn) = hops.iter().find(|hop| hop.next != method) {
        let _ = write!(text, "; the {} itself was answered with HTTP {}", method.as_str(), turn.status);
    }
    text
}

/// The scheme, the host and the port of an address that was read.
fn origin(url: &str) -> &str {
    let begin = url.find("://").map_or(0, |scheme| scheme + "://".len());
    let end = url[begin..].find(['/', '?', '#']).map_or(url.len(), |path| begin + path);
    &url[..end]
}

/// An address that was read holds neither spaces nor line breaks.
fn shortened(url: &str) -> String {
    if url.len() <= URL_BYTES_MAX {
        return url.to_owned();
    }
    format!("{}...", &url[..url.floor_char_boundary(URL_BYTES_MAX)])
}

#[cfg(test)]
mod tests;
