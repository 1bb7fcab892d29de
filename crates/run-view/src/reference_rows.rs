//! What the references of a text become and cost, in rows.

use palyra_screen_text::clean_line;
use palyra_terminal::NoteKind;
use palyra_types::context_reference::ReferenceKind;
use palyra_types::spelling::nearest_name;
use palyra_wire::v1;

use crate::unread_references::why_unread;

const WRITTEN_CHARS_MAX: usize = 80;
/// Other words for kinds of references.
const OTHER_WORDS: [(&str, &str); 7] = [
    ("dir", "folder"),
    ("directory", "folder"),
    ("path", "file"),
    ("doc", "file"),
    ("link", "url"),
    ("web", "url"),
    ("changes", "diff"),
];

/// Returns what is said of all references together.
pub fn reference_notes(
    preview: &v1::PreviewContextReferencesResponse,
) -> impl Iterator<Item = (NoteKind, String)> {
    let surplus = (preview.surplus > 0).then(|| {
        let note = format!("{} further references stay plain text: an input has 8 at most", preview.surplus);
        (NoteKind::Doubt, note)
    });
    let shown = (preview.tokens_shown > 0).then(|| {
        (NoteKind::Info, format!("about {} tokens would be shown to the model", preview.tokens_shown))
    });
    surplus.into_iter().chain(shown)
}

/// Returns the row of a reference: as it is written, its call, its cost in tokens.
#[must_use]
pub fn reference_row(reference: v1::PreviewedReference) -> [String; 3] {
    let cost = cost(&reference);
    let tool = if reference.tool.is_empty() { "none".to_owned() } else { reference.tool };
    [clean_line(&reference.written, WRITTEN_CHARS_MAX), tool, cost]
}

/// Returns the cost of a reference in words.
fn cost(reference: &v1::PreviewedReference) -> String {
    if let Some(why) = why_unread(reference.error()) {
        return format!("none: {why}");
    }
    match (reference.same_as, reference.tokens_whole, reference.tokens_shown) {
        (Some(earlier), _, _) => format!("the same as reference {earlier}"),
        (None, Some(whole), Some(shown)) if shown < whole => format!("{shown} of {whole}"),
        (None, Some(whole), _) => whole.to_string(),
        (None, None, _) => "known after the call".to_owned(),
    }
}

/// Names the nearest kind of reference for one of a kind that does not exist.
pub fn unknown_reference(text: &str) -> Option<String> {
    let mut words = text.split_whitespace().filter_map(|word| word.strip_prefix('@')?.split_once(':'));
    let (kind, rest) = words.find(|(kind, rest)| {
        let is_word = !kind.is_empty() && kind.chars().all(|c| c.is_ascii_lowercase());
        is_word && !rest.is_empty() && !ReferenceKind::ALL.iter().any(|known| known.word() == *kind)
    })?;
    let meant = OTHER_WORDS.iter().find(|(word, _)| *word == kind).map(|(_, meant)| *meant);
    let meant = meant.or_else(|| nearest_name(kind, ReferenceKind::ALL.map(ReferenceKind::word)))?;
    let kind = clean_line(kind, WRITTEN_CHARS_MAX);
    let rest = clean_line(rest, WRITTEN_CHARS_MAX);
    Some(format!("there is no reference @{kind}:, so it stays plain text; did you mean @{meant}:{rest}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_is_a_number_a_reason_or_known_later() {
        let row = v1::PreviewedReference::default;
        let denied = v1::ReferenceError::Denied.into();
        for (reference, words) in [
            (row(), "known after the call"),
            (v1::PreviewedReference { same_as: Some(1), ..row() }, "the same as reference 1"),
            (v1::PreviewedReference { error: denied, ..row() }, "none: the call was denied"),
            (v1::PreviewedReference { tokens_whole: Some(9), tokens_shown: Some(9), ..row() }, "9"),
            (v1::PreviewedReference { tokens_whole: Some(9), tokens_shown: Some(4), ..row() }, "4 of 9"),
        ] {
            assert_eq!(cost(&reference), words);
        }
    }

    #[test]
    fn a_kind_that_does_not_exist_has_the_one_that_may_be_meant() {
        for (text, meant) in [
            ("read @dir:src now", Some("@folder:src?")),
            ("@flie:a.txt", Some("@file:a.txt?")),
            ("@file:a.txt", None),
            ("write to me@x.org: soon", None),
            ("@xyzzyplugh:a", None),
        ] {
            let note = unknown_reference(text);
            assert_eq!(note.is_some(), meant.is_some(), "{text}: {note:?}");
            assert!(note.unwrap_or_default().ends_with(meant.unwrap_or_default()), "{text}");
        }
    }
}
