//! Usage of models: by day, model, session and surface, each as a table with the same sum.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::{count, short_id};
use palyra_wire::v1;

use super::{NavigationRow, ScreenSpec};
use crate::assets::CHART_STYLE_PATH;
use crate::screen_call::ScreenCall;
use crate::wording::{line_or, now_seconds, surface_word};

const EMPTY: &str = "No model was asked in this time.";
/// Days that a person can choose; the second one is shown first.
const PERIODS_DAYS: [u32; 3] = [7, 30, 90];
const DAY_SECONDS: i64 = 24 * 60 * 60;
/// Conversations whose titles are looked up.
const TITLES_MAX: u32 = 100;
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
    let wanted = call.query_number("days");
    let days = if PERIODS_DAYS.contains(&wanted) { wanted } else { PERIODS_DAYS[1] };
    let now = now_seconds();
    let time = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
    let groupings = [
        v1::UsageGrouping::Day,
        v1::UsageGrouping::Model,
        v1::UsageGrouping::Session,
        v1::UsageGrouping::Surface,
    ];
    let request = v1::GetUsageRequest {
        from: time(now - i64::from(days - 1) * DAY_SECONDS),
        until: time(now),
        group_by: groupings.map(i32::from).to_vec(),
        rows_max: 0,
    };
    let usage = call.call(request).await?;
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
        @else { (sums(&all)) (tables(usage, context)) }
    }
}

fn sums(all: &v1::UsageTotals) -> Markup {
    html! {
        dl.facts data-all {
            dt { "Requests" } dd { (all.requests) }
            dt { "Input tokens" } dd { (all.input_tokens) ", of which " (all.cached_input_tokens) " were cached" }
            dt { "Output tokens" } dd { (all.output_tokens) }
        }
        @if all.estimated_requests > 0 {
            p.muted { "The tokens of " (count(all.estimated_requests, "request")) " are estimated, because the answer broke off or its server did not count them." }
        }
    }
}

fn tables(usage: &v1::GetUsageResponse, context: &UsageContext) -> Markup {
    let of = |grouping| usage.rows.iter().filter(move |row| row.grouping() == grouping);
    let days = html! { @for row in of(v1::UsageGrouping::Day).rev() { (day_row(row)) } };
    let models = html! {
        @for row in of(v1::UsageGrouping::Model) {
            (named_row(row, "model", &html! { code { (line_or(&row.model, "erased")) } }))
        }
    };
    let sessions = html! {
        @for row in of(v1::UsageGrouping::Session) { (named_row(row, "conversation", &session_name(row, context))) }
    };
    let surfaces = html! {
        @for row in of(v1::UsageGrouping::Surface) {
            (named_row(row, "surface", &html! { (surface_word(row.surface())) }))
        }
    };
    html! {
        section data-usage data-from=(seconds(usage.from.as_ref())) data-until=(seconds(usage.until.as_ref())) {
            h2 { "By day" }
            link rel="stylesheet" href=(CHART_STYLE_PATH);
            div.chart data-chart data-drawn role="img" aria-label="Tokens of each day; the table below has the same numbers" hidden {}
            p.muted data-drawn hidden {
                span.info { "— input tokens" } " " span.positive { "- - output tokens" }
            }
            (table("Usage by day", "Day (UTC)", &days))
        }
        h2 { "By model" }
        (table("Usage by model", "Model", &models))
        h2 { "By conversation" }
        (table("Usage by conversation", "Conversation", &sessions))
        h2 { "By surface" }
        (table("Usage by surface", "Surface", &surfaces))
    }
}

/// Returns a table whose first column names what its numbers are of.
fn table(name: &str, first: &str, rows: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(name) {
            table {
                thead { tr {
                    th scope="col" { (first) }
                    @for heading in NUMBER_COLUMNS { th.number scope="col" { (heading) } }
                } }
                tbody { (rows) }
            }
        }
    }
}

fn day_row(row: &v1::UsageRow) -> Markup {
    let used = row.totals.unwrap_or_default();
    let day = seconds(row.day.as_ref());
    let date = jiff::Timestamp::from_second(day).map(|time| time.strftime("%Y-%m-%d").to_string());
    html! {
        tr data-day=(day) data-input=(used.input_tokens) data-output=(used.output_tokens) {
            td { time { (date.unwrap_or_default()) } }
            (numbers(&used))
        }
    }
}

fn named_row(row: &v1::UsageRow, noun: &str, name: &Markup) -> Markup {
    html! {
        tr {
            td { @if row.others > 0 { (count(row.others.into(), &format!("other {noun}"))) } @else { (name) } }
            (numbers(&row.totals.unwrap_or_default()))
        }
    }
}

/// Returns a link for a conversation of the person who looks, and only a name for that of another.
fn session_name(row: &v1::UsageRow, context: &UsageContext) -> Markup {
    let title = context.titles.get(&row.session_id).map(|title| line_or(title, "Without words"));
    html! {
        @if row.principal_id == context.principal_id {
            a href={ "/console/sessions/" (row.session_id) } { (title.unwrap_or_else(|| short_id(&row.session_id).to_owned())) }
        } @else {
            code { (short_id(&row.session_id)) } " of " (line_or(&row.principal, "a person who was erased"))
        }
    }
}

fn numbers(used: &v1::UsageTotals) -> Markup {
    html! {
        td.number {
            (used.requests)
            @if used.estimated_requests > 0 { div.muted { (used.estimated_requests) " estimated" } }
        }
        td.number { (used.input_tokens) }
        td.number { (used.cached_input_tokens) }
        td.number { (used.output_tokens) }
    }
}

fn seconds(time: Option<&prost_types::Timestamp>) -> i64 {
    time.map_or(0, |time| time.seconds)
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let used = v1::UsageTotals { requests: 3, estimated_requests: 1, ..Default::default() };
    let row = |grouping: v1::UsageGrouping| v1::UsageRow {
        grouping: grouping.into(),
        model: text.to_owned(),
        session_id: "S".to_owned(),
        principal_id: "P".to_owned(),
        principal: text.to_owned(),
        totals: Some(used),
        ..Default::default()
    };
    let session = row(v1::UsageGrouping::Session);
    let theirs = v1::UsageRow { principal_id: "Q".to_owned(), ..session.clone() };
    let rows = vec![row(v1::UsageGrouping::Day), row(v1::UsageGrouping::Model), session, theirs];
    let context = UsageContext {
        days: PERIODS_DAYS[0],
        principal_id: "P".to_owned(),
        titles: BTreeMap::from([("S".to_owned(), text.to_owned())]),
    };
    view(&v1::GetUsageResponse { all: Some(used), rows, ..Default::default() }, &context)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(shown.contains("data-day=\"86400\" data-input=\"0\" data-output=\"7\""), "{shown}");
        assert!(shown.contains("href=\"/console/usage?days=7\" aria-current=\"true\""), "{shown}");
    }
}
