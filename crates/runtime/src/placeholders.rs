//! What the placeholders in a step say: which of its entries the redactor changed, and how often somebody met a
//! registered value, which could be guessing.
//!
//! Looks at what is about to be recorded, so that no door can be forgotten. Shows and keeps no content.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use palyra_ports::NewEntry;
use palyra_ports::append_tape::AppendRedaction;
use palyra_ports::redactor::{PLACEHOLDER_BEGINS, REGISTERED_PLACEHOLDER};
use palyra_types::approval::ApprovalPromptRecord;
use palyra_types::attachment::AttachmentBody;
use palyra_types::effect::UndoResult;
use palyra_types::event::{
    AccessEvent, ApprovalEvent, EffectEvent, JournalEvent, ModelEvent, PolicyEvent, RunEvent, SessionEvent,
    TapeEvent, ToolEvent,
};
use palyra_types::posture::PostureScope;
use palyra_types::run::UserInput;
use palyra_types::skill::SkillEvent;
use palyra_types::vault::VaultEvent;
use palyra_types::{BootTime, PrincipalId, Redacted};

use crate::parts::RuntimePorts;

/// Registered values that a principal may meet in [`GUESSING_SPAN`] before it is told.
const GUESSES_MAX: u32 = 8;
/// The span over which they are counted.
const GUESSING_SPAN: Duration = Duration::from_secs(60);
/// Principals counted at once; beyond it the counts begin anew.
const GUESSERS_MAX: usize = 1_024;

/// Says which entries of an append bear a placeholder, and counts registered values for their principal.
pub(crate) fn redaction_of(ports: &RuntimePorts, guesses: &Guesses, entries: &[NewEntry]) -> AppendRedaction {
    let mut redaction = AppendRedaction { ruleset: ports.redactor.ruleset(), entries: Vec::new() };
    for (at, entry) in entries.iter().enumerate() {
        let mut bears = false;
        let mut registered = 0;
        for_each_content(&entry.event, &mut |text| {
            bears |= text.contains(PLACEHOLDER_BEGINS);
            registered += text.matches(REGISTERED_PLACEHOLDER).count();
        });
        if bears {
            redaction.entries.push(at);
        }
        if registered > 0 {
            let hits = u32::try_from(registered).unwrap_or(u32::MAX);
            guesses.note(entry.principal, hits, ports.clock.boot());
        }
    }
    redaction
}

/// How often each principal met a registered value of late.
#[derive(Debug, Default)]
pub(crate) struct Guesses(Mutex<BTreeMap<PrincipalId, (BootTime, u32)>>);

impl Guesses {
    fn note(&self, principal: PrincipalId, hits: u32, now: BootTime) {
        if self.count(principal, hits, now) {
            tracing::warn!(
                %principal,
                span_seconds = GUESSING_SPAN.as_secs(),
                "registered secrets were matched more than {GUESSES_MAX} times; a client may be guessing them"
            );
        }
    }

    /// Returns whether this is the hit that makes it too many.
    fn count(&self, principal: PrincipalId, hits: u32, now: BootTime) -> bool {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= GUESSERS_MAX && !counts.contains_key(&principal) {
            counts.clear();
        }
        let (since, count) = counts.entry(principal).or_insert((now, 0));
        if now.since(*since) > GUESSING_SPAN {
            (*since, *count) = (now, 0);
        }
        let before = *count;
        *count = count.saturating_add(hits);
        before <= GUESSES_MAX && *count > GUESSES_MAX
    }
}

/// Shows every text of an entry that came from outside.
fn for_each_content(event: &JournalEvent, see: &mut dyn FnMut(&str)) {
    let mut maybe = |text: &Option<Redacted<String>>| {
        if let Some(text) = text {
            see(text.expose());
        }
    };
    match event {
        JournalEvent::Session(SessionEvent::Opened { key, label, .. }) => {
            maybe(key);
            maybe(label);
        }
        JournalEvent::Session(SessionEvent::Renamed { label, .. }) => maybe(label),
        JournalEvent::Effect(EffectEvent::Settled(settled)) => see(settled.note.expose()),
        JournalEvent::Effect(EffectEvent::UndoFinished { files, .. }) => {
            for file in files {
                if let UndoResult::Conflict(difference) = &file.result {
                    see(difference.expose());
                }
            }
        }
        JournalEvent::Access(AccessEvent::TokenCreated { label, .. }) => see(label.expose()),
        JournalEvent::Policy(PolicyEvent::PostureChanged(changed)) => {
            if let PostureScope::Workspace(path) = &changed.scope {
                see(path.expose());
            }
        }
        JournalEvent::Tape(event) => for_each_tape_content(event, see),
        JournalEvent::Vault(event) => for_each_of_vault(event, see),
        JournalEvent::Skill(SkillEvent::Installed(installed)) => {
            see(installed.description.expose());
            see(installed.source.expose());
        }
        JournalEvent::Skill(_)
        | JournalEvent::Log(_)
        | JournalEvent::Access(AccessEvent::PrincipalRegistered { .. } | AccessEvent::TokenRevoked { .. })
        | JournalEvent::Agent(_)
        | JournalEvent::Session(
            SessionEvent::Archived { .. } | SessionEvent::Restored { .. } | SessionEvent::Reset { .. },
        )
        | JournalEvent::Policy(PolicyEvent::GrantRevoked { .. } | PolicyEvent::ShadowCounted(_))
        | JournalEvent::Effect(EffectEvent::UndoRequested(_))
        | JournalEvent::Job(_)
        | JournalEvent::Component(_)
        | JournalEvent::Unknown { .. } => {}
    }
}

