//! Reads a finished run for reflection: whose words are in it, and which calls it made.

use std::collections::BTreeMap;

use palyra_context::taints_read::TaintsRead;
use palyra_learning::{EntryVoice, ReflectedCall, ReflectedEntry, ReflectedRun};
use palyra_ports::ReadError;
use palyra_ports::read_tape::{MAX_TAPE_ENTRIES_PER_RESPONSE, MoreEntries};
use palyra_types::event::{ModelEvent, RunEvent, TapeEvent, ToolEvent};
use palyra_types::learning::CitedEntry;
use palyra_types::surface::Surface;
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::tool::Taints;
use palyra_types::{Content, EffectId, PrincipalId, RunId, TapeSeq};

use crate::parts::ConversationPorts;

/// Entries of a tape that are read, at most: a longer run is read from its beginning.
const ENTRIES_MAX: usize = 4_096;

/// A run while its tape is read.
struct RunReader {
    read: ReflectedRun,
    principal: PrincipalId,
    taints: TaintsRead,
    calls: BTreeMap<EffectId, usize>,
    /// Pieces of the message that a model is writing.
    message: String,
}

/// Reads a run of a principal; `None` where there is nothing to read, as after an erasure.
///
/// # Errors
/// [`ReadError`].
pub(super) async fn finished_run(
    ports: &ConversationPorts,
    principal: PrincipalId,
    run: RunId,
) -> Result<Option<ReflectedRun>, ReadError> {
    let mut reader = RunReader::new(principal, run);
    let mut last = TapeSeq::default();
    loop {
        let page = ports.tapes.tape(run, last, MAX_TAPE_ENTRIES_PER_RESPONSE).await?;
        for entry in &page.entries {
            last = entry.tape_seq;
            reader.take(entry);
        }
        let is_long = usize::try_from(last.0).unwrap_or(usize::MAX) >= ENTRIES_MAX;
        if page.more == MoreEntries::None || page.entries.is_empty() || is_long {
            break;
        }
    }
    let RunReader { mut read, taints, .. } = reader;
    read.taints = taints.taints();
    read.entries.retain(|entry| !entry.text.expose().trim().is_empty());
    read.calls.retain(|call| !call.tool.is_empty());
    let has_something = !read.entries.is_empty() || !read.calls.is_empty();
    Ok(has_something.then_some(read))
}

impl RunReader {
    fn new(principal: PrincipalId, run: RunId) -> Self {
        let read = ReflectedRun {
            run,
            surface: Surface::Background,
            taints: Taints::NONE,
            entries: Vec::new(),
            calls: Vec::new(),
        };
        Self {
            read,
            principal,
            taints: TaintsRead::default(),
            calls: BTreeMap::new(),
            message: String::new(),
        }
    }

    fn take(&mut self, entry: &OrchestratorTapeRecord) {
        self.taints.take(&entry.event);
        let typed = entry.principal == self.principal;
        let own = if typed { EntryVoice::Principal } else { EntryVoice::Data };
        match &entry.event {
            TapeEvent::Run(RunEvent::Started(started)) => {
                self.read.surface = started.surface;
                self.say(entry, own, started.input.text.expose());
            }
            TapeEvent::Run(RunEvent::InputReceived { input, .. }) => {
                self.say(entry, own, input.text.expose());
            }
            TapeEvent::Model(ModelEvent::Text { text, .. }) => self.message.push_str(text.expose()),
            TapeEvent::Model(ModelEvent::Message(_)) => {
                let message = std::mem::take(&mut self.message);
                self.say(entry, EntryVoice::Model, &message);
            }
            TapeEvent::Tool(event) => self.take_call(entry, event),
            TapeEvent::Run(_) | TapeEvent::Model(_) | TapeEvent::Approval(_) | TapeEvent::Unknown { .. } => {}
        }
    }

    fn say(&mut self, entry: &OrchestratorTapeRecord, voice: EntryVoice, text: &str) {
        self.read.entries.push(ReflectedEntry {
            at: cited(entry),
            time: entry.time,
            voice,
            text: Content::new(text.to_owned()),
        });
    }

    fn take_call(&mut self, entry: &OrchestratorTapeRecord, event: &ToolEvent) {
        match event {
            ToolEvent::Proposed(proposed) => {
                self.calls.insert(proposed.effect, self.read.calls.len());
                self.read.calls.push(ReflectedCall {
                    at: cited(entry),
                    tool: proposed.tool.expose().clone(),
                    arguments: proposed.arguments.clone().into(),
                    has_succeeded: false,
                });
            }
            ToolEvent::Finished(finished) => {
                let call = self.calls.get(&finished.effect).and_then(|at| self.read.calls.get_mut(*at));
                if let Some(call) = call {
                    call.has_succeeded = finished.failure.is_none();
                }
            }
            ToolEvent::Decided(_)
            | ToolEvent::Started(_)
            | ToolEvent::Output(_)
            | ToolEvent::OutcomeUnknown { .. }
            | ToolEvent::EffectResolved { .. } => {}
        }
    }
}

fn cited(entry: &OrchestratorTapeRecord) -> CitedEntry {
    CitedEntry { run: entry.run, tape_seq: entry.tape_seq }
}
