//! What a run of the past did, for the tool that reads it.
//!
//! Owns which entries are read, which of them a reader is shown, and that a run of another principal or without its content is
//! like one that does not exist. Invariant: the labels of the whole run come along with each part of it. Begin at [`past_run`].

use std::collections::BTreeMap;

use palyra_context::taints_read::TaintsRead;
use palyra_journal_core::families::id_query::{IdQuery, IdTable};
use palyra_journal_core::families::runs;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::read_records::{RunFilter, RunQuery};
use palyra_ports::read_tape::{MAX_TAPE_ENTRIES_PER_RESPONSE, MoreEntries};
use palyra_ports::search_memories::{MemoryCall, RunPart, ShownEntry, ShownRun, WantedRun};
use palyra_types::event::{ModelEvent, RunEvent, TapeEvent, ToolEvent};
use palyra_types::id_name::IdName;
use palyra_types::run::RunRecord;
use palyra_types::tape::{ContentState, OrchestratorTapeRecord};
use palyra_types::tool::ToolVerdict;
use palyra_types::{Redacted, RunId, TapeSeq};

use crate::error::AdminError;
use crate::parts::MemoryPorts;

/// Entries of a run that are read, at most; those behind are not shown.
const ENTRIES_READ_MAX: u32 = 10_000;
const ITSELF: &str = "a run cannot read itself: what it did is in its conversation";
const SEVERAL: &str = "several runs fit this name; write more characters of the id";
const NO_NAME: &str =
    "a run is named by its id, 4 characters or more of its beginning or end, `last` or `last~N`";

/// Returns what a run of the call's principal did.
pub(super) async fn past_run(
    ports: &MemoryPorts,
    call: &MemoryCall,
    wanted: &WantedRun,
) -> Result<ShownRun, AdminError> {
    let record = find(ports, call, &wanted.name).await?;
    let mut reading = RunReading::default();
    let mut last = TapeSeq::default();
    loop {
        let page = ports.tapes.tape(record.run, last, MAX_TAPE_ENTRIES_PER_RESPONSE).await?;
        for entry in &page.entries {
            if entry.principal != call.principal || entry.content == ContentState::Erased {
                return Err(AdminError::RunNotFound);
            }
            last = entry.tape_seq;
            reading.take(entry);
        }
        if page.more == MoreEntries::None || page.entries.is_empty() || last.0 >= ENTRIES_READ_MAX {
            break;
        }
    }
    let mut entries = reading.entries;
    let is_wanted =
        |seq: TapeSeq| seq.0 >= wanted.from.unwrap_or(1) && wanted.to.is_none_or(|to| seq.0 <= to);
    entries.retain(|entry| is_wanted(entry.tape_seq));
    Ok(ShownRun {
        run: record.run,
        session: record.session,
        created: record.created,
        state: record.state,
        last,
        entries,
        taints: reading.taints.taints(),
    })
}

/// Finds the run that a name means, among those of the principal.
async fn find(ports: &MemoryPorts, call: &MemoryCall, name: &str) -> Result<RunRecord, AdminError> {
    let name: IdName = name.parse().map_err(|_| invalid(NO_NAME))?;
    let principal = call.principal;
    let own = call.run;
    let families = &ports.families;
    let run = match name {
        IdName::Last(back) => {
            let back = usize::try_from(back).unwrap_or(usize::MAX);
            let found = families.query(move |rows, _| {
                // A preview reads for a run that is not recorded.
                let before = runs::record(rows, own)?.map(|record| record.first_seq);
                let limit = back.saturating_add(1);
                runs::records(
                    rows,
                    &RunQuery { principal, session: None, only: RunFilter::All, before, limit },
                )
            });
            found.await?.into_iter().nth(back).map(|record| record.run)
        }
        IdName::Fragment(fragment) => {
            let query =
                IdQuery { table: IdTable::Runs, principal: Some(principal), fragment, below: None, limit: 2 };
            let found = families.query(move |rows, _| runs::ids(rows, &query)).await?;
            if found.len() > 1 {
                return Err(invalid(SEVERAL));
            }
            found.first().map(|id| RunId::from_bytes(*id))
        }
    };
    let run = run.ok_or(AdminError::RunNotFound)?;
    if run == own {
        return Err(invalid(ITSELF));
    }
    let record = families.query(move |rows, _| runs::record(rows, run)).await?;
    record.filter(|record| record.principal == principal).ok_or(AdminError::RunNotFound)
}

