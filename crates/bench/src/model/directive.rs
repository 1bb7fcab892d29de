//! What a question asks the mock model to do, written into the question itself.
//!
//! So one server serves every row without state: the last directive of a request's body counts.

use std::time::Duration;

use serde_json::json;

const OPEN: &[u8] = b"[[bench ";
const CLOSE: &[u8] = b"]]";

/// What a call of a tool meets on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallPath {
    /// It reads notes, which runs unattended.
    Free,
    /// It reads what may be a key, which runs after a person's yes.
    Approved,
    /// It runs a script of the folder, after a person's yes too.
    Script(u8),
}

/// Name of a script of the folder.
#[must_use]
pub(crate) fn script(number: u8) -> String {
    format!("script-{number}.sh")
}

impl CallPath {
    /// Returns the tool that is called, and with what: `at` is how many calls came before.
    #[must_use]
    pub(crate) fn call(self, at: usize) -> (&'static str, serde_json::Value) {
        match self {
            Self::Free | Self::Approved => ("read_file", json!({ "path": self.file(at) })),
            Self::Script(number) => ("run_command", json!({ "argv": ["sh", script(number)] })),
        }
    }

    /// Returns the file that a call needs in its folder.
    #[must_use]
    pub(crate) fn file(self, at: usize) -> String {
        match self {
            Self::Free => format!("notes-{at}.txt"),
            Self::Approved => format!("notes-{at}.pem"),
            Self::Script(number) => script(number),
        }
    }

    fn number(self) -> u64 {
        match self {
            Self::Free => 0,
            Self::Approved => 1,
            Self::Script(number) => 2 + u64::from(number),
        }
    }

    fn of_number(number: u64) -> Self {
        match number {
            0 => Self::Free,
            1 => Self::Approved,
            more => Self::Script(u8::try_from(more - 2).unwrap_or(u8::MAX)),
        }
    }
}

/// How to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AnswerDirective {
    /// How long to think before the first piece.
    pub first: Duration,
    /// Pieces of text, about a token each.
    pub pieces: usize,
    /// From one piece to the next; zero sends each as soon as the one before is out.
    pub gap: Duration,
    /// How many times to call a tool before the answer.
    pub tools: usize,
    /// What these calls meet.
    pub calls: CallPath,
}

impl AnswerDirective {
    /// The answer of most rows: 32 tokens without a pause.
    pub const AT_ONCE: Self =
        Self { first: Duration::ZERO, pieces: 32, gap: Duration::ZERO, tools: 0, calls: CallPath::Free };

    /// Answers with so many pieces, so far apart, after so much thought.
    #[must_use]
    pub fn paced(first: Duration, pieces: usize, gap: Duration) -> Self {
        Self { first, pieces, gap, ..Self::AT_ONCE }
    }

    /// Calls a tool so many times before the answer.
    #[must_use]
    pub fn with_tools(self, tools: usize) -> Self {
        Self { tools, ..self }
    }

    /// The same, with calls that run after a yes.
    #[must_use]
    pub fn asked(self) -> Self {
        Self { calls: CallPath::Approved, ..self }
    }

    /// Runs a script before the answer.
    #[must_use]
    pub fn script(number: u8) -> Self {
        Self { tools: 1, calls: CallPath::Script(number), ..Self::AT_ONCE }
    }

    /// Writes it as a question.
    #[must_use]
    pub fn question(&self) -> String {
        let Self { first, pieces, gap, tools, calls } = self;
        let calls = calls.number();
        format!(
            "What does this project do, in one line? [[bench {} {pieces} {} {tools} {calls}]]",
            first.as_micros(),
            gap.as_micros()
        )
    }

    /// Reads the last one of a body, and how many of its tool calls were answered already.
    #[must_use]
    pub(crate) fn read(body: &[u8]) -> (Self, usize) {
        let Some(at) = last(body, OPEN) else { return (Self::AT_ONCE, 0) };
        let rest = &body[at + OPEN.len()..];
        let end = first_of(rest, CLOSE).unwrap_or(0);
        let text = std::str::from_utf8(&rest[..end]).unwrap_or_default();
        let mut numbers = text.split(' ').map(|word| word.parse::<u64>().unwrap_or(0));
        let mut number = || numbers.next().unwrap_or(0);
        let count = |number: u64| usize::try_from(number).unwrap_or(0);
        let directive = Self {
            first: Duration::from_micros(number()),
            pieces: count(number()),
            gap: Duration::from_micros(number()),
            tools: count(number()),
            calls: CallPath::of_number(number()),
        };
        let answered = if directive.tools == 0 { 0 } else { occurrences(rest, br#""role":"tool""#) };
        (directive, answered)
    }
}

fn first_of(body: &[u8], needle: &[u8]) -> Option<usize> {
    body.windows(needle.len()).position(|window| window == needle)
}

fn last(body: &[u8], needle: &[u8]) -> Option<usize> {
    body.windows(needle.len()).rposition(|window| window == needle)
}

fn occurrences(body: &[u8], needle: &[u8]) -> usize {
    body.windows(needle.len()).filter(|window| *window == needle).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_question_counts_with_its_tool_results() {
        let (old, new) = (AnswerDirective::AT_ONCE, AnswerDirective::AT_ONCE.with_tools(2).asked());
        let new =
            AnswerDirective { first: Duration::from_millis(20), gap: Duration::from_micros(1_500), ..new };
        let body = format!(
            r#"{{"role":"user","content":"{}"}},{{"role":"tool"}},{{"role":"user","content":"{}"}},{{"role":"tool"}}"#,
            old.question(),
            new.question()
        );
        assert_eq!(AnswerDirective::read(body.as_bytes()), (new, 1));
        let script = AnswerDirective::script(3);
        assert_eq!(AnswerDirective::read(script.question().as_bytes()), (script, 0));
        assert_eq!(AnswerDirective::read(b"no directive").0, AnswerDirective::AT_ONCE);
    }
}
