//! Usage of models: the page, the operation, the counters and the entries of the journal have the same numbers.

use std::collections::BTreeMap;
use std::process::Command;

use palyra_model_server::{Behaviour, Reply, Tokens};
use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use crate::console::signed_in;
use crate::home::{Home, until_ended};
use crate::http_api::{HttpRequest, get, port};
use crate::openai_server::{home_with, runtime, serve};
use crate::tcp::token;

const SUM_TOKENS: &str = include_str!("usage/sum_tokens.py");
const GROUPINGS: [&str; 5] = ["day", "model", "session", "surface", "agent"];
/// A run that is still answering when it is killed.
const LONG_INPUT: &str =
    "[pace=30] list the files then find *.md then find *.txt then find *.rs then find *.toml";

/// Requests, input tokens and output tokens.
type Numbers = [u64; 3];

fn numbers(totals: &Value) -> Numbers {
    ["requests", "input_tokens", "output_tokens"].map(|name| number(&totals[name]))
}

/// Returns a number, which JSON of the API writes as text where it has 64 bits.
#[track_caller]
fn number(value: &Value) -> u64 {
    value.as_u64().or_else(|| value.as_str()?.parse().ok()).unwrap_or_else(|| panic!("{value}"))
}

fn sum(rows: impl IntoIterator<Item = Numbers>) -> Numbers {
    rows.into_iter().fold([0; 3], |all, row| [0, 1, 2].map(|at| all[at] + row[at]))
}

/// Returns what the operation says of the last 30 days, in all groupings.
fn usage(home: &Home, token: &str) -> Value {
    let groupings = GROUPINGS.map(|grouping| format!("group_by={grouping}")).join("&");
    let (status, answer) = get(&format!("GET /api/v1/usage?{groupings}"), token).answer(port(home));
    assert_eq!(status, 200, "{answer}");
    serde_json::from_str(&answer).unwrap()
}

/// Returns the rows of a grouping by what they are of.
fn grouped(usage: &Value, grouping: &str, name: &str) -> BTreeMap<String, Numbers> {
    let rows = usage["rows"].as_array().unwrap().iter().filter(|row| row["grouping"] == grouping);
    rows.map(|row| (row[name].as_str().unwrap().to_owned(), numbers(&row["totals"]))).collect()
}

/// Starts a run over HTTP.
fn start_over_http(home: &Home, token: &str, input: &str, model: &str) -> String {
    let body = json!({ "input": input, "model": model }).to_string();
    let (status, started) = HttpRequest { body, ..get("POST /api/v1/runs", token) }.answer(port(home));
    assert_eq!(status, 200, "{started}");
    let started: Value = serde_json::from_str(&started).unwrap();
    started["opened"]["run_id"].as_str().unwrap().to_owned()
}

/// Returns the counters of tokens.
fn counted(home: &Home, scraper: &str) -> [u64; 2] {
    let (status, metrics) = get("GET /metrics", scraper).answer(port(home));
    assert_eq!(status, 200, "{metrics}");
    ["input", "output"].map(|kind| {
        let name = format!("palyra_model_tokens_total{{kind=\"{kind}\"}} ");
        let value = metrics.lines().find_map(|line| line.strip_prefix(name.as_str()));
        value.unwrap_or_else(|| panic!("no {name} in {metrics}")).parse().unwrap()
    })
}

/// Returns what SQL finds in the entries.
fn sum_by_sql(home: &Home) -> Value {
    let database = home.state_dir().join("journal.db");
    let ran = Command::new("python3").args(["-c", SUM_TOKENS]).arg(database).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).unwrap()
}

/// Returns the tables of a page: their names, and of each row the first cell and the numbers.
fn tables(page: &str) -> BTreeMap<String, Vec<(String, Numbers)>> {
    let tables = page.split("aria-label=\"Usage ").skip(1);
    tables
        .map(|table| {
            let (name, table) = table.split_once('"').unwrap();
            let body = table.split_once("<tbody>").unwrap().1.split_once("</tbody>").unwrap().0;
            (name.to_owned(), body.split("<tr").skip(1).map(row).collect())
        })
        .collect()
}

