//! The places in runs that their person gave a name, with what is there.

use std::collections::BTreeMap;

use palyra_context::compaction::MarkedPlace;
use palyra_journal_core::families::bookmarks;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::ReadError;
use palyra_ports::read_tape::{MAX_TAPE_ENTRIES_PER_RESPONSE, MoreEntries};
use palyra_types::event::{Bookmark, ModelEvent, RunEvent, TapeEvent, ToolEvent};
use palyra_types::{PrincipalId, Redacted, RunId, TapeSeq};

use crate::parts::ConversationPorts;

/// Returns the marked places of runs, in the order in which they were marked.
///
/// # Errors
/// [`ReadError`].
pub(crate) async fn marked_places(
    ports: &ConversationPorts,
    principal: PrincipalId,
    runs: &[RunId],
) -> Result<Vec<MarkedPlace>, ReadError> {
    let all = ports.families.query(move |rows, log| bookmarks::of_principal(rows, log, principal)).await?;
    let mut marked = Vec::new();
    for (_, bookmark) in all.into_iter().filter(|(_, bookmark)| runs.contains(&bookmark.run)) {
        let text = text_before(ports, &bookmark).await?;
        marked.push(MarkedPlace { name: bookmark.name, text });
    }
    Ok(marked)
}

/// Returns the last text of a tape that ends at a place.
async fn text_before(ports: &ConversationPorts, bookmark: &Bookmark) -> Result<Redacted<String>, ReadError> {
    let mut last = Redacted::default();
    let mut spoken: BTreeMap<_, Redacted<String>> = BTreeMap::new();
    let mut after = TapeSeq::default();
    loop {
        let page = ports.tapes.tape(bookmark.run, after, MAX_TAPE_ENTRIES_PER_RESPONSE).await?;
        for entry in &page.entries {
            if entry.tape_seq > bookmark.tape_seq {
                return Ok(last);
            }
            after = entry.tape_seq;
            let text = match &entry.event {
                TapeEvent::Run(RunEvent::Started(started)) => Some(started.input.text.clone()),
                TapeEvent::Run(RunEvent::InputReceived { input, .. }) => Some(input.text.clone()),
                TapeEvent::Tool(ToolEvent::Finished(finished)) => Some(finished.output.clone()),
                TapeEvent::Model(ModelEvent::Text { attempt, text }) => {
                    let whole = spoken.entry(*attempt).or_default();
                    whole.push(text);
                    Some(whole.clone())
                }
                TapeEvent::Run(_)
                | TapeEvent::Tool(_)
                | TapeEvent::Model(_)
                | TapeEvent::Approval(_)
                | TapeEvent::Unknown { .. } => None,
            };
            last = text.filter(|text| !text.expose().is_empty()).unwrap_or(last);
        }
        if page.more == MoreEntries::None || page.entries.is_empty() {
            return Ok(last);
        }
    }
}
