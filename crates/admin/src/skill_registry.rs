//! The skills there are, as far as this process has seen commits, and the words of those whose copies were checked.
//!
//! Owns the copy in memory and the checks of what is kept on the disk. Invariants: words come only from bytes whose
//! digest was compared with the pinned one; what cannot be told for sure leaves a run no tool. Begin at
//! [`SkillRegistry::activate`].

mod pinned;

mod skill_prompt;

mod error;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_background::TickFailure;
use palyra_journal_core::families::skills;
use palyra_journal_core::family::QueryFamilies;
use palyra_policy::{ActiveSkill, SkillStanding, forbidding_skill, standing};
use palyra_ports::maintain_journal::JournalHealth;
use palyra_ports::{AppendClass, AppendError, NewEntry, ReadError, SkillFolderError};
use palyra_types::access::ActorIdentity;
use palyra_types::event::JournalEvent;
use palyra_types::skill::{ActivatedSkill, SkillEvent, SkillFault, SkillQuarantine, SkillRecord};
use palyra_types::tool::{ToolCatalog, ToolName, ToolSpec};
use palyra_types::{AgentId, PrincipalId, SkillId};

use crate::erasure_subscriber::ErasureSubscriber;
use crate::parts::AdminPorts;
use skill_prompt::{ShownSkill, section};

pub use error::{SkillError, fault_text};
pub use pinned::digest_of;
pub(crate) use pinned::{copy_name, pin};

/// Bytes of a SKILL.md, at most: it is shown to models whole.
pub const SKILL_TEXT_BYTES_MAX: usize = 32 * 1024;
/// Bytes of the texts of all skills that are switched on for one agent.
pub const SKILL_TEXTS_BYTES_MAX: usize = 64 * 1024;
/// Skills installed at once, at most.
pub const SKILLS_INSTALLED_MAX: usize = 128;
/// Skills switched on for one agent, at most.
pub const SKILLS_OF_AGENT_MAX: usize = 16;

/// A skill that is known.
#[derive(Debug, Clone)]
pub(crate) struct KnownSkill {
    pub(crate) record: SkillRecord,
    /// Its words, from bytes that were checked; `None` for one that takes no part, or was removed.
    pub(crate) text: Option<Arc<str>>,
}

/// The skills there are.
pub struct SkillRegistry {
    ports: Arc<AdminPorts>,
    known: Mutex<BTreeMap<SkillId, KnownSkill>>,
    /// Held while one is changed: changes come one by one.
    pub(crate) changing: tokio::sync::Mutex<()>,
}

impl SkillRegistry {
    /// Reads what the journal says. No copy is looked at yet.
    pub(crate) async fn load(ports: Arc<AdminPorts>) -> Result<Self, ReadError> {
        let book = Self { ports, known: Mutex::default(), changing: tokio::sync::Mutex::default() };
        book.reload().await?;
        Ok(book)
    }

    /// Reads what the journal says again, after some of it was erased.
    pub(crate) async fn reload(&self) -> Result<(), ReadError> {
        let records = self.ports.families.query(skills::records).await?;
        let mut known = self.lock();
        let mut texts: BTreeMap<_, _> =
            std::mem::take(&mut *known).into_iter().map(|(id, known)| (id, known.text)).collect();
        for record in records {
            let skill = record.installed.skill;
            let text = texts.remove(&skill).flatten().filter(|_| takes_part(&record));
            known.insert(skill, KnownSkill { record, text });
        }
        Ok(())
    }

    /// Compares every copy with what was pinned, and removes copies that belong to no skill.
    ///
    /// # Errors
    /// [`TickFailure`] when a copy could not be read; it is checked again before a run uses it.
    pub async fn check_all(&self) -> Result<(), TickFailure> {
        let _changing = self.changing.lock().await;
        let installed: Vec<_> =
            self.all().into_iter().filter(|known| known.record.removed.is_none()).collect();
        let mut failed = Ok(());
        for known in &installed {
            let skill = known.record.installed.skill;
            if let Err(error) = self.check(skill).await {
                failed = Err(TickFailure::new(format_args!("skill {skill} could not be checked: {error}")));
            }
        }
        if self.ports.maintain.status().health == JournalHealth::Quarantined {
            // A journal that is in doubt does not know which copies are unused.
            return failed;
        }
        let kept: Vec<_> = installed.iter().map(|known| copy_name(&known.record.installed.sha256)).collect();
        let Ok(names) = self.ports.skills.names().await else { return failed };
        for name in names.into_iter().filter(|name| !kept.contains(name)) {
            // What stays is in nobody's way.
            let _ = self.ports.skills.discard(name).await;
        }
        failed
    }

