//! Costs of references that are looked at before a run.

use palyra_wire::v1;

/// Returns the cost of a reference in words.
#[must_use]
pub fn reference_cost(reference: &v1::PreviewedReference) -> String {
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
            assert_eq!(reference_cost(&reference), words);
        }
    }
}
