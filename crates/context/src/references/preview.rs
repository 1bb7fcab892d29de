//! Says what the references of an input cost, before a model is asked.
//!
//! Computed by the rules by which they are rendered, so that the two agree.

use palyra_types::Redacted;
use palyra_types::context_reference::{ReferenceError, ReferenceKind};
use palyra_types::model::BYTES_PER_TOKEN_ESTIMATED;
use palyra_types::tool::ToolName;

use super::fit::ItemFit;
use super::{ReferenceItem, ReferenceOutcome, ResolvedReferences};

/// What one item costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreviewItem {
    /// Its kind.
    pub kind: ReferenceKind,
    /// Estimated tokens of its whole content.
    pub tokens_whole: u64,
    /// Estimated tokens of what a model is shown of it.
    pub tokens_shown: u64,
    /// Why it has no content, or shows none.
    pub error: Option<ReferenceError>,
}

/// What the references of an input cost.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReferencePreview {
    /// Item by item, in the order in which they are written.
    pub items: Vec<PreviewItem>,
    /// Estimated tokens of what a model is shown of all.
    pub tokens_shown: u64,
    /// How many further references stay plain text.
    pub surplus: u32,
}

/// A call that resolves a reference, as it was proposed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedCall {
    /// The tool.
    pub tool: ToolName,
    /// Its arguments: a JSON object.
    pub arguments: Redacted<String>,
}

/// What a reference costs, as far as it is known before a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferenceCost {
    /// It was resolved.
    Known {
        /// Estimated tokens of its whole content.
        whole: u64,
        /// Estimated tokens of what a model is shown of it.
        shown: u64,
    },
    /// An earlier reference, by its place from 0, is the same.
    SameAs(u32),
    /// Its call is made only by a run.
    AfterCall,
    /// It has no content, or shows none.
    Failed(ReferenceError),
}

/// One reference of an input that is previewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewedReference {
    /// Its kind.
    pub kind: ReferenceKind,
    /// The reference as it is written.
    pub written: Redacted<String>,
    /// The call that it becomes; `None` for none of its own.
    pub call: Option<ProposedCall>,
    /// What it costs.
    pub cost: ReferenceCost,
}

/// The references of one input that is previewed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PreviewedInput {
    /// The references, in the order in which they are written.
    pub references: Vec<PreviewedReference>,
    /// Estimated tokens of what a model is shown of those that were resolved.
    pub tokens_shown: u64,
    /// How many further references stay plain text.
    pub surplus: u32,
}

/// Says what references cost that were resolved without a model.
#[must_use]
pub fn preview_context_references(references: &ResolvedReferences) -> ReferencePreview {
    let fits = references.fits();
    let items: Vec<PreviewItem> =
        references.items.iter().zip(fits).map(|(item, fit)| preview_item(item, fit)).collect();
    let tokens_shown = items.iter().map(|item| item.tokens_shown).sum();
    ReferencePreview { items, tokens_shown, surplus: references.surplus }
}

fn preview_item(item: &ReferenceItem, fit: ItemFit) -> PreviewItem {
    let tokens = |bytes: u64| bytes.div_ceil(BYTES_PER_TOKEN_ESTIMATED);
    let error = match (&item.outcome, fit) {
        (ReferenceOutcome::Failed { error, .. }, _) => Some(*error),
        (ReferenceOutcome::Resolved(_), ItemFit::LeftOut) => Some(ReferenceError::TooLarge),
        (ReferenceOutcome::Resolved(_), ItemFit::Whole | ItemFit::Cut { .. })
        | (ReferenceOutcome::SameAs(_), _) => None,
    };
    PreviewItem {
        kind: item.kind,
        tokens_whole: tokens(item.content_bytes()),
        tokens_shown: tokens(item.shown(fit).expose().len() as u64),
        error,
    }
}
