//! The page that Prometheus reads: what was answered, the journal, the runs and the tokens of models.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use palyra_admin::usage::PricedAnswer;
use palyra_ports::maintain_journal::JournalHealth;
use palyra_ports::read_usage::PricedUsage;

use crate::metrics::{ExpositionText, label_text};
use crate::services::HttpServices;

/// The text format, version 0.0.4.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Answers with all counters.
pub(crate) async fn exposition(services: &HttpServices) -> Response {
    let mut text = ExpositionText::default();
    let labels = format!("{{version=\"{}\"}}", label_text(&services.daemon.version));
    text.family("palyra_build_info", "gauge", "The version that runs.");
    text.sample("palyra_build_info", &labels, 1);
    let started = services.daemon.started.0 / 1_000_000;
    text.gauge("palyra_start_time_seconds", "When the daemon started, in seconds since the epoch.", started);
    let journal = services.state.journal.status();
    let writable = u8::from(journal.health == JournalHealth::Writable);
    text.gauge("palyra_journal_writable", "1 while the journal takes all entries.", writable);
    text.gauge("palyra_journal_entries", "Entries in the journal.", journal.entries);
    text.gauge("palyra_journal_database_bytes", "Size of the database file.", journal.database_bytes);
    text.gauge("palyra_journal_wal_bytes", "Size of the write-ahead log.", journal.wal_bytes);
    text.family("palyra_journal_commits_total", "counter", "Commits since the start.");
    text.sample("palyra_journal_commits_total", "", journal.commits);
    if let Ok(open) = services.state.health.open_runs().await {
        text.gauge("palyra_runs_open", "Runs that are not over.", open);
    }
    if let Ok(working) = services.state.health.working_runs().await {
        text.gauge(
            "palyra_runs_working",
            "Runs that work or wait for their turn, and not for a person.",
            working,
        );
    }
    if let Ok(answer) = services.state.admin.usage.all_time().await {
        write_usage(&mut text, &answer);
    }
    services.metrics.write(&mut text);
    let mut response = Response::new(Body::from(text.0));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(TEXT_FORMAT));
    response
}

/// Writes what models used. Costs have one label, the currency, and are there where prices are configured.
fn write_usage(text: &mut ExpositionText, answer: &PricedAnswer<PricedUsage>) {
    let used = answer.used;
    let name = "palyra_model_tokens_total";
    text.family(name, "counter", "Tokens that models read and wrote in all runs of the journal.");
    text.sample(name, "{kind=\"input\"}", used.totals.input_tokens);
    text.sample(name, "{kind=\"output\"}", used.totals.output_tokens);
    let Some(catalogue) = &answer.catalogue else { return };
    let name = "palyra_model_cost_millionths_total";
    text.family(
        name,
        "counter",
        "Cost of all runs of the journal, in millionths of the currency, by the prices in force.",
    );
    text.sample(name, &format!("{{currency=\"{}\"}}", label_text(&catalogue.currency)), used.cost_millionths);
    let name = "palyra_model_unpriced_requests_total";
    text.family(name, "counter", "Requests to models that have no price on their day.");
    text.sample(name, "", used.unpriced.requests);
}

#[cfg(test)]
mod tests {
    use palyra_admin::usage::CatalogueFacts;
    use palyra_ports::read_usage::UsageTotals;

    use super::*;

    fn page(catalogue: Option<CatalogueFacts>) -> String {
        let totals = UsageTotals { requests: 3, input_tokens: 7, output_tokens: 2, ..UsageTotals::default() };
        let mut used = PricedUsage::new(totals, Some(1_500));
        used.add(PricedUsage::new(UsageTotals { requests: 4, ..UsageTotals::default() }, None));
        let mut text = ExpositionText::default();
        write_usage(&mut text, &PricedAnswer { used, catalogue });
        text.0
    }

    #[test]
    fn costs_are_counted_where_prices_are_configured() {
        let tokens =
            "palyra_model_tokens_total{kind=\"input\"} 7\npalyra_model_tokens_total{kind=\"output\"} 2\n";
        let without = page(None);
        assert!(without.ends_with(tokens) && !without.contains("cost"), "{without}");
        let facts = CatalogueFacts { currency: "EUR".to_owned(), digest: String::new() };
        let with = page(Some(facts));
        assert!(with.contains(tokens), "{with}");
        assert!(with.contains("\npalyra_model_cost_millionths_total{currency=\"EUR\"} 1500\n"), "{with}");
        assert!(with.ends_with("\npalyra_model_unpriced_requests_total 4\n"), "{with}");
    }
}