/// A tape, entry after entry.
#[derive(Default)]
struct RunReading {
    entries: Vec<ShownEntry>,
    taints: TaintsRead,
    /// The pieces of answers that are not complete.
    pieces: BTreeMap<TapeSeq, Redacted<String>>,
}

impl RunReading {
    fn take(&mut self, entry: &OrchestratorTapeRecord) {
        self.taints.take(&entry.event);
        match &entry.event {
            TapeEvent::Run(event) => self.take_run(entry.tape_seq, event),
            TapeEvent::Model(event) => self.take_model(entry.tape_seq, event),
            TapeEvent::Tool(event) => self.take_tool(entry.tape_seq, event),
            TapeEvent::Approval(_) | TapeEvent::Unknown { .. } => {}
        }
    }

    fn show(&mut self, tape_seq: TapeSeq, part: RunPart, text: Redacted<String>) {
        self.entries.push(ShownEntry { tape_seq, part, text });
    }

    fn take_run(&mut self, at: TapeSeq, event: &RunEvent) {
        match event {
            RunEvent::Started(started) => self.show(at, RunPart::Input, started.input.text.clone()),
            RunEvent::InputReceived { input, .. } => self.show(at, RunPart::Input, input.text.clone()),
            RunEvent::ClientToolsCalled(called) => {
                for call in &called.calls {
                    self.show(at, RunPart::Call, call_text(&call.name, &call.arguments));
                }
            }
            RunEvent::ClientToolsAnswered(answered) => {
                for output in &answered.outputs {
                    self.show(at, RunPart::Result, output.clone());
                }
            }
            RunEvent::Finished(finished) if !finished.message.expose().is_empty() => {
                self.show(at, RunPart::End, finished.message.clone());
            }
            RunEvent::LoopDetected { .. }
            | RunEvent::Held { .. }
            | RunEvent::CancelRequested { .. }
            | RunEvent::ClientToolsOffered(_)
            | RunEvent::ReferencesExpanded(_)
            | RunEvent::BudgetReached { .. }
            | RunEvent::SoftLimitNoted { .. }
            | RunEvent::Finished(_) => {}
        }
    }

    /// Takes the pieces of an answer together once it is complete; those of an abandoned attempt do not count.
    fn take_model(&mut self, at: TapeSeq, event: &ModelEvent) {
        match event {
            ModelEvent::Text { text, .. } => {
                self.pieces.insert(at, text.clone());
            }
            ModelEvent::Message(message) => {
                let pieces = std::mem::take(&mut self.pieces).into_iter();
                let said = pieces
                    .filter(|(seq, _)| (message.text_from..=message.text_to).contains(seq))
                    .fold(Redacted::default(), |all: Redacted<String>, (_, piece)| {
                        all.zip(piece).map(|(all, piece)| all + &piece)
                    });
                if !said.expose().is_empty() {
                    self.show(at, RunPart::Answer, said);
                }
            }
            ModelEvent::AttemptAbandoned { .. } => self.pieces.clear(),
            ModelEvent::Requested(_) | ModelEvent::Reasoning { .. } | ModelEvent::Switched { .. } => {}
        }
    }

    fn take_tool(&mut self, at: TapeSeq, event: &ToolEvent) {
        match event {
            ToolEvent::Proposed(proposed) => {
                self.show(at, RunPart::Call, call_text(&proposed.tool, &proposed.arguments));
            }
            ToolEvent::Decided(decided) if decided.verdict == ToolVerdict::Deny => {
                self.show(at, RunPart::Denial, decided.explanation.clone());
            }
            ToolEvent::Finished(finished) => {
                let part = if finished.failure.is_some() { RunPart::Failure } else { RunPart::Result };
                self.show(at, part, finished.output.clone());
            }
            ToolEvent::OutcomeUnknown { .. } => {
                self.show(at, RunPart::Failure, "it is not known whether the call took effect".into());
            }
            ToolEvent::Decided(_)
            | ToolEvent::Started(_)
            | ToolEvent::Output(_)
            | ToolEvent::EffectResolved { .. } => {}
        }
    }
}

fn call_text(name: &Redacted<String>, arguments: &Redacted<String>) -> Redacted<String> {
    name.clone().zip(arguments.clone()).map(|(name, arguments)| format!("{name} {arguments}"))
}

fn invalid(what: &str) -> AdminError {
    AdminError::InvalidArgument { what: what.to_owned() }
}
