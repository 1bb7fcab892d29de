//! Makes the calls that sentences mean.

use serde_json::json;

use super::intent::{Ability, Call};
use super::objects::is_pattern;

/// Reads a file, or some of its lines.
pub(super) fn read_call(path: &str, range: Option<(u64, u64)>) -> Call {
    let call = Call::new(Ability::Read, &[("path", path)]);
    match range {
        Some((from, to)) => call.with("from", json!(from)).with("to", json!(to)),
        None => call,
    }
}

/// Lists a folder.
pub(super) fn list_call(path: &str) -> Call {
    Call::new(Ability::List, &[("path", path)])
}

/// Finds files by a pattern, below a folder.
pub(super) fn glob_call(pattern: &str, folder: &str) -> Call {
    let below = if folder == "." || is_pattern(folder) || pattern.starts_with(folder) {
        pattern.to_owned()
    } else {
        format!("{folder}/{pattern}")
    };
    Call::new(Ability::Glob, &[("pattern", &below)])
}

/// Searches for a regular expression in a file or folder.
pub(super) fn search_call(pattern: &str, place: &str) -> Call {
    let call = Call::new(Ability::Search, &[("pattern", pattern)]);
    if matches!(place, "." | "") { call } else { call.with("path", json!(place)) }
}

/// Searches for a text; what looks like a regular expression is taken as one.
pub(super) fn text_search_call(text: &str, place: &str) -> Call {
    if is_regex(text) { search_call(text, place) } else { search_call(&escaped(text), place) }
}

/// Deletes a file.
pub(super) fn delete_call(path: &str) -> Call {
    patch_call(&format!("--- a/{path}\n+++ /dev/null\n"))
}

/// Gives a file another name.
pub(super) fn rename_call(from: &str, to: &str) -> Call {
    patch_call(&format!("diff --git a/{from} b/{to}\nrename from {from}\nrename to {to}\n"))
}

/// Applies a patch.
pub(super) fn patch_call(patch: &str) -> Call {
    Call::new(Ability::Patch, &[("patch", patch)])
}

fn is_regex(text: &str) -> bool {
    [".*", ".+", "\\", "[^", "[a-", "^"].iter().any(|sign| text.contains(sign))
}

/// Writes a text as a regular expression that matches it.
pub(super) fn escaped(text: &str) -> String {
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
