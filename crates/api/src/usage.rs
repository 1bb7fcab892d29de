//! `GetUsage`: usage of models with its cost, summed by day, model, session, surface and agent.
//!
//! Invariant: the rows of each grouping have the sum of all. Begin at [`OperationHandlers::get_usage`].

use std::cmp::Reverse;
use std::collections::BTreeMap;

use palyra_admin::access::AccessSnapshot;
use palyra_admin::usage::PricedAnswer;
use palyra_ports::read_usage::{PricedUsage, UsageReport, UsageTotals};
use palyra_runtime::Caller;
use palyra_types::session::SessionRef;
use palyra_types::surface::Surface;
use palyra_types::{AgentId, Redacted, SessionId, UtcDay};
use palyra_wire::v1;

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::translate;

/// Days of a request that names no first one.
const DAYS_DEFAULT: u32 = 30;
/// From the first to the last day, at most.
const DAYS_BETWEEN_MAX: u32 = 366;

impl OperationHandlers {
    /// Answers `GetUsage`.
    pub async fn get_usage(
        &self,
        caller: Caller,
        message: v1::GetUsageRequest,
    ) -> Result<v1::GetUsageResponse, ApiError> {
        let groupings = groupings(&message.group_by)?;
        let rows_max = translate::page_rows(message.rows_max);
        let usage = &self.state.admin.usage;
        let until = match message.until {
            Some(time) => UtcDay::from(translate::time("until", time)?),
            None => usage.today(),
        };
        let from = match message.from {
            Some(time) => UtcDay::from(translate::time("from", time)?),
            None => until.minus(DAYS_DEFAULT - 1),
        };
        if from > until || from < until.minus(DAYS_BETWEEN_MAX) {
            return Err(ApiError::invalid_argument(
                "`until` is a day from that of `from` to 366 days after it",
            ));
        }
        let PricedAnswer { used: report, catalogue } = usage.report(caller, from, until).await?;
        let known = self.state.admin.access.known();
        let agents = self.state.agents.snapshot();
        let agents = agents.iter().map(|agent| (agent.id, agent.profile.name.expose().clone())).collect();
        let are_priced = catalogue.is_some();
        let rows = UsageRows { report: &report, known: &known, agents, are_priced, rows_max };
        let (currency, price_catalogue) =
            catalogue.map_or_else(Default::default, |facts| (facts.currency, facts.digest));
        Ok(v1::GetUsageResponse {
            from: translate::timestamp(from.start()),
            until: translate::timestamp(until.start()),
            all: Some(totals(report.all, are_priced)),
            rows: groupings.into_iter().flat_map(|grouping| rows.of(grouping)).collect(),
            currency,
            price_catalogue,
        })
    }
}

/// Reads by what to group.
fn groupings(numbers: &[i32]) -> Result<Vec<v1::UsageGrouping>, ApiError> {
    if numbers.is_empty() {
        return Ok(vec![v1::UsageGrouping::Day]);
    }
    let mut groupings = Vec::new();
    for number in numbers {
        let grouping = v1::UsageGrouping::try_from(*number).unwrap_or_default();
        if grouping == v1::UsageGrouping::Unspecified || groupings.contains(&grouping) {
            return Err(ApiError::invalid_argument(
                "`group_by` must be day, model, session, surface or agent, each at most once",
            ));
        }
        groupings.push(grouping);
    }
    Ok(groupings)
}

/// Makes rows of a report.
struct UsageRows<'a> {
    report: &'a UsageReport,
    known: &'a AccessSnapshot,
    agents: BTreeMap<AgentId, String>,
    are_priced: bool,
    rows_max: usize,
}

