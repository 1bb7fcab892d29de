//! Makes the calls that clauses stand for.

use serde_json::json;

use super::super::intent::{Ability, Call, Intent};
use super::super::objects::is_pattern;

/// Reads a file, or some of its lines.
pub(super) fn read_call(path: &str, range: Option<(u64, u64)>) -> Call {
    let call = Call::new(Ability::Read, &[("path", path)]);
    match range {
        Some((from, to)) => call.with("from", json!(from)).with("to", json!(to)),
        None => call,
    }
}

/// Lists a folder.
pub(super) fn list_call(path: &str) -> Intent {
    Intent::Call(Call::new(Ability::List, &[("path", path)]))
}

/// Finds files by a pattern, below a place.
pub(super) fn glob(pattern: &str, place: Option<String>) -> Intent {
    let pattern = match place {
        Some(place) if place != "." && !is_pattern(&place) && !pattern.starts_with(&place) => {
            format!("{place}/{pattern}")
        }
        _ => pattern.to_owned(),
    };
    Intent::Call(Call::new(Ability::Glob, &[("pattern", &pattern)]))
}

/// Searches for a text; what looks like a regular expression is taken as one.
pub(super) fn search_call(text: &str, path: Option<String>) -> Intent {
    let pattern = if is_regex(text) { text.to_owned() } else { escape(text) };
    Intent::Call(with_place(Call::new(Ability::Search, &[("pattern", &pattern)]), path))
}

/// Adds a place, unless it is the workspace itself.
pub(super) fn with_place(call: Call, path: Option<String>) -> Call {
    match path {
        Some(path) if path != "." => call.with("path", json!(path)),
        _ => call,
    }
}

fn is_regex(text: &str) -> bool {
    [".*", ".+", "\\", "[^", "[a-", "^"].iter().any(|sign| text.contains(sign))
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(
            c,
            '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' | '\\' | '#'
        ) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
