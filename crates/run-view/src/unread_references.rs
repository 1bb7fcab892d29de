//! References of an input that were not read, each with the reason.

use palyra_screen_text::clean_line;
use palyra_wire::v1;
use palyra_wire::v1::ReferenceError;

/// How a reference to a folder begins. A folder is not attached.
const FOLDER_KIND: &str = "@folder:";
const FOLDER_OUTSIDE: &str = "it is outside of the workspace; `palyra run --workspace DIR` and `palyra chat --workspace DIR` work in another \
                              folder";
const WRITTEN_CHARS_MAX: usize = 120;

/// Returns a line for each reference that became no call, and one for those that are too many.
pub fn unread_references(expanded: &v1::ReferencesExpanded) -> impl Iterator<Item = String> {
    let surplus = (expanded.surplus > 0)
        .then(|| format!("{} further references stay plain text: an input has 8 at most", expanded.surplus));
    expanded.items.iter().filter_map(unread).chain(surplus)
}

fn unread(item: &v1::ReferenceItem) -> Option<String> {
    let is_folder = item.written.starts_with(FOLDER_KIND);
    let why = match item.refused() {
        ReferenceError::OutsideOfWorkspace if is_folder => FOLDER_OUTSIDE,
        error => why_unread(error)?,
    };
    Some(format!("{} was not read: {why}", clean_line(&item.written, WRITTEN_CHARS_MAX)))
}

/// Returns why a reference is not read, in words; `None` when nothing is wrong with it.
pub(crate) fn why_unread(error: ReferenceError) -> Option<&'static str> {
    Some(match error {
        ReferenceError::Unspecified => return None,
        ReferenceError::TooManyReferences => "the input has too many references",
        ReferenceError::InvalidTarget => "it names nothing that can be looked up",
        ReferenceError::InvalidLines => "the lines are not a range",
        ReferenceError::NotFound => "nothing has this name",
        ReferenceError::OutsideOfWorkspace => {
            "it is outside of the workspace; a file there can be attached: /attach FILE in a chat, --attach FILE with `palyra run`"
        }
        ReferenceError::LooksLikeASecret => {
            "it has the name of a file with secrets; without @file:, the model can ask you to read it"
        }
        ReferenceError::Symlink => {
            "the path leads through a symbolic link; name the file that it leads to, if that is in the workspace"
        }
        ReferenceError::IsBinary => "it is not text",
        ReferenceError::Unsuitable => "the tool cannot use it",
        ReferenceError::TooLarge => "it does not fit beside the other references",
        ReferenceError::Denied => "the call was denied",
        ReferenceError::OverBudget => "the run has used all its tool calls",
        ReferenceError::TimedOut => "the call did not finish in time",
        ReferenceError::Cancelled => "the run was stopped",
        ReferenceError::Unavailable => "no tool is here for this kind of reference",
        ReferenceError::Failed => "the call failed",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reference_that_was_not_read_has_a_line_with_its_reason() {
        let item = |written: &str, refused: ReferenceError| v1::ReferenceItem {
            written: written.to_owned(),
            refused: refused.into(),
            ..Default::default()
        };
        let items = vec![
            item("@file:a.md", ReferenceError::Unspecified),
            item("@file:/etc/hosts", ReferenceError::OutsideOfWorkspace),
            item("@file:.env", ReferenceError::LooksLikeASecret),
            item("@folder:/etc", ReferenceError::OutsideOfWorkspace),
        ];
        let lines: Vec<String> =
            unread_references(&v1::ReferencesExpanded { items, surplus: 2, ..Default::default() }).collect();
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(
            lines[0].starts_with("@file:/etc/hosts was not read: it is outside of the workspace"),
            "{lines:?}"
        );
        assert!(
            lines[1].starts_with("@file:.env was not read: it has the name of a file with secrets"),
            "{lines:?}"
        );
        assert!(lines[0].contains("/attach FILE in a chat"), "{lines:?}");
        assert!(lines[2].contains("--workspace DIR") && !lines[2].contains("attach"), "{lines:?}");
        assert!(lines[3].starts_with("2 further references"), "{lines:?}");
    }
}
