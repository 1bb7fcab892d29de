//! What of an event is content: how much of it there is, and what is left without it.

use std::path::PathBuf;

use palyra_types::Redacted;
use palyra_types::attachment::AttachmentBody;
use palyra_types::event::{JournalEvent, TapeEvent};
use palyra_types::run::UserInput;

/// Returns the bytes of content, roughly.
pub(super) fn content_bytes(event: &JournalEvent) -> usize {
    let mut without = event.clone();
    let mut bytes = 0;
    visit(&mut without, &mut |text| bytes += text.len());
    bytes
}

/// Shows every text of an event.
pub(super) fn look_at(event: &JournalEvent, seen: &mut dyn FnMut(&str)) {
    visit(&mut event.clone(), seen);
}

/// Empties every content field.
pub(super) fn erase(event: &mut JournalEvent) {
    visit(event, &mut |_| ());
}

/// Shows every text field to `seen` and empties all content.
fn visit(event: &mut JournalEvent, seen: &mut dyn FnMut(&str)) {
    let mut empty = |text: &mut Redacted<String>| {
        seen(text.expose());
        *text = Redacted::default();
    };
    match event {
        JournalEvent::Tape(event) => visit_tape(event, &mut empty),
        JournalEvent::PrincipalRegistered { name, .. } => empty(name),
        JournalEvent::TokenCreated { label, .. } => empty(label),
        JournalEvent::AgentSaved { profile, .. } => {
            empty(&mut profile.name);
            empty(&mut profile.instructions);
            (profile.model, profile.tools) = (None, None);
        }
        JournalEvent::SessionOpened { key, label, .. } => {
            for text in [key, label] {
                text.iter_mut().for_each(&mut empty);
                *text = None;
            }
        }
        JournalEvent::SessionRenamed { label, .. } => {
            label.iter_mut().for_each(&mut empty);
            *label = None;
        }
        JournalEvent::LogOpened { .. }
        | JournalEvent::Erased { .. }
        | JournalEvent::LogReopened { .. }
        | JournalEvent::SessionArchived { .. }
        | JournalEvent::SessionRestored { .. }
        | JournalEvent::EpochStarted { .. }
        | JournalEvent::TokenRevoked { .. }
        | JournalEvent::AgentArchived { .. }
        | JournalEvent::SessionReset { .. }
        | JournalEvent::Unknown { .. } => {}
    }
}

fn visit_input(input: &mut UserInput, empty: &mut dyn FnMut(&mut Redacted<String>)) {
    empty(&mut input.text);
    for attachment in &mut input.attachments {
        empty(&mut attachment.name);
        if let AttachmentBody::Text(text) = &mut attachment.body {
            empty(text);
        }
    }
    input.attachments.clear();
}

fn visit_tape(event: &mut TapeEvent, empty: &mut dyn FnMut(&mut Redacted<String>)) {
    match event {
        TapeEvent::RunStarted(started) => {
            visit_input(&mut started.input, empty);
            started.fallbacks = Redacted::default();
            started.response_format = None;
            started.workspace_root = Redacted::new(PathBuf::new());
            started.model = Redacted::new(None);
            started.run_salt = Redacted::new([0; 32]);
        }
        TapeEvent::InputReceived { input, .. } => visit_input(input, empty),
        TapeEvent::ModelRequested(requested) => requested.model = Redacted::new(None),
        TapeEvent::ModelText { text, .. } | TapeEvent::ModelReasoning { text, .. } => empty(text),
        TapeEvent::ModelMessage(message) => {
            empty(&mut message.response_id);
            message.model = Redacted::new(None);
            if let Some(kept) = &mut message.continuation {
                empty(&mut kept.body);
            }
            message.continuation = None;
        }
        TapeEvent::ToolProposed(proposed) => {
            [&mut proposed.tool, &mut proposed.arguments, &mut proposed.model_call_id]
                .into_iter()
                .for_each(empty);
        }
        TapeEvent::ToolDecided(decided) => empty(&mut decided.explanation),
        TapeEvent::ToolFinished(finished) => empty(&mut finished.output),
        TapeEvent::RunFinished(finished) => empty(&mut finished.message),
        TapeEvent::ModelAttemptAbandoned { detail, .. } => empty(detail),
        TapeEvent::ToolStarted { .. }
        | TapeEvent::ToolOutcomeUnknown { .. }
        | TapeEvent::LoopDetected { .. }
        | TapeEvent::RunHeld { .. }
        | TapeEvent::CancelRequested { .. }
        | TapeEvent::Unknown { .. } => {}
    }
}