    /// Returns the skills that are at work in a run of this agent that begins now, each checked once more.
    ///
    /// # Errors
    /// [`SkillError::System`] when a copy could not be read this time; nothing may begin without knowing.
    pub async fn activate(&self, agent: AgentId) -> Result<Vec<ActivatedSkill>, SkillError> {
        let enabled = self.enabled_for(agent);
        for known in &enabled {
            if !takes_part(&known.record) {
                continue;
            }
            let skill = known.record.installed.skill;
            match self.verify(&known.record).await? {
                Ok(text) => {
                    self.change(skill, |known| known.text = takes_part(&known.record).then_some(text));
                }
                Err(_) => {
                    let _changing = self.changing.lock().await;
                    // What it finds is remembered; the run begins all the same, with no tools.
                    let _found = self.check(skill).await?;
                }
            }
        }
        let activated = enabled.iter().map(|known| &known.record.installed);
        Ok(activated.map(|skill| ActivatedSkill { skill: skill.skill, sha256: skill.sha256 }).collect())
    }

    /// Compares a copy with what was pinned, takes its words, or puts it into quarantine. The caller holds `changing`.
    pub(crate) async fn check(&self, skill: SkillId) -> Result<Result<(), SkillFault>, SkillError> {
        let Some(known) = self.get(skill) else { return Ok(Ok(())) };
        let verified = self.verify(&known.record).await;
        let fault = match verified {
            Ok(Ok(text)) => {
                self.change(skill, |known| known.text = takes_part(&known.record).then_some(text));
                return Ok(Ok(()));
            }
            Ok(Err(fault)) => fault,
            Err(error) => {
                self.change(skill, |known| known.text = None);
                return Err(error);
            }
        };
        if known.record.quarantine.is_none() {
            self.quarantine(skill, fault).await;
        }
        Ok(Err(fault))
    }

    /// Takes a skill out at once; then says so in the journal.
    async fn quarantine(&self, skill: SkillId, fault: SkillFault) {
        let since = self.ports.clock.wall();
        self.change(skill, |known| {
            known.text = None;
            known.record.quarantine = Some(SkillQuarantine { since, fault });
        });
        tracing::warn!(%skill, "a skill is quarantined: its copy {}", fault_text(fault));
        let event = SkillEvent::Quarantined { skill, fault };
        // It is out either way; at the next start its copy is compared again.
        if let Err(error) = append(&self.ports, None, vec![event]).await {
            tracing::error!(%skill, "the quarantine of a skill was not recorded: {error}");
        }
    }

    /// Compares a copy with what was pinned; returns its words.
    async fn verify(&self, record: &SkillRecord) -> Result<Result<Arc<str>, SkillFault>, SkillError> {
        let pinned = &record.installed.sha256;
        let files = match self.ports.skills.kept(copy_name(pinned)).await {
            Ok(files) => files,
            Err(SkillFolderError::Missing) => return Ok(Err(SkillFault::Missing)),
            Err(SkillFolderError::Refused { .. }) => return Ok(Err(SkillFault::Unreadable)),
            Err(error @ SkillFolderError::System { .. }) => return Err(error.into()),
        };
        let found = digest_of(&files);
        if standing(pinned, &found) == SkillStanding::Quarantined {
            return Ok(Err(SkillFault::Changed { found }));
        }
        // What was installed by another version may be read otherwise by this one.
        let Ok(read) = pin(&files) else { return Ok(Err(SkillFault::Unreadable)) };
        Ok(Ok(self.ports.redactor.redact(read.text.into()).text.into_exposed().into()))
    }

    /// Returns the skills of a run as policy sees them.
    #[must_use]
    pub fn active(&self, activated: &[ActivatedSkill]) -> Vec<ActiveSkill> {
        activated.iter().map(|skill| self.active_one(*skill)).collect()
    }