fn row(html: &str) -> (String, Numbers) {
    let cells: Vec<String> = html.split("<td").skip(1).map(text).collect();
    let number = |at: usize| cells[at].split(' ').next().unwrap().parse().unwrap();
    (cells[0].clone(), [number(1), number(2), number(4)])
}

/// Returns the text of a cell, a space between its elements.
fn text(cell: &str) -> String {
    let pieces = cell.split('>').skip(1).map(|piece| piece.split('<').next().unwrap().trim());
    pieces.filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Compares the four sources, and returns what all of it was.
#[track_caller]
fn compare(home: &Home, token: &str, scraper: &str) -> Numbers {
    let (usage, sql) = (usage(home, token), sum_by_sql(home));
    let all = numbers(&usage["all"]);
    assert_eq!(all, numbers(&sql["all"]), "SQL and GetUsage");
    assert_eq!(counted(home, scraper), [all[1], all[2]], "/metrics and GetUsage");
    for (grouping, name) in [
        ("day", "day"),
        ("model", "model"),
        ("session", "session_id"),
        ("surface", "surface"),
        ("agent", "agent_id"),
    ] {
        assert_eq!(sum(grouped(&usage, grouping, name).into_values()), all, "{grouping}");
    }
    let by_sql: BTreeMap<String, Numbers> = sql["surfaces"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, used)| (name.clone(), numbers(used)))
        .collect();
    assert_eq!(grouped(&usage, "surface", "surface"), by_sql);
    let days: Vec<Numbers> = grouped(&usage, "day", "day").into_values().collect();
    let days_by_sql: Vec<Numbers> = sql["days"].as_object().unwrap().values().map(numbers).collect();
    assert_eq!(days, days_by_sql);

    let page = signed_in(home).get("/console/usage?days=7");
    assert_eq!(page.status, 200, "{}", page.body);
    let tables = tables(&page.body);
    assert_eq!(
        tables.keys().collect::<Vec<_>>(),
        ["by agent", "by conversation", "by day", "by model", "by surface"]
    );
    for (name, rows) in &tables {
        assert_eq!(sum(rows.iter().map(|(_, used)| *used)), all, "{name}: {rows:?}");
    }
    let models: BTreeMap<String, Numbers> = tables["by model"].iter().cloned().collect();
    assert_eq!(models, grouped(&usage, "model", "model"));
    let mut shown: Vec<Numbers> = tables["by conversation"].iter().map(|(_, used)| *used).collect();
    let mut listed: Vec<Numbers> = grouped(&usage, "session", "session_id").into_values().collect();
    shown.sort_unstable();
    listed.sort_unstable();
    assert_eq!(shown, listed);
    all
}

#[test]
fn the_numbers_of_the_page_are_those_of_the_operation_the_counters_and_the_journal() {
    let runtime = runtime();
    let used = Tokens { input: 70, cached: 20, output: 9, ..Tokens::default() };
    let model = serve(&runtime, Behaviour::always(Reply::text("Hello there").usage(used)));
    let home = home_with(&model);
    let token = token(&home, "user:local");
    let scraper = home.palyra(&["admin", "tokens", "create", "user:local", "--scope", "metrics"]).expect(0);
    let scraper = scraper.out.trim().to_owned();
    assert_eq!(compare_empty(&home, &token, &scraper), [0; 3]);

    home.palyra(&["run", "hello"]).expect(0);
    home.palyra(&["run", "hello again"]).expect(0);
    let over_http = start_over_http(&home, &token, "hello", "");
    home.palyra(&["runs", "wait", &over_http]).expect(0);
    assert_eq!(compare(&home, &token, &scraper), [3, 210, 27]);

    // Another model, in a run that a kill cuts in the middle of an answer: what was begun is estimated.
    let cut = start_over_http(&home, &token, LONG_INPUT, "demo/demo");
    let daemon = home.daemon_pid();
    kill_process(daemon, Signal::KILL).unwrap();
    until_ended(daemon);
    home.palyra(&["runs", "wait", &cut]).expect(0);
    let all = compare(&home, &token, &scraper);
    let models = grouped(&usage(&home, &token), "model", "model");
    assert_eq!(models.len(), 2, "{models:?}");

    home.palyra(&["admin", "stop"]).expect(0);
    assert_eq!(compare(&home, &token, &scraper), all, "a restart changes nothing");
    let runs = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    let of_runs = runs
        .iter()
        .map(|run| [0, number(&run["usage"]["input_tokens"]), number(&run["usage"]["output_tokens"])]);
    assert_eq!(sum(of_runs)[1..], all[1..], "each run has its part");

    // The names of models are content; the numbers stay.
    home.palyra(&["journal", "erase", &over_http, "--yes"]).expect(0);
    assert_eq!(compare_erased(&home, &token), all);
}