fn for_each_of_vault(event: &VaultEvent, see: &mut dyn FnMut(&str)) {
    let (secret, hosts) = match event {
        VaultEvent::Put(put) => {
            see(put.sent_as.expose());
            (&put.secret, put.hosts.as_slice())
        }
        VaultEvent::Bound { secret, hosts, .. } => (secret, hosts.as_slice()),
        VaultEvent::Removed { secret, .. } => (secret, &[][..]),
        VaultEvent::Used(used) => (&used.secret, std::slice::from_ref(&used.host)),
        VaultEvent::Unlocked { .. } | VaultEvent::PassphraseSet { .. } => return,
    };
    see(secret.expose());
    hosts.iter().for_each(|host| see(host.expose()));
}

fn for_each_tape_content(event: &TapeEvent, see: &mut dyn FnMut(&str)) {
    match event {
        TapeEvent::Run(RunEvent::Started(started)) => for_each_input(&started.input, see),
        TapeEvent::Run(RunEvent::InputReceived { input, .. }) => for_each_input(input, see),
        TapeEvent::Model(ModelEvent::Text { text, .. } | ModelEvent::Reasoning { text, .. }) => {
            see(text.expose())
        }
        TapeEvent::Model(ModelEvent::AttemptAbandoned { detail, .. }) => see(detail.expose()),
        TapeEvent::Tool(ToolEvent::Proposed(proposed)) => see(proposed.arguments.expose()),
        TapeEvent::Tool(ToolEvent::Output(output)) => see(output.text.expose()),
        TapeEvent::Tool(ToolEvent::Finished(finished)) => see(finished.output.expose()),
        TapeEvent::Run(RunEvent::Finished(finished)) => see(finished.message.expose()),
        TapeEvent::Tool(ToolEvent::Decided(decided)) => see(decided.request.expose()),
        TapeEvent::Tool(ToolEvent::Started(started)) => see(started.plan.body.expose()),
        TapeEvent::Approval(ApprovalEvent::Requested(asked)) => for_each_of_prompt(&asked.prompt, see),
        TapeEvent::Approval(ApprovalEvent::Voted(voted)) => see(voted.note.expose()),
        TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => {
            see(resolved.note.expose());
            if let Some(edited) = &resolved.edited {
                see(edited.expose());
            }
        }
        TapeEvent::Tool(ToolEvent::EffectResolved { note, .. }) => see(note.expose()),
        TapeEvent::Model(ModelEvent::Requested(_) | ModelEvent::Message(_))
        | TapeEvent::Approval(ApprovalEvent::GrantStored(_))
        | TapeEvent::Tool(ToolEvent::OutcomeUnknown { .. })
        | TapeEvent::Run(
            RunEvent::LoopDetected { .. } | RunEvent::Held { .. } | RunEvent::CancelRequested { .. },
        )
        | TapeEvent::Unknown { .. } => {}
    }
}

fn for_each_of_prompt(prompt: &ApprovalPromptRecord, see: &mut dyn FnMut(&str)) {
    for text in [&prompt.arguments, &prompt.summary, &prompt.preview, &prompt.reason, &prompt.unbound] {
        see(text.expose());
    }
}

fn for_each_input(input: &UserInput, see: &mut dyn FnMut(&str)) {
    see(input.text.expose());
    for attachment in &input.attachments {
        see(attachment.name.expose());
        if let AttachmentBody::Text(text) = &attachment.body {
            see(text.expose());
        }
    }
}

#[cfg(test)]
mod tests;
