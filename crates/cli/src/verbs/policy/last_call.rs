//! Which call of a run `palyra policy explain RUN` is about, where no effect is named.

use std::path::PathBuf;

use palyra_client::Client;
use palyra_types::{ErrorCode, RunId};
use palyra_wire::v1;
use palyra_wire::v1::tape_entry::Event;

use super::super::runs::acting::acting_before;
use crate::failure::Failure;
use palyra_run_view::instead_of_last;
use palyra_terminal::{NoteKind, Output};

/// Entries of a tape that are read at once.
const ENTRIES_READ_MAX: u32 = 500;

/// A call of a run.
pub(super) struct DecidedCall {
    pub(super) run: RunId,
    pub(super) effect: u32,
}

/// Returns the last denied call of a run, else its last call. Where a run called no tool and is the last one of this
/// folder, the newest run of the folder that did takes its place, and a note says so.
pub(super) async fn last_decided(
    output: &Output,
    client: &Client,
    run: RunId,
    folder: Option<PathBuf>,
) -> Result<DecidedCall, Failure> {
    if let Some(effect) = last_of(client, run).await? {
        return Ok(DecidedCall { run, effect });
    }
    let among = match folder {
        Some(folder) => {
            v1::ListRunsRequest { workspace_root: folder.display().to_string(), ..Default::default() }
        }
        None => {
            v1::ListRunsRequest { session_id: client.get_run(run).await?.session_id, ..Default::default() }
        }
    };
    if let Some(acting) = acting_before(client, &run.to_string(), among).await?
        && let Ok(run) = acting.run_id.parse()
        && let Some(effect) = last_of(client, run).await?
    {
        output.note(NoteKind::Info, &instead_of_last(&acting));
        return Ok(DecidedCall { run, effect });
    }
    let run = output.id(&run.to_string());
    Err(Failure::Input {
        code: ErrorCode::InvalidArgument,
        message: format!("the run {run} called no tool, so nothing was decided"),
        mend: format!("`palyra runs tail {run}` shows what it did"),
    })
}

async fn last_of(client: &Client, run: RunId) -> Result<Option<u32>, Failure> {
    let mut found = LastCall::default();
    let mut after = 0;
    loop {
        let page = client.read_tape(run, after, ENTRIES_READ_MAX).await?;
        page.entries.iter().for_each(|entry| found.read(entry));
        match page.entries.last().filter(|last| page.more && last.tape_seq > after) {
            Some(last) => after = last.tape_seq,
            None => break,
        }
    }
    Ok(found.denied.or(found.any))
}

#[derive(Default)]
struct LastCall {
    denied: Option<u32>,
    any: Option<u32>,
}

impl LastCall {
    fn read(&mut self, entry: &v1::TapeEntry) {
        let Some(Event::ToolDecided(decided)) = &entry.event else { return };
        self.any = Some(decided.effect_id);
        if decided.verdict() == v1::ToolVerdict::Deny {
            self.denied = Some(decided.effect_id);
        }
    }
}
