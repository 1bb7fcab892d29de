//! Texts of models, tools, files, people and servers that would run or load something if they were markup.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use palyra_model_server::{Behaviour, Reply};

use crate::browser_visit::BrowserVisit;
use crate::console_screens::schedule;
use crate::home::Home;
use crate::openai_server::{home_with, runtime, serve};

const SCREENS: &str = include_str!("../../../../console/screens.txt");
/// A line is what a text does where nothing defends, and the text. The script reads the same file.
const CORPUS: &str = include_str!("corpus.txt");
/// Answers of a run with one text each; more failures of one kind would have the run ask a person.
const TEXTS_OF_A_RUN: usize = 4;
/// Bytes of the name of a file, at most.
const NAME_BYTES_MAX: usize = 255;

/// A text, and the word in it by which it is found in a page.
#[derive(Clone)]
struct HostileText {
    text: String,
    mark: String,
}

fn corpus() -> Vec<HostileText> {
    let lines = CORPUS.lines().enumerate();
    lines
        .map(|(at, line)| {
            let mark = format!("mark{at:02}x");
            HostileText { text: line.split_once(' ').unwrap().1.replace("MARK", &mark), mark }
        })
        .collect()
}

/// Says the texts, and puts them into names of tools, arguments, paths, contents and errors, as the first words of its input
/// say: `say 3` the fourth run's, `fail 3` an error with the fourth text, `list`, `write`.
fn carrier(texts: Vec<HostileText>) -> Behaviour {
    Behaviour::by(move |body| {
        let messages = body["messages"].as_array().unwrap();
        let asked = messages.iter().rposition(|message| message["role"] == "user").unwrap();
        let turn = messages[asked..].iter().filter(|message| message["role"] == "assistant").count();
        let mut words = messages[asked]["content"].as_str().unwrap().split_whitespace();
        let kind = words.next().unwrap();
        let number = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
        match (kind, turn) {
            ("say", 0..TEXTS_OF_A_RUN) => said(texts.get(number * TEXTS_OF_A_RUN + turn), turn),
            ("fail", _) => Reply::error(400, "invalid_request_error", &texts[number].text),
            ("list", 0) => Reply::empty().call("list_dir", "{}"),
            ("write", 0) => {
                let call = json!({ "path": file_names(&texts)[0], "content": joined(&texts) });
                Reply::empty().call("write_file", &call.to_string())
            }
            ("write", 1) => Reply::text(&joined(&texts)),
            (_, _) => Reply::text("Done."),
        }
    })
}

/// Returns an answer that says a text, and calls a tool by it or with it.
fn said(text: Option<&HostileText>, turn: usize) -> Reply {
    let Some(HostileText { text, .. }) = text else { return Reply::text("Done.") };
    let reply = Reply::text(text);
    if turn.is_multiple_of(2) {
        reply.call("read_file", &json!({ "path": text }).to_string())
    } else {
        reply.call(text, &json!({ "note": text }).to_string())
    }
}

fn joined(texts: &[HostileText]) -> String {
    texts.iter().map(|hostile| format!("{}\n\n", hostile.text)).collect()
}

/// Returns the texts that a file may be called.
fn file_names(texts: &[HostileText]) -> Vec<&str> {
    let is_name = |text: &&str| !text.contains('/') && text.len() <= NAME_BYTES_MAX;
    texts.iter().map(|hostile| hostile.text.as_str()).filter(is_name).collect()
}

/// A home whose records hold the texts.
struct HostileHome {
    home: Home,
    /// Runs and sessions by the word that their input begins with.
    runs: BTreeMap<String, (String, String)>,
    approval: String,
    schedule: String,
}

impl HostileHome {
    /// Has runs that say the texts, fail with them, list files called like them, and want to write them.
    fn filled(home: Home, texts: &[HostileText]) -> Self {
        for name in file_names(texts) {
            home.write(name, "x");
        }
        for (number, group) in texts.chunks(TEXTS_OF_A_RUN).enumerate() {
            let session = format!("s{number}");
            home.palyra(&["run", "--session", &session, &format!("say {number}")]);
            home.palyra(&["sessions", "rename", &session, "--", &group[0].text]).expect(0);
        }
        for word in ["fail 0", "fail 9", "list"] {
            home.palyra(&["run", word]);
        }
        home.palyra(&["run", &format!("hear\n\n{}", joined(texts))]).expect(0);
        home.palyra(&["run", "write"]).expect(3);
        let waiting = home.palyra(&["approve", "list", "--json"]).expect(0).json();
        let approval = waiting[0]["approval_id"].as_str().unwrap().to_owned();
        let listed = home.palyra(&["runs", "list", "--limit", "100", "--json"]).expect(0).json();
        let text = |run: &Value, name: &str| run[name].as_str().unwrap().to_owned();
        let named = listed.iter().map(|run| {
            let input = text(run, "input_preview");
            let word = if input.starts_with("hear") { "hear".to_owned() } else { input };
            (word, (text(run, "run_id"), text(run, "session_id")))
        });
        let runs = named.collect();
        let schedule = schedule(&home, &texts[0].text, &joined(texts));
        Self { home, runs, approval, schedule }
    }

    fn run(&self, word: &str) -> &str {
        &self.runs[word].0
    }