impl UsageRows<'_> {
    fn of(&self, grouping: v1::UsageGrouping) -> Vec<v1::UsageRow> {
        let mut rows = match grouping {
            v1::UsageGrouping::Day => self.days(),
            v1::UsageGrouping::Model => self.largest(self.models()),
            v1::UsageGrouping::Session => self.largest(self.sessions()),
            v1::UsageGrouping::Surface => by_tokens(self.surfaces()),
            v1::UsageGrouping::Agent => self.largest(self.agents()),
            v1::UsageGrouping::Unspecified => Vec::new(),
        };
        rows.iter_mut().for_each(|row| row.set_grouping(grouping));
        rows
    }

    fn days(&self) -> Vec<v1::UsageRow> {
        let row = |(day, used): (&UtcDay, &PricedUsage)| v1::UsageRow {
            day: translate::timestamp(day.start()),
            ..self.row_of(*used)
        };
        self.report.days.iter().map(row).collect()
    }

    fn models(&self) -> Vec<v1::UsageRow> {
        let row = |(model, used): &(Redacted<String>, PricedUsage)| v1::UsageRow {
            model: model.expose().clone(),
            ..self.row_of(*used)
        };
        self.report.models.iter().map(row).collect()
    }

    fn sessions(&self) -> Vec<v1::UsageRow> {
        let row = |(session, used): (&SessionRef, &PricedUsage)| v1::UsageRow {
            session_id: if session.id == SessionId::NIL { String::new() } else { session.id.to_string() },
            principal_id: session.principal.to_string(),
            principal: self.known.name_of(session.principal).unwrap_or_default().to_owned(),
            ..self.row_of(*used)
        };
        self.report.sessions.iter().map(row).collect()
    }

    fn surfaces(&self) -> Vec<v1::UsageRow> {
        let row = |(surface, used): &(Option<Surface>, PricedUsage)| v1::UsageRow {
            surface: surface.map(translate::surface).unwrap_or_default(),
            ..self.row_of(*used)
        };
        self.report.surfaces.values().map(row).collect()
    }

    fn agents(&self) -> Vec<v1::UsageRow> {
        let row = |(agent, used): (&AgentId, &PricedUsage)| v1::UsageRow {
            agent_id: if *agent == AgentId::NIL { String::new() } else { agent.to_string() },
            agent: self.agents.get(agent).cloned().unwrap_or_default(),
            ..self.row_of(*used)
        };
        self.report.agents.iter().map(row).collect()
    }

    fn row_of(&self, used: PricedUsage) -> v1::UsageRow {
        v1::UsageRow { totals: Some(totals(used, self.are_priced)), ..Default::default() }
    }

    /// Returns the rows with most tokens first, and one that sums those beyond the limit.
    fn largest(&self, rows: Vec<v1::UsageRow>) -> Vec<v1::UsageRow> {
        let mut rows = by_tokens(rows);
        let rest = rows.split_off(rows.len().min(self.rows_max));
        if !rest.is_empty() {
            let others = u32::try_from(rest.len()).unwrap_or(u32::MAX);
            rows.push(v1::UsageRow { others, totals: Some(sum_of(&rest)), ..Default::default() });
        }
        rows
    }
}

fn by_tokens(mut rows: Vec<v1::UsageRow>) -> Vec<v1::UsageRow> {
    let tokens = |used: &v1::UsageTotals| used.input_tokens.saturating_add(used.output_tokens);
    rows.sort_by_key(|row| Reverse(row.totals.as_ref().map(tokens)));
    rows
}

fn sum_of(rows: &[v1::UsageRow]) -> v1::UsageTotals {
    let mut sum = v1::UsageTotals::default();
    for used in rows.iter().filter_map(|row| row.totals.as_ref()) {
        sum.requests = sum.requests.saturating_add(used.requests);
        sum.estimated_requests = sum.estimated_requests.saturating_add(used.estimated_requests);
        sum.input_tokens = sum.input_tokens.saturating_add(used.input_tokens);
        sum.cached_input_tokens = sum.cached_input_tokens.saturating_add(used.cached_input_tokens);
        sum.output_tokens = sum.output_tokens.saturating_add(used.output_tokens);
        sum.reasoning_tokens = sum.reasoning_tokens.saturating_add(used.reasoning_tokens);
        sum.unpriced_requests = sum.unpriced_requests.saturating_add(used.unpriced_requests);
        sum.unpriced_tokens = sum.unpriced_tokens.saturating_add(used.unpriced_tokens);
        if let Some(cost) = used.cost_millionths {
            sum.cost_millionths = Some(sum.cost_millionths.unwrap_or_default().saturating_add(cost));
        }
    }
    sum
}

/// Without configured prices nothing lacks one.
fn totals(used: PricedUsage, are_priced: bool) -> v1::UsageTotals {
    let PricedUsage { totals, unpriced, .. } = used;
    let unpriced = if are_priced { unpriced } else { UsageTotals::default() };
    v1::UsageTotals {
        requests: totals.requests,
        estimated_requests: totals.estimated_requests,
        input_tokens: totals.input_tokens,
        cached_input_tokens: totals.cached_input_tokens,
        output_tokens: totals.output_tokens,
        reasoning_tokens: totals.reasoning_tokens,
        cost_millionths: used.known_cost(),
        unpriced_requests: unpriced.requests,
        unpriced_tokens: tokens_of(&unpriced),
    }
}

fn tokens_of(used: &UsageTotals) -> u64 {
    used.input_tokens.saturating_add(used.output_tokens)
}

/// Returns the cost of a run.
pub(crate) fn run_cost(answer: PricedAnswer<PricedUsage>) -> v1::RunCost {
    let PricedAnswer { used, catalogue } = answer;
    v1::RunCost {
        cost_millionths: used.known_cost(),
        currency: catalogue.map(|facts| facts.currency).unwrap_or_default(),
        unpriced_requests: used.unpriced.requests,
        unpriced_tokens: tokens_of(&used.unpriced),
    }
}

