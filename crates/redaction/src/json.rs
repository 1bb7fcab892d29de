//! JSON texts: secrets are replaced inside of strings, so that what was valid stays valid.

use palyra_ports::RedactionFindings;

/// Cleans a text and says what was found.
type CleanText<'a> = dyn Fn(&str) -> (Option<String>, RedactionFindings) + 'a;

/// Cleans a text that may be JSON; `None` when nothing was found.
///
/// Strings are cleaned as they are meant, without their escapes; then the whole is cleaned as it is written, which
/// sees names beside values. A second pass that would break the text is not taken.
pub(crate) fn clean_json(text: &str, clean: &CleanText<'_>) -> (Option<String>, RedactionFindings) {
    if !is_json(text) {
        return clean(text);
    }
    let (inside, mut findings) = clean_strings(text, clean);
    let so_far = inside.as_deref().unwrap_or(text);
    let (whole, more) = clean(so_far);
    match whole.filter(|whole| is_json(whole)) {
        Some(whole) => {
            findings = findings.plus(more);
            (Some(whole), findings)
        }
        None => (inside, findings),
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Cleans every string on its own; what is between them stays as it is written.
fn clean_strings(text: &str, clean: &CleanText<'_>) -> (Option<String>, RedactionFindings) {
    let mut out = String::new();
    let mut findings = RedactionFindings::default();
    let mut copied = 0;
    let mut at = 0;
    while let Some(open) = text[at..].find('"').map(|found| at + found) {
        let Some(close) = string_end(text, open) else { break };
        let token = &text[open..close];
        at = close;
        let Ok(meant) = serde_json::from_str::<String>(token) else { continue };
        let (Some(cleaned), found) = clean(&meant) else { continue };
        let Ok(written) = serde_json::to_string(&cleaned) else { continue };
        findings = findings.plus(found);
        out.push_str(&text[copied..open]);
        out.push_str(&written);
        copied = close;
    }
    if copied == 0 {
        return (None, findings);
    }
    out.push_str(&text[copied..]);
    (Some(out), findings)
}

/// Returns where the string that begins at `open` ends, behind its quote.
fn string_end(text: &str, open: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = open + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}
