//! Every text that an entry's payload holds, for those who look for something in it.

use palyra_types::approval::{ApprovalPromptRecord, ArgumentShape, StoredGrant};
use palyra_types::attachment::AttachmentBody;
use palyra_types::component::{ComponentCapability, ComponentEvent};
use palyra_types::effect::{Before, EffectPlan, UndoResult, UndoneFile};
use palyra_types::event::{
    AccessEvent, AgentEvent, ApprovalEvent, EffectEvent, JournalEvent, ModelEvent, PolicyEvent, RunEvent,
    SessionEvent, TapeEvent, ToolEvent,
};
use palyra_types::posture::PostureScope;
use palyra_types::run::UserInput;
use palyra_types::skill::SkillEvent;
use palyra_types::vault::{SecretPut, VaultEvent};

/// A text and how it may be read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Text<'a> {
    /// Plain.
    Plain(&'a str),
    /// Perhaps JSON.
    Json(&'a str),
}

/// Returns the texts of an entry. Pictures and other files that are no text are not among them.
pub(super) fn texts_of(event: &JournalEvent) -> Vec<Text<'_>> {
    match event {
        JournalEvent::Tape(event) => of_tape(event),
        JournalEvent::Access(AccessEvent::PrincipalRegistered { name, .. }) => {
            vec![Text::Plain(name.expose())]
        }
        JournalEvent::Access(AccessEvent::TokenCreated { label, .. }) => vec![Text::Plain(label.expose())],
        JournalEvent::Agent(AgentEvent::Saved { profile, .. }) => {
            vec![Text::Plain(profile.name.expose()), Text::Plain(profile.instructions.expose())]
        }
        JournalEvent::Session(SessionEvent::Opened { key, label, .. }) => {
            [key, label].into_iter().flatten().map(|text| Text::Plain(text.expose())).collect()
        }
        JournalEvent::Session(SessionEvent::Renamed { label, .. }) => {
            label.iter().map(|label| Text::Plain(label.expose())).collect()
        }
        JournalEvent::Effect(EffectEvent::Settled(settled)) => vec![Text::Plain(settled.note.expose())],
        JournalEvent::Effect(EffectEvent::UndoRequested(requested)) => {
            requested.paths.iter().map(|path| Text::Plain(path.expose())).collect()
        }
        JournalEvent::Effect(EffectEvent::UndoFinished { files, .. }) => {
            files.iter().flat_map(of_undone).collect()
        }
        JournalEvent::Skill(event) => of_skill(event),
        JournalEvent::Policy(PolicyEvent::PostureChanged(changed)) => {
            let mut texts = vec![Text::Plain(changed.tool.expose())];
            if let PostureScope::Workspace(path) = &changed.scope {
                texts.push(Text::Plain(path.expose()));
            }
            texts
        }
        JournalEvent::Vault(event) => of_vault(event),
        JournalEvent::Component(event) => of_component(event),
        JournalEvent::Log(_)
        | JournalEvent::Access(AccessEvent::TokenRevoked { .. })
        | JournalEvent::Agent(AgentEvent::Archived { .. })
        | JournalEvent::Policy(PolicyEvent::GrantRevoked { .. } | PolicyEvent::ShadowCounted(_))
        | JournalEvent::Session(
            SessionEvent::Reset { .. } | SessionEvent::Archived { .. } | SessionEvent::Restored { .. },
        )
        | JournalEvent::Job(_)
        | JournalEvent::Unknown { .. } => Vec::new(),
    }
}

/// Hosts and names of secrets are looked for, too: whoever writes a component may write anything there.
fn of_component(event: &ComponentEvent) -> Vec<Text<'_>> {
    match event {
        ComponentEvent::Added(added) => {
            let plain =
                [&added.name, &added.text, &added.source].into_iter().map(|text| text.expose().as_str());
            let reached = added.capabilities.iter().filter_map(|capability| match capability {
                ComponentCapability::Http(name) | ComponentCapability::Secret(name) => Some(name.as_str()),
                ComponentCapability::ReadFiles
                | ComponentCapability::WriteFiles
                | ComponentCapability::KeyValue => None,
            });
            let schema = Text::Json(added.schema.expose());
            plain.chain(reached).map(Text::Plain).chain([schema]).collect()
        }
        ComponentEvent::Removed { .. } => Vec::new(),
    }
}

fn of_vault(event: &VaultEvent) -> Vec<Text<'_>> {
    let texts = match event {
        VaultEvent::Put(put) => vec![&put.secret, &put.sent_as],
        VaultEvent::Bound { secret, .. } | VaultEvent::Removed { secret, .. } => vec![secret],
        VaultEvent::Used(used) => vec![&used.secret, &used.host],
        VaultEvent::Unlocked { .. } | VaultEvent::PassphraseSet { .. } => Vec::new(),
    };
    let hosts = match event {
        VaultEvent::Put(SecretPut { hosts, .. }) | VaultEvent::Bound { hosts, .. } => hosts.as_slice(),
        VaultEvent::Removed { .. }
        | VaultEvent::Used(_)
        | VaultEvent::Unlocked { .. }
        | VaultEvent::PassphraseSet { .. } => &[],
    };
    texts.into_iter().chain(hosts).map(|text| Text::Plain(text.expose())).collect()
}

/// Names of tools are looked for, too: whoever writes a skill may write anything there.
fn of_skill(event: &SkillEvent) -> Vec<Text<'_>> {
    match event {
        SkillEvent::Installed(installed) => {
            let tools = installed.allowed_tools.iter().flatten().map(|tool| Text::Plain(tool.as_str()));
            let texts = [&installed.name, &installed.description, &installed.source];
            texts.into_iter().map(|text| Text::Plain(text.expose())).chain(tools).collect()
        }
        SkillEvent::Enabled { .. }
        | SkillEvent::Disabled { .. }
        | SkillEvent::Quarantined { .. }
        | SkillEvent::Removed { .. } => Vec::new(),
    }
}

