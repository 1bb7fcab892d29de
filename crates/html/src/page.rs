//! From a page's source to its Markdown.
//!
//! Owns the order: parse within limits, take out what nobody sees, find the article, write Markdown. Knows no network:
//! nothing that a page names is ever fetched, no script runs and no entity is looked up. Invariant: whatever the page,
//! memory, time and length of the text stay within [`PageLimits`], and no call nests deeper than its trees may.
//! Begin at [`read_page`].

use std::time::Instant;

use dom_query::Document;
use dom_smoothie::{Config, ParsePolicy, Readability, TextMode};

use crate::hidden::strip;
use crate::limits::{PageError, PageExtent, PageLimits};
use crate::parsing::parse;
use crate::visible_text::visible;

/// A page as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPage {
    /// Its title, in one line; empty where it has none.
    pub title: String,
    /// Its text.
    pub markdown: String,
    /// Whether that is all of it.
    pub whole: PageExtent,
}

/// The longest title.
const TITLE_CHARS_MAX: usize = 300;
/// A page with more nodes is not searched for its article: the search compares nodes with one another.
const ARTICLE_NODES_MAX: usize = 20_000;
/// The article has to be such a part of the page, or the page is taken as a whole.
const ARTICLE_PART_MIN: usize = 4;

/// Reads a page.
///
/// # Errors
/// See [`PageError`].
pub fn read_page(source: &str, limits: &PageLimits) -> Result<TextPage, PageError> {
    let begun = Instant::now();
    let parsed = parse(source, limits, begun + limits.time_max)?;
    let document = parsed.document;
    let title = title(&document);
    let mut whole = parsed.whole;
    if strip(&document, limits.depth_max) == PageExtent::Cut {
        whole = PageExtent::Cut;
    }
    let everything = visible(&document.md(None));
    let searchable = document.tree.len() <= ARTICLE_NODES_MAX && begun.elapsed() < limits.time_max / 2;
    let article = searchable.then(|| article(document)).flatten();
    let mut markdown = match article {
        Some(article) if article.len() >= everything.len() / ARTICLE_PART_MIN => article,
        Some(_) | None => everything,
    };
    if markdown.len() > limits.markdown_bytes_max {
        markdown.truncate(markdown.floor_char_boundary(limits.markdown_bytes_max));
        whole = PageExtent::Cut;
    }
    Ok(TextPage { title, markdown, whole })
}

fn title(document: &Document) -> String {
    let raw = document.select_single("head > title").text();
    let visible = visible(&raw);
    let words: Vec<&str> = visible.split_whitespace().collect();
    words.join(" ").chars().take(TITLE_CHARS_MAX).collect()
}

/// Returns the part that the page is about, if it has one.
fn article(document: Document) -> Option<String> {
    let config = Config { disable_json_ld: true, text_mode: TextMode::Markdown, ..Config::default() };
    let mut reader = Readability::with_document(document, None, Some(config)).ok()?;
    if !reader.is_probably_readable() {
        return None;
    }
    let found = reader.parse_with_policy(ParsePolicy::Moderate).ok()?;
    Some(visible(&found.text_content))
}

#[cfg(test)]
mod tests;
