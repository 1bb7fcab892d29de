//! The prompt of a run that waits for a budget: its text, and the meaning of a line that is typed there.

use palyra_screen_text::clean_line;

/// Characters of a line that was not sent, where it is shown again.
const UNSENT_CHARS_MAX: usize = 40;

/// The prompt of a run that waits for a budget.
pub const BUDGET_PROMPT: &str = "? [g]o on once  [l]eave it waiting  [c]ancel";

/// A line that is typed at the prompt of a run that waits for a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetAnswer {
    /// Let the run go on once.
    GoOn,
    /// Leave it waiting.
    Leave,
    /// Cancel the run.
    Cancel,
    /// None of these: nothing is sent.
    Other,
}

impl BudgetAnswer {
    /// Reads a line.
    pub fn read(line: &str) -> Self {
        match line.trim().to_ascii_lowercase().as_str() {
            "g" | "go" | "go on" | "y" | "yes" => Self::GoOn,
            "l" | "leave" | "later" | "q" | "quit" => Self::Leave,
            "c" | "cancel" => Self::Cancel,
            _ => Self::Other,
        }
    }

    /// Says that a line was not sent, where it is one, and which keys do what.
    pub fn help(line: &str) -> String {
        let keys = "g lets the run go on once, and it may wait again with a later request; l leaves it waiting; c cancels it";
        match clean_line(line.trim(), UNSENT_CHARS_MAX).as_str() {
            "" | "?" => keys.to_owned(),
            line => format!(
                "\"{line}\" was not sent, because the run waits for a budget and not for words; {keys}"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_keys_of_the_prompt_do_something() {
        for (line, expect) in [
            ("g", BudgetAnswer::GoOn),
            (" Y ", BudgetAnswer::GoOn),
            ("l", BudgetAnswer::Leave),
            ("q", BudgetAnswer::Leave),
            ("c", BudgetAnswer::Cancel),
            ("", BudgetAnswer::Other),
            ("go on with the parser", BudgetAnswer::Other),
        ] {
            assert_eq!(BudgetAnswer::read(line), expect, "{line}");
        }
        assert!(BudgetAnswer::help("use less").starts_with("\"use less\" was not sent"));
        assert!(BudgetAnswer::help("?").starts_with("g lets"));
    }
}
