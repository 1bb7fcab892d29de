//! What each case demands, as functions over what was seen.
//!
//! Owns no process and no clock: a judgement can be tried on a tape of five lines. A judgement returns
//! what was seen, or what is wrong.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::tape::{RunEnd, Tape};

/// What was seen, in a sentence; or what is wrong.
pub(super) type CaseJudgement = Result<String, String>;

/// What became of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CaseVerdict {
    Pass,
    Fail,
    /// The model or its server cannot do it; the product was not put to the test.
    NotSupported,
}

impl CaseVerdict {
    /// Returns the word of the table.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::NotSupported => "not supported",
        }
    }
}

/// A line of the closing table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CaseFinding {
    pub(super) case: &'static str,
    pub(super) verdict: CaseVerdict,
    pub(super) seen: String,
}

/// The least that any run must show: a dense tape, and this end.
pub(super) fn ended(tape: &Tape, state: &str) -> Result<RunEnd, String> {
    if let Some((expected, came)) = tape.gap() {
        return Err(format!("entry {expected} of the tape is {came:?}"));
    }
    let end = tape.end().ok_or("the tape has no end")?;
    if end.state == state { Ok(end) } else { Err(format!("the run ended as {end:?}, not as {state}")) }
}

/// An answer that is shown while it comes: `last_byte` is when the server had said everything.
pub(super) fn streamed(tape: &Tape, started: Instant, last_byte: Instant) -> CaseJudgement {
    ended(tape, "RUN_STATE_DONE")?;
    let message = tape.0.iter().position(|line| line.entry.get("model_message").is_some());
    let message = message.ok_or("there is no model_message")?;
    let pieces: Vec<Instant> = tape.0[..message]
        .iter()
        .filter(|line| line.entry.get("model_text").is_some())
        .map(|l| l.at)
        .collect();
    let [first, _, ..] = pieces[..] else {
        return Err(format!("{} pieces of text came before the whole message", pieces.len()));
    };
    let early = last_byte.checked_duration_since(first).unwrap_or_default();
    if early.is_zero() {
        return Err("the first text came after the last byte of the answer".to_owned());
    }
    Ok(format!(
        "{} pieces, {} characters; the first after {}, {} before the last byte of the server",
        pieces.len(),
        tape.text().chars().count(),
        shown(first.duration_since(started)),
        shown(early)
    ))
}

/// The counts on the tape are those of the server's last event that had any.
pub(super) fn usage(tape: &Tape, events: &[Value]) -> CaseJudgement {
    let said = events.iter().rev().find_map(|event| event.get("usage").filter(|usage| usage.is_object()));
    let said = said.ok_or("the server reported no usage")?;
    let (_, message) = tape.all("model_message").next().ok_or("there is no model_message")?;
    let kept = message.get("usage").ok_or("the message has no usage")?;
    if kept.get("estimated").and_then(Value::as_bool).unwrap_or_default() {
        return Err(format!("the tape's usage is an estimate: {kept}; the server said {said}"));
    }
    let count = |usage: &Value, name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or_default();
    let cached =
        said.pointer("/prompt_tokens_details/cached_tokens").and_then(Value::as_u64).unwrap_or_default();
    let server = (count(said, "prompt_tokens"), cached, count(said, "completion_tokens"));
    let tape =
        (count(kept, "input_tokens"), count(kept, "cached_input_tokens"), count(kept, "output_tokens"));
    if server != tape {
        return Err(format!("the server said {said}, the tape says {kept}"));
    }
    Ok(format!("input {}, of it cached {}, output {}; the same on both sides", tape.0, tape.1, tape.2))
}

/// A run that was cancelled after its first text: `code` is how its client ended.
pub(super) fn cancelled(tape: &Tape, code: i32) -> CaseJudgement {
    ended(tape, "RUN_STATE_CANCELLED")?;
    // The cancelled attempt is abandoned, so none of its text stands; all of it was shown.
    let pieces = tape.all("model_text").count();
    if pieces == 0 {
        return Err("no text came before the cancel".to_owned());
    }
    if code != 130 {
        return Err(format!("`palyra run` ended with {code}, not 130"));
    }
    Ok(format!("cancelled after {pieces} pieces of text, exit code 130"))
}

/// A run whose server went away: a typed failure, and the text that was shown is still on the tape.
pub(super) fn server_lost(before: &Tape, after: &Tape, code: i32) -> CaseJudgement {
    let end = ended(after, "RUN_STATE_FAILED")?;
    if !end.code.starts_with("PLY-3") {
        return Err(format!("the failure has the code `{}`", end.code));
    }
    if code != 1 {
        return Err(format!("`palyra run` ended with {code}, not 1"));
    }
    let pieces =
        |tape: &Tape| -> Vec<Value> { tape.all("model_text").map(|(_, body)| body.clone()).collect() };
    let (shown, kept) = (pieces(before), pieces(after));
    if shown.is_empty() || !kept.starts_with(&shown) {
        return Err(format!("{} pieces had been shown, {} are on the tape", shown.len(), kept.len()));
    }
    let abandoned = after.all("model_attempt_abandoned").count();
    Ok(format!(
        "{} ({}): {}; {} pieces kept, {abandoned} attempts abandoned",
        end.code,
        end.reason,
        end.message,
        kept.len()
    ))
}

