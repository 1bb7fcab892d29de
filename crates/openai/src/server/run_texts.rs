//! Reading what a run has said so far, from the pages of its tape.

use palyra_runtime::tape::TapeHandle;
use palyra_runtime::{Caller, RequestError};
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::{RunId, TapeSeq};

use crate::call_rounds::CallRounds;
use crate::reply::answer_reader::{AnswerReader, AnswerStep};

/// Entries of one page.
const PAGE_ENTRIES: usize = 500;

/// Gives every entry that a run has now to `take`.
pub(crate) async fn each_entry(
    tapes: &TapeHandle,
    caller: Caller,
    run: RunId,
    mut take: impl FnMut(&OrchestratorTapeRecord),
) -> Result<(), RequestError> {
    let mut last = TapeSeq::default();
    loop {
        let page = tapes.page(caller, run, last, PAGE_ENTRIES).await?;
        let Some(end) = page.entries.last().map(|entry| entry.tape_seq) else { return Ok(()) };
        page.entries.iter().for_each(&mut take);
        last = end;
    }
}

/// Returns the closed items of text of a part of a run.
pub(crate) async fn text_items(
    tapes: &TapeHandle,
    caller: Caller,
    run: RunId,
    part: u32,
) -> Result<Vec<String>, RequestError> {
    let mut reader = AnswerReader::new(part);
    let mut items = Vec::new();
    each_entry(tapes, caller, run, |entry| {
        for step in reader.read(entry) {
            if let AnswerStep::ItemClosed { text, .. } = step {
                items.push(text);
            }
        }
    })
    .await?;
    Ok(items)
}

/// Returns the closed items of text of the last part of a run: its answer.
pub(crate) async fn last_text_items(
    tapes: &TapeHandle,
    caller: Caller,
    run: RunId,
) -> Result<Vec<String>, RequestError> {
    let mut reader = AnswerReader::new(0);
    let mut items = Vec::new();
    each_entry(tapes, caller, run, |entry| {
        if matches!(entry.event, TapeEvent::Run(RunEvent::ClientToolsAnswered(_))) {
            reader.go_on();
            items.clear();
        }
        for step in reader.read(entry) {
            if let AnswerStep::ItemClosed { text, .. } = step {
                items.push(text);
            }
        }
    })
    .await?;
    Ok(items)
}

/// Returns the parts that a run has now.
pub(crate) async fn call_rounds(
    tapes: &TapeHandle,
    caller: Caller,
    run: RunId,
) -> Result<CallRounds, RequestError> {
    let mut rounds = CallRounds::default();
    each_entry(tapes, caller, run, |entry| rounds.read(entry)).await?;
    Ok(rounds)
}
