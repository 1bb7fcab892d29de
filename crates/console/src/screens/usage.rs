//! Usage of models and its cost: by day, model, session, surface and agent, each as a table with the same sum.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::{count, short_id};
use palyra_usage_view::{cost_cell, day_of, money};
use palyra_wire::v1;

use super::{NavigationRow, ScreenSpec};
use crate::paths::USAGE_EXPORT_PATH;
use crate::screen_call::ScreenCall;
use crate::usage_chart::{BarKind, DayNumbers, UsageChart};
use crate::usage_export::{PERIODS_DAYS, usage_request, wanted_days};
use crate::wording::{line, line_or, surface_word};

const EMPTY: &str = "No model was asked in this time.";
/// Conversations whose titles are looked up.
const TITLES_MAX: u32 = 100;
const INPUT_BARS: BarKind =
    BarKind { noun: "input tokens", class: "info", sign: "■", write: |number| number.to_string() };
const OUTPUT_BARS: BarKind =
    BarKind { noun: "output tokens", class: "positive", sign: "□", write: |number| number.to_string() };
const COST_BARS: BarKind = BarKind { noun: "cost", class: "caution", sign: "■", write: money };
const NUMBER_COLUMNS: [&str; 4] = ["Requests", "Input tokens", "Of it cached", "Output tokens"];

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/usage",
    title: "Usage",
    navigation: Some(NavigationRow::More),
    operation: "GetUsage",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: Some(super::EmptyView {
        view: || view(&v1::GetUsageResponse::default(), &UsageContext::default()),
        sentence: EMPTY,
    }),
};

/// The context of the numbers of a page.
#[derive(Default)]
struct UsageContext {
    days: u32,
    /// The id of the person who looks.
    principal_id: String,
    /// Titles of that person's conversations, by id.
    titles: BTreeMap<String, String>,
}

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let days = wanted_days(&call);
    let usage = call.call(usage_request(days, 0)).await?;
    let sessions =
        call.call(v1::ListSessionsRequest { page_size: TITLES_MAX, ..Default::default() }).await?.sessions;
    let titles = sessions.into_iter().map(|session| {
        let title = if session.label.is_empty() { session.first_input } else { session.label };
        (session.session_id, title)
    });
    let principal_id = call.caller().actor.principal.to_string();
    Ok(view(&usage, &UsageContext { days, principal_id, titles: titles.collect() }))
}

fn view(usage: &v1::GetUsageResponse, context: &UsageContext) -> Markup {
    let all = usage.all.unwrap_or_default();
    html! {
        p.filters {
            "Show the last: "
            @for days in PERIODS_DAYS {
                a href={ "/console/usage?days=" (days) } aria-current=[(days == context.days).then_some("true")] { (count(days.into(), "day")) } " "
            }
        }
        @if all == v1::UsageTotals::default() { p { (EMPTY) " " a href="/console/chat" { "Ask something" } } }
        @else {
            (sums(&all, usage))
            (tables(usage, context))
            p {
                "The same numbers as a file: "
                @for format in ["csv", "json"] {
                    a href={ (USAGE_EXPORT_PATH) "?days=" (context.days) "&format=" (format) } download { (format.to_uppercase()) } " "
                }
            }
        }
    }
}

fn sums(all: &v1::UsageTotals, usage: &v1::GetUsageResponse) -> Markup {
    html! {
        dl.facts data-all {
            dt { "Requests" } dd { (all.requests) }
            dt { "Input tokens" } dd { (all.input_tokens) ", of which " (all.cached_input_tokens) " were cached" }
            dt { "Output tokens" } dd {
                (all.output_tokens)
                @if all.reasoning_tokens > 0 { ", of which " (all.reasoning_tokens) " were reasoning" }
            }
            @if !usage.currency.is_empty() {
                dt { "Cost" } dd {
                    @match all.cost_millionths {
                        Some(cost) => { (money(cost)) " " (line(&usage.currency)) },
                        None => { "not known" },
                    }
                }
            }
        }
        (price_note(all, usage))
        @if all.estimated_requests > 0 {
            p.muted { "The tokens of " (count(all.estimated_requests, "request")) " are estimated, because the answer broke off or its server did not count them." }
        }
    }
}

/// Says where costs are missing, and why.
fn price_note(all: &v1::UsageTotals, usage: &v1::GetUsageResponse) -> Markup {
    let is_unpriced = |used: &v1::UsageTotals| used.unpriced_requests > 0 || used.unpriced_tokens > 0;
    let unpriced = usage.rows.iter().filter(|row| {
        let used = row.totals.unwrap_or_default();
        row.grouping() == v1::UsageGrouping::Model && row.others == 0 && is_unpriced(&used)
    });
    html! {
        @if usage.currency.is_empty() {
            p.muted { "No prices are configured, so no costs are shown. The setting " code { "prices.file" } " names a file with prices." }
        } @else if is_unpriced(all) {
            p.caution {
                (count(all.unpriced_requests, "request")) " without a price, which no cost includes:"
                @for row in unpriced { " " code { (line_or(&row.model, "erased")) } }
                ". Add prices to the file of the setting " code { "prices.file" } "."
            }
        }
    }
}