/// An input that is too long: the server refused it, or it was not sent because the window is known.
pub(super) fn too_long(tape: &Tape) -> CaseJudgement {
    let end = ended(tape, "RUN_STATE_FAILED")?;
    let asked = tape.all("model_requested").count();
    let is_refused = asked > 0 && end.code == "PLY-3007";
    let is_not_sent = asked == 0 && end.code == "PLY-5005";
    if (is_refused || is_not_sent) && end.reason == "context_exhausted" {
        Ok(format!("{} ({}): {}; asked {asked} times", end.code, end.reason, end.message))
    } else {
        Err(format!("the run ended as {end:?}"))
    }
}

/// A session of which every run is answered, and the last one only with a part of the history: the server refused more, or
/// the daemon knew the window and left older messages out.
pub(super) fn shortened(runs: &[Tape]) -> CaseJudgement {
    for tape in runs {
        ended(tape, "RUN_STATE_DONE")?;
    }
    let last = runs.last().ok_or("there are no runs")?;
    let abandoned = last.all("model_attempt_abandoned").map(|(_, body)| body);
    let is_refusal = |body: &&Value| body.get("cause").and_then(Value::as_str) == Some("context_exceeded");
    let refused = abandoned.filter(is_refusal).count();
    let sums = |field: &str| -> Vec<u64> {
        last.all("model_requested").map(|(_, body)| number(body, field)).collect()
    };
    let kept = sums("messages_kept");
    let dropped = sums("messages_dropped");
    if refused == 0 && dropped.iter().all(|dropped| *dropped == 0) {
        return Err("the last run had the whole history in its request".to_owned());
    }
    Ok(format!(
        "{} runs answered; the last one after {refused} refusals, with {kept:?} messages sent and {dropped:?} left out",
        runs.len()
    ))
}

/// A run that reads the summary that was made, and streams its answer to the end.
pub(super) fn reads_summary(made: &Value, tape: &Tape) -> CaseJudgement {
    ended(tape, "RUN_STATE_DONE")?;
    let (_, started) = tape.all("run_started").next().ok_or("the tape has no start")?;
    let made_at = number(made, "compaction");
    let read = number(started, "compaction");
    if made_at == 0 || read != made_at {
        return Err(format!("compaction {made_at} was made, and the run reads {read}"));
    }
    let pieces = tape.all("model_text").count();
    if pieces < 2 {
        return Err(format!("the answer came in {pieces} pieces"));
    }
    let author = match word(made, "refused") {
        "" => word(made, "author").to_owned(),
        refused => format!("{}, that of the model refused: {refused}", word(made, "author")),
    };
    Ok(format!(
        "{} runs in {} bytes instead of {} (by {author}); an answer of {} characters in {pieces} pieces",
        number(made, "runs"),
        number(made, "summary_bytes"),
        number(made, "source_bytes"),
        tape.text().chars().count()
    ))
}

fn number(value: &Value, name: &str) -> u64 {
    let found = value.get(name);
    found.and_then(|found| found.as_u64().or_else(|| found.as_str()?.parse().ok())).unwrap_or_default()
}

fn word<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A tool call with its stations, and an answer after it.
pub(super) fn tool_call(tape: &Tape, tool: &str) -> CaseJudgement {
    ended(tape, "RUN_STATE_DONE")?;
    let (_, proposed) = tape.all("tool_proposed").next().ok_or("the model proposed no call")?;
    let arguments = proposed.get("arguments").and_then(Value::as_str).unwrap_or_default();
    if proposed.get("tool").and_then(Value::as_str) != Some(tool) {
        return Err(format!("the model proposed {proposed}"));
    }
    let (_, finished) = tape.all("tool_finished").next().ok_or("the tool did not run")?;
    if let Some(code) = finished.get("error_code").and_then(Value::as_str).filter(|code| !code.is_empty()) {
        return Err(format!("{tool} {arguments} failed with {code}"));
    }
    let bytes = finished.get("output").and_then(Value::as_str).unwrap_or_default().len();
    let turns = tape.all("model_requested").count();
    Ok(format!("{tool} {arguments} was proposed, allowed and performed ({bytes} bytes); {turns} turns"))
}

/// An answer that is JSON and fits: exactly these fields, of these kinds.
pub(super) fn fits(text: &str, fields: &[(&str, FieldKind)]) -> CaseJudgement {
    let start: String = text.chars().take(60).collect();
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("no JSON ({error}); it begins with: {start}"))?;
    let object = value.as_object().ok_or_else(|| format!("no object: {value}"))?;
    let fits = object.len() == fields.len()
        && fields.iter().all(|(name, kind)| object.get(*name).is_some_and(|value| kind.fits(value)));
    if fits { Ok(format!("{value}")) } else { Err(format!("does not fit: {value}")) }
}

/// The kind of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldKind {
    Text,
    Integer,
    Boolean,
}

impl FieldKind {
    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Boolean => value.is_boolean(),
        }
    }
}

fn shown(time: Duration) -> String {
    if time < Duration::from_secs(10) {
        format!("{} ms", time.as_millis())
    } else {
        format!("{} s", time.as_secs())
    }
}

#[cfg(test)]
mod tests;
