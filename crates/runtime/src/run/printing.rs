//! What running tools print, on its way into a run: cleaned as it comes, gathered into few entries.
//!
//! Owns what was printed and is not recorded yet. A tool never waits here: while the journal is slow it gathers, and
//! what is more than is shown of a call is forgotten, for the outcome has all that counts. Knows no machine but its
//! limits. Invariant: the pieces of a call passed the redactor as one text.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use palyra_ports::{HearOutput, OutputSink, RedactStream, Redactor};
use palyra_run_core::RunInput;
use palyra_run_core::coalesce::TextCoalescer;
use palyra_run_core::machine::OUTPUT_SHOWN_BYTES_MAX;
use palyra_types::{BootTime, Content, EffectId, Redacted};
use tokio::sync::Notify;

use crate::run::input_queue::InputQueue;

/// Bytes that are cleaned at once.
const PART_BYTES: usize = 16 * 1024;

/// The calls of a run that may print.
#[derive(Default)]
pub(super) struct PrintingCalls {
    calls: BTreeMap<EffectId, LiveOutput>,
    news: Arc<Notify>,
}

/// What one call prints. Dropping it makes its tool print to nobody.
struct LiveOutput {
    printed: Arc<ToolOutputSink>,
    gathered: TextCoalescer,
}

/// The end that the tool has.
struct ToolOutputSink {
    redactor: Arc<dyn Redactor>,
    news: Arc<Notify>,
    state: Mutex<OutputState>,
}

#[derive(Default)]
struct OutputState {
    /// Begun with the first byte: most tools print nothing.
    cleaning: Option<Box<dyn RedactStream>>,
    /// The beginning of a character whose rest is still to come.
    cut: Vec<u8>,
    /// What is clean and nobody has taken.
    ready: Redacted<String>,
    /// Bytes that were ready so far.
    given: u64,
    open: SinkOpen,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum SinkOpen {
    #[default]
    Yes,
    No,
}

impl PrintingCalls {
    /// Begins to listen to a call.
    pub(super) fn begin(&mut self, effect: EffectId, redactor: &Arc<dyn Redactor>) -> OutputSink {
        let printed = Arc::new(ToolOutputSink {
            redactor: Arc::clone(redactor),
            news: Arc::clone(&self.news),
            state: Mutex::default(),
        });
        let sink = OutputSink::new(Arc::clone(&printed) as Arc<dyn HearOutput>);
        let live = LiveOutput { printed, gathered: TextCoalescer::of_tool() };
        self.calls.insert(effect, live);
        sink
    }

    /// Waits until a call has printed something that was not taken.
    pub(super) async fn news(&self) {
        self.news.notified().await;
    }

    /// Returns when held words are due.
    pub(super) fn deadline(&self) -> Option<BootTime> {
        self.calls.values().filter_map(|live| live.gathered.deadline()).min()
    }

    /// Takes what was printed, and holds what is due by now for the next step.
    pub(super) fn take_time(&mut self, now: BootTime, inputs: &mut InputQueue) {
        for (effect, live) in &mut self.calls {
            let ready = std::mem::take(&mut live.printed.state().ready);
            if let Some(due) = live.gathered.push(&ready, now) {
                inputs.push_output(*effect, &due);
            }
        }
    }

    /// Holds what an ended call printed last, so that a quick one is shown like a slow one.
    pub(super) fn end(&mut self, input: &RunInput, now: BootTime, inputs: &mut InputQueue) {
        let (RunInput::ToolFinished { effect, .. } | RunInput::ToolOutcomeLost { effect, .. }) = input else {
            return;
        };
        let Some(mut live) = self.calls.remove(effect) else { return };
        let last = live.printed.end();
        let due = live.gathered.push(&last, now);
        let rest = live.gathered.flush(now);
        due.iter().chain(&rest).for_each(|text| inputs.push_output(*effect, text));
    }

    /// Stops to listen to calls of which no more is shown.
    pub(super) fn retain(&mut self, shows: impl Fn(EffectId) -> bool) {
        self.calls.retain(|effect, _| shows(*effect));
    }
}

impl Drop for LiveOutput {
    fn drop(&mut self) {
        *self.printed.state() = OutputState { open: SinkOpen::No, ..OutputState::default() };
    }
}

impl ToolOutputSink {
    fn state(&self) -> MutexGuard<'_, OutputState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the text; returns all that nobody has taken.
    fn end(&self) -> Redacted<String> {
        let mut state = self.state();
        let ended = catch_unwind(AssertUnwindSafe(|| state.end()));
        ended.unwrap_or_else(|_| state.give_up_cleaning())
    }
}

impl HearOutput for ToolOutputSink {
    fn hear(&self, bytes: &[u8]) {
        let mut state = self.state();
        let nothing_was_ready = state.ready.expose().is_empty();
        for part in bytes.chunks(PART_BYTES) {
            // One byte more than is shown, so that the run sees that there is more.
            if state.open == SinkOpen::No || state.given > OUTPUT_SHOWN_BYTES_MAX {
                break;
            }
            // The tool is not to suffer for who listens to it.
            if catch_unwind(AssertUnwindSafe(|| state.take(part, &*self.redactor))).is_err() {
                state.give_up_cleaning();
            }
        }
        if nothing_was_ready && !state.ready.expose().is_empty() {
            self.news.notify_one();
        }
    }
}

impl OutputState {
    fn take(&mut self, part: &[u8], redactor: &dyn Redactor) {
        self.cut.extend_from_slice(part);
        let rest = self.cut.split_off(self.cut.len() - cut_character(&self.cut));
        let text = std::mem::replace(&mut self.cut, rest);
        let cleaning = self.cleaning.get_or_insert_with(|| redactor.begin());
        let clean = cleaning.push(Content::new(&*String::from_utf8_lossy(&text)));
        self.give(&clean);
    }

    /// Shows nothing more, since nobody cleans it.
    fn give_up_cleaning(&mut self) -> Redacted<String> {
        tracing::error!("the redactor panicked at what a tool printed; this is a bug");
        *self = Self { open: SinkOpen::No, ..Self::default() };
        Redacted::default()
    }

    fn give(&mut self, clean: &Redacted<String>) {
        self.given += clean.expose().len() as u64;
        self.ready.push(clean);
    }

    /// Returns all that nobody has taken, and what the cleaning held back.
    fn end(&mut self) -> Redacted<String> {
        if let Some(mut cleaning) = self.cleaning.take() {
            let clean =
                [cleaning.push(Content::new(&*String::from_utf8_lossy(&self.cut))), cleaning.finish()];
            clean.iter().for_each(|clean| self.give(clean));
        }
        std::mem::take(&mut self.ready)
    }
}

/// Returns how many bytes at the end are the beginning of a character.
fn cut_character(bytes: &[u8]) -> usize {
    let tail = bytes.iter().rev().zip(1..=3).find(|(byte, _)| !matches!(byte, 0x80..=0xBF));
    let Some((first, length)) = tail else { return 0 };
    let whole = match first {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 1,
    };
    if whole > length { length } else { 0 }
}

#[cfg(test)]
mod tests;
