//! Usage as a file of CSV: one line for each row, all groupings in the same columns.

use palyra_wire::v1::{self, UsageGrouping};

use crate::csv::{CsvCell, csv_line};
use crate::money::money;
use crate::row_name::day_of;

/// Rows of a file, at most, but for days; one more sums the rest.
pub const EXPORT_ROWS_MAX: u32 = 500;

const HEADER: [&str; 18] = [
    "grouping",
    "day",
    "model",
    "session_id",
    "principal",
    "surface",
    "agent",
    "others",
    "requests",
    "estimated_requests",
    "input_tokens",
    "cached_input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cost",
    "currency",
    "unpriced_requests",
    "unpriced_tokens",
];

/// Returns the rows of an answer, with a header. The cost of usage without a price is an empty cell.
#[must_use]
pub fn usage_csv(usage: &v1::GetUsageResponse) -> String {
    let header = HEADER.map(CsvCell::Text);
    let rows = usage.rows.iter().map(|row| csv_row(row, &usage.currency));
    std::iter::once(csv_line(&header)).chain(rows).collect()
}

fn csv_row(row: &v1::UsageRow, currency: &str) -> String {
    let used = row.totals.unwrap_or_default();
    let cost = used.cost_millionths.map(money).unwrap_or_default();
    let numbers = [
        u64::from(row.others),
        used.requests,
        used.estimated_requests,
        used.input_tokens,
        used.cached_input_tokens,
        used.output_tokens,
        used.reasoning_tokens,
    ]
    .map(|number| number.to_string());
    let unpriced = [used.unpriced_requests, used.unpriced_tokens].map(|number| number.to_string());
    let day = day_of(row.day.as_ref());
    let surface = short_name(row.surface().as_str_name(), "SURFACE_");
    let grouping = short_name(row.grouping().as_str_name(), "USAGE_GROUPING_");
    let is_surface = row.grouping() == UsageGrouping::Surface;
    let texts = [
        grouping.as_str(),
        &day,
        &row.model,
        &row.session_id,
        &row.principal,
        if is_surface { &surface } else { "" },
        &row.agent,
    ];
    let cells = texts.iter().map(|text| CsvCell::Text(text));
    let cells = cells.chain(numbers.iter().map(|number| CsvCell::Number(number)));
    let cells = cells.chain([CsvCell::Number(&cost), CsvCell::Text(currency)]);
    let cells: Vec<CsvCell<'_>> =
        cells.chain(unpriced.iter().map(|number| CsvCell::Number(number))).collect();
    csv_line(&cells)
}

fn short_name(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::tests::parse;

    #[test]
    fn each_row_is_a_line_with_the_columns_of_the_header() {
        let used = v1::UsageTotals {
            requests: 3,
            estimated_requests: 1,
            input_tokens: 70,
            cached_input_tokens: 20,
            output_tokens: 9,
            reasoning_tokens: 2,
            cost_millionths: Some(1_234_500),
            unpriced_requests: 1,
            unpriced_tokens: 4,
        };
        let model = v1::UsageRow {
            grouping: UsageGrouping::Model.into(),
            model: "=cmd|'/C calc'!A0/\"m\",x".to_owned(),
            totals: Some(used),
            ..Default::default()
        };
        let unpriced = v1::UsageTotals { requests: 1, unpriced_requests: 1, ..Default::default() };
        let day = v1::UsageRow {
            grouping: UsageGrouping::Day.into(),
            day: Some(prost_types::Timestamp { seconds: 0, nanos: 0 }),
            totals: Some(unpriced),
            ..Default::default()
        };
        let surface = v1::UsageRow {
            grouping: UsageGrouping::Surface.into(),
            surface: v1::Surface::Http.into(),
            ..Default::default()
        };
        let usage = v1::GetUsageResponse {
            currency: "EUR".to_owned(),
            rows: vec![model, day, surface],
            ..Default::default()
        };
        let text = usage_csv(&usage);
        let records = parse(&text).expect("CSV");
        assert_eq!(records[0], HEADER);
        assert!(records.iter().all(|record| record.len() == HEADER.len()), "{text}");
        let model = "model,,'=cmd|'/C calc'!A0/\"m\",x,,,,,0,3,1,70,20,9,2,1.2345,EUR,1,4";
        assert_eq!(records[1].join(","), model);
        assert_eq!(records[2].join(","), "day,1970-01-01,,,,,,0,1,0,0,0,0,0,,EUR,1,0");
        assert_eq!(records[3][..6].join(","), "surface,,,,,http");
    }
}
