//! What of an event is content: how much of it there is, and what is left without it.

use std::path::PathBuf;

use palyra_types::Redacted;
use palyra_types::approval::{ApprovalPromptRecord, ArgumentShape, StoredGrant};
use palyra_types::attachment::AttachmentBody;
use palyra_types::component::ComponentEvent;
use palyra_types::effect::{Before, EffectPlan, KeptPlacement, UndoResult, UndoneFile};
use palyra_types::event::{JournalEvent, TapeEvent};
use palyra_types::posture::PostureScope;
use palyra_types::run::UserInput;
use palyra_types::skill::SkillEvent;
use palyra_types::vault::{SecretPut, VaultEvent};

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
        JournalEvent::EffectSettled(settled) => empty(&mut settled.note),
        JournalEvent::UndoRequested(requested) => {
            requested.paths.iter_mut().for_each(&mut empty);
            requested.paths.clear();
            if let Some(kept) = &mut requested.kept {
                *kept = KeptPlacement::default();
            }
        }
        JournalEvent::UndoFinished { files, .. } => visit_undone(files, &mut empty),
        JournalEvent::Skill(SkillEvent::Installed(installed)) => {
            empty(&mut installed.name);
            empty(&mut installed.description);
            empty(&mut installed.source);
            installed.allowed_tools = None;
        }
        JournalEvent::PostureChanged(changed) => {
            empty(&mut changed.tool);
            if let PostureScope::Workspace(path) = &mut changed.scope {
                empty(path);
            }
        }
        JournalEvent::Component(event) => visit_component(event, &mut empty),
        JournalEvent::Vault(event) => visit_vault(event, &mut empty),
        JournalEvent::Skill(_)
        | JournalEvent::ShadowCounted(_)
        | JournalEvent::Job(_)
        | JournalEvent::GrantRevoked { .. }
        | JournalEvent::LogOpened { .. }
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

fn visit_undone(files: &mut Vec<UndoneFile>, empty: &mut dyn FnMut(&mut Redacted<String>)) {
    for file in files.iter_mut() {
        empty(&mut file.path);
        match &mut file.result {
            UndoResult::Conflict(text) | UndoResult::Failed(text) => empty(text),
            UndoResult::Restored | UndoResult::AlreadyRestored | UndoResult::Withheld => {}
        }
    }
    files.clear();
}

fn visit_component(event: &mut ComponentEvent, empty: &mut dyn FnMut(&mut Redacted<String>)) {
    match event {
        ComponentEvent::Added(added) => {
            for text in [&mut added.name, &mut added.text, &mut added.schema, &mut added.source] {
                empty(text);
            }
            added.capabilities.clear();
        }
        ComponentEvent::Removed { .. } => {}
    }
}

fn visit_vault(event: &mut VaultEvent, empty: &mut dyn FnMut(&mut Redacted<String>)) {
    match event {
        VaultEvent::Put(SecretPut { secret, hosts, sent_as, .. }) => {
            empty(secret);
            empty(sent_as);
            hosts.iter_mut().for_each(&mut *empty);
            hosts.clear();
        }
        VaultEvent::Bound { secret, hosts, .. } => {
            empty(secret);
            hosts.iter_mut().for_each(&mut *empty);
            hosts.clear();
        }
        VaultEvent::Removed { secret, .. } => empty(secret),
        VaultEvent::Used(used) => {
            empty(&mut used.secret);
            empty(&mut used.host);
        }
        VaultEvent::Unlocked { .. } | VaultEvent::PassphraseSet { .. } => {}
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
        TapeEvent::ToolDecided(decided) => {
            [&mut decided.explanation, &mut decided.request].into_iter().for_each(empty);
        }
        TapeEvent::ToolStarted(started) => visit_plan(&mut started.plan, empty),
        TapeEvent::ApprovalRequested(requested) => visit_prompt(&mut requested.prompt, empty),
        TapeEvent::ApprovalVoted(voted) => empty(&mut voted.note),
        TapeEvent::ApprovalResolved(resolved) => {
            empty(&mut resolved.note);
            resolved.edited.iter_mut().for_each(empty);
            resolved.edited = None;
        }
        TapeEvent::GrantStored(stored) => visit_grant(stored, empty),
        TapeEvent::EffectResolved { note, .. } => empty(note),
        TapeEvent::ToolOutput(output) => empty(&mut output.text),
        TapeEvent::ToolFinished(finished) => empty(&mut finished.output),
        TapeEvent::RunFinished(finished) => empty(&mut finished.message),
        TapeEvent::ModelAttemptAbandoned { detail, .. } => empty(detail),
        TapeEvent::ToolOutcomeUnknown { .. }
        | TapeEvent::LoopDetected { .. }
        | TapeEvent::RunHeld { .. }
        | TapeEvent::CancelRequested { .. }
        | TapeEvent::Unknown { .. } => {}
    }
}

fn visit_plan(plan: &mut EffectPlan, empty: &mut dyn FnMut(&mut Redacted<String>)) {
    empty(&mut plan.body);
    for image in &mut plan.pre_images {
        empty(&mut image.path);
        match &image.before {
            Before::Absent | Before::Withheld { .. } => {}
            Before::File { bytes, .. } => {
                empty(&mut Redacted::new(String::from_utf8_lossy(bytes.expose()).into_owned()));
            }
        }
    }
    plan.pre_images.clear();
}

fn visit_prompt(prompt: &mut ApprovalPromptRecord, empty: &mut dyn FnMut(&mut Redacted<String>)) {
    let ApprovalPromptRecord { tool, arguments, summary, preview, reason, unbound, asked_again } = prompt;
    [tool, arguments, summary, preview, reason, unbound, asked_again].into_iter().for_each(empty);
}

fn visit_grant(stored: &mut StoredGrant, empty: &mut dyn FnMut(&mut Redacted<String>)) {
    empty(&mut stored.tool);
    (stored.bounds.workspace, stored.bounds.programs) = (None, None);
    for rule in &mut stored.matcher {
        empty(&mut rule.argument);
        match &mut rule.shape {
            ArgumentShape::Equal(text) | ArgumentShape::Beneath(text) | ArgumentShape::Origin(text) => {
                empty(text);
            }
            ArgumentShape::Any => {}
        }
    }
    stored.matcher.clear();
}
