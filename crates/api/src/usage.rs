//! `GetUsage`: usage of models, summed by day, model, session and surface.
//!
//! Invariant: the rows of each grouping have the sum of all. Begin at [`OperationHandlers::get_usage`].

use std::cmp::Reverse;

use palyra_admin::access::AccessSnapshot;
use palyra_ports::read_usage::{UsageReport, UsageTotals};
use palyra_runtime::Caller;
use palyra_types::UtcDay;
use palyra_types::session::SessionRef;
use palyra_types::surface::Surface;
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
        let report = usage.report(caller, from, until).await?;
        let rows = UsageRows { report: &report, known: &self.state.admin.access.known(), rows_max };
        Ok(v1::GetUsageResponse {
            from: translate::timestamp(from.start()),
            until: translate::timestamp(until.start()),
            all: Some(totals(report.all)),
            rows: groupings.into_iter().flat_map(|grouping| rows.of(grouping)).collect(),
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
                "`group_by` must be day, model, session or surface, each at most once",
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
    rows_max: usize,
}

impl UsageRows<'_> {
    fn of(&self, grouping: v1::UsageGrouping) -> Vec<v1::UsageRow> {
        let mut rows = match grouping {
            v1::UsageGrouping::Day => self.days(),
            v1::UsageGrouping::Model => self.largest(self.models()),
            v1::UsageGrouping::Session => self.largest(self.sessions()),
            v1::UsageGrouping::Surface => by_tokens(self.surfaces()),
            v1::UsageGrouping::Unspecified => Vec::new(),
        };
        rows.iter_mut().for_each(|row| row.set_grouping(grouping));
        rows
    }

    fn days(&self) -> Vec<v1::UsageRow> {
        let row = |(day, used): (&UtcDay, &UsageTotals)| v1::UsageRow {
            day: translate::timestamp(day.start()),
            ..row_of(*used)
        };
        self.report.days.iter().map(row).collect()
    }

    fn models(&self) -> Vec<v1::UsageRow> {
        let models = self.report.models.iter();
        models.map(|(model, used)| v1::UsageRow { model: model.expose().clone(), ..row_of(*used) }).collect()
    }

    fn sessions(&self) -> Vec<v1::UsageRow> {
        let row = |(session, used): (&SessionRef, &UsageTotals)| v1::UsageRow {
            session_id: session.id.to_string(),
            principal_id: session.principal.to_string(),
            principal: self.known.name_of(session.principal).unwrap_or_default().to_owned(),
            ..row_of(*used)
        };
        self.report.sessions.iter().map(row).collect()
    }

    fn surfaces(&self) -> Vec<v1::UsageRow> {
        let row = |(surface, used): &(Option<Surface>, UsageTotals)| v1::UsageRow {
            surface: surface.map(translate::surface).unwrap_or_default(),
            ..row_of(*used)
        };
        self.report.surfaces.values().map(row).collect()
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

fn row_of(used: UsageTotals) -> v1::UsageRow {
    v1::UsageRow { totals: Some(totals(used)), ..Default::default() }
}

fn by_tokens(mut rows: Vec<v1::UsageRow>) -> Vec<v1::UsageRow> {
    let tokens = |used: &v1::UsageTotals| used.input_tokens.saturating_add(used.output_tokens);
    rows.sort_by_key(|row| Reverse(row.totals.as_ref().map(tokens)));
    rows
}

fn sum_of(rows: &[v1::UsageRow]) -> v1::UsageTotals {
    let mut sum = v1::UsageTotals::default();
    for used in rows.iter().filter_map(|row| row.totals.as_ref()) {
        sum.requests += used.requests;
        sum.estimated_requests += used.estimated_requests;
        sum.input_tokens += used.input_tokens;
        sum.cached_input_tokens += used.cached_input_tokens;
        sum.output_tokens += used.output_tokens;
    }
    sum
}

fn totals(used: UsageTotals) -> v1::UsageTotals {
    v1::UsageTotals {
        requests: used.requests,
        estimated_requests: used.estimated_requests,
        input_tokens: used.input_tokens,
        cached_input_tokens: used.cached_input_tokens,
        output_tokens: used.output_tokens,
    }
}

#[cfg(test)]
mod tests {
    use palyra_types::{PrincipalId, SessionId};

    use super::*;

    #[test]
    fn the_rows_of_each_grouping_have_the_sum_of_all_also_beyond_the_limit() {
        let mut report = UsageReport::default();
        for n in 1..=7_u8 {
            let used = UsageTotals { requests: 1, output_tokens: n.into(), ..Default::default() };
            report.all.add(used);
            report.days.insert(UtcDay(n.into()), used);
            let principal = PrincipalId::from_parts(1, 1);
            report.sessions.insert(SessionRef { principal, id: SessionId::from_parts(1, n.into()) }, used);
            report.surfaces.insert(Surface::ALL[usize::from(n)].name(), (None, used));
        }
        let rows = UsageRows { report: &report, known: &AccessSnapshot::default(), rows_max: 2 };
        for grouping in [v1::UsageGrouping::Day, v1::UsageGrouping::Session, v1::UsageGrouping::Surface] {
            let rows = rows.of(grouping);
            assert!(rows.iter().all(|row| row.grouping() == grouping));
            assert_eq!(sum_of(&rows), totals(report.all), "{grouping:?}");
        }
        let sessions = rows.of(v1::UsageGrouping::Session);
        let outputs: Vec<u64> =
            sessions.iter().filter_map(|row| Some(row.totals.as_ref()?.output_tokens)).collect();
        assert_eq!((outputs, sessions[2].others), (vec![7, 6, 15], 5));
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