/// Draws the tokens of each day, and the costs where something has one.
fn charts(usage: &v1::GetUsageResponse) -> Markup {
    let tokens = days_of(usage, |used| vec![used.input_tokens, used.output_tokens]);
    let costs = days_of(usage, |used| vec![used.cost_millionths.unwrap_or_default()]);
    let from = seconds(usage.from.as_ref());
    let until = seconds(usage.until.as_ref());
    let title = format!("Cost of each day in {}", line(&usage.currency));
    let cost_chart =
        UsageChart { id: "costs", title: &title, kinds: &[COST_BARS], from, until, days: &costs };
    let kinds = &[INPUT_BARS, OUTPUT_BARS];
    let token_chart =
        UsageChart { id: "tokens", title: "Tokens of each day", kinds, from, until, days: &tokens };
    html! {
        (token_chart.markup())
        @if costs.iter().any(|day| day.numbers != [0]) { (cost_chart.markup()) }
    }
}

fn days_of(usage: &v1::GetUsageResponse, numbers: fn(&v1::UsageTotals) -> Vec<u64>) -> Vec<DayNumbers> {
    let days = usage.rows.iter().filter(|row| row.grouping() == v1::UsageGrouping::Day);
    let day = |row: &v1::UsageRow| DayNumbers {
        day: seconds(row.day.as_ref()),
        numbers: numbers(&row.totals.unwrap_or_default()),
    };
    days.map(day).collect()
}

fn tables(usage: &v1::GetUsageResponse, context: &UsageContext) -> Markup {
    let of = |grouping| usage.rows.iter().filter(move |row| row.grouping() == grouping);
    let currency = usage.currency.as_str();
    let days = html! { @for row in of(v1::UsageGrouping::Day).rev() { (day_row(row, currency)) } };
    let models = html! {
        @for row in of(v1::UsageGrouping::Model) {
            (named_row(row, NamedRow { noun: "model", name: &html! { code { (line_or(&row.model, "erased")) } } }, currency))
        }
    };
    let sessions = html! {
        @for row in of(v1::UsageGrouping::Session) { (named_row(row, NamedRow { noun: "conversation", name: &session_name(row, context) }, currency)) }
    };
    let surfaces = html! {
        @for row in of(v1::UsageGrouping::Surface) {
            (named_row(row, NamedRow { noun: "surface", name: &html! { (surface_word(row.surface())) } }, currency))
        }
    };
    let agents = html! {
        @for row in of(v1::UsageGrouping::Agent) {
            (named_row(row, NamedRow { noun: "agent", name: &html! { (line_or(&row.agent, "not known any more")) } }, currency))
        }
    };
    html! {
        h2 { "By day" }
        (charts(usage))
        (table("Usage by day", "Day (UTC)", currency, &days))
        h2 { "By model" }
        (table("Usage by model", "Model", currency, &models))
        h2 { "By conversation" }
        (table("Usage by conversation", "Conversation", currency, &sessions))
        h2 { "By surface" }
        (table("Usage by surface", "Surface", currency, &surfaces))
        h2 { "By agent" }
        (table("Usage by agent", "Agent", currency, &agents))
    }
}

/// Returns a table whose first column names what its numbers are of.
fn table(name: &str, first: &str, currency: &str, rows: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(name) {
            table {
                thead { tr {
                    th scope="col" { (first) }
                    @for heading in NUMBER_COLUMNS { th.number scope="col" { (heading) } }
                    @if !currency.is_empty() { th.number scope="col" { "Cost (" (line(currency)) ")" } }
                } }
                tbody { (rows) }
            }
        }
    }
}

fn day_row(row: &v1::UsageRow, currency: &str) -> Markup {
    html! {
        tr {
            td { time { (day_of(row.day.as_ref())) } }
            (numbers(&row.totals.unwrap_or_default(), currency))
        }
    }
}

/// The name of a row, and what rows are called that are summed.
#[derive(Clone, Copy)]
struct NamedRow<'a> {
    noun: &'a str,
    name: &'a Markup,
}

fn named_row(row: &v1::UsageRow, named: NamedRow<'_>, currency: &str) -> Markup {
    let NamedRow { noun, name } = named;
    html! {
        tr {
            td { @if row.others > 0 { (count(row.others.into(), &format!("other {noun}"))) } @else { (name) } }
            (numbers(&row.totals.unwrap_or_default(), currency))
        }
    }
}

/// Returns a link for a conversation of the person who looks, and only a name for that of another.
fn session_name(row: &v1::UsageRow, context: &UsageContext) -> Markup {
    let title = context.titles.get(&row.session_id).map(|title| line_or(title, "Without words"));
    html! {
        @if row.session_id.is_empty() {
            "No conversation, of " (line_or(&row.principal, "a person who was erased"))
        } @else if row.principal_id == context.principal_id {
            a href={ "/console/sessions/" (row.session_id) } { (title.unwrap_or_else(|| short_id(&row.session_id).to_owned())) }
        } @else {
            code { (short_id(&row.session_id)) } " of " (line_or(&row.principal, "a person who was erased"))
        }
    }
}

