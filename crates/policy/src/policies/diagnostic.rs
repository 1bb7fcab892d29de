//! What is wrong with a set of policies: where, what, and how to mend it.

use std::fmt;

/// One mistake in one file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PolicyMistake {
    /// The file's name.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// The character in that line, from 1.
    pub column: usize,
    /// What is wrong.
    pub what: String,
    /// How to mend it.
    pub mend: String,
}

impl fmt::Display for PolicyMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}; {}", self.file, self.line, self.column, self.what, self.mend)
    }
}

/// How the validator names the action that a mistake is about.
const ABOUT_ACTIONS: [&str; 2] = [" for Action::\"execute\"", " for Action::\"execute_unattended\""];

/// Leaves one mistake of those that differ by nothing but the action: a policy about any action is checked for each. The
/// mistakes are in order.
pub(crate) fn leave_one_for_all_actions(mistakes: &mut Vec<PolicyMistake>) {
    mistakes.dedup_by(|next, kept| {
        let whole = without_action(&kept.what);
        let is_same_place = (&next.file, next.line, next.column) == (&kept.file, kept.line, kept.column)
            && next.mend == kept.mend;
        let is_same = is_same_place && without_action(&next.what) == whole;
        if is_same {
            kept.what = whole;
        }
        is_same
    });
}

fn without_action(what: &str) -> String {
    ABOUT_ACTIONS.iter().fold(what.to_owned(), |what, action| what.replace(action, ""))
}

/// Why a set of policies is refused: all that is wrong with it, in order of place. One mistake refuses the whole set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the policies are refused: {}", shown(.0))]
pub struct PolicyMistakes(pub Vec<PolicyMistake>);

fn shown(mistakes: &[PolicyMistake]) -> String {
    const SHOWN_MAX: usize = 20;
    let mut lines: Vec<String> = mistakes.iter().take(SHOWN_MAX).map(PolicyMistake::to_string).collect();
    if mistakes.len() > SHOWN_MAX {
        lines.push(format!("and {} more", mistakes.len() - SHOWN_MAX));
    }
    lines.join("\n")
}

/// Returns line and column of a byte in a text.
pub(crate) fn place_of(text: &str, byte: usize) -> (usize, usize) {
    let mut end = byte.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(column: usize, what: &str, mend: &str) -> PolicyMistake {
        PolicyMistake {
            file: "mine.cedar".to_owned(),
            line: 2,
            column,
            what: what.to_owned(),
            mend: mend.to_owned(),
        }
    }

    #[test]
    fn a_mistake_is_there_once_for_all_actions() {
        let about = |action: &str| format!("attribute `rsk` in context for Action::\"{action}\" not found");
        let (attended, unattended) = (about("execute"), about("execute_unattended"));
        let whole = "attribute `rsk` in context not found";
        for (mistakes, expect) in [
            (vec![mistake(8, &attended, "a"), mistake(8, &unattended, "a")], vec![mistake(8, whole, "a")]),
            // The controls: one action, another place, another mend, another attribute.
            (vec![mistake(8, &attended, "a")], vec![mistake(8, &attended, "a")]),
            (
                vec![mistake(8, &attended, "a"), mistake(9, &unattended, "a")],
                vec![mistake(8, &attended, "a"), mistake(9, &unattended, "a")],
            ),
            (
                vec![mistake(8, &attended, "a"), mistake(8, &unattended, "b")],
                vec![mistake(8, &attended, "a"), mistake(8, &unattended, "b")],
            ),
            (
                vec![mistake(8, "`x` for Action::\"execute\"", "a"), mistake(8, &unattended, "a")],
                vec![mistake(8, "`x` for Action::\"execute\"", "a"), mistake(8, &unattended, "a")],
            ),
        ] {
            let mut left = mistakes;
            leave_one_for_all_actions(&mut left);
            assert_eq!(left, expect);
        }
    }
}
