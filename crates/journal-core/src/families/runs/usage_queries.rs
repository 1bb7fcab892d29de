//! Usage of models, summed over runs.
//!
//! A run is found by the last day on which it used something, so a query reads the runs of its period and those after it.

use std::collections::BTreeMap;

use palyra_ports::read_usage::{UsageQuery, UsageReport, UsageTotals};
use palyra_types::session::SessionRef;
use palyra_types::{Redacted, UtcDay};

use super::{BY_USAGE_DAY, RunFamily, RunRow, UsageShare, usage_day_key};
use crate::family::{IndexKey, KeyRange, RowStore, StoreFault, visit_rows};

/// Days before today whose totals may still change: a clock is set back by less.
const OPEN_DAYS: u32 = 1;

/// Returns what models used, grouped by day, model, session and surface.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn usage_report(rows: &mut dyn RowStore, query: &UsageQuery) -> Result<UsageReport, StoreFault> {
    let mut sums = UsageSums::default();
    visit_rows::<RunFamily>(rows, BY_USAGE_DAY, from_day(query.from), |row| {
        if query.principal.is_none_or(|principal| row.record.principal == principal) {
            let shares = row.usage.shares.iter();
            let wanted = shares.filter(|share| (query.from..=query.until).contains(&share.day));
            wanted.for_each(|share| sums.add(&row, share));
        }
    })?;
    Ok(sums.into_report())
}

/// Totals of all days that are over: a later look reads only runs of the days since.
#[derive(Debug, Clone, Copy, Default)]
pub struct PastUsage {
    /// The first day that is not in it; `None` while it has none.
    until: Option<UtcDay>,
    totals: UsageTotals,
}

impl PastUsage {
    /// Returns the totals of all runs of all days, and takes over the days that were over before `today`.
    ///
    /// # Errors
    /// [`StoreFault`] when the store fails.
    pub fn advance(&mut self, rows: &mut dyn RowStore, today: UtcDay) -> Result<UsageTotals, StoreFault> {
        let from = self.until.unwrap_or(UtcDay(i32::MIN));
        let until = today.minus(OPEN_DAYS).max(from);
        let mut past = self.totals;
        let mut open = UsageTotals::default();
        visit_rows::<RunFamily>(rows, BY_USAGE_DAY, from_day(from), |row| {
            for share in row.usage.shares.iter().filter(|share| share.day >= from) {
                if share.day < until { past.add(share.totals) } else { open.add(share.totals) }
            }
        })?;
        *self = Self { until: Some(until), totals: past };
        open.add(past);
        Ok(open)
    }
}

fn from_day(day: UtcDay) -> KeyRange {
    KeyRange { from: usage_day_key(day), ..KeyRange::of_prefix(IndexKey::new()) }
}

/// A report that is being made; models by name.
#[derive(Default)]
struct UsageSums {
    report: UsageReport,
    models: BTreeMap<String, (Redacted<String>, UsageTotals)>,
}

impl UsageSums {
    fn add(&mut self, row: &RunRow, share: &UsageShare) {
        let totals = share.totals;
        let report = &mut self.report;
        report.all.add(totals);
        report.days.entry(share.day).or_default().add(totals);
        let session = SessionRef { principal: row.record.principal, id: row.record.session };
        report.sessions.entry(session).or_default().add(totals);
        let surface = row.usage.surface;
        let name = surface.map_or("", |surface| surface.name());
        report.surfaces.entry(name).or_insert((surface, UsageTotals::default())).1.add(totals);
        let model = row.usage.model(share.place);
        let named = self.models.entry(model.expose().clone());
        named.or_insert((model, UsageTotals::default())).1.add(totals);
    }

    fn into_report(self) -> UsageReport {
        UsageReport { models: self.models.into_values().collect(), ..self.report }
    }
}