    fn active_one(&self, activated: ActivatedSkill) -> ActiveSkill {
        let known = self.get(activated.skill).map(|known| known.record);
        let known = known.filter(|record| record.installed.sha256 == activated.sha256);
        match known {
            Some(record) if !record.installed.is_erased() => ActiveSkill {
                name: record.installed.name.expose().clone(),
                allowed_tools: record.installed.allowed_tools.map(|tools| tools.into_iter().collect()),
                standing: match record.quarantine {
                    None => SkillStanding::Trusted,
                    Some(_) => SkillStanding::Quarantined,
                },
            },
            _ => ActiveSkill {
                name: activated.skill.to_string(),
                allowed_tools: None,
                standing: SkillStanding::Quarantined,
            },
        }
    }

    /// Returns what a model is told of the skills of its run.
    #[must_use]
    pub fn section(&self, activated: &[ActivatedSkill]) -> Option<String> {
        let known: Vec<_> = activated.iter().map(|skill| (*skill, self.get(skill.skill))).collect();
        let active = self.active(activated);
        let shown = known.iter().zip(&active).filter_map(|((activated, known), active)| {
            let trusted = active.standing == SkillStanding::Trusted;
            let known = known.as_ref().filter(|_| trusted);
            if known.is_some_and(|known| known.record.removed.is_some()) {
                return None;
            }
            Some(ShownSkill {
                name: &active.name,
                description: known.map_or("", |known| known.record.installed.description.expose()),
                sha256: activated.sha256,
                text: known.and_then(|known| known.text.as_deref()),
            })
        });
        section(&shown.collect::<Vec<_>>())
    }

    /// Returns the skills that are switched on for an agent, in order of id.
    pub(crate) fn enabled_for(&self, agent: AgentId) -> Vec<KnownSkill> {
        let mut enabled = self.all();
        enabled.retain(|known| known.record.agents.contains(&agent));
        enabled
    }

    /// Returns all that are known, in order of id.
    pub(crate) fn all(&self) -> Vec<KnownSkill> {
        self.lock().values().cloned().collect()
    }

    pub(crate) fn get(&self, skill: SkillId) -> Option<KnownSkill> {
        self.lock().get(&skill).cloned()
    }

    pub(crate) fn insert(&self, known: KnownSkill) {
        self.lock().insert(known.record.installed.skill, known);
    }

    pub(crate) fn change(&self, skill: SkillId, change: impl FnOnce(&mut KnownSkill)) {
        if let Some(known) = self.lock().get_mut(&skill) {
            change(known);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SkillId, KnownSkill>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ErasureSubscriber for SkillRegistry {
    fn forget_erased(&self) -> BoxFuture<'_, ()> {
        async {
            if let Err(error) = self.reload().await {
                tracing::warn!("the skills could not be read again after an erasure: {error}");
            }
        }
        .boxed()
    }
}

/// Returns the tools that are left of a catalogue: those that an agent may use, or all where it names none; of these, what
/// its skills leave.
pub fn tools_left<'t>(
    catalog: &'t ToolCatalog,
    of_agent: Option<&'t [ToolName]>,
    skills: &'t [ActiveSkill],
) -> impl Iterator<Item = &'t ToolSpec> {
    let may_use = move |tool: &&ToolSpec| of_agent.is_none_or(|names| names.contains(&tool.name));
    let left = |tool: &&ToolSpec| forbidding_skill(skills, &tool.name).is_none();
    catalog.iter().filter(may_use).filter(left)
}

fn takes_part(record: &SkillRecord) -> bool {
    record.removed.is_none() && record.quarantine.is_none() && !record.installed.is_erased()
}

/// Records what became of skills, in one commit; without an actor the daemon itself did it.
pub(crate) async fn append(
    ports: &AdminPorts,
    actor: Option<ActorIdentity>,
    events: Vec<SkillEvent>,
) -> Result<palyra_types::Seq, AppendError> {
    let time = ports.clock.wall();
    let principal = actor.map_or(PrincipalId::NIL, |actor| actor.principal);
    let quarantines = events.iter().any(|event| matches!(event, SkillEvent::Quarantined { .. }));
    let entry = |event| {
        let event = JournalEvent::Skill(event);
        NewEntry { time, principal, session: None, run: None, event }
    };
    let entries = events.into_iter().map(entry).collect();
    let class = if quarantines { AppendClass::Ending } else { AppendClass::Normal };
    let committed = match actor {
        Some(actor) => ports.recorder.record_act(actor, entries, class, Vec::new()).await?,
        None => ports.recorder.record(entries, class, Vec::new()).await?,
    };
    Ok(committed.first_seq)
}
