//! What to do after a refusal of the daemon, where the mend of its code does not fit.

use palyra_types::ErrorCode;

/// Returns what helps after a refusal; `None` where the code says it.
#[must_use]
pub fn mend_of_refusal(code: ErrorCode, message: &str) -> Option<&'static str> {
    let is_short = message.contains("no older part to sum up") || message.contains("hardly be shorter");
    (code == ErrorCode::InvalidArgument && is_short).then_some(
        "nothing has to be done: later runs of the session make a summary possible; nothing was recorded",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_is_too_short_for_a_summary_needs_no_correction() {
        let mend = |message| mend_of_refusal(ErrorCode::InvalidArgument, message);
        assert!(
            mend("there is no older part to sum up: the latest runs stay")
                .is_some_and(|m| m.contains("later runs"))
        );
        assert_eq!(mend("`x` is not a title"), None);
    }
}
