//! References of a text as rows of a table: which call reads each, and what it costs or why there is none.

use palyra_screen_text::clean_line;
use palyra_types::context_reference::{ReferenceError, ReferenceKind};
use palyra_types::spelling::nearest_name;
use palyra_wire::v1;

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

/// Returns a reference as it is written, its call, and its cost in words.
pub fn reference_row(reference: &v1::PreviewedReference) -> [String; 3] {
    let tool = if reference.tool.is_empty() { "none" } else { &reference.tool };
    [clean_line(&reference.written, WRITTEN_CHARS_MAX), tool.to_owned(), cost(reference)]
}

/// Returns the cost of a reference in words.
fn cost(reference: &v1::PreviewedReference) -> String {
    if reference.error() != v1::ReferenceError::Unspecified {
        return format!("none: {}", reason(reference.error()));
    }
    match (reference.same_as, reference.tokens_whole, reference.tokens_shown) {
        (Some(earlier), _, _) => format!("the same as reference {earlier}"),
        (None, Some(whole), Some(shown)) if shown < whole => format!("{shown} of {whole}"),
        (None, Some(whole), _) => whole.to_string(),
        (None, None, _) => "known after the call".to_owned(),
    }
}

/// Returns why a reference leads to no call, in words.
fn reason(error: v1::ReferenceError) -> String {
    let name = error.short_name();
    let known = ReferenceError::ALL.into_iter().find(|known| known.name() == name);
    known.map_or_else(|| name.replace('_', " "), |known| known.message().to_owned())
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
            (v1::PreviewedReference { error: denied, ..row() }, "none: the call was not permitted"),
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
            let told = unknown_reference(text);
            assert_eq!(told.is_some(), meant.is_some(), "{text}: {told:?}");
            assert!(told.unwrap_or_default().ends_with(meant.unwrap_or_default()), "{text}");
        }
    }
}
