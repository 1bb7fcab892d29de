//! Makes names that wire formats allow, and refuses those that are none.
//!
//! A model may have named anything, and one odd name in the history would have every later request refused.

use palyra_types::model::ModelFailure;

use super::failure::{bounded, malformed};

/// The longest name of a tool that is passed on: odd ones are told to the model, endless ones are no names.
const TOOL_BYTES_MAX: usize = 1024;
/// The longest id of a call; some servers pack signatures into them.
const CALL_ID_BYTES_MAX: usize = 64 * 1024;
/// How much is kept of what an answer calls itself and its model.
const SIGN_BYTES_MAX: usize = 1024;
/// The longest name that every format allows, in characters.
const NAME_CHARS_MAX: usize = 64;

/// Returns a tool's name or a call's id as letters, digits, `_` and `-`.
pub(crate) fn allowed(name: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().take(NAME_CHARS_MAX).map(fit).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// Refuses a call whose name is none.
pub(crate) fn check_call(id: &str, tool: &str) -> Result<(), ModelFailure> {
    match (id.len(), tool.len()) {
        (_, 0) => Err(malformed("a tool call has no name")),
        (CALL_ID_BYTES_MAX.., _) | (_, TOOL_BYTES_MAX..) => {
            Err(malformed("the name of a tool call is too long"))
        }
        (_, _) => Ok(()),
    }
}

/// Returns so much of what an answer calls itself or its model as is kept.
pub(crate) fn sign(text: &str) -> &str {
    bounded(text, SIGN_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_such_as_the_formats_allow() {
        assert_eq!(allowed(""), "unnamed");
        assert_eq!(allowed(&"x".repeat(99)).len(), NAME_CHARS_MAX);
        assert_eq!(allowed("a.b/c d-e_F\u{e9}"), "a_b_c_d-e_F_");
    }
}
