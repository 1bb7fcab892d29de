//! Content fields of events outside of tapes, one row each.
//!
//! Owns path and class of each field. Facts are bound to `_`.

use super::ContentClass::{Fixed, Identity, Prose};
use super::walk::content_rows;
use crate::agent::AgentProfile;
use crate::component::{AddedComponent, ComponentCapability, ComponentEvent};
use crate::effect::{EffectSettled, KeptPlacement, UndoRequested, UndoResult, UndoneFile};
use crate::event::{AccessEvent, AgentEvent, EffectEvent, JournalEvent, PolicyEvent, SessionEvent};
use crate::posture::{PostureChanged, PostureScope};
use crate::skill::{InstalledSkill, SkillEvent};
use crate::vault::{SecretPut, SecretUsed, VaultEvent};

content_rows! {
    fn journal_event(walk, event: JournalEvent) {
        match event {
            JournalEvent::Access(event) => walk.access_event(event),
            JournalEvent::Agent(event) => walk.agent_event(event),
            JournalEvent::Session(event) => walk.session_event(event),
            JournalEvent::Effect(event) => walk.effect_event(event),
            JournalEvent::Policy(event) => walk.policy_event(event),
            JournalEvent::Skill(event) => walk.skill_event(event),
            JournalEvent::Component(event) => walk.component_event(event),
            JournalEvent::Vault(event) => walk.vault_event(event),
            JournalEvent::Tape(event) => walk.tape_event(event),
            // Entries of these groups have no payload.
            JournalEvent::Log(_) | JournalEvent::Job(_) | JournalEvent::Unknown { kind: _ } => {}
        }
    }

    fn access_event(walk, event: AccessEvent) {
        match event {
            AccessEvent::PrincipalRegistered { principal: _, name } => walk.text(Identity, "name", name),
            AccessEvent::TokenCreated { token: _, sha256: _, expires: _, label } => {
                walk.text(Prose, "label", label);
            }
            AccessEvent::TokenRevoked { token: _ } => {}
        }
    }

    fn agent_event(walk, event: AgentEvent) {
        match event {
            AgentEvent::Saved { agent: _, profile } => {
                let AgentProfile { name, instructions, model, tools } = profile;
                walk.text(Identity, "profile.name", name);
                walk.text(Prose, "profile.instructions", instructions);
                walk.maybe(model, |walk, model| walk.model(Identity, "profile.model", model));
                walk.maybe(tools, |walk, tools| {
                    walk.each(tools, |walk, tool| walk.text(Identity, "profile.tools", tool));
                });
            }
            AgentEvent::Archived { agent: _ } => {}
        }
    }

    fn session_event(walk, event: SessionEvent) {
        match event {
            SessionEvent::Opened { session: _, agent: _, key, label, branched_from: _ } => {
                walk.maybe(key, |walk, key| walk.text(Identity, "key", key));
                walk.maybe(label, |walk, label| walk.text(Prose, "label", label));
            }
            SessionEvent::Renamed { session: _, label } => {
                walk.maybe(label, |walk, label| walk.text(Prose, "label", label));
            }
            SessionEvent::Archived { session: _ }
            | SessionEvent::Restored { session: _ }
            | SessionEvent::Reset { session: _ } => {}
        }
    }

    fn effect_event(walk, event: EffectEvent) {
        match event {
            EffectEvent::Settled(EffectSettled { run: _, effect: _, resolution: _, by: _, note }) => {
                walk.text(Prose, "note", note);
            }
            EffectEvent::UndoRequested(UndoRequested { undo: _, run: _, paths, kept }) => {
                walk.each(paths, |walk, path| walk.text(Identity, "paths", path));
                // That a kept file is put in place is a fact: an erased placement stays one of nothing.
                if let Some(KeptPlacement { file, sha256, before }) = kept {
                    walk.text(Fixed, "kept.file", file);
                    walk.opaque(Fixed, "kept.sha256", sha256);
                    walk.each(before, |walk, digest| {
                        walk.maybe(digest, |walk, digest| walk.opaque(Fixed, "kept.before", digest));
                    });
                }
            }
            EffectEvent::UndoFinished { undo: _, run: _, files } => {
                walk.each(files, |walk, UndoneFile { path, result }| {
                    walk.text(Identity, "files.path", path);
                    match result {
                        UndoResult::Conflict(difference) => walk.text(Prose, "files.conflict", difference),
                        UndoResult::Failed(failure) => walk.text(Prose, "files.failed", failure),
                        UndoResult::Restored | UndoResult::AlreadyRestored | UndoResult::Withheld => {}
                    }
                });
            }
        }
    }

    fn policy_event(walk, event: PolicyEvent) {
        match event {
            PolicyEvent::PostureChanged(PostureChanged { replaces: _, scope, posture: _, by: _, via: _, tool }) => {
                walk.text(Identity, "tool", tool);
                match scope {
                    PostureScope::Workspace(path) => walk.text(Identity, "scope.workspace", path),
                    PostureScope::Global | PostureScope::Agent(_) | PostureScope::Session(_) => {}
                }
            }
            // Counts, and examples that are all ids: no payload.
            PolicyEvent::GrantRevoked { grant: _, by: _ } | PolicyEvent::ShadowCounted(_) => {}
        }
    }

    fn skill_event(walk, event: SkillEvent) {
        match event {
            SkillEvent::Installed(installed) => {
                let InstalledSkill {
                    skill: _, sha256: _, files: _, bytes: _, name, description, allowed_tools, source,
                } = installed;
                walk.text(Identity, "name", name);
                walk.text(Prose, "description", description);
                walk.maybe(allowed_tools, |walk, tools| {
                    walk.each(tools, |walk, tool| walk.text(Identity, "allowed_tools", tool));
                });
                walk.text(Prose, "source", source);
            }
            SkillEvent::Enabled { skill: _, agent: _ }
            | SkillEvent::Disabled { skill: _, agent: _ }
            | SkillEvent::Quarantined { skill: _, fault: _ }
            | SkillEvent::Removed { skill: _ } => {}
        }
    }

    fn component_event(walk, event: ComponentEvent) {
        match event {
            ComponentEvent::Added(added) => {
                let AddedComponent {
                    component: _, sha256: _, bytes: _, tool_version: _, contract: _, name, text, schema,
                    capabilities, source,
                } = added;
                walk.text(Identity, "name", name);
                walk.text(Prose, "text", text);
                walk.json(Identity, "schema", schema);
                walk.each(capabilities, |walk, capability| match capability {
                    ComponentCapability::Http(host) => walk.text(Identity, "capabilities.http", host),
                    ComponentCapability::Secret(name) => walk.text(Identity, "capabilities.secret", name),
                    ComponentCapability::ReadFiles
                    | ComponentCapability::WriteFiles
                    | ComponentCapability::KeyValue => {}
                });
                walk.text(Prose, "source", source);
            }
            ComponentEvent::Removed { component: _ } => {}
        }
    }

    fn vault_event(walk, event: VaultEvent) {
        match event {
            VaultEvent::Put(SecretPut { version: _, via: _, secret, hosts, sent_as }) => {
                walk.text(Identity, "secret", secret);
                walk.each(hosts, |walk, host| walk.text(Identity, "hosts", host));
                walk.text(Identity, "sent_as", sent_as);
            }
            VaultEvent::Bound { via: _, secret, hosts, principals: _ } => {
                walk.text(Identity, "secret", secret);
                walk.each(hosts, |walk, host| walk.text(Identity, "hosts", host));
            }
            VaultEvent::Removed { via: _, secret } => walk.text(Identity, "secret", secret),
            VaultEvent::Used(SecretUsed { on_behalf: _, refused: _, secret, host }) => {
                walk.text(Identity, "secret", secret);
                walk.text(Identity, "host", host);
            }
            VaultEvent::Unlocked { via: _, outcome: _ } | VaultEvent::PassphraseSet { via: _ } => {}
        }
    }
}
