//! What of an event is content: how much of it there is, and what is left without it.

use std::path::PathBuf;

use palyra_types::Redacted;
use palyra_types::approval::{ApprovalPromptRecord, ArgumentShape, StoredGrant};
use palyra_types::attachment::AttachmentBody;
use palyra_types::component::ComponentEvent;
use palyra_types::effect::{Before, EffectPlan, KeptPlacement, UndoResult, UndoneFile};
use palyra_types::event::{
    AccessEvent, AgentEvent, ApprovalEvent, EffectEvent, JournalEvent, ModelEvent, PolicyEvent, RunEvent,
    SessionEvent, TapeEvent, ToolEvent,
};
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
        JournalEvent::Access(AccessEvent::PrincipalRegistered { name, .. }) => empty(name),
        JournalEvent::Access(AccessEvent::TokenCreated { label, .. }) => empty(label),
        JournalEvent::Agent(AgentEvent::Saved { profile, .. }) => {
            empty(&mut profile.name);
            empty(&mut profile.instructions);
            (profile.model, profile.tools) = (None, None);
        }
        JournalEvent::Session(SessionEvent::Opened { key, label, .. }) => {
            for text in [key, label] {
                text.iter_mut().for_each(&mut empty);
                *text = None;
            }
        }
        JournalEvent::Session(SessionEvent::Renamed { label, .. }) => {
            label.iter_mut().for_each(&mut empty);
            *label = None;
        }
        JournalEvent::Effect(EffectEvent::Settled(settled)) => empty(&mut settled.note),
        JournalEvent::Effect(EffectEvent::UndoRequested(requested)) => {
            requested.paths.iter_mut().for_each(&mut empty);
            requested.paths.clear();
            if let Some(kept) = &mut requested.kept {
                *kept = KeptPlacement::default();
            }
        }
        JournalEvent::Effect(EffectEvent::UndoFinished { files, .. }) => visit_undone(files, &mut empty),
        JournalEvent::Skill(SkillEvent::Installed(installed)) => {
            empty(&mut installed.name);
            empty(&mut installed.description);
            empty(&mut installed.source);
            installed.allowed_tools = None;
        }
        JournalEvent::Policy(PolicyEvent::PostureChanged(changed)) => {
            empty(&mut changed.tool);
            if let PostureScope::Workspace(path) = &mut changed.scope {
                empty(path);
            }
        }
        JournalEvent::Component(event) => visit_component(event, &mut empty),
        JournalEvent::Vault(event) => visit_vault(event, &mut empty),
        JournalEvent::Skill(_)
        | JournalEvent::Policy(PolicyEvent::ShadowCounted(_) | PolicyEvent::GrantRevoked { .. })
        | JournalEvent::Job(_)
        | JournalEvent::Log(_)
        | JournalEvent::Session(
            SessionEvent::Archived { .. } | SessionEvent::Restored { .. } | SessionEvent::Reset { .. },
        )
        | JournalEvent::Access(AccessEvent::TokenRevoked { .. })
        | JournalEvent::Agent(AgentEvent::Archived { .. })
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
        TapeEvent::Run(RunEvent::Started(started)) => {
            visit_input(&mut started.input, empty);
            started.fallbacks = Redacted::default();
            started.response_format = None;
            started.workspace_root = Redacted::new(PathBuf::new());
            started.model = Redacted::new(None);
            started.run_salt = Redacted::new([0; 32]);
        }
        TapeEvent::Run(RunEvent::InputReceived { input, .. }) => visit_input(input, empty),
        TapeEvent::Model(ModelEvent::Requested(requested)) => requested.model = Redacted::new(None),
        TapeEvent::Model(ModelEvent::Text { text, .. } | ModelEvent::Reasoning { text, .. }) => empty(text),
        TapeEvent::Model(ModelEvent::Message(message)) => {
            empty(&mut message.response_id);
            message.model = Redacted::new(None);
            if let Some(kept) = &mut message.continuation {
                empty(&mut kept.body);
            }
            message.continuation = None;
        }
        TapeEvent::Tool(ToolEvent::Proposed(proposed)) => {
            [&mut proposed.tool, &mut proposed.arguments, &mut proposed.model_call_id]
                .into_iter()
                .for_each(empty);
        }
        TapeEvent::Tool(ToolEvent::Decided(decided)) => {
            [&mut decided.explanation, &mut decided.request].into_iter().for_each(empty);
        }
        TapeEvent::Tool(ToolEvent::Started(started)) => visit_plan(&mut started.plan, empty),
        TapeEvent::Approval(ApprovalEvent::Requested(requested)) => {
            visit_prompt(&mut requested.prompt, empty)
        }
        TapeEvent::Approval(ApprovalEvent::Voted(voted)) => empty(&mut voted.note),
        TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => {
            empty(&mut resolved.note);
            resolved.edited.iter_mut().for_each(empty);
            resolved.edited = None;
        }
        TapeEvent::Approval(ApprovalEvent::GrantStored(stored)) => visit_grant(stored, empty),
        TapeEvent::Tool(ToolEvent::EffectResolved { note, .. }) => empty(note),
        TapeEvent::Tool(ToolEvent::Output(output)) => empty(&mut output.text),
        TapeEvent::Tool(ToolEvent::Finished(finished)) => empty(&mut finished.output),
        TapeEvent::Run(RunEvent::Finished(finished)) => empty(&mut finished.message),
        TapeEvent::Model(ModelEvent::AttemptAbandoned { detail, .. }) => empty(detail),
        TapeEvent::Tool(ToolEvent::OutcomeUnknown { .. })
        | TapeEvent::Run(
            RunEvent::LoopDetected { .. } | RunEvent::Held { .. } | RunEvent::CancelRequested { .. },
        )
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
