//! Makes the calls that sentences mean.

use std::ops::RangeInclusive;

use serde_json::json;

use super::intent::{IntendedCall, ToolAbility};
use super::objects::is_pattern;

/// Reads a file.
pub(super) fn read_call(path: &str) -> IntendedCall {
    IntendedCall::new(ToolAbility::Read, &[("path", path)])
}

/// Reads some lines of a file.
pub(super) fn read_lines_call(path: &str, lines: RangeInclusive<u64>) -> IntendedCall {
    read_call(path).with("from", json!(lines.start())).with("to", json!(lines.end()))
}

/// Lists a folder.
pub(super) fn list_call(path: &str) -> IntendedCall {
    IntendedCall::new(ToolAbility::List, &[("path", path)])
}

/// Finds files by a pattern, below a folder.
pub(super) fn glob_call(pattern: &str, folder: &str) -> IntendedCall {
    let below = if folder == "." || is_pattern(folder) || pattern.starts_with(folder) {
        pattern.to_owned()
    } else {
        format!("{folder}/{pattern}")
    };
    IntendedCall::new(ToolAbility::Glob, &[("pattern", &below)])
}

/// Searches for a regular expression in a file or folder.
pub(super) fn search_call(pattern: &str, place: &str) -> IntendedCall {
    let call = IntendedCall::new(ToolAbility::Search, &[("pattern", pattern)]);
    if matches!(place, "." | "") { call } else { call.with("path", json!(place)) }
}

/// Searches for a text; what looks like a regular expression is taken as one.
pub(super) fn text_search_call(text: &str, place: &str) -> IntendedCall {
    if is_regex(text) { search_call(text, place) } else { search_call(&escaped(text), place) }
}

/// Deletes a file.
pub(super) fn delete_call(path: &str) -> IntendedCall {
    patch_call(&format!("--- a/{path}\n+++ /dev/null\n"))
}

/// Gives a file another name.
pub(super) fn rename_call(from: &str, to: &str) -> IntendedCall {
    patch_call(&format!("diff --git a/{from} b/{to}\nrename from {from}\nrename to {to}\n"))
}

/// Applies a patch.
pub(super) fn patch_call(patch: &str) -> IntendedCall {
    IntendedCall::new(ToolAbility::Patch, &[("patch", patch)])
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
