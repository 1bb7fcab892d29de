//! What every session and run works with: adapters, policy, agents, and the texts shown to models.
//!
//! Immutable after the start, but for the set of texts known to be stored and the count of guesses.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use palyra_policy::{ActiveSkill, ToolCallPolicySnapshot, forbidding_skill};
use palyra_ports::{AppendRedaction, NewEntry, ReadError, StaticText};
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::tool::{ToolCatalog, ToolName, ToolSpec};
use palyra_types::{LogId, Seq, Timestamp};
use tokio::sync::watch;

use crate::agents::AgentRegistry;
use crate::asking::Asking;
use crate::config::GatewayRuntimeConfigSnapshot;
use crate::drain::Drain;
use crate::error::RequestError;
use crate::parts::RuntimePorts;
use crate::placeholders::{Guesses, redaction_of};
use crate::policy::PolicyInForce;
use crate::shadow::Shadow;
use crate::skill_book::SkillBook;
use crate::standing_grants::StandingGrants;
use crate::tape::TapeHub;

/// Static texts remembered as stored; beyond it they are offered to the journal again, which is harmless.
const STORED_TEXTS_MAX: usize = 1_024;

/// Entries at the end of the journal whose times are looked at: what this start recorded has the time of now.
const LAST_ENTRIES: usize = 64;
/// How far the wall clock may stand before the newest entry for an answer to wait until it has caught up.
const CLOCK_LAG_MAX: Duration = Duration::from_secs(5);

/// A tool catalogue with its text, which is long and the same for most requests.
pub(crate) struct WrittenCatalog {
    pub(crate) tools: Arc<ToolCatalog>,
    pub(crate) text: Arc<str>,
    pub(crate) sha256: [u8; 32],
}

impl WrittenCatalog {
    fn new(tools: Arc<ToolCatalog>) -> Self {
        let text: Arc<str> = tools.canonical_text().into();
        let sha256 = palyra_ledger::sha256(text.as_bytes());
        Self { tools, text, sha256 }
    }
}

/// Shared by all actors of one runtime.
pub(crate) struct Engine {
    pub(crate) ports: Arc<RuntimePorts>,
    pub(crate) agents: AgentRegistry,
    pub(crate) hub: TapeHub,
    pub(crate) drain: Drain,
    pub(crate) config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
    pub(crate) policy: PolicyInForce,
    /// Policies that are tried out beside it.
    pub(crate) shadow: Shadow,
    /// The stored grants that hold.
    pub(crate) grants: StandingGrants,
    /// The skills there are.
    pub(crate) skills: SkillBook,
    /// Open questions, as counts and wake-ups.
    pub(crate) asking: Asking,
    pub(crate) log_id: LogId,
    /// Microseconds of the newest entry's time, as far as it is known here.
    newest: AtomicI64,
    /// Held while components are changed: changes come one by one.
    pub(crate) components: Arc<tokio::sync::Mutex<()>>,
    guesses: Guesses,
    /// The tools there are, written out, as they were when somebody last asked.
    catalog: Mutex<Arc<WrittenCatalog>>,
    stored: Mutex<BTreeSet<[u8; 32]>>,
}

impl Engine {
    pub(crate) async fn new(
        ports: Arc<RuntimePorts>,
        agents: AgentRegistry,
        hub: TapeHub,
        policy: watch::Receiver<Arc<ToolCallPolicySnapshot>>,
        config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
    ) -> Result<Self, ReadError> {
        let tools = ports.tools.catalog();
        let drain = Drain::default();
        let grants = StandingGrants::load(&ports).await?;
        let skills = SkillBook::load(&ports).await?;
        let status = ports.maintain.status();
        let from = Seq(status.entries.saturating_sub(LAST_ENTRIES as u64));
        let last = ports.maintain.entries(from, LAST_ENTRIES).await?;
        Ok(Self {
            agents,
            hub,
            config,
            policy: PolicyInForce::new(policy, ports.records.postures().await?),
            shadow: Shadow::start(Arc::clone(&ports), drain.clone()),
            drain,
            grants,
            skills,
            asking: Asking::load(&*ports.approvals).await?,
            log_id: status.log_id,
            newest: AtomicI64::new(last.iter().map(|entry| entry.time.0).max().unwrap_or(i64::MIN)),
            catalog: Mutex::new(Arc::new(WrittenCatalog::new(tools))),
            components: Arc::default(),
            guesses: Guesses::default(),
            stored: Mutex::default(),
            ports,
        })
    }

    /// Returns what a run may use of the tools there are, written out: the tools of its agent's profile that exist, and
    /// none beyond them, or all of them when it names none; of these, what its skills leave.
    pub(crate) fn catalog_of(
        &self,
        agent: Option<&[ToolName]>,
        skills: &[ActiveSkill],
    ) -> Arc<WrittenCatalog> {
        let all = self.whole_catalog();
        if agent.is_none() && skills.is_empty() {
            return all;
        }
        let of_agent = |tool: &&ToolSpec| agent.is_none_or(|names| names.contains(&tool.name));
        let left = |tool: &&ToolSpec| forbidding_skill(skills, &tool.name).is_none();
        let tools = all.tools.iter().filter(of_agent).filter(left).cloned();
        Arc::new(WrittenCatalog::new(Arc::new(ToolCatalog::new(tools.collect()))))
    }

    /// Returns the tools there are now: a person adds and removes components.
    fn whole_catalog(&self) -> Arc<WrittenCatalog> {
        let now = self.ports.tools.catalog();
        let mut known = self.catalog.lock().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&known.tools, &now) {
            *known = Arc::new(WrittenCatalog::new(now));
        }
        Arc::clone(&known)
    }

    /// Returns those of the texts that this process has not stored yet.
    pub(crate) fn not_yet_stored(&self, texts: Vec<StaticText>) -> Vec<StaticText> {
        let stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        texts.into_iter().filter(|text| !stored.contains(&text.sha256)).collect()
    }

    /// Takes note of entries of a run that were committed.
    pub(crate) fn committed(&self, records: &[OrchestratorTapeRecord]) {
        for record in records {
            self.newest.fetch_max(record.time.0, Ordering::Relaxed);
            self.grants.committed(record);
            self.asking.committed(record);
        }
        self.shadow.committed(&self.policy, records);
    }

    /// Returns the time of the newest entry that is known here.
    pub(crate) fn newest_entry(&self) -> Timestamp {
        Timestamp(self.newest.load(Ordering::Relaxed))
    }

    /// Waits until the wall clock has passed the newest entry, and `after`: what is decided before that would be decided at a time
    /// that was over already.
    ///
    /// # Errors
    /// [`RequestError::ClockBehind`] when that would take longer than [`CLOCK_LAG_MAX`].
    pub(crate) async fn until_clock_is_right(&self, after: Timestamp) -> Result<(), RequestError> {
        let clock = &self.ports.clock;
        let behind = self.newest_entry().max(after).since(clock.wall());
        if behind > CLOCK_LAG_MAX {
            return Err(RequestError::ClockBehind { behind });
        }
        if behind > Duration::ZERO {
            clock.sleep_until(clock.boot().after(behind)).await;
        }
        Ok(())
    }

    /// Says what the redactor did to entries that are about to be appended.
    pub(crate) fn redaction_of(&self, entries: &[NewEntry]) -> AppendRedaction {
        redaction_of(&self.ports, &self.guesses, entries)
    }

    /// Remembers texts after the commit that stored them.
    pub(crate) fn remember_stored(&self, digests: &[[u8; 32]]) {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        if stored.len() < STORED_TEXTS_MAX {
            stored.extend(digests.iter().copied());
        }
    }
}
