//! Which call of a run `palyra policy explain RUN` is about, where no effect is named.

use palyra_client::Client;
use palyra_types::{ErrorCode, RunId};
use palyra_wire::v1;
use palyra_wire::v1::tape_entry::Event;

use crate::failure::Failure;

/// Entries of a tape that are read at once.
const ENTRIES_READ_MAX: u32 = 500;

/// Returns the last denied call of a run, else its last call.
pub(super) async fn last_decided(client: &Client, run: RunId) -> Result<u32, Failure> {
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
    found.denied.or(found.any).ok_or_else(|| Failure::Input {
        code: ErrorCode::InvalidArgument,
        message: format!("the run {run} called no tool, so nothing was decided"),
        mend: format!("`palyra runs tail {run}` shows what it did"),
    })
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