fn of_tape(event: &TapeEvent) -> Vec<Text<'_>> {
    match event {
        TapeEvent::Run(RunEvent::Started(started)) => {
            let mut texts = of_input(&started.input);
            if let Some(root) = started.workspace_root.expose().to_str() {
                texts.push(Text::Plain(root));
            }
            if let Some(format) = &started.response_format {
                texts.push(Text::Json(format.schema.expose()));
            }
            texts
        }
        TapeEvent::Run(RunEvent::InputReceived { input, .. }) => of_input(input),
        TapeEvent::Model(ModelEvent::Text { text, .. } | ModelEvent::Reasoning { text, .. }) => {
            vec![Text::Plain(text.expose())]
        }
        TapeEvent::Model(ModelEvent::AttemptAbandoned { detail, .. }) => vec![Text::Plain(detail.expose())],
        TapeEvent::Tool(ToolEvent::Proposed(proposed)) => {
            vec![Text::Plain(proposed.tool.expose()), Text::Json(proposed.arguments.expose())]
        }
        TapeEvent::Tool(ToolEvent::Decided(decided)) => {
            vec![Text::Plain(decided.explanation.expose()), Text::Json(decided.request.expose())]
        }
        TapeEvent::Tool(ToolEvent::Started(started)) => of_plan(&started.plan),
        TapeEvent::Approval(ApprovalEvent::Requested(requested)) => of_prompt(&requested.prompt),
        TapeEvent::Approval(ApprovalEvent::Voted(voted)) => vec![Text::Plain(voted.note.expose())],
        TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => {
            let edited = resolved.edited.iter().map(|edited| Text::Json(edited.expose()));
            edited.chain([Text::Plain(resolved.note.expose())]).collect()
        }
        TapeEvent::Approval(ApprovalEvent::GrantStored(stored)) => of_grant(stored),
        TapeEvent::Tool(ToolEvent::EffectResolved { note, .. }) => vec![Text::Plain(note.expose())],
        TapeEvent::Tool(ToolEvent::Output(output)) => vec![Text::Plain(output.text.expose())],
        TapeEvent::Tool(ToolEvent::Finished(finished)) => vec![Text::Plain(finished.output.expose())],
        TapeEvent::Run(RunEvent::Finished(finished)) => vec![Text::Plain(finished.message.expose())],
        TapeEvent::Model(ModelEvent::Message(message)) => {
            message.continuation.iter().map(|kept| Text::Json(kept.body.expose())).collect()
        }
        // Models' names are configuration.
        TapeEvent::Model(ModelEvent::Requested(_))
        | TapeEvent::Tool(ToolEvent::OutcomeUnknown { .. })
        | TapeEvent::Run(
            RunEvent::LoopDetected { .. } | RunEvent::Held { .. } | RunEvent::CancelRequested { .. },
        )
        | TapeEvent::Unknown { .. } => Vec::new(),
    }
}

/// Former contents that are no text hold nothing that is looked for.
fn of_plan(plan: &EffectPlan) -> Vec<Text<'_>> {
    let mut texts = vec![Text::Json(plan.body.expose())];
    for image in &plan.pre_images {
        texts.push(Text::Plain(image.path.expose()));
        if let Before::File { bytes, .. } = &image.before {
            texts.extend(std::str::from_utf8(bytes.expose()).ok().map(Text::Plain));
        }
    }
    texts
}

fn of_prompt(prompt: &ApprovalPromptRecord) -> Vec<Text<'_>> {
    let ApprovalPromptRecord { tool, arguments, summary, preview, reason, unbound, asked_again } = prompt;
    let plain = [tool, summary, preview, reason, unbound, asked_again];
    let plain = plain.into_iter().map(|text| Text::Plain(text.expose()));
    plain.chain([Text::Json(arguments.expose())]).collect()
}

fn of_grant(stored: &StoredGrant) -> Vec<Text<'_>> {
    let mut texts = vec![Text::Plain(stored.tool.expose())];
    if let Some(root) = stored.bounds.workspace.as_ref().and_then(|root| root.expose().to_str()) {
        texts.push(Text::Plain(root));
    }
    for rule in &stored.matcher {
        texts.push(Text::Plain(rule.argument.expose()));
        match &rule.shape {
            ArgumentShape::Equal(value) => texts.push(Text::Json(value.expose())),
            ArgumentShape::Beneath(text) | ArgumentShape::Origin(text) => {
                texts.push(Text::Plain(text.expose()));
            }
            ArgumentShape::Any => {}
        }
    }
    texts
}

fn of_undone(file: &UndoneFile) -> impl Iterator<Item = Text<'_>> {
    let detail = match &file.result {
        UndoResult::Conflict(text) | UndoResult::Failed(text) => Some(text),
        UndoResult::Restored | UndoResult::AlreadyRestored | UndoResult::Withheld => None,
    };
    [&file.path].into_iter().chain(detail).map(|text| Text::Plain(text.expose()))
}

fn of_input(input: &UserInput) -> Vec<Text<'_>> {
    let mut texts = vec![Text::Plain(input.text.expose())];
    for attachment in &input.attachments {
        texts.push(Text::Plain(attachment.name.expose()));
        if let AttachmentBody::Text(text) = &attachment.body {
            texts.push(Text::Plain(text.expose()));
        }
    }
    texts
}
