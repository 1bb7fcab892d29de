//! A page of the documentation as a terminal shows it: its links name the command that shows the page they lead to, and
//! a part of it is found by its heading.
//!
//! Pure. `palyra-screen-text` lays the Markdown out. Begin at [`page_text`].

use palyra_screen_text::{RowFrame, RowWidth, document};

const FENCE: &str = "```";

/// Returns a page in rows; `code` is the width for program text.
pub(crate) fn page_text(markdown: &str, frame: RowFrame<'_>, code: RowWidth) -> String {
    document(&with_commands(markdown), frame, code)
}

/// A heading of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    /// 1 for the title.
    pub(crate) level: usize,
    pub(crate) title: String,
    /// What a link names it by.
    pub(crate) anchor: String,
    /// The line that it is, from 0.
    line: usize,
}

/// Returns the headings of a page, in order.
pub(crate) fn headings(markdown: &str) -> Vec<Heading> {
    let mut in_code = false;
    let lines = markdown.lines().enumerate().filter(|(_, line)| {
        in_code ^= line.trim_start().starts_with(FENCE);
        !in_code
    });
    lines
        .filter_map(|(line, text)| {
            let title = text.trim_start_matches('#');
            let level = text.len() - title.len();
            let title = title.strip_prefix(' ').filter(|_| level > 0)?.trim().to_owned();
            Some(Heading { level, anchor: anchor(&title), title, line })
        })
        .collect()
}

/// Returns a heading with all below it, up to the next heading of its level. The beginning of an anchor is enough.
pub(crate) fn section(markdown: &str, named: &str) -> Option<String> {
    let headings = headings(markdown);
    let named = anchor(named);
    let exact = headings.iter().position(|heading| heading.anchor == named);
    let at = exact.or_else(|| headings.iter().position(|heading| heading.anchor.starts_with(&named)))?;
    let next = headings[at + 1..].iter().find(|heading| heading.level <= headings[at].level);
    let lines = markdown.lines().skip(headings[at].line);
    let count = next.map_or(usize::MAX, |next| next.line - headings[at].line);
    Some(lines.take(count).collect::<Vec<_>>().join("\n") + "\n")
}

/// Returns the name that links have for a heading: small letters, with `-` for blanks.
fn anchor(title: &str) -> String {
    let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// Returns a page whose links to other pages name the command that shows them.
fn with_commands(markdown: &str) -> String {
    let (mut text, mut rest) = (String::with_capacity(markdown.len()), markdown);
    while let Some(at) = rest.find(['[', '`']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let (taken, shown) = if from.starts_with('`') { code(from) } else { linked(from) };
        text.push_str(&shown);
        rest = &from[taken..];
    }
    text + rest
}

/// Reads program text, which has no links; returns how much of it was read.
fn code(text: &str) -> (usize, String) {
    let signs = text.len() - text.trim_start_matches('`').len();
    let end = text[signs..].find(&text[..signs]).map_or(signs, |end| end + 2 * signs);
    (end, text[..end].to_owned())
}

fn linked(text: &str) -> (usize, String) {
    if let Some((shown, after)) = text[1..].split_once("](")
        && !shown.contains("\n\n")
        && let Some((target, _)) = after.split_once(')')
    {
        return (1 + shown.len() + 2 + target.len() + 1, link(shown, target));
    }
    (1, "[".to_owned())
}

/// Returns what is shown for a link: the words, and how the page it leads to is read.
fn link(words: &str, target: &str) -> String {
    if target.starts_with("http://") || target.starts_with("https://") {
        return format!("[{words}]({target})");
    }
    let (file, part) =
        target.split_once('#').map_or((target, String::new()), |(file, part)| (file, format!("#{part}")));
    let name = file.rsplit('/').next().unwrap_or(file);
    let Some(page) = name.strip_suffix(".md") else { return words.to_owned() };
    if page.starts_with("PLY-") {
        return if words == page { words.to_owned() } else { format!("{words} (`palyra explain {page}`)") };
    }
    match super::library::DOCUMENTS.iter().any(|(known, _)| *known == page) {
        true => format!("{words} (`palyra explain docs/{page}.md{part}`)"),
        false => words.to_owned(),
    }
}

#[cfg(test)]
mod tests;