fn numbers(used: &v1::UsageTotals, currency: &str) -> Markup {
    html! {
        td.number {
            (used.requests)
            @if used.estimated_requests > 0 { div.muted { (used.estimated_requests) " estimated" } }
        }
        td.number { (used.input_tokens) }
        td.number { (used.cached_input_tokens) }
        td.number { (used.output_tokens) }
        @if !currency.is_empty() { td.number { (cost_cell(used)) } }
    }
}

fn seconds(time: Option<&prost_types::Timestamp>) -> i64 {
    time.map_or(0, |time| time.seconds)
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let used = v1::UsageTotals {
        requests: 3,
        estimated_requests: 1,
        cost_millionths: Some(1_200_000),
        unpriced_requests: 1,
        ..Default::default()
    };
    let row = |grouping: v1::UsageGrouping| v1::UsageRow {
        grouping: grouping.into(),
        model: text.to_owned(),
        session_id: "S".to_owned(),
        principal_id: "P".to_owned(),
        principal: text.to_owned(),
        agent: text.to_owned(),
        totals: Some(used),
        ..Default::default()
    };
    let session = row(v1::UsageGrouping::Session);
    let theirs = v1::UsageRow { principal_id: "Q".to_owned(), ..session.clone() };
    let rows = vec![
        row(v1::UsageGrouping::Day),
        row(v1::UsageGrouping::Model),
        row(v1::UsageGrouping::Agent),
        session,
        theirs,
    ];
    let context = UsageContext {
        days: PERIODS_DAYS[0],
        principal_id: "P".to_owned(),
        titles: BTreeMap::from([("S".to_owned(), text.to_owned())]),
    };
    let currency = text.to_owned();
    view(&v1::GetUsageResponse { all: Some(used), rows, currency, ..Default::default() }, &context)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_SECONDS: i64 = 24 * 60 * 60;

    #[test]
    fn days_are_shown_newest_first_and_rows_beyond_the_limit_as_one() {
        let used = |output_tokens| v1::UsageTotals { requests: 1, output_tokens, ..Default::default() };
        let day = |days: i64, tokens| v1::UsageRow {
            grouping: v1::UsageGrouping::Day.into(),
            day: Some(prost_types::Timestamp { seconds: days * DAY_SECONDS, nanos: 0 }),
            totals: Some(used(tokens)),
            ..Default::default()
        };
        let others = v1::UsageRow {
            grouping: v1::UsageGrouping::Model.into(),
            others: 3,
            totals: Some(used(12)),
            ..Default::default()
        };
        let rows = vec![day(0, 5), day(1, 7), others];
        let usage = v1::GetUsageResponse { all: Some(used(12)), rows, ..Default::default() };
        let shown = view(&usage, &UsageContext { days: 7, ..Default::default() }).into_string();
        let places = ["1970-01-02", "1970-01-01", "3 other models"].map(|part| shown.find(part));
        assert!(places.is_sorted() && places[0].is_some(), "{places:?} in {shown}");
        assert!(shown.contains("<title>1970-01-02: 0 input tokens, 7 output tokens</title>"), "{shown}");
        assert!(
            !shown.contains("id=\"costs-title\"") && shown.contains("No prices are configured"),
            "{shown}"
        );
        assert!(shown.contains("href=\"/console/usage/export?days=7&amp;format=csv\" download"), "{shown}");
        assert!(shown.contains("href=\"/console/usage?days=7\" aria-current=\"true\""), "{shown}");
    }

    #[test]
    fn costs_are_shown_with_their_currency_and_models_without_a_price_are_named() {
        let priced = v1::UsageTotals { requests: 1, cost_millionths: Some(1_250_000), ..Default::default() };
        let unpriced = v1::UsageTotals { requests: 2, unpriced_requests: 2, ..Default::default() };
        let all = v1::UsageTotals { requests: 3, cost_millionths: Some(1_250_000), ..unpriced };
        let row = |grouping: v1::UsageGrouping, model: &str, totals| v1::UsageRow {
            grouping: grouping.into(),
            model: model.to_owned(),
            totals: Some(totals),
            ..Default::default()
        };
        let rows = vec![
            row(v1::UsageGrouping::Day, "", all),
            row(v1::UsageGrouping::Model, "acme/large", priced),
            row(v1::UsageGrouping::Model, "local/m", unpriced),
        ];
        let currency = "EUR".to_owned();
        let usage = v1::GetUsageResponse { all: Some(all), rows, currency, ..Default::default() };
        let shown = view(&usage, &UsageContext { days: 7, ..Default::default() }).into_string();
        for part in [
            "<dd>1.25 EUR</dd>",
            "<th class=\"number\" scope=\"col\">Cost (EUR)</th>",
            "2 requests without a price, which no cost includes: <code>local/m</code>.",
            "<td class=\"number\">1.25</td>",
            "<td class=\"number\">no price</td>",
            "<td class=\"number\">1.25+</td>",
            "<title id=\"costs-title\">Cost of each day in EUR</title>",
        ] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
    }
}
