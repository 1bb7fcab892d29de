//! Finds the references of a text.
//!
//! Total: any text has a result, and it takes time in proportion to its length. Invariant: spans are in order, do not
//! overlap, and begin and end at characters; all text outside of them is plain. Begin at [`scan_references`].

use palyra_types::context_reference::{REFERENCES_MAX, ReferenceError, ReferenceKind};

use super::ContextReference;
use super::target::{WrittenTarget, is_wide_punctuation};

/// A part of a text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextSpan {
    /// Its first byte.
    pub start: usize,
    /// The byte behind its last one.
    pub end: usize,
}

/// A reference in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundReference {
    /// Where it is.
    pub span: TextSpan,
    /// What it is written as.
    pub written: String,
    /// Its kind.
    pub kind: ReferenceKind,
    /// What it names, or why that is nothing.
    pub reference: Result<ContextReference, ReferenceError>,
}

/// References beyond [`REFERENCES_MAX`]: they stay plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SurplusReferences {
    /// Where the first of them is.
    pub first: TextSpan,
    /// How many there are.
    pub count: u32,
}

/// What a text has of references.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScannedInput {
    /// The references, in order, at most [`REFERENCES_MAX`].
    pub references: Vec<FoundReference>,
    /// Those beyond.
    pub surplus: Option<SurplusReferences>,
    /// Where a second `@` makes a reference plain text, in order.
    pub escapes: Vec<usize>,
}

impl ScannedInput {
    /// Returns the text as a model reads it: without the `@` that only makes a reference plain text.
    #[must_use]
    pub fn shown_text(&self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        let mut from = 0;
        for escape in &self.escapes {
            shown.push_str(text.get(from..*escape).unwrap_or_default());
            from = escape + 1;
        }
        shown.push_str(text.get(from..).unwrap_or_default());
        shown
    }

    fn take(&mut self, found: FoundReference) {
        if self.references.len() < REFERENCES_MAX {
            self.references.push(found);
            return;
        }
        let surplus = self.surplus.get_or_insert(SurplusReferences { first: found.span, count: 0 });
        surplus.count = surplus.count.saturating_add(1);
    }
}

/// Finds the references of a text.
///
/// A reference begins a word with one `@` and the word of its kind. A second `@` before it makes it plain text. Words
/// of another form, such as an address of e-mail or `@media`, are plain text as well.
#[must_use]
pub fn scan_references(text: &str) -> ScannedInput {
    let mut scanned = ScannedInput::default();
    let mut at = 0;
    while let Some(offset) = text[at..].find('@') {
        let start = at + offset;
        let rest = &text[start..];
        let signs = rest.len() - rest.trim_start_matches('@').len();
        at = start + signs;
        if !may_begin_behind(text[..start].chars().next_back()) {
            continue;
        }
        let Some(found) = read_reference(text, at - 1) else { continue };
        at = found.span.end;
        if signs == 1 {
            scanned.take(found);
        } else {
            scanned.escapes.push(start);
        }
    }
    scanned
}

/// Returns whether a reference may begin behind this character: where a word begins, and not inside of an address of
/// e-mail, a path, or an option such as `--data=@file:x`.
fn may_begin_behind(before: Option<char>) -> bool {
    before.is_none_or(|c| {
        let opens = matches!(
            c,
            '(' | '['
                | '{'
                | '<'
                | '>'
                | '"'
                | '\''
                | '`'
                | '*'
                | ','
                | ';'
                | ':'
                | '|'
                | '!'
                | '?'
                | '\u{2018}'
        );
        c.is_whitespace() || opens || is_wide_punctuation(c)
    })
}

/// Reads the reference whose `@` is at this place, if one is there.
fn read_reference(text: &str, sign: usize) -> Option<FoundReference> {
    let behind_sign = &text[sign + 1..];
    let kind = ReferenceKind::ALL.into_iter().find(|kind| behind_sign.starts_with(kind.word()))?;
    let behind_word = &behind_sign[kind.word().len()..];
    let bare_end = sign + 1 + kind.word().len();
    let target = behind_word.strip_prefix(':').and_then(|text| WrittenTarget::read(text, kind));
    let (reference, end) = match target {
        Some(target) => {
            let end = bare_end + 1 + target.bytes;
            (target.reference(kind), end)
        }
        None if ends_word(behind_word) => (Ok(bare_reference(kind)?), bare_end),
        None => return None,
    };
    let span = TextSpan { start: sign, end };
    Some(FoundReference { span, written: text[sign..end].to_owned(), kind, reference })
}

/// Returns what the word of a kind is without a target; `None` when it is plain text.
fn bare_reference(kind: ReferenceKind) -> Option<ContextReference> {
    match kind {
        ReferenceKind::Diff => Some(ContextReference::Diff { path: None }),
        ReferenceKind::Staged => Some(ContextReference::Staged { path: None }),
        ReferenceKind::File
        | ReferenceKind::Folder
        | ReferenceKind::Url
        | ReferenceKind::Memory
        | ReferenceKind::Run => None,
    }
}

/// Returns whether a word ends before this text. A dot or a colon inside of a name, as in `diff.example`, does not end it.
fn ends_word(behind: &str) -> bool {
    behind.trim_start_matches(['.', ':']).chars().next().is_none_or(closes_word)
}

fn closes_word(c: char) -> bool {
    let closes = matches!(
        c,
        ',' | ';'
            | '!'
            | '?'
            | ')'
            | ']'
            | '}'
            | '<'
            | '>'
            | '"'
            | '\''
            | '`'
            | '*'
            | '|'
            | '\u{2019}'
            | '\u{2026}'
    );
    c.is_whitespace() || closes || is_wide_punctuation(c)
}
