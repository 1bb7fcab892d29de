//! Weeks of usual work, in which self-healing has nothing to find.
//!
//! The real runtime, with every domain of self-healing on and its usual windows, lives through weeks of simulated time:
//! models are silent for up to 280 s, calls take up to ten minutes, questions wait for days, schedules are due, the daemon
//! is stopped and killed, the machine sleeps for hours and its clock is set by minutes and by more than a day. None of that
//! is a fault, so no incident may be opened. The control is one request that a provider never ends. Begin at [`live_weeks`].

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use palyra_admin::healing::HealingModes;
use palyra_journal_core::families::approvals;
use palyra_journal_core::families::incidents::{self, IncidentQuery};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::Clock;
use palyra_ports::read_approvals::{ApprovalFilter, ApprovalQuery};
use palyra_runtime::GatewayRuntimeConfigSnapshot;
use palyra_testkit::FixedEntropy;
use palyra_types::approval::ApprovalRecord;
use palyra_types::incident::SelfHealingMode;
use palyra_types::run::RunLimits;
use tokio::sync::watch;

use crate::client::Client;
use crate::daemon_process::{self, LifeEnd, LifePurpose, LifeSetup};
use crate::journal::SimJournal;
use crate::rules;
use crate::world::SimWorld;

/// One week.
pub const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// A question counts as one that waited after so much time: the window of unreachable approvers is ten minutes.
const WAITED_MIN: Duration = Duration::from_secs(60 * 60);
/// Clients of the owner.
const CLIENTS: u64 = 2;
/// Rows that are read at once at the end.
const ROWS_MAX: usize = 100;

/// A fault that is made on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantedFault {
    /// Nothing.
    Nothing,
    /// In the last of the weeks a provider never ends a request, which breaks its contract.
    HungProvider,
}

/// The result of the weeks of one seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeeksOutcome {
    /// Their seed.
    pub seed: u64,
    /// Hours that passed.
    pub hours: u64,
    /// Lives of the daemon.
    pub lives: u64,
    /// Runs.
    pub runs: u64,
    /// Entries of the journal.
    pub entries: u64,
    /// Questions that waited for an hour or longer.
    pub long_waits: usize,
    /// Incidents that were opened, by their causes.
    pub incidents: Vec<String>,
    /// Other findings.
    pub findings: Vec<String>,
}

/// Simulates so much time of the seed.
#[must_use]
pub fn live_weeks(seed: u64, span: Duration, planted: PlantedFault) -> WeeksOutcome {
    let world = SimWorld::of_weeks(seed);
    let dice = world.dice.apart();
    let (policy, _) = watch::channel(Arc::clone(&rules::all()[0]));
    let setup = LifeSetup {
        clients: (0..CLIENTS).map(|number| Client::new(&world, number, 0)).collect(),
        config: config(seed),
        entropy: Arc::new(FixedEntropy::new(dice.below(u64::MAX))),
        policy,
        world: Arc::clone(&world),
    };
    let mut journal = SimJournal::new(Arc::clone(&world));
    let mut lives = 0;
    let began = world.clock.boot();
    let passed = || world.clock.boot().since(began);
    let mut planted = planted;
    while passed() < span {
        if planted == PlantedFault::HungProvider && passed() >= span.saturating_sub(WEEK) {
            planted = PlantedFault::Nothing;
            world.hang_model();
        }
        lives += 1;
        let end = daemon_process::live(&setup, &journal, LifePurpose::Days);
        if end == LifeEnd::Found {
            break;
        }
        setup.clients.iter().for_each(Client::cut_off);
        journal = journal.reopened();
    }
    let long_waits = long_waits(&journal);
    let incidents = opened(&journal);
    let oracle = world.oracle();
    WeeksOutcome {
        seed,
        hours: passed().as_secs() / 3_600,
        lives,
        runs: oracle.runs().count() as u64,
        entries: oracle.entries(),
        long_waits,
        incidents,
        findings: oracle.findings().to_vec(),
    }
}

impl WeeksOutcome {
    /// Returns whether nothing is wrong.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.incidents.is_empty() && self.findings.is_empty()
    }
}

impl fmt::Display for WeeksOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, hours, lives, runs, entries, long_waits, incidents, findings } = self;
        write!(
            f,
            "seed {seed}: {hours} hours, {lives} lives, {runs} runs, {entries} entries, {long_waits} questions that waited for an hour or longer, {} incidents",
            incidents.len()
        )?;
        incidents.iter().chain(findings).try_for_each(|one| write!(f, "; {one}"))
    }
}

/// Every second seed lets self-healing act: a remedy without an incident does not exist.
fn config(seed: u64) -> GatewayRuntimeConfigSnapshot {
    let mode = if seed.is_multiple_of(2) { SelfHealingMode::ObserveOnly } else { SelfHealingMode::Auto };
    let limits = RunLimits { active_time_max: Duration::from_secs(2 * 60 * 60), ..RunLimits::default() };
    GatewayRuntimeConfigSnapshot {
        limits,
        instructions: "short".into(),
        recalls_memory: true,
        compacts: true,
        healing: HealingModes::all(mode),
        ..GatewayRuntimeConfigSnapshot::default()
    }
}

/// Returns how many questions waited for an hour or longer.
fn long_waits(journal: &SimJournal) -> usize {
    let mut count = 0;
    let mut before = None;
    loop {
        let query =
            ApprovalQuery { only: ApprovalFilter::All, before, limit: ROWS_MAX, ..ApprovalQuery::default() };
        let read = journal.memory().query(move |rows, log| approvals::records(rows, log, &query));
        let page = read.now_or_never().and_then(Result::ok).unwrap_or_default();
        count += page.iter().filter(|one| waited_long(one)).count();
        before = page.last().map(|one| one.seq);
        if before.is_none() {
            return count;
        }
    }
}

fn waited_long(approval: &ApprovalRecord) -> bool {
    approval.decided.is_none_or(|decided| decided.since(approval.created) >= WAITED_MIN)
}

fn opened(journal: &SimJournal) -> Vec<String> {
    let query = IncidentQuery { limit: ROWS_MAX, ..IncidentQuery::default() };
    let read = journal.memory().query(move |rows, log| incidents::records(rows, log, &query));
    match read.now_or_never() {
        Some(Ok(found)) => found.iter().map(|one| one.opened.cause.as_str().to_owned()).collect(),
        Some(Err(error)) => vec![format!("the incidents could not be read: {error}")],
        None => vec!["the incidents could not be read at once".to_owned()],
    }
}
