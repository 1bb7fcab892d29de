//! Every screen of the console in a real browser: accessibility, widths, sizes of type, links, and no scripts.
//!
//! Walks over `crates/console/screens.txt`, which a test of the console compares with the table of screens.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use crate::asked::{asked, writer};
use crate::browser_visit::BrowserVisit;
use crate::console::{Visitor, signed_in};
use crate::home::Home;
use crate::http_api::port;
use crate::openai_clients::node_modules;
use crate::openai_server::{home_with, runtime, serve};
use crate::usage::token_prices;

const SCREENS: &str = include_str!("../../../console/screens.txt");
/// Ends a walk that hangs. Alone on two cores a walk takes about half a minute; beside other tests, several times that.
const WALK_SPAN_MAX: Duration = Duration::from_secs(180);
/// Light and dark, narrow and wide.
const VIEWS: usize = 4;
/// Runs of a full list.
const ROWS: usize = 200;

/// The ids of what a home has.
struct KnownIds {
    runs: [String; 2],
    session: String,
    approval: String,
    schedule: String,
}

/// Returns the paths of a screen, with the ids of what the home has.
fn paths(pattern: &str, ids: &KnownIds) -> Vec<String> {
    let path = pattern.replace("{session_id}", &ids.session).replace("{approval_id}", &ids.approval);
    let path = path.replace("{schedule_id}", &ids.schedule);
    let runs = &ids.runs;
    if !path.contains("{run_id}") {
        return vec![path];
    }
    // An open run cannot be undone.
    let count = if path.ends_with("/undo") { 1 } else { runs.len() };
    runs.iter().take(count).map(|run| path.replace("{run_id}", run)).collect()
}

/// Makes a schedule whose name and text are these; returns its id.
#[track_caller]
pub(crate) fn schedule(home: &Home, name: &str, text: &str) -> String {
    let prompt = format!("--prompt={text}");
    let name = format!("--name={name}");
    let add = ["admin", "schedules", "add", "every weekday at 8", &prompt, &name, "--yes", "--json"];
    let made = home.palyra(&add).expect(0).json();
    made[0]["schedule_id"].as_str().unwrap().to_owned()
}

/// Prepares a finished run, one that waits, and a schedule; returns every path.
#[track_caller]
pub(crate) fn prepared_paths(home: &Home) -> Vec<String> {
    let done = asked(home, "one.txt a");
    home.palyra(&["approve", "yes", &done.approval]).expect(0);
    home.palyra(&["runs", "wait", &done.run]).expect(0);
    let open = asked(home, "two.txt b");
    let listed = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    let session = listed[0]["session_id"].as_str().unwrap().to_owned();
    let schedule = schedule(home, "mail", "three.txt c");
    let ids = KnownIds { runs: [done.run, open.run], session, approval: open.approval, schedule };
    let paths: Vec<String> = SCREENS.lines().flat_map(|pattern| paths(pattern, &ids)).collect();
    assert!(paths.iter().all(|path| !path.contains('{')), "an id of a screen is not known here: {paths:?}");
    paths
}

/// Walks over paths, and fails on every fault of each.
#[track_caller]
fn walk(home: &Home, wanted: &[String], variables: &[(&str, &str)]) {
    let (paths, modules, span) = (wanted.join(","), node_modules(), WALK_SPAN_MAX.as_millis().to_string());
    let own = [
        ("PALYRA_TEST_PATHS", paths.as_str()),
        ("PALYRA_TEST_NODE_MODULES", modules.to_str().unwrap()),
        ("PALYRA_TEST_SPAN_MS", span.as_str()),
    ];
    let mut visit = BrowserVisit::start("console_screens/browser.mjs", home, &[&own, variables].concat());
    let reports: Vec<Value> = visit.until("end").into_iter().map(|(_, data)| data).collect();
    visit.end();
    let visited: BTreeSet<&str> = reports.iter().map(|report| report["path"].as_str().unwrap()).collect();
    let wanted: BTreeSet<&str> = wanted.iter().map(String::as_str).collect();
    assert_eq!(visited, wanted, "every screen is visited");
    for report in &reports {
        assert_eq!(report["views"].as_array().unwrap().len(), VIEWS, "{report}");
    }
    let bad: Vec<String> = reports
        .iter()
        .filter(|report| report["faults"] != Value::Array(Vec::new()))
        .map(|report| format!("{report:#}"))
        .collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn every_screen_is_accessible_fits_and_works_without_scripts() {
    let runtime = runtime();
    let model = serve(&runtime, writer());
    let home = home_with(&model);
    let wanted = prepared_paths(&home);
    walk(&home, &wanted, &[]);
}

/// The screens that have nothing to show yet, and those of people who may not see them or ask for what does not exist.
#[test]
fn screens_that_are_empty_or_refuse_are_as_good() {
    let home = Home::new();
    let lists: Vec<String> = SCREENS.lines().filter(|path| !path.contains('{')).map(str::to_owned).collect();
    walk(&home, &lists, &[]);

    let unknown = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let single = SCREENS.lines().filter(|path| path.contains('{'));
    let fill = |path: &str| {
        ["{run_id}", "{session_id}", "{approval_id}", "{schedule_id}"]
            .iter()
            .fold(path.to_owned(), |p, name| p.replace(name, unknown))
    };
    let missing: Vec<String> = single.map(fill).collect();
    assert!(missing.len() >= 5 && missing.iter().all(|path| !path.contains('{')), "{missing:?}");
    walk(&home, &missing, &[("PALYRA_TEST_STATUS", "404")]);

    let invite = ["admin", "people", "invite", "user:vera", "--role", "viewer"];
    let link = || home.palyra(&invite).expect(0).out.trim().to_owned();
    let mut vera = Visitor::new(port(&home));
    vera.sign_in(&link());
    let forbidden: Vec<String> = lists.into_iter().filter(|path| vera.get(path).status == 403).collect();
    assert!(forbidden.len() >= 5, "{forbidden:?}");
    walk(&home, &forbidden, &[("PALYRA_TEST_STATUS", "403"), ("PALYRA_TEST_LINK", link().as_str())]);
}

#[test]
fn screens_with_two_hundred_rows_are_as_good() {
    let runtime = runtime();
    let model = serve(&runtime, writer());
    let home = home_with(&model);
    // Usage has its columns and its chart of costs then.
    home.write("prices.toml", &token_prices("openai/*", "3"));
    home.configure(&format!("prices.file = \"{}\"\n", home.work().join("prices.toml").display()));
    let visitor = signed_in(&home);
    let start = "/console/chat/start";
    let token = visitor.get("/console/chat").token_for(start);
    for at in 0..ROWS {
        let body = format!("token={token}&key=row{at}&input=file{at}.txt+some+words+of+row+{at}");
        assert_eq!(visitor.post(start, &body).status, 303, "{at}");
    }
    let full = ["/console", "/console/runs", "/console/sessions", "/console/chat", "/console/usage"]
        .map(str::to_owned);
    walk(&home, &full, &[]);
}
