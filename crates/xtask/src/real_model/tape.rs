//! A run's tape as `palyra run --json` prints it, with when each line arrived.
//!
//! Owns picking things out of entries by the names of the public schema. Judges nothing.

use std::time::Instant;

use serde_json::Value;

/// One line of the tape.
#[derive(Debug, Clone)]
pub(super) struct TapeLine {
    pub(super) at: Instant,
    pub(super) entry: Value,
}

/// The lines of one run, in the order of their arrival.
#[derive(Debug, Clone, Default)]
pub(super) struct Tape(pub(super) Vec<TapeLine>);

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RunEnd {
    /// Such as `RUN_STATE_DONE`.
    pub(super) state: String,
    /// Such as `final_answer`.
    pub(super) reason: String,
    /// Such as `PLY-3010`; empty where nothing failed.
    pub(super) code: String,
    /// What the person is told.
    pub(super) message: String,
}

impl Tape {
    /// Returns the bodies of all entries of a kind, with when they arrived.
    pub(super) fn all<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = (Instant, &'a Value)> {
        self.0.iter().filter_map(move |line| Some((line.at, line.entry.get(kind)?)))
    }

    /// Returns the run's id.
    pub(super) fn run_id(&self) -> Option<&str> {
        self.0.first()?.entry.get("run_id")?.as_str()
    }

    /// Returns the text that stands: that of attempts which were not abandoned.
    pub(super) fn text(&self) -> String {
        let abandoned: Vec<&Value> =
            self.all("model_attempt_abandoned").filter_map(|(_, body)| body.get("attempt")).collect();
        let pieces = self.all("model_text").map(|(_, body)| body);
        let standing = pieces.filter(|body| body.get("attempt").is_none_or(|a| !abandoned.contains(&a)));
        standing.filter_map(|body| body.get("text")?.as_str()).collect()
    }

    /// Returns how the run ended, if it did.
    pub(super) fn end(&self) -> Option<RunEnd> {
        let (_, body) = self.all("run_finished").next()?;
        let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(RunEnd {
            state: text("state"),
            reason: text("reason"),
            code: text("error_code"),
            message: text("message"),
        })
    }

    /// Returns the first place where the numbering has a gap, if any: what was expected, what came.
    pub(super) fn gap(&self) -> Option<(u64, Option<u64>)> {
        let numbers = self.0.iter().map(|line| line.entry.get("tape_seq").and_then(Value::as_u64));
        (1..).zip(numbers).find(|(expected, came)| *came != Some(*expected))
    }
}

#[cfg(test)]
pub(super) fn tape(entries: &[Value]) -> Tape {
    let now = Instant::now();
    Tape(entries.iter().map(|entry| TapeLine { at: now, entry: entry.clone() }).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_of_abandoned_attempts_does_not_stand() {
        let seen = tape(&[
            json!({"tape_seq": 1, "run_id": "R", "run_started": {}}),
            json!({"tape_seq": 2, "model_text": {"attempt": 1, "text": "One"}}),
            json!({"tape_seq": 3, "model_attempt_abandoned": {"attempt": 1}}),
            json!({"tape_seq": 4, "model_text": {"attempt": 2, "text": "Two, "}}),
            json!({"tape_seq": 5, "model_text": {"attempt": 2, "text": "three"}}),
            json!({"tape_seq": 6, "run_finished": {"state": "RUN_STATE_DONE", "reason": "final_answer"}}),
        ]);
        assert_eq!(seen.text(), "Two, three");
        assert_eq!((seen.run_id(), seen.gap()), (Some("R"), None));
        let end = seen.end().expect("it ended");
        assert_eq!(
            (end.state.as_str(), end.reason.as_str(), end.code.as_str()),
            ("RUN_STATE_DONE", "final_answer", "")
        );
    }

    #[test]
    fn a_gap_in_the_numbering_is_found() {
        let seen = tape(&[json!({"tape_seq": 1}), json!({"tape_seq": 3})]);
        assert_eq!(seen.gap(), Some((2, Some(3))));
        assert_eq!(tape(&[json!({})]).gap(), Some((1, None)));
    }
}
