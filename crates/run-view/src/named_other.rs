//! Names of one thing in the place of another, such as the id of a run for that of an approval.

use palyra_screen_text::short_id;
use palyra_types::ErrorCode;
use palyra_types::id_name::IdKind;

/// Returns code, message and mend for a name of one thing in the place of another.
#[must_use]
pub fn named_other(wanted: IdKind, name: &str, other: &str) -> Option<(ErrorCode, String, String)> {
    let id = short_id(other);
    let (code, kind, mend) = match wanted {
        IdKind::Run => {
            (ErrorCode::RunNotFound, "session", format!("`palyra runs list --session {id}` lists its runs"))
        }
        IdKind::Session => (
            ErrorCode::SessionNotFound,
            "run",
            format!("`palyra runs show {id}` shows the session that it is in"),
        ),
        IdKind::Approval => (
            ErrorCode::ApprovalNotFound,
            "run",
            format!("`palyra approve list --run {id}` lists what it waits for"),
        ),
        IdKind::Grant | IdKind::Agent | IdKind::Token => return None,
    };
    let message = format!("no {} begins or ends with `{name}`: it names a {kind}", wanted.as_str());
    Some((code, message, mend))
}

/// Says how the session is erased that was named in the place of a run to erase.
#[must_use]
pub fn mend_of_erased_session(name: &str) -> String {
    format!("`palyra journal erase --session {name}` erases that session with its runs")
}

/// Says how a bookmark of this name is written.
#[must_use]
pub fn as_bookmark(name: &str) -> String {
    format!("a bookmark is named with @: @{name}")
}

/// Says of a name that fits no run that it is one of a bookmark.
#[must_use]
pub fn mend_of_bookmark(name: &str) -> String {
    format!("a bookmark has this name, and is named with @: @{name}")
}

/// Says what follows the @ behind a run, in the place of what was typed.
#[must_use]
pub fn entry_expected(typed: &str) -> String {
    let expected = "after @ comes the number of an entry, from 1";
    if typed.is_empty() || typed.parse::<i64>().is_ok() {
        return expected.to_owned();
    }
    format!("{expected}; a bookmark is named without a run: @{typed}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bookmark_behind_a_run_is_written_alone() {
        assert_eq!(entry_expected("0"), "after @ comes the number of an entry, from 1");
        assert!(entry_expected("draft").ends_with("; a bookmark is named without a run: @draft"));
    }

    #[test]
    fn a_name_of_another_thing_leads_from_that_to_the_right_one() {
        for (wanted, command) in [
            (IdKind::Run, "`palyra runs list --session 69G5FA` "),
            (IdKind::Session, "`palyra runs show 69G5FA` "),
            (IdKind::Approval, "`palyra approve list --run 69G5FA` "),
        ] {
            let (_, message, mend) = named_other(wanted, "69g5", "01ARZ3NDEKTSV4RRFFQ69G5FA").unwrap();
            assert!(message.contains("`69g5`: it names a ") && mend.contains(command), "{message}: {mend}");
        }
        assert!(mend_of_erased_session("4XT6RZ").starts_with("`palyra journal erase --session 4XT6RZ` "));
        assert_eq!(named_other(IdKind::Token, "69g5", "01ARZ3NDEKTSV4RRFFQ69G5FA"), None);
    }
}
