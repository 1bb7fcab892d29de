//! Shows a model the references of an input.
//!
//! The outer element is literally `<context_references>` and is not a border to trust: the content of each item is
//! between tags with a nonce of its own. Outside of these tags are only our own words, numbers, and each reference as the
//! person wrote it, on one line. Begin at [`render_context_reference_prompt`].

use palyra_types::Redacted;
use palyra_types::context_reference::{REFERENCES_MAX, ReferenceError, ReferenceKind, ReferenceLimits};
use palyra_types::data_delimiter::DataDelimiter;
use palyra_types::model::BYTES_PER_TOKEN_ESTIMATED;

use super::fit::{ItemFit, fit_items};
use crate::data_key::{DataKey, DataPart};

/// Begins the outer element.
pub const TAG_BEGIN: &str = "<context_references>";
/// Ends it.
pub const TAG_END: &str = "</context_references>";

/// Characters of a reference that are shown.
const WRITTEN_CHARS_MAX: usize = 200;

/// Bytes of what a tool says about its failure that are shown.
const DETAIL_BYTES_MAX: u64 = 1024;

/// An item of an input's references, with what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceItem {
    /// Its kind.
    pub kind: ReferenceKind,
    /// The reference as it is written.
    pub written: Redacted<String>,
    /// What gives its content a delimiter of its own.
    pub part: DataPart,
    /// What became of it.
    pub outcome: ReferenceOutcome,
}

/// What became of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReferenceOutcome {
    /// It has a content.
    Resolved(Redacted<String>),
    /// An earlier item, by its place from 0, has its content.
    SameAs(usize),
    /// It has none.
    Failed {
        /// Why.
        error: ReferenceError,
        /// What the tool or policy says to it; may be empty.
        detail: Redacted<String>,
    },
}

/// The references of one input, with what became of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResolvedReferences {
    /// The items, in the order in which they are written.
    pub items: Vec<ReferenceItem>,
    /// How many further references stay plain text.
    pub surplus: u32,
    /// How much of the items is shown.
    pub limits: ReferenceLimits,
}

impl ResolvedReferences {
    /// Returns how much of each item is shown; items without content take no room.
    pub(super) fn fits(&self) -> Vec<ItemFit> {
        let sizes: Vec<u64> = self.items.iter().map(ReferenceItem::content_bytes).collect();
        fit_items(&sizes, self.limits)
    }
}

impl ReferenceItem {
    pub(super) fn content_bytes(&self) -> u64 {
        match &self.outcome {
            ReferenceOutcome::Resolved(text) => text.expose().len() as u64,
            ReferenceOutcome::SameAs(_) | ReferenceOutcome::Failed { .. } => 0,
        }
    }

    /// Returns the part of its content that a model is shown.
    pub(super) fn shown(&self, fit: ItemFit) -> Redacted<String> {
        match (&self.outcome, fit) {
            (ReferenceOutcome::Resolved(text), ItemFit::Whole) => text.clone(),
            (ReferenceOutcome::Resolved(text), ItemFit::Cut { bytes }) => beginning(text, bytes),
            (ReferenceOutcome::Resolved(_), ItemFit::LeftOut)
            | (ReferenceOutcome::SameAs(_) | ReferenceOutcome::Failed { .. }, _) => Redacted::default(),
        }
    }

    /// Encloses a text in the tags of this item.
    fn enclose(&self, text: Redacted<String>, key: &DataKey) -> Redacted<String> {
        let nonce = Redacted::from(u64::from_be_bytes(key.delimiter(self.part).0));
        let origin: Redacted<String> = self.kind.word().into();
        text.zip(origin).zip(nonce).map(|((text, origin), nonce)| {
            format!("{}\n", DataDelimiter(nonce.to_be_bytes()).enclose(&origin, &text))
        })
    }

