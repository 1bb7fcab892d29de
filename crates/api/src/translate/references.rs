//! What the references of an input became.

use palyra_types::context_reference::{
    ExpandedReference, ReferenceError, ReferenceKind, ReferenceMeans, ReferencesExpanded,
};
use palyra_wire::v1;

pub(super) fn expanded(expanded: &ReferencesExpanded) -> v1::ReferencesExpanded {
    let mut items: Vec<v1::ReferenceItem> = expanded.items.iter().copied().map(item).collect();
    for (item, written) in items.iter_mut().zip(&expanded.written) {
        item.written.clone_from(written.expose());
    }
    v1::ReferencesExpanded { input: expanded.input.0, items, surplus: expanded.surplus }
}

fn item(reference: ExpandedReference) -> v1::ReferenceItem {
    let item = v1::ReferenceItem { kind: kind(reference.kind).into(), ..Default::default() };
    match reference.means {
        ReferenceMeans::Call(effect) => v1::ReferenceItem { effect_id: Some(effect.0), ..item },
        ReferenceMeans::SameAs(place) => v1::ReferenceItem { same_as: Some(place.saturating_add(1)), ..item },
        ReferenceMeans::Refused(why) => v1::ReferenceItem { refused: error(why).into(), ..item },
    }
}

pub(crate) fn kind(kind: ReferenceKind) -> v1::ReferenceKind {
    match kind {
        ReferenceKind::File => v1::ReferenceKind::File,
        ReferenceKind::Folder => v1::ReferenceKind::Folder,
        ReferenceKind::Diff => v1::ReferenceKind::Diff,
        ReferenceKind::Staged => v1::ReferenceKind::Staged,
        ReferenceKind::Url => v1::ReferenceKind::Url,
        ReferenceKind::Memory => v1::ReferenceKind::Memory,
        ReferenceKind::Run => v1::ReferenceKind::Run,
    }
}

pub(crate) fn error(error: ReferenceError) -> v1::ReferenceError {
    match error {
        ReferenceError::TooManyReferences => v1::ReferenceError::TooManyReferences,
        ReferenceError::InvalidTarget => v1::ReferenceError::InvalidTarget,
        ReferenceError::InvalidLines => v1::ReferenceError::InvalidLines,
        ReferenceError::NotFound => v1::ReferenceError::NotFound,
        ReferenceError::OutsideOfWorkspace => v1::ReferenceError::OutsideOfWorkspace,
        ReferenceError::LooksLikeASecret => v1::ReferenceError::LooksLikeASecret,
        ReferenceError::Symlink => v1::ReferenceError::Symlink,
        ReferenceError::IsBinary => v1::ReferenceError::IsBinary,
        ReferenceError::Unsuitable => v1::ReferenceError::Unsuitable,
        ReferenceError::TooLarge => v1::ReferenceError::TooLarge,
        ReferenceError::Denied => v1::ReferenceError::Denied,
        ReferenceError::OverBudget => v1::ReferenceError::OverBudget,
        ReferenceError::TimedOut => v1::ReferenceError::TimedOut,
        ReferenceError::Cancelled => v1::ReferenceError::Cancelled,
        ReferenceError::Unavailable => v1::ReferenceError::Unavailable,
        ReferenceError::Failed => v1::ReferenceError::Failed,
    }
}