    /// Returns the paths of every screen, with each run and session.
    fn paths(&self) -> BTreeSet<String> {
        let fill = |pattern: &str, (run, session): &(String, String)| {
            let path = pattern.replace("{run_id}", run).replace("{session_id}", session);
            path.replace("{approval_id}", &self.approval).replace("{schedule_id}", &self.schedule)
        };
        let patterns = SCREENS.lines().chain(["/console/settings?show=all"]);
        patterns.flat_map(|pattern| self.runs.values().map(move |run| fill(pattern, run))).collect()
    }
}

/// Returns the words of texts that pages show, by path.
fn shown(reports: &[(String, Value)]) -> BTreeMap<&str, BTreeSet<&str>> {
    let screens = reports.iter().filter(|(kind, _)| kind == "screen");
    screens
        .map(|(_, report)| {
            let marks = report["shown"].as_array().unwrap().iter().map(|mark| mark.as_str().unwrap());
            (report["path"].as_str().unwrap(), marks.collect())
        })
        .collect()
}

/// Every text has to do something without a defence, nothing under the policy of a page alone, and nothing on a screen.
#[track_caller]
fn controls_succeed(visit: &mut BrowserVisit, texts: usize) {
    let reports = visit.until("controls_done");
    let mut controls = BTreeMap::new();
    for (kind, report) in &reports {
        let found = report["found"].as_array().unwrap();
        if kind == "policy" {
            assert!(found.is_empty(), "the policy alone lets it run or load: {report}");
            continue;
        }
        let effect = report["effect"].as_str().unwrap();
        let is_it = |trace: &&Value| trace.as_str().unwrap().starts_with(effect);
        assert!(found.iter().any(|trace| is_it(&trace)), "it does nothing, so it shows nothing: {report}");
        *controls.entry(effect.to_owned()).or_insert(0) += 1;
    }
    assert!(controls["run"] >= 30 && controls.values().sum::<usize>() == texts, "{controls:?}");
}

/// The control is each text in a page without a defence, where it runs a script, loads something, or becomes an element that
/// other scripts take for their own.
#[test]
fn no_text_of_a_model_a_tool_a_file_or_a_server_is_more_than_text() {
    let texts = corpus();
    let runtime = runtime();
    let model = serve(&runtime, carrier(texts.clone()));
    let hostile = HostileHome::filled(home_with(&model), &texts);
    let live = format!("/console/runs/{}", hostile.run("write"));
    let paths = hostile.paths().into_iter().collect::<Vec<_>>().join(",");
    let variables = [
        ("PALYRA_TEST_PATHS", paths.as_str()),
        ("PALYRA_TEST_LIVE", &live),
        ("PALYRA_TEST_APPROVAL", &hostile.approval),
    ];
    let mut visit = BrowserVisit::start("console_attacks/texts.mjs", &hostile.home, &variables);
    controls_succeed(&mut visit, texts.len());

    let mut reports = visit.until("screens_done");
    reports.extend(visit.until("following"));
    let note = ["approve", "yes", &hostile.approval, "--note", &texts[0].text];
    hostile.home.palyra(&note).expect(0);
    let rows = visit.next("live");
    reports.extend(visit.until("done"));
    visit.end();
    for (_, report) in reports.iter().chain([&("live".to_owned(), rows.clone())]) {
        assert_eq!(report["found"], json!([]), "{report}");
    }

    // Where a text is not shown, its place was not tried.
    let shown = shown(&reports);
    let all: BTreeSet<&str> = texts.iter().map(|hostile| hostile.mark.as_str()).collect();
    let below = |prefix: &str| -> BTreeSet<&str> {
        shown
            .iter()
            .filter(|(path, _)| path.starts_with(prefix))
            .flat_map(|(_, marks)| marks.clone())
            .collect()
    };
    let on_runs: BTreeSet<&str> = hostile
        .runs
        .iter()
        .filter(|(word, _)| word.starts_with("say "))
        .flat_map(|(_, (run, _))| shown[format!("/console/runs/{run}").as_str()].clone())
        .collect();
    assert_eq!(on_runs, all, "words of models, names of tools and arguments");
    assert_eq!(below(&format!("/console/runs/{}", hostile.run("hear"))), all, "words of a person");
    assert_eq!(below("/console/sessions/"), all, "conversations");
    assert!(shown["/console/sessions"].len() >= texts.len().div_ceil(TEXTS_OF_A_RUN), "names of sessions");
    for (word, at) in [("fail 0", 0), ("fail 9", 9)] {
        let path = format!("/console/runs/{}", hostile.run(word));
        assert!(shown[path.as_str()].contains(texts[at].mark.as_str()), "the error of a server: {word}");
    }
    let listed = &shown[format!("/console/runs/{}", hostile.run("list")).as_str()];
    assert_eq!(listed.len(), file_names(&texts).len(), "names of files: {listed:?}");
    assert_eq!(below(&format!("/console/approvals/{}", hostile.approval)), all, "what would be written");
    assert_eq!(below("/console/schedules/"), all, "the text of a schedule");
    assert!(shown["/console/schedules"].contains(texts[0].mark.as_str()), "the name of a schedule");
    assert!(!shown["/console"].is_empty(), "what waits");
    assert!(!below("/console/sessions?search=").is_empty(), "what a page repeats of its address");
    // A text may be cut between two rows.
    assert!(rows["shown"].as_array().unwrap().len() * 2 > texts.len(), "rows that came later: {rows}");
}
