//! What a run may touch, and nothing else.
//!
//! Immutable after the start, but for what commits change: the time of the newest entry and the set of texts known to be
//! stored. Begin at [`RunContext`].

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::tz::TimeZone;
use palyra_admin::budgets::{AuxiliaryBudgets, PricesNow};
use palyra_admin::memories::ZoneOf;
use palyra_admin::{AdminViews, ErasureExclusion, tools_left};
use palyra_background::Drain;
use palyra_context::clock_words::zone_named;
use palyra_conversation::{ConversationPorts, ConversationsHandle};
use palyra_policy::ActiveSkill;
use palyra_ports::maintain_journal::JournalHealth;
use palyra_ports::{
    Clock, Entropy, MaintainJournal, ReadError, ReadTape, Recorder, Redactor, StaticText, ToolRuntime,
};
use palyra_tape::TapeHub;
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::tool::{ToolCatalog, ToolName};
use palyra_types::{LogId, PrincipalId, Seq, Timestamp};
use tokio::sync::watch;

use crate::config::GatewayRuntimeConfigSnapshot;
use crate::error::RequestError;
use crate::model_directory::ModelDirectory;
use crate::parts::RuntimePorts;
use palyra_admin::pending_approvals::PendingApprovals;

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

/// The adapters of runs.
pub(crate) struct RunPorts {
    pub(crate) recorder: Recorder,
    pub(crate) tapes: Arc<dyn ReadTape>,
    pub(crate) tools: Arc<dyn ToolRuntime>,
    pub(crate) models: watch::Receiver<Arc<ModelDirectory>>,
    pub(crate) config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
    pub(crate) redactor: Arc<dyn Redactor>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    /// The time zone of each principal: its own, or the one of the configuration.
    pub(crate) zones: ZoneOf,
    /// The earlier parts of conversations.
    pub(crate) conversations: ConversationsHandle,
    /// Only its state is read.
    maintain: Arc<dyn MaintainJournal>,
}

/// What is known of the journal's content without reading it.
struct JournalMemory {
    log_id: LogId,
    /// Microseconds of the newest entry's time, as far as it is known here.
    newest: AtomicI64,
    /// The tools there are, written out, as they were when they were last asked for.
    catalog: Mutex<Arc<WrittenCatalog>>,
    stored: Mutex<BTreeSet<[u8; 32]>>,
}

/// Shared by all runs.
pub(crate) struct RunContext {
    pub(crate) ports: RunPorts,
    /// What people decided.
    pub(crate) views: AdminViews,
    /// Open questions, as counts and wake-ups.
    pub(crate) asking: Arc<PendingApprovals>,
    /// Where committed entries are published.
    pub(crate) hub: TapeHub,
    pub(crate) drain: Drain,
    memory: JournalMemory,
}

impl RunContext {
    pub(crate) async fn new(
        ports: &RuntimePorts,
        views: AdminViews,
        hub: TapeHub,
        drain: Drain,
        config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
    ) -> Result<Self, ReadError> {
        let status = ports.maintain.status();
        let from = Seq(status.entries.saturating_sub(LAST_ENTRIES as u64));
        let last = ports.maintain.entries(from, LAST_ENTRIES).await?;
        let asking = Arc::new(PendingApprovals::load(&*ports.families).await?);
        let memory = JournalMemory {
            log_id: status.log_id,
            newest: AtomicI64::new(last.iter().map(|entry| entry.time.0).max().unwrap_or(i64::MIN)),
            catalog: Mutex::new(Arc::new(WrittenCatalog::new(ports.tools.catalog()))),
            stored: Mutex::default(),
        };
        let access = views.access.clone();
        let of_config = config.clone();
        let zones: ZoneOf = Arc::new(move |principal| {
            let access = access.borrow();
            let own = access.principal(principal).map_or("", |known| known.time_zone.expose().as_str());
            zone_named([own, &of_config.borrow().time_zone])
        });
        let prices = prices_of(config.clone());
        let budgets = AuxiliaryBudgets::new(
            Arc::clone(&views.budgets),
            Arc::clone(&ports.entropy),
            Arc::clone(&zones),
            prices,
        );
        let ports = ports.for_runs(config, zones, budgets);
        Ok(Self { ports, views, asking, hub, drain, memory })
    }

