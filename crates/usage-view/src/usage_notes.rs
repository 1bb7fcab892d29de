//! Remarks below a table of usage: what is estimated, what has no price.

use palyra_screen_text::count;
use palyra_wire::v1::{self, UsageGrouping};

/// Models that a remark names, at most.
const MODELS_NAMED_MAX: usize = 4;

/// Returns remarks about an answer; models without a price are named where the answer has rows by model.
pub(super) fn usage_notes(usage: &v1::GetUsageResponse) -> Vec<String> {
    let all = usage.all.unwrap_or_default();
    let mut notes = Vec::new();
    if all.estimated_requests > 0 {
        let requests = count(all.estimated_requests, "request");
        notes.push(format!(
            "the tokens of {requests} are estimated: an answer broke off, or its model does not count them, as the demo model"
        ));
    }
    if all.cached_input_tokens > 0 {
        notes.push(format!(
            "the input includes {} read from a cache",
            count(all.cached_input_tokens, "token")
        ));
    }
    if usage.currency.is_empty() {
        let mend = "`palyra explain docs/usage.md` says how to set prices.file";
        notes.push(format!("no prices are configured, so no costs are shown; {mend}"));
    } else if all.unpriced_requests > 0 || all.unpriced_tokens > 0 {
        let erased = unpriced_erased(usage).min(all.unpriced_requests);
        let named = all.unpriced_requests - erased;
        if named > 0 || erased == 0 {
            let requests = count(named, "request");
            let models = unpriced_models(usage);
            let mend = "add the models to the file that prices.file names";
            notes.push(format!("{requests} without a price{models}, which no cost includes; {mend}"));
        }
        if erased > 0 {
            let requests = count(erased, "request");
            notes.push(format!(
                "{requests} of erased runs, whose model is not known any more, which no cost includes"
            ));
        }
    }
    notes
}

/// Returns how many requests without a price went to models whose names are erased.
fn unpriced_erased(usage: &v1::GetUsageResponse) -> u64 {
    let models = usage.rows.iter().filter(|row| row.grouping() == UsageGrouping::Model);
    let erased = models.filter(|row| row.model.is_empty() && row.others == 0);
    erased.filter_map(|row| row.totals.as_ref()).map(|used| used.unpriced_requests).sum()
}

fn unpriced_models(usage: &v1::GetUsageResponse) -> String {
    let is_unpriced = |used: &v1::UsageTotals| used.unpriced_requests > 0 || used.unpriced_tokens > 0;
    let models = usage.rows.iter().filter(|row| row.grouping() == UsageGrouping::Model);
    let models = models.filter(|row| row.totals.as_ref().is_some_and(is_unpriced) && !row.model.is_empty());
    let mut names: Vec<&str> = models.map(|row| row.model.as_str()).collect();
    let more = names.len().saturating_sub(MODELS_NAMED_MAX);
    names.truncate(MODELS_NAMED_MAX);
    match (names.as_slice(), more) {
        ([], _) => String::new(),
        (names, 0) => format!(" ({})", names.join(", ")),
        (names, more) => format!(" ({} and {more} more)", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(currency: &str, all: v1::UsageTotals, models: &[&str]) -> v1::GetUsageResponse {
        let row = |model: &&str| v1::UsageRow {
            grouping: UsageGrouping::Model.into(),
            model: (*model).to_owned(),
            totals: Some(v1::UsageTotals { unpriced_requests: 1, ..Default::default() }),
            ..Default::default()
        };
        let rows = models.iter().map(row).collect();
        v1::GetUsageResponse { all: Some(all), rows, currency: currency.to_owned(), ..Default::default() }
    }

    #[test]
    fn remarks_name_what_is_estimated_and_what_has_no_price() {
        let all = v1::UsageTotals { requests: 5, ..Default::default() };
        assert_eq!(usage_notes(&usage("EUR", all, &[])), Vec::<String>::new());
        let cached = v1::UsageTotals { cached_input_tokens: 800, ..all };
        assert_eq!(
            usage_notes(&usage("EUR", cached, &[])),
            ["the input includes 800 tokens read from a cache"]
        );
        let without = usage_notes(&usage("", all, &[]));
        assert!(without.len() == 1 && without[0].starts_with("no prices are configured"), "{without:?}");
        let doubtful = v1::UsageTotals { estimated_requests: 1, unpriced_requests: 2, ..all };
        let notes = usage_notes(&usage("EUR", doubtful, &["a/1", "b/2"]));
        assert!(notes[0].starts_with("the tokens of 1 request are estimated"), "{notes:?}");
        assert!(notes[1].starts_with("2 requests without a price (a/1, b/2), which"), "{notes:?}");
        let erased = usage_notes(&usage("EUR", doubtful, &["a/1", ""]));
        assert!(erased[1].starts_with("1 request without a price (a/1), which"), "{erased:?}");
        assert!(erased[2].starts_with("1 request of erased runs"), "{erased:?}");
        let many = usage_notes(&usage("EUR", doubtful, &["a", "b", "c", "d", "e", "f"]));
        assert!(many[1].contains("(a, b, c, d and 2 more)"), "{many:?}");
    }
}