/// Nothing was asked yet: the sources agree on nothing, and the page says so.
fn compare_empty(home: &Home, token: &str, scraper: &str) -> Numbers {
    let page = signed_in(home).get("/console/usage");
    assert!(page.status == 200 && page.body.contains("No model was asked in this time."), "{}", page.body);
    assert_eq!(counted(home, scraper), [0, 0]);
    numbers(&usage(home, token)["all"])
}

fn compare_erased(home: &Home, token: &str) -> Numbers {
    let usage = usage(home, token);
    let models = grouped(&usage, "model", "model");
    assert_eq!(models[""], [1, 70, 9], "{models:?}");
    let page = signed_in(home).get("/console/usage");
    assert!(tables(&page.body)["by model"].contains(&("erased".to_owned(), [1, 70, 9])), "{}", page.body);
    numbers(&usage["all"])
}

/// Others see the usage of their own runs, and an owner that of all.
#[test]
fn a_member_sees_the_usage_of_their_own_runs_only() {
    let runtime = runtime();
    let used = Tokens { input: 5, output: 3, ..Tokens::default() };
    let model = serve(&runtime, Behaviour::always(Reply::text("Hello").usage(used)));
    let home = home_with(&model);
    home.palyra(&["run", "hello"]).expect(0);
    let owner = home.palyra(&["admin", "tokens", "create", "user:local", "--role", "owner"]).expect(0);
    let own = owner.out.trim().to_owned();
    let alice = token(&home, "user:alice");
    let theirs = start_over_http(&home, &alice, "hello", "");
    // The stream of events ends with the run.
    let events = get(&format!("GET /api/v1/runs/{theirs}/events"), &alice).answer(port(&home));
    assert_eq!(events.0, 200, "{}", events.1);
    assert_eq!(numbers(&usage(&home, &alice)["all"]), [1, 5, 3]);
    let all = usage(&home, &own);
    assert_eq!(numbers(&all["all"]), [2, 10, 6]);
    let sessions = grouped(&all, "session", "principal");
    assert_eq!(sessions["user:alice"], [1, 5, 3], "{sessions:?}");
    let page = signed_in(&home).get("/console/usage").body;
    assert!(page.contains(" of user:alice"), "no link leads to what the person may not see: {page}");
    let wide = format!("GET /api/v1/usage?from={}", "1970-01-01T00:00:00Z");
    assert_eq!(get(&wide, &own).answer(port(&home)).0, 400, "a period has at most 367 days");
}

/// Returns a catalogue with one price: a token read costs `input` millionths, and a token written 15.
pub(crate) fn token_prices(model: &str, input: &str) -> String {
    format!("currency = \"EUR\"\n[[price]]\nmodel = \"{model}\"\ninput = \"{input}\"\noutput = \"15\"\n")
}