    fn render(&self, fit: ItemFit, key: &DataKey) -> Redacted<String> {
        match (&self.outcome, fit) {
            (ReferenceOutcome::Resolved(_), ItemFit::Whole | ItemFit::Cut { .. }) => {
                let shown = self.shown(fit);
                let whole = self.content_bytes();
                let bytes = shown.expose().len() as u64;
                let cut = if bytes < whole { cut_line(bytes, whole) } else { Redacted::default() };
                [tokens_line(bytes), self.enclose(shown, key), cut].into_iter().collect()
            }
            (ReferenceOutcome::Resolved(_), ItemFit::LeftOut) => error_line(ReferenceError::TooLarge),
            (ReferenceOutcome::SameAs(place), _) => Redacted::from(place.saturating_add(1))
                .map(|number| format!(": the same as reference {number}\n")),
            (ReferenceOutcome::Failed { error, detail }, _) if detail.expose().is_empty() => {
                error_line(*error)
            }
            (ReferenceOutcome::Failed { error, detail }, _) => {
                let shown = beginning(detail, DETAIL_BYTES_MAX);
                [error_line(*error), self.enclose(shown, key)].into_iter().collect()
            }
        }
    }
}

/// Renders the references of an input for a model; empty when it has none.
#[must_use]
pub fn render_context_reference_prompt(references: &ResolvedReferences, key: &DataKey) -> Redacted<String> {
    if references.items.is_empty() && references.surplus == 0 {
        return Redacted::default();
    }
    let mut parts: Vec<Redacted<String>> = vec![TAG_BEGIN.into(), "\n".into()];
    for (place, (item, fit)) in references.items.iter().zip(references.fits()).enumerate() {
        let heading = Redacted::from(place + 1).zip(item.written.clone());
        parts.push(heading.map(|(number, written)| format!("{number}. {}", on_one_line(&written))));
        parts.push(item.render(fit, key));
    }
    if references.surplus > 0 {
        parts.push(surplus_line(references.surplus));
    }
    parts.push(TAG_END.into());
    parts.into_iter().collect()
}

fn tokens_line(bytes: u64) -> Redacted<String> {
    let tokens = bytes.div_ceil(BYTES_PER_TOKEN_ESTIMATED);
    Redacted::from(tokens).map(|tokens| format!(" (about {tokens} tokens)\n"))
}

fn cut_line(shown: u64, whole: u64) -> Redacted<String> {
    let numbers = Redacted::from(shown).zip(Redacted::from(whole));
    numbers.map(|(shown, whole)| format!("[cut: the first {shown} of {whole} bytes are shown]\n"))
}

fn error_line(error: ReferenceError) -> Redacted<String> {
    [": ".into(), error.name().into(), ": ".into(), error.message().into(), "\n".into()].into_iter().collect()
}

fn surplus_line(count: u32) -> Redacted<String> {
    let count = Redacted::from(u64::from(count));
    let further = count.map(|count| format!("{count} further, from number {}", REFERENCES_MAX + 1));
    [further, error_line(ReferenceError::TooManyReferences)].into_iter().collect()
}

/// Returns the beginning of a text, up to a line's end if there is one in its second half.
fn beginning(text: &Redacted<String>, bytes_max: u64) -> Redacted<String> {
    let (head, rest) = text.split_at(usize::try_from(bytes_max).unwrap_or(usize::MAX));
    if rest.expose().is_empty() {
        return head;
    }
    head.map(|head| match head.rfind('\n') {
        Some(end) if end >= head.len() / 2 => head[..=end].to_owned(),
        Some(_) | None => head,
    })
}

/// Writes a reference so that it cannot leave its line or look like a tag.
fn on_one_line(written: &str) -> String {
    let mut shown = String::new();
    for c in written.chars().take(WRITTEN_CHARS_MAX) {
        if c.is_control() || matches!(c, '<' | '>' | '\u{2028}' | '\u{2029}') {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    if written.chars().nth(WRITTEN_CHARS_MAX).is_some() {
        shown.push_str("...");
    }
    shown
}
