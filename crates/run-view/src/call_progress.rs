//! How far a call is that takes long: what runs, since when, and the last line that it printed.
//!
//! Pure: the caller has the clock and the terminal. Invariant: a question to a person is not a call that runs.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

use palyra_screen_text::clean_line;
use palyra_wire::v1;
use palyra_wire::v1::tape_entry::Event;

use crate::model_question::model_question;
use crate::printed::PrintedLines;
use crate::result_line::call_label;

/// A call that ends sooner shows nothing of this.
const SHOWN_AFTER: Duration = Duration::from_secs(2);
const STEP: Duration = Duration::from_secs(1);
/// A longer age is a clock that differs from ours.
const AGE_MAX: Duration = Duration::from_secs(24 * 60 * 60);
const LABEL_CHARS_MAX: usize = 60;
const LINE_CHARS_MAX: usize = 200;

/// The calls of a run that are at work.
#[derive(Debug, Clone, Default)]
pub struct CallProgress {
    /// Calls that were proposed, in words.
    proposed: BTreeMap<u32, String>,
    running: BTreeMap<u32, RunningCall>,
    printed: PrintedLines,
    next: Option<Instant>,
}

#[derive(Debug, Clone)]
struct RunningCall {
    label: String,
    since: Instant,
    last_line: String,
}

impl CallProgress {
    /// Takes the next entry of the tape.
    pub fn absorb(&mut self, entry: &v1::TapeEntry, now: Instant) {
        match &entry.event {
            Some(Event::ToolProposed(proposed))
                if model_question(&proposed.tool, &proposed.arguments).is_none() =>
            {
                self.proposed.insert(proposed.effect_id, label(proposed));
            }
            Some(Event::ToolStarted(started)) => self.start(started.effect_id, begun(entry, now)),
            Some(Event::ToolOutput(output)) => {
                let lines = self.printed.take(output);
                let last = lines.into_iter().rev().find(|line| !line.trim().is_empty());
                if let (Some(call), Some(last)) = (self.running.get_mut(&output.effect_id), last) {
                    call.last_line = clean_line(&last, LINE_CHARS_MAX);
                }
            }
            Some(Event::ToolFinished(finished)) => self.end(finished.effect_id),
            Some(Event::ToolOutcomeUnknown(unknown)) => self.end(unknown.effect_id),
            Some(Event::ToolDecided(decided)) if decided.verdict() == v1::ToolVerdict::Deny => {
                self.end(decided.effect_id);
            }
            Some(Event::RunFinished(_)) => *self = Self::default(),
            _ => {}
        }
        if self.running.is_empty() {
            self.next = None;
        }
    }

    fn start(&mut self, effect: u32, since: Instant) {
        let Some(label) = self.proposed.remove(&effect) else { return };
        self.running.insert(effect, RunningCall { label, since, last_line: String::new() });
        self.next.get_or_insert(since + SHOWN_AFTER);
    }

    fn end(&mut self, effect: u32) {
        self.proposed.remove(&effect);
        self.running.remove(&effect);
        self.printed.end(effect);
    }

    /// Returns when the line is to be shown next; `None` while no call is at work.
    pub fn due(&self) -> Option<Instant> {
        self.next
    }

    /// Returns the line that replaces the one before it; empty where no call has taken long enough.
    pub fn line(&mut self, now: Instant) -> String {
        self.next = self.next.map(|_| now + STEP);
        let taken = |call: &RunningCall| now.saturating_duration_since(call.since);
        let long = self.running.values().filter(|call| taken(call) >= SHOWN_AFTER);
        let Some(oldest) = long.max_by_key(|call| taken(call)) else { return String::new() };
        let beside = match self.running.len() {
            1 => String::new(),
            calls => format!(" and {} more", calls - 1),
        };
        let last = match oldest.last_line.as_str() {
            "" => String::new(),
            line => format!(": {line}"),
        };
        format!("{}{beside}, {} s{last}", oldest.label, taken(oldest).as_secs())
    }
}