/// The page, its files, the counters and the operation have the cost that the catalogue gives to what a server reports.
#[test]
fn the_cost_of_the_page_is_that_of_files_counters_and_the_operation() {
    const COST_OF_ANSWER: u64 = 50 * 3 + 20 + 5 * 15 + 4 * 20;
    let runtime = runtime();
    let used = Tokens { input: 70, cached: 20, output: 9, reasoning: 4, ..Tokens::default() };
    let model = serve(&runtime, Behaviour::always(Reply::text("Hello there").usage(used)));
    let home = home_with(&model);
    let prices = token_prices("openai/*", "3") + "cached_input = \"1\"\nreasoning = \"20\"\n";
    home.write("prices.toml", &prices);
    home.configure(&format!("prices.file = \"{}\"\n", home.work().join("prices.toml").display()));
    let token = token(&home, "user:local");
    let scraper = home.palyra(&["admin", "tokens", "create", "user:local", "--scope", "metrics"]).expect(0);
    home.palyra(&["run", "hello"]).expect(0);
    home.palyra(&["run", "hello again"]).expect(0);
    let unpriced = start_over_http(&home, &token, "hello", "demo/demo");
    home.palyra(&["runs", "wait", &unpriced]).expect(0);

    let cost = 2 * COST_OF_ANSWER;
    let answer = usage(&home, &token);
    let all = &answer["all"];
    assert_eq!((number(&all["cost_millionths"]), number(&all["unpriced_requests"])), (cost, 1), "{answer}");
    assert_eq!(number(&all["reasoning_tokens"]), 8);
    for grouping in GROUPINGS {
        let rows = answer["rows"].as_array().unwrap().iter().filter(|row| row["grouping"] == grouping);
        let costs = rows.filter(|row| !row["totals"]["cost_millionths"].is_null());
        let sum: u64 = costs.map(|row| number(&row["totals"]["cost_millionths"])).sum();
        assert_eq!(sum, cost, "{grouping}");
    }

    let (status, metrics) = get("GET /metrics", scraper.out.trim()).answer(port(&home));
    assert_eq!(status, 200);
    for line in [
        format!("palyra_model_cost_millionths_total{{currency=\"EUR\"}} {cost}"),
        "palyra_model_unpriced_requests_total 1".to_owned(),
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} in {metrics}");
    }

    let visitor = signed_in(&home);
    let page = visitor.get("/console/usage?days=1");
    let amount = "0.00065";
    for part in [
        &format!("<dd>{amount} EUR</dd>"),
        "<title id=\"costs-title\">Cost of each day in EUR</title>",
        "<code>demo/demo</code>",
        "<td class=\"number\">no price</td>",
    ] {
        assert!(page.body.contains(part), "{part} in {}", page.body);
    }
    for (format, media_type) in [("csv", "text/csv"), ("json", "application/json")] {
        let file = visitor.get(&format!("/console/usage/export?days=1&format={format}"));
        assert_eq!(file.status, 200, "{}", file.body);
        assert!(file.header("content-type").is_some_and(|found| found.starts_with(media_type)));
        let name = file.header("content-disposition").unwrap_or_default();
        assert!(name.starts_with("attachment; filename=\"usage-") && name.contains(format), "{name}");
        let wanted =
            if format == "csv" { format!(",{amount},EUR,") } else { format!("\"cost_millionths\": {cost}") };
        assert!(file.body.contains(&wanted), "{wanted} in {}", file.body);
    }
    assert_eq!(visitor.get("/console/usage/export?days=1&format=exe").status, 400);

    let priced = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    let run = priced.iter().find(|run| run["run_id"] != unpriced.as_str()).unwrap();
    let page = visitor.get(&format!("/console/runs/{}", run["run_id"].as_str().unwrap()));
    assert!(page.body.contains("<dt>Cost</dt><dd>0.000325 EUR</dd>"), "{}", page.body);
    let page = visitor.get(&format!("/console/runs/{unpriced}"));
    assert!(!page.body.contains("<dt>Cost</dt>"), "{}", page.body);
}
