//! What an erasure does with the lines typed in chats, which this program keeps beside the daemon's state.
//!
//! Invariant: lines with erased words go; where that cannot be known the file is named, with the command that deletes it.

use palyra_client::Client;
use palyra_types::RunId;
use palyra_wire::v1;
use palyra_wire::v1::tape_entry::Event;

use crate::context::Context;
use crate::failure::Failure;
use palyra_screen_text::count;
use palyra_terminal::{HISTORY_FILE_NAME, NoteKind, forget_lines};

const PAGE_ENTRIES: u32 = 1000;
const PAGES_MAX: usize = 20;

/// What was typed for a run, read before it is erased.
pub(super) struct TypedInputs {
    texts: Vec<String>,
    /// Whether a chat may have taken them: its session has a name, is a branch, or has several runs.
    may_be_of_chat: bool,
}

impl TypedInputs {
    /// Reads the inputs of a run from its tape.
    pub(super) async fn of_run(client: &Client, run: &str) -> Result<Self, Failure> {
        let mut inputs = Self { texts: Vec::new(), may_be_of_chat: false };
        let Ok(id) = run.parse::<RunId>() else { return Ok(inputs) };
        let session = v1::SessionSelector {
            session_id: client.get_run(id).await?.session_id,
            require_existing: true,
            ..Default::default()
        };
        let request = v1::ResolveSessionRequest { session: Some(session), ..Default::default() };
        let session = client.call(request).await?.session.unwrap_or_default();
        inputs.may_be_of_chat =
            !session.session_key.is_empty() || session.branched_from.is_some() || session.runs > 1;
        let mut after = 0;
        for _ in 0..PAGES_MAX {
            let page = client.read_tape(id, after, PAGE_ENTRIES).await?;
            after = page.entries.last().map_or(after, |entry| entry.tape_seq);
            inputs.texts.extend(page.entries.into_iter().filter_map(|entry| match entry.event {
                Some(Event::RunStarted(started)) => Some(started.input),
                Some(Event::InputReceived(received)) => Some(received.input),
                _ => None,
            }));
            if !page.more {
                break;
            }
        }
        inputs.texts.retain(|text| !text.trim().is_empty());
        Ok(inputs)
    }
}

/// Takes the lines with erased words out of the file, or names the file.
pub(super) fn forget(context: &Context, inputs: Option<TypedInputs>) -> Result<(), Failure> {
    if !context.is_local() {
        return Ok(());
    }
    let file = context.state_dir()?.join(HISTORY_FILE_NAME);
    if !std::fs::metadata(&file).is_ok_and(|found| found.len() > 0) {
        return Ok(());
    }
    let shown = file.display();
    let by_hand = format!("`rm {shown}` deletes the lines that were typed in chats");
    let Some(TypedInputs { texts, may_be_of_chat }) = inputs else {
        context.output.note(NoteKind::Doubt, &format!("{shown} may still hold it: {by_hand}"));
        return Ok(());
    };
    match forget_lines(&file, &texts) {
        // A secret in an input is not what was typed; its line is not found.
        Ok(found) if found < texts.len() && may_be_of_chat => {
            context.output.note(NoteKind::Doubt, &format!("{shown} may still hold some of it: {by_hand}"));
        }
        Ok(0) => {}
        Ok(found) => {
            let lines = count(found as u64, "line");
            context.output.note(NoteKind::Info, &format!("{lines} of it taken out of {shown}"));
        }
        Err(error) => {
            let message = format!("{shown} may still hold it and cannot be changed ({error}): {by_hand}");
            context.output.note(NoteKind::Doubt, &message);
        }
    }
    Ok(())
}
