//! Usage of models, priced and summed over runs and over the requests beside them.
//!
//! A run is found by the last day on which it used something, so a query reads the runs of its period and those after it.

use std::collections::BTreeMap;

use palyra_ports::read_usage::{PriceUsage, PricedUsage, UsageQuery, UsageReport};
use palyra_types::session::SessionRef;
use palyra_types::surface::Surface;
use palyra_types::{AgentId, Redacted, RunId, UtcDay};

use super::{BY_RUN, BY_USAGE_DAY, RunFamily, RunRow, UsageShare, key, usage_day_key};
use crate::families::auxiliary_uses::{self, AuxiliaryUseRow};
use crate::family::{IndexKey, KeyRange, RowStore, StoreFault, find_row, visit_rows};

/// Days before today whose totals may still change: a clock is set back by less.
const OPEN_DAYS: u32 = 1;

/// Returns what models used, grouped by day, model, session, surface and agent.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn usage_report(
    rows: &mut dyn RowStore,
    query: &UsageQuery,
    prices: &dyn PriceUsage,
) -> Result<UsageReport, StoreFault> {
    let mut sums = UsageSums::default();
    visit_rows::<RunFamily>(rows, BY_USAGE_DAY, from_day(query.from), |row| {
        if query.principal.is_none_or(|principal| row.record.principal == principal) {
            let shares = row.usage.shares.iter();
            let wanted = shares.filter(|share| (query.from..=query.until).contains(&share.day));
            wanted.for_each(|share| sums.add(UsedModel::of_run(&row, share), prices));
        }
    })?;
    auxiliary_uses::visit_from(rows, query.from, |row| {
        let is_wanted = query.principal.is_none_or(|principal| row.session.principal == principal);
        if is_wanted && row.share.day <= query.until {
            sums.add(UsedModel::beside_runs(&row), prices);
        }
    })?;
    Ok(sums.into_report())
}

/// Returns what models used for a run; nothing for a run that is not there.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn usage_of_run(
    rows: &mut dyn RowStore,
    run: RunId,
    prices: &dyn PriceUsage,
) -> Result<PricedUsage, StoreFault> {
    let mut sum = PricedUsage::default();
    if let Some((_, row)) = find_row::<RunFamily>(rows, BY_RUN, &key(run))? {
        row.usage.shares.iter().for_each(|share| sum.add(UsedModel::of_run(&row, share).priced(prices)));
    }
    Ok(sum)
}

/// Usage of one model on one day, by a run or by a request beside runs.
struct UsedModel {
    session: SessionRef,
    agent: AgentId,
    surface: Option<Surface>,
    model: Redacted<String>,
    share: UsageShare,
}

impl UsedModel {
    fn of_run(row: &RunRow, share: &UsageShare) -> Self {
        Self {
            session: SessionRef { principal: row.record.principal, id: row.record.session },
            agent: row.record.agent,
            surface: row.usage.surface,
            model: row.usage.model(share.place),
            share: *share,
        }
    }

    fn beside_runs(row: &AuxiliaryUseRow) -> Self {
        Self {
            session: row.session,
            agent: row.agent,
            surface: Some(Surface::Background),
            model: row.model.clone(),
            share: row.share,
        }
    }

    fn priced(&self, prices: &dyn PriceUsage) -> PricedUsage {
        let UsageShare { day, totals, .. } = self.share;
        PricedUsage::new(totals, prices.cost_of(self.model.expose(), day, &totals))
    }
}

/// Totals of all days that are over: a later look reads only runs of the days since.
#[derive(Debug, Clone, Copy, Default)]
pub struct PastUsage {
    /// The first day that is not in it; `None` while it has none.
    until: Option<UtcDay>,
    totals: PricedUsage,
}

impl PastUsage {
    /// Returns the totals of all runs of all days, and takes over the days that were over before `today`. Each call on one
    /// value needs the same prices.
    ///
    /// # Errors
    /// [`StoreFault`] when the store fails.
    pub fn advance(
        &mut self,
        rows: &mut dyn RowStore,
        today: UtcDay,
        prices: &dyn PriceUsage,
    ) -> Result<PricedUsage, StoreFault> {
        let from = self.until.unwrap_or(UtcDay(i32::MIN));
        let until = today.minus(OPEN_DAYS).max(from);
        let mut past = self.totals;
        let mut open = PricedUsage::default();
        visit_rows::<RunFamily>(rows, BY_USAGE_DAY, from_day(from), |row| {
            for share in row.usage.shares.iter().filter(|share| share.day >= from) {
                let used = UsedModel::of_run(&row, share).priced(prices);
                if share.day < until { past.add(used) } else { open.add(used) }
            }
        })?;
        auxiliary_uses::visit_from(rows, from, |row| {
            let used = UsedModel::beside_runs(&row).priced(prices);
            if row.share.day < until { past.add(used) } else { open.add(used) }
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
    models: BTreeMap<String, (Redacted<String>, PricedUsage)>,
}

impl UsageSums {
    fn add(&mut self, part: UsedModel, prices: &dyn PriceUsage) {
        let used = part.priced(prices);
        let UsedModel { session, agent, surface, model, share } = part;
        let report = &mut self.report;
        report.all.add(used);
        report.days.entry(share.day).or_default().add(used);
        report.agents.entry(agent).or_default().add(used);
        report.sessions.entry(session).or_default().add(used);
        let name = surface.map_or("", |surface| surface.name());
        report.surfaces.entry(name).or_insert((surface, PricedUsage::default())).1.add(used);
        let named = self.models.entry(model.expose().clone());
        named.or_insert((model, PricedUsage::default())).1.add(used);
    }

    fn into_report(self) -> UsageReport {
        UsageReport { models: self.models.into_values().collect(), ..self.report }
    }
}
