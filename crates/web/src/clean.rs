//! Taking secrets out of what a server said, before any of it is left out.
//!
//! Knows no rule: the redactor has them. Invariant: what comes out holds no part of a secret that is whole in the text,
//! nor of one that the end of a cut text may have cut.
//! Begin at [`clean`].

use palyra_ports::Redactor;
use palyra_ports::redactor::PLACEHOLDER_BEGINS;

/// What stands for bytes that are no text, such as half a letter at the end of a cut one.
const NO_LETTER: char = '\u{fffd}';

/// Cleans a text that is all there.
pub(crate) fn clean(redactor: &dyn Redactor, text: &str) -> String {
    redactor.redact(text.into()).text.into_exposed()
}

/// Cleans a text whose rest is missing: what may be the front of a secret is missing, too.
pub(crate) fn clean_cut(redactor: &dyn Redactor, text: &str) -> String {
    redactor.begin().push(text.trim_end_matches(NO_LETTER).into()).into_exposed()
}

/// Cleans the source of a page; what stands for a secret is read as text, and not as an element.
pub(crate) fn clean_page(redactor: &dyn Redactor, source: &str) -> String {
    let cleaned = redactor.redact(source.into());
    let text = cleaned.text.into_exposed();
    if cleaned.findings.changed() { text.replace(PLACEHOLDER_BEGINS, ESCAPED_BEGINS) } else { text }
}

/// How a placeholder begins in a page (HTML, character references).
const ESCAPED_BEGINS: &str = "&lt;secret:";
