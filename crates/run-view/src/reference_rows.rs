//! What the references of a text become and cost, in rows.

use palyra_screen_text::clean_line;
use palyra_terminal::NoteKind;
use palyra_wire::v1;

/// Characters of a reference that are shown.
const WRITTEN_CHARS_MAX: usize = 80;

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
    if reference.error() != v1::ReferenceError::Unspecified {
        return format!("none: {}", reference.error().short_name());
    }
    match (reference.same_as, reference.tokens_whole, reference.tokens_shown) {
        (Some(earlier), _, _) => format!("the same as reference {earlier}"),
        (None, Some(whole), Some(shown)) if shown < whole => format!("{shown} of {whole}"),
        (None, Some(whole), _) => whole.to_string(),
        (None, None, _) => "known after the call".to_owned(),
    }
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
            (v1::PreviewedReference { error: denied, ..row() }, "none: denied"),
            (v1::PreviewedReference { tokens_whole: Some(9), tokens_shown: Some(9), ..row() }, "9"),
            (v1::PreviewedReference { tokens_whole: Some(9), tokens_shown: Some(4), ..row() }, "4 of 9"),
        ] {
            assert_eq!(cost(&reference), words);
        }
    }
}
