//! Rows that note which run a query is about, and that make the mistakes of a mutation.

use std::sync::{Arc, Mutex, PoisonError};

use palyra_journal_core::families::approvals::ApprovalFamily;
use palyra_journal_core::families::queued_tasks::QueuedTaskFamily;
use palyra_journal_core::families::runs::{RunFamily, RunRow};
use palyra_journal_core::family::{
    Family, FamilyTable, IndexKey, KeyRange, RowId, RowLookup, RowScan, RowStore, RowWrite, ScannedRow,
    StoreFault, StoredRow,
};
use palyra_types::proof::SeqRange;
use palyra_types::queued_task::TaskStage;
use palyra_types::run::RunLifecycleState;
use palyra_types::{RunId, Seq};

use crate::mutation::Mutation;

/// What a query looked up by name. Clones share it.
#[derive(Clone, Default)]
pub(super) struct ReadSubject(Arc<Mutex<LookedUp>>);

#[derive(Default)]
struct LookedUp {
    run: Option<RunId>,
    is_new: bool,
}

impl ReadSubject {
    /// Returns the run that it found first.
    pub(super) fn run(&self) -> Option<RunId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).run
    }

    /// Returns whether it looked for what begins with an input: a session by its key, a run by its key.
    pub(super) fn is_new(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_new
    }

    fn note(&self, table: &FamilyTable, by: RowLookup<'_>, found: Option<&StoredRow>) {
        let run = match table.name {
            "run" => found.and_then(RunFamily::load).map(|row| row.record.run),
            "approval" => found.and_then(ApprovalFamily::load).map(|row| row.run),
            _ => None,
        };
        let index = match by {
            RowLookup::Id(_) => None,
            RowLookup::Key { index, .. } => table.indexes.get(index).map(|index| index.name),
        };
        let mut looked_up = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        looked_up.run = looked_up.run.or(run);
        looked_up.is_new |= matches!(index, Some("by_key" | "by_idempotency"));
    }
}

/// Rows of one snapshot.
pub(super) struct ObservedRows<'a> {
    pub(super) rows: &'a mut dyn RowStore,
    pub(super) subject: ReadSubject,
    pub(super) mutation: Option<Mutation>,
}

impl ObservedRows<'_> {
    /// Returns whether a scan for open runs leaves out a row: all of them at a start, or those that are at work.
    fn forgets(&self, table: &FamilyTable, scan: &RowScan, row: &StoredRow) -> bool {
        let is_of_open = table.name == "run" && table.indexes[scan.index].name == "open";
        let is_of_all = scan.range.from == IndexKey::new();
        let is_pending = |row: RunRow| row.record.state == RunLifecycleState::Pending;
        match self.mutation {
            Some(Mutation::ForgetsAnOpenRun) => is_of_open && is_of_all,
            Some(Mutation::ForgetsAccounts) => {
                table.name == "budget_account" && table.indexes[scan.index].name == "with_reservations"
            }
            Some(Mutation::ForgetsLeases) if table.name == "queued_task" => {
                QueuedTaskFamily::load(row).is_some_and(|row| row.task.state().stage == TaskStage::Leased)
            }
            Some(Mutation::ForgetsWhoIsActive) => {
                is_of_open && !is_of_all && !RunFamily::load(row).is_some_and(is_pending)
            }
            _ => false,
        }
    }
}

impl RowStore for ObservedRows<'_> {
    fn get(
        &mut self,
        table: &'static FamilyTable,
        by: RowLookup<'_>,
    ) -> Result<Option<StoredRow>, StoreFault> {
        let found = self.rows.get(table, by)?;
        let found = found
            .filter(|_| table.name != "budget_account" || self.mutation != Some(Mutation::ForgetsAccounts));
        self.subject.note(table, by, found.as_ref());
        Ok(found)
    }

    fn scan(&mut self, table: &'static FamilyTable, scan: &RowScan) -> Result<Vec<ScannedRow>, StoreFault> {
        let is_of_items = table.name == "memory" && table.indexes[scan.index].name == "of_principal";
        if is_of_items && self.mutation == Some(Mutation::MixesPrincipals) {
            let everything = RowScan { range: KeyRange::of_prefix(IndexKey::new()), ..scan.clone() };
            return self.rows.scan(table, &everything);
        }
        let mut found = self.rows.scan(table, scan)?;
        found.retain(|scanned| !self.forgets(table, scan, &scanned.row));
        Ok(found)
    }

    fn write(
        &mut self,
        table: &'static FamilyTable,
        id: RowId,
        write: RowWrite<'_>,
    ) -> Result<(), StoreFault> {
        self.rows.write(table, id, write)
    }

    fn sourced(
        &mut self,
        table: &'static FamilyTable,
        column: usize,
        range: SeqRange,
    ) -> Result<Vec<(RowId, Seq)>, StoreFault> {
        self.rows.sourced(table, column, range)
    }
}
