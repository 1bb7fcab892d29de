//! Usage of models, for callers and for counters.
//!
//! Owns whose runs a caller sees. Both answers come from the rows of runs. Begin at [`UsageHandle`].

mod budget_requests;

use std::sync::Arc;

use palyra_journal_core::families::runs::{PastUsage, usage_report};
use palyra_journal_core::family::{LogView, QueryFamilies, RowStore};
use palyra_ports::read_usage::{UsageQuery, UsageReport, UsageTotals};
use palyra_types::UtcDay;
use tokio::sync::Mutex;

use crate::budgets::BudgetBook;
use crate::caller::Caller;
use crate::error::AdminError;
use crate::memories::ZoneOf;
use crate::parts::AdminPorts;

pub use budget_requests::{BudgetChange, BudgetListing, ListedAccount, TopUp};

/// Sums what models used, and says what they may cost.
#[derive(Clone)]
pub struct UsageHandle {
    ports: Arc<AdminPorts>,
    budgets: Arc<BudgetBook>,
    zones: ZoneOf,
    past: Arc<Mutex<PastUsage>>,
}

impl UsageHandle {
    /// Makes a handle.
    #[must_use]
    pub fn new(ports: Arc<AdminPorts>, budgets: Arc<BudgetBook>, zones: ZoneOf) -> Self {
        Self { ports, budgets, zones, past: Arc::default() }
    }

    /// Returns the day of UTC that it is.
    #[must_use]
    pub fn today(&self) -> UtcDay {
        self.ports.clock.wall().into()
    }

    /// Sums the runs of these days that the caller may see: their own, and all for an owner.
    ///
    /// # Errors
    /// [`AdminError::Read`].
    pub async fn report(
        &self,
        caller: Caller,
        from: UtcDay,
        until: UtcDay,
    ) -> Result<UsageReport, AdminError> {
        let principal = (!caller.is_owner()).then_some(caller.actor.principal);
        let query = UsageQuery { principal, from, until };
        Ok(self.ports.families.query(move |rows, _| usage_report(rows, &query)).await?)
    }

    /// Returns the totals of all runs there ever were.
    ///
    /// # Errors
    /// [`AdminError::Read`].
    pub async fn all_time(&self) -> Result<UsageTotals, AdminError> {
        // Until the answer is kept: an older snapshot must not replace a newer one.
        let mut past = self.past.lock().await;
        let mut next = *past;
        let today = self.today();
        let query = move |rows: &mut dyn RowStore, _: &mut dyn LogView| {
            let totals = next.advance(rows, today)?;
            Ok((next, totals))
        };
        let (next, totals) = self.ports.families.query(query).await?;
        *past = next;
        Ok(totals)
    }
}