    /// Returns the time zone of a principal: its own, or the one of the configuration.
    pub(crate) fn zone_of(&self, principal: PrincipalId) -> TimeZone {
        (self.ports.zones)(principal)
    }

    pub(crate) fn log_id(&self) -> LogId {
        self.memory.log_id
    }

    /// Returns whether the journal takes no entry any more because it is in doubt.
    pub(crate) fn is_journal_quarantined(&self) -> bool {
        self.ports.maintain.status().health == JournalHealth::Quarantined
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
        let tools = tools_left(&all.tools, agent, skills).cloned();
        Arc::new(WrittenCatalog::new(Arc::new(ToolCatalog::new(tools.collect()))))
    }

    /// Returns the tools there are now: a person adds and removes components.
    fn whole_catalog(&self) -> Arc<WrittenCatalog> {
        let now = self.ports.tools.catalog();
        let mut known = self.memory.catalog.lock().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&known.tools, &now) {
            *known = Arc::new(WrittenCatalog::new(now));
        }
        Arc::clone(&known)
    }

    /// Returns those of the texts that this process has not stored yet.
    pub(crate) fn not_yet_stored(&self, texts: Vec<StaticText>) -> Vec<StaticText> {
        let stored = self.memory.stored.lock().unwrap_or_else(PoisonError::into_inner);
        texts.into_iter().filter(|text| !stored.contains(&text.sha256)).collect()
    }

    /// Takes note of entries of a run that were committed.
    pub(crate) fn committed(&self, records: &[OrchestratorTapeRecord]) {
        for record in records {
            self.memory.newest.fetch_max(record.time.0, Ordering::Relaxed);
            self.views.grants.committed(record);
            self.asking.committed(record);
        }
        self.views.shadow.committed(&self.views.policy, records);
    }

    /// Returns the time of the newest entry that is known here.
    pub(crate) fn newest_entry(&self) -> Timestamp {
        Timestamp(self.memory.newest.load(Ordering::Relaxed))
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

    /// Remembers texts after the commit that stored them.
    pub(crate) fn remember_stored(&self, digests: &[[u8; 32]]) {
        let mut stored = self.memory.stored.lock().unwrap_or_else(PoisonError::into_inner);
        if stored.len() < STORED_TEXTS_MAX {
            stored.extend(digests.iter().copied());
        }
    }
}

fn prices_of(config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>) -> PricesNow {
    Arc::new(move || config.borrow().prices.clone())
}

impl RuntimePorts {
    fn for_conversations(&self, zone_of: ZoneOf, budgets: AuxiliaryBudgets) -> ConversationPorts {
        ConversationPorts {
            recorder: self.recorder.clone(),
            tapes: Arc::clone(&self.tapes),
            families: Arc::clone(&self.families),
            redactor: Arc::clone(&self.redactor),
            clock: Arc::clone(&self.clock),
            entropy: Arc::clone(&self.entropy),
            models: self.models.clone(),
            zone_of,
            budgets,
            erasures: ErasureExclusion::default(),
        }
    }

    /// Returns what runs need of it.
    fn for_runs(
        &self,
        config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
        zones: ZoneOf,
        budgets: AuxiliaryBudgets,
    ) -> RunPorts {
        RunPorts {
            conversations: ConversationsHandle::new(self.for_conversations(Arc::clone(&zones), budgets)),
            recorder: self.recorder.clone(),
            tapes: Arc::clone(&self.tapes),
            tools: Arc::clone(&self.tools),
            models: self.models.clone(),
            config,
            redactor: Arc::clone(&self.redactor),
            clock: Arc::clone(&self.clock),
            entropy: Arc::clone(&self.entropy),
            zones,
            maintain: Arc::clone(&self.maintain),
        }
    }
}