/// Returns a call in a few words: a command as it was given, another call by what it is about.
fn label(proposed: &v1::ToolProposed) -> String {
    let tool = clean_line(&proposed.tool, LABEL_CHARS_MAX);
    let arguments: serde_json::Value = serde_json::from_str(&proposed.arguments).unwrap_or_default();
    match arguments.get("argv").and_then(|argv| argv.as_array()) {
        Some(argv) => {
            let words: Vec<&str> = argv.iter().filter_map(|word| word.as_str()).collect();
            clean_line(&format!("{tool} {}", words.join(" ")), LABEL_CHARS_MAX)
        }
        None => call_label(&tool, &proposed.arguments),
    }
}

/// Returns when an entry was written, by the clock here: a run may be looked at long after its call began.
fn begun(entry: &v1::TapeEntry, now: Instant) -> Instant {
    let written = entry.time.and_then(|time| SystemTime::try_from(time).ok());
    let age = written.and_then(|written| SystemTime::now().duration_since(written).ok());
    age.filter(|age| *age < AGE_MAX).and_then(|age| now.checked_sub(age)).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(progress: &mut CallProgress, event: Event, now: Instant) {
        progress.absorb(&v1::TapeEntry { event: Some(event), ..Default::default() }, now);
    }

    fn begin(progress: &mut CallProgress, effect_id: u32, tool: &str, arguments: &str, now: Instant) {
        let (tool, arguments) = (tool.to_owned(), arguments.to_owned());
        take(progress, Event::ToolProposed(v1::ToolProposed { effect_id, attempt: 1, tool, arguments }), now);
        take(progress, Event::ToolStarted(v1::ToolStarted { effect_id, ..Default::default() }), now);
    }

    fn end(progress: &mut CallProgress, effect_id: u32, now: Instant) {
        take(progress, Event::ToolFinished(v1::ToolFinished { effect_id, ..Default::default() }), now);
    }

    #[test]
    fn a_long_call_shows_what_runs_for_how_long_and_its_last_line() {
        let mut progress = CallProgress::default();
        let now = Instant::now();
        let at = |seconds| now + Duration::from_secs(seconds);
        assert_eq!(progress.due(), None);
        begin(&mut progress, 1, "run_command", r#"{"argv":["cargo","test"]}"#, now);
        assert_eq!((progress.due(), progress.line(at(1)).as_str()), (Some(at(2)), ""));
        assert_eq!(progress.line(at(3)), "run_command cargo test, 3 s");
        assert_eq!(progress.due(), Some(at(4)));
        let text = "Compiling a\nCompiling b\n\nlin".to_owned();
        let printed = v1::ToolOutput { effect_id: 1, text, ..Default::default() };
        take(&mut progress, Event::ToolOutput(printed), at(3));
        assert_eq!(progress.line(at(61)), "run_command cargo test, 61 s: Compiling b");
        begin(&mut progress, 2, "read_file", r#"{"path":"a"}"#, at(61));
        assert_eq!(progress.line(at(62)), "run_command cargo test and 1 more, 62 s: Compiling b");
        end(&mut progress, 1, at(62));
        assert_eq!(progress.line(at(64)), "read_file \"a\", 3 s");
        end(&mut progress, 2, at(64));
        assert_eq!((progress.due(), progress.line(at(70)).as_str()), (None, ""));
    }

    #[test]
    fn a_question_to_the_person_is_left_out_and_a_call_of_before_has_its_age() {
        let mut progress = CallProgress::default();
        let now = Instant::now();
        begin(&mut progress, 1, "ask_user", r#"{"question":"which?"}"#, now);
        assert_eq!(progress.due(), None);
        let tool = "read_file".to_owned();
        let proposed = v1::ToolProposed { effect_id: 2, attempt: 1, tool, arguments: "{}".to_owned() };
        take(&mut progress, Event::ToolProposed(proposed), now);
        let time = SystemTime::now() - Duration::from_secs(30);
        let started = Event::ToolStarted(v1::ToolStarted { effect_id: 2, ..Default::default() });
        progress.absorb(
            &v1::TapeEntry { event: Some(started), time: Some(time.into()), ..Default::default() },
            now,
        );
        assert_eq!(progress.line(now), "read_file, 30 s");
    }
}