#[cfg(test)]
mod tests {
    use palyra_types::PrincipalId;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_rows_of_each_grouping_have_the_sum_of_all_also_beyond_the_limit() {
        let mut report = UsageReport::default();
        for n in 1..=7_u8 {
            let totals = UsageTotals { requests: 1, output_tokens: n.into(), ..Default::default() };
            let used = PricedUsage::new(totals, (n % 3 != 0).then(|| u64::from(n) * 10));
            report.all.add(used);
            report.days.insert(UtcDay(n.into()), used);
            let principal = PrincipalId::from_parts(1, 1);
            report.sessions.insert(SessionRef { principal, id: SessionId::from_parts(1, n.into()) }, used);
            report.surfaces.insert(Surface::ALL[usize::from(n)].name(), (None, used));
            report.agents.insert(AgentId::from_parts(1, n.into()), used);
            report.models.push((Redacted::cleaned(format!("a/{n}")), used));
        }
        let known = AccessSnapshot::default();
        let rows = UsageRows {
            report: &report,
            known: &known,
            agents: BTreeMap::new(),
            are_priced: true,
            rows_max: 2,
        };
        for grouping in [
            v1::UsageGrouping::Day,
            v1::UsageGrouping::Model,
            v1::UsageGrouping::Session,
            v1::UsageGrouping::Surface,
            v1::UsageGrouping::Agent,
        ] {
            let rows = rows.of(grouping);
            assert!(rows.iter().all(|row| row.grouping() == grouping));
            assert_eq!(sum_of(&rows), totals(report.all, true), "{grouping:?}");
        }
        let all = totals(report.all, true);
        assert_eq!((all.cost_millionths, all.unpriced_requests, all.unpriced_tokens), (Some(190), 2, 9));
        let sessions = rows.of(v1::UsageGrouping::Session);
        let outputs: Vec<u64> =
            sessions.iter().filter_map(|row| Some(row.totals.as_ref()?.output_tokens)).collect();
        assert_eq!((outputs, sessions[2].others), (vec![7, 6, 15], 5));
    }

    proptest! {
        #[test]
        fn rows_and_the_rest_of_them_have_the_sum_of_all(
            parts in proptest::collection::vec((any::<u64>(), any::<u32>(), proptest::option::of(any::<u64>())), 0..12),
            rows_max in 1..15_usize,
        ) {
            let mut report = UsageReport::default();
            for (n, (input_tokens, output_tokens, cost)) in parts.into_iter().enumerate() {
                let output_tokens = output_tokens.into();
                let totals = UsageTotals { requests: 1, input_tokens, output_tokens, ..Default::default() };
                let used = PricedUsage::new(totals, cost);
                report.all.add(used);
                report.agents.insert(AgentId::from_parts(1, n as u128), used);
                report.models.push((Redacted::cleaned(format!("a/{n}")), used));
            }
            let known = AccessSnapshot::default();
            let rows =
                UsageRows { report: &report, known: &known, agents: BTreeMap::new(), are_priced: true, rows_max };
            for grouping in [v1::UsageGrouping::Model, v1::UsageGrouping::Agent] {
                let rows = rows.of(grouping);
                prop_assert!(rows.len() <= rows_max + 1);
                let sum = sum_of(&rows);
                let all = totals(report.all, true);
                prop_assert_eq!(sum.cost_millionths, all.cost_millionths);
                prop_assert_eq!(
                    (sum.requests, sum.unpriced_requests, sum.input_tokens, sum.output_tokens),
                    (all.requests, all.unpriced_requests, all.input_tokens, all.output_tokens)
                );
            }
        }
    }

    #[test]
    fn usage_without_a_price_has_no_cost_and_says_so_where_prices_are_configured() {
        let used = UsageTotals { requests: 2, input_tokens: 5, output_tokens: 3, ..Default::default() };
        let free = totals(PricedUsage::new(used, Some(0)), true);
        assert_eq!((free.cost_millionths, free.unpriced_requests, free.unpriced_tokens), (Some(0), 0, 0));
        let unknown = totals(PricedUsage::new(used, None), true);
        assert_eq!(
            (unknown.cost_millionths, unknown.unpriced_requests, unknown.unpriced_tokens),
            (None, 2, 8)
        );
        let unconfigured = totals(PricedUsage::new(used, None), false);
        assert_eq!((unconfigured.cost_millionths, unconfigured.unpriced_requests), (None, 0));
        assert_eq!(totals(PricedUsage::default(), true), v1::UsageTotals::default());
    }

    #[test]
    fn a_grouping_is_asked_for_once() {
        let numbers = |groupings: &[v1::UsageGrouping]| -> Vec<i32> {
            groupings.iter().map(|grouping| (*grouping).into()).collect()
        };
        let (day, model) = (v1::UsageGrouping::Day, v1::UsageGrouping::Model);
        assert_eq!(groupings(&[]).ok(), Some(vec![day]));
        assert_eq!(groupings(&numbers(&[model, day])).ok(), Some(vec![model, day]));
        for refused in [numbers(&[day, day]), vec![0], vec![99]] {
            assert!(groupings(&refused).is_err(), "{refused:?}");
        }
    }
}
