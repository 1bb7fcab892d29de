//! The families of records, in the order in which entries are folded.

pub mod kinds_seen;
pub mod principals;
pub mod tokens;
pub mod agents;
pub mod skills;

mod removable;
pub mod components;
pub mod postures;
pub mod shadows;
pub mod epochs;
pub mod resets;
pub mod auxiliary_uses;
pub mod bookmarks;
pub mod deleted_responses;
pub mod project_rules;
pub mod memories;
pub mod learning_candidates;
pub mod budgets;
pub mod budget_accounts;
pub mod compactions;
pub mod queued_tasks;
pub mod schedules;
pub mod schedule_occurrences;
pub mod schedule_pauses;
pub mod incidents;
pub mod healing_modes;
pub mod deliveries;
pub mod undos;
mod usage_share;
pub mod input_keys;

pub mod stored_grants;

pub mod effects;
pub mod approvals;
pub mod runs;
pub mod sessions;

pub mod id_query;

use palyra_types::session::SessionRef;
use palyra_types::{RunId, Seq};

use crate::family::registry::families;
use crate::family::{IndexKey, KeyRange, RowScan, RowStore, ScanOrder, StoreFault, scan_pages};

families! {
    kinds_seen: kinds_seen::KindSeenFamily,
    principals: principals::PrincipalFamily,
    tokens: tokens::TokenFamily,
    agents: agents::AgentFamily,
    skills: skills::SkillFamily,
    components: components::ComponentFamily,
    postures: postures::PostureFamily,
    shadows: shadows::ShadowFamily,
    epochs: epochs::EpochFamily,
    resets: resets::ResetFamily,
    bookmarks: bookmarks::BookmarkFamily,
    deleted_responses: deleted_responses::DeletedResponseFamily,
    project_rules: project_rules::ProjectRulesFamily,
    memories: memories::MemoryFamily,
    learning_candidates: learning_candidates::LearningCandidateFamily,
    budgets: budgets::BudgetFamily,
    budget_accounts: budget_accounts::BudgetAccountFamily,
    auxiliary_uses: auxiliary_uses::AuxiliaryUseFamily,
    compactions: compactions::CompactionFamily,
    queued_tasks: queued_tasks::QueuedTaskFamily,
    schedules: schedules::ScheduleFamily,
    schedule_occurrences: schedule_occurrences::ScheduleOccurrenceFamily,
    schedule_pauses: schedule_pauses::SchedulePauseFamily,
    incidents: incidents::IncidentFamily,
    healing_modes: healing_modes::HealingModeFamily,
    deliveries: deliveries::DeliveryFamily,
    undos: undos::UndoFamily,
    input_keys: input_keys::InputKeyFamily,
    stored_grants: stored_grants::StoredGrantFamily,
    effects: effects::EffectFamily => runs::RunFamily,
    approvals: approvals::ApprovalFamily => runs::RunFamily,
    runs: runs::RunFamily,
    sessions: sessions::SessionFamily,
}

/// What an index is called whose keys begin with a run: the entries that made its rows are erased with that run.
const ABOUT_RUN: &str = "of_run";

/// Returns the entries outside of a tape that are about its run: those that made rows of an index called `of_run`, the
/// compactions that cover it, and what was learned from it.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn entries_about_run(store: &mut dyn RowStore, run: RunId) -> Result<Vec<Seq>, StoreFault> {
    let mut found = Vec::new();
    for table in FAMILIES {
        let Some(index) = table.indexes.iter().position(|index| index.name == ABOUT_RUN) else { continue };
        let range = KeyRange::of_prefix(IndexKey::new().bytes(&run.to_bytes()));
        let scan = RowScan { index, range, after: None, order: ScanOrder::Ascending, limit: usize::MAX };
        found.extend(scan_pages(store, table, scan)?.into_iter().map(|scanned| Seq::from(scanned.row.id)));
    }
    if let Some(record) = runs::record(store, run)? {
        let session = SessionRef { principal: record.principal, id: record.session };
        found.extend(compactions::covering(store, session, record.first_seq)?);
        found.extend(learning_candidates::citing(store, record.principal, run)?);
    }
    found.sort_unstable();
    Ok(found)
}

/// Returns ids that begin or end with a text, the highest (which is the newest) first.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn ids(rows: &mut dyn RowStore, query: &id_query::IdQuery) -> Result<Vec<[u8; 16]>, StoreFault> {
    match query.table {
        id_query::IdTable::Runs => runs::ids(rows, query),
        id_query::IdTable::Sessions => sessions::ids(rows, query),
        id_query::IdTable::Approvals => approvals::ids(rows, query),
    }
}
