//! Every operation over HTTP: each is reached once by somebody who may, and schemathesis finds no request that breaks one.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use palyra_model_server::{Behaviour, Reply};
use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use crate::asked::asked;
use crate::commands::inotify_until;
use crate::components::lay_at;
use crate::home::{Home, ended, until_ended};
use crate::http_api::{HttpRequest, get, port};
use crate::openai_server::{home_with, runtime, serve};

/// What nobody does over a network: it is the socket's, or a person's with a session of their own.
const NEVER_BY_TOKEN: [&str; 9] = [
    "POST /api/v1/approvals/{approval_id}/resolve",
    "POST /api/v1/confirmations",
    "POST /api/v1/console/links",
    "POST /api/v1/console/sign-out",
    "POST /api/v1/journal/backup",
    "POST /api/v1/journal/erase",
    "POST /api/v1/journal/scrub",
    "POST /api/v1/project-rules",
    "POST /api/v1/shutdown",
];

/// What the inputs of a session that fills its window are made of.
const WIDE: &str = "the wide harbour ";

/// A model that calls the tool that an input names as JSON, and answers every other input. It never sums up a session that
/// fills its window, and says when it is asked to.
fn model() -> (Behaviour, Receiver<()>) {
    let (asked, summaries) = channel();
    let asked = Mutex::new(asked);
    let behaviour = Behaviour::by(move |body| {
        let of = |at: usize| body["messages"][at]["content"].as_str().unwrap_or_default();
        if of(0).contains("sum up the older part") && body.to_string().contains(WIDE) {
            asked.lock().unwrap().send(()).ok();
            return Reply::silent();
        }
        let last = body["messages"].as_array().and_then(|messages| messages.last());
        let text = last.filter(|last| last["role"] == "user").and_then(|last| last["content"].as_str());
        let call: Option<Value> = text.and_then(|text| serde_json::from_str(text).ok());
        match call.as_ref().and_then(|call| call["tool"].as_str().map(|tool| (tool, &call["arguments"]))) {
            Some((tool, arguments)) => Reply::empty().call(tool, &arguments.to_string()),
            None => Reply::text("So it is."),
        }
    });
    (behaviour, summaries)
}

/// A daemon with an owner's token, and the operations that were reached.
struct Operations {
    home: Home,
    token: String,
    port: u16,
    /// A server of models that can be added.
    model_url: String,
    /// Says when a summary that never comes is asked for.
    summaries: Receiver<()>,
    reached: BTreeSet<String>,
}

impl Operations {
    fn start(home: Home, model_url: String, summaries: Receiver<()>) -> Self {
        let made = home.palyra(&["admin", "tokens", "create", "user:local", "--role", "owner"]).expect(0);
        let port = port(&home);
        Self { token: made.out.trim().to_owned(), port, home, model_url, summaries, reached: BTreeSet::new() }
    }

    /// Calls an operation with a fresh confirmation; `filled` is its line with the parameters in it.
    #[track_caller]
    fn call(&mut self, template: &str, filled: &str, body: &Value) -> Value {
        let code = self.home.palyra(&["admin", "confirm"]).expect(0).out;
        let body = if template.starts_with("GET") { String::new() } else { body.to_string() };
        let header = format!("palyra-confirmation: {}\r\n", code.trim());
        let (status, answer) = HttpRequest { header, body, ..get(filled, &self.token) }.answer(self.port);
        assert!((200..300).contains(&status), "{filled}: {status} {answer}");
        self.reached.insert(template.to_owned());
        let whole = answer.split_once("\r\n").map_or(answer.as_str(), |(_, chunk)| chunk);
        let text = if answer.starts_with(['{', '[']) { &answer } else { whole };
        text.lines().next().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default()
    }

    /// Calls an operation whose path has no parameter.
    #[track_caller]
    fn plain(&mut self, template: &str, body: &Value) -> Value {
        self.call(template, template, body)
    }

    /// Calls an operation whose path has one parameter.
    #[track_caller]
    fn of(&mut self, template: &str, value: &str, body: &Value) -> Value {
        let (before, rest) = template.split_once('{').unwrap();
        let (_, after) = rest.split_once('}').unwrap();
        self.call(template, &format!("{before}{value}{after}"), body)
    }

    /// Has a call made that a person agrees to at the socket; returns its run.
    #[track_caller]
    fn agreed(&self, tool: &str, arguments: &Value) -> String {
        let waits = asked(&self.home, &json!({ "tool": tool, "arguments": arguments }).to_string());
        self.home.palyra(&["approve", "yes", &waits.approval]).expect(0);
        self.home.palyra(&["runs", "wait", &waits.run]).expect(0);
        waits.run
    }

    fn runs_and_sessions(&mut self) -> String {
        let attachment = json!({ "name": "note.txt", "content": "bGFudGVybg==" });
        let body = json!({ "input": "say something", "attachments": [attachment] });
        let opened = self.plain("POST /api/v1/runs", &body)["opened"].clone();
        let run = opened["run_id"].as_str().unwrap().to_owned();
        let session = opened["session_id"].as_str().unwrap().to_owned();
        self.home.palyra(&["runs", "wait", &run]).expect(0);
        for template in [
            "GET /api/v1/runs/{run_id}",
            "GET /api/v1/runs/{run_id}/tape",
            "GET /api/v1/runs/{run_id}/events",
            "GET /api/v1/runs/{run_id}/kept",
        ] {
            self.of(template, &run, &Value::Null);
        }
        let file = format!("GET /api/v1/runs/{run}/attachments/1/0");
        self.call("GET /api/v1/runs/{run_id}/attachments/{tape_seq}/{index}", &file, &Value::Null);
        let content = "GET /api/v1/runs/{run_id}/attachments/{tape_seq}/{index}/content";
        self.call(content, &format!("{file}/content"), &Value::Null);
        self.of("POST /api/v1/runs/{run_id}/input", &run, &json!({ "input": { "text": "more" } }));
        self.of("POST /api/v1/runs/{run_id}/cancel", &run, &json!({}));
        self.plain("POST /api/v1/bookmarks", &json!({ "run_id": run, "tape_seq": 1, "name": "start" }));
        self.plain("GET /api/v1/bookmarks", &Value::Null);
        self.plain("POST /api/v1/bookmarks/remove", &json!({ "name": "start" }));
        self.plain("POST /api/v1/sessions", &json!({ "session": { "session_key": "lantern" } }));
        self.of("GET /api/v1/sessions/{session_id}/tape", &session, &Value::Null);
        self.of("POST /api/v1/sessions/{session_id}/rename", &session, &json!({ "label": "harbour" }));
        self.of("POST /api/v1/sessions/{session_id}/recall", &session, &json!({ "recall": "off" }));
        self.of("POST /api/v1/sessions/{session_id}/archive", &session, &json!({}));
        self.of("POST /api/v1/sessions/{session_id}/restore", &session, &json!({}));
        self.of("POST /api/v1/sessions/{session_id}/cleanup", &session, &json!({}));
        run
    }

    fn effects(&mut self) {
        let changed = self.agreed("write_file", &json!({ "path": "todo.txt", "content": "milk\n" }));
        let explain = json!({ "recorded": { "run_id": changed, "effect_id": 1 } });
        self.plain("POST /api/v1/policy/explain", &explain);
        self.of("GET /api/v1/runs/{run_id}/undo", &changed, &Value::Null);
        self.of("POST /api/v1/runs/{run_id}/undo", &changed, &json!({}));
        self.call("GET /api/v1/effects", &format!("GET /api/v1/effects?run_id={changed}"), &Value::Null);

        self.home.write(
            "leave.sh",
            "mkdir made; echo 1 > made/tasks.json; mv made .vscode; echo export A=1 > .envrc\n",
        );
        let left = self.agreed("run_command", &json!({ "argv": ["sh", "leave.sh"] }));
        let files = self.home.palyra(&["runs", "kept", "list", &left, "--json"]).expect(0).json();
        let kept: Vec<_> = files.iter().map(|file| file["kept_id"].as_str().unwrap().to_owned()).collect();
        let one = "/api/v1/runs/{run_id}/kept/{kept_id}";
        let path = |kept: &str| format!("/api/v1/runs/{left}/kept/{}", kept.replace('/', "%2F"));
        let shown = self.call(&format!("GET {one}"), &format!("GET {}", path(&kept[0])), &Value::Null);
        let body = json!({ "shown_sha256": shown["shown_sha256"] });
        self.call(&format!("POST {one}/place"), &format!("POST {}/place", path(&kept[0])), &body);
        let body = json!({ "sha256": files[1]["sha256"] });
        self.call(&format!("POST {one}/discard"), &format!("POST {}/discard", path(&kept[1])), &body);

        let began = self.home.work().join("began");
        let mut in_doubt = None;
        let argv = json!({ "argv": ["sh", "-c", "touch began; sleep 600"] });
        let waits = asked(&self.home, &json!({ "tool": "run_command", "arguments": argv }).to_string());
        let seen = inotify_until(
            &self.home.work(),
            || began.exists(),
            || {
                self.home.palyra(&["approve", "yes", &waits.approval]).expect(0);
                in_doubt = Some(waits.run.clone());
            },
        );
        assert!(seen, "the command began");
        let daemon = self.home.daemon_pid();
        kill_process(daemon, Signal::KILL).unwrap();
        until_ended(daemon);
        self.port = port(&self.home);
        let line = format!("POST /api/v1/runs/{}/effects/1/resolve", in_doubt.unwrap());
        let body = json!({ "resolution": "happened" });
        self.call("POST /api/v1/runs/{run_id}/effects/{effect_id}/resolve", &line, &body);
    }

    fn approvals(&mut self) {
        let call =
            json!({ "tool": "write_file", "arguments": { "path": "a/b.txt", "content": "x" } }).to_string();
        let waits = asked(&self.home, &call);
        self.of("GET /api/v1/approvals/{approval_id}", &waits.approval, &Value::Null);
        self.home.palyra(&["approve", "always", &waits.approval, "--here"]).expect(0);
        for template in [
            "GET /api/v1/approvals",
            "GET /api/v1/approvals-export",
            "GET /api/v1/grants",
            "GET /api/v1/runs",
            "GET /api/v1/attention",
        ] {
            self.plain(template, &Value::Null);
        }
        let grants = self.home.palyra(&["approve", "grants", "--json"]).expect(0).json();
        let grant = grants[0]["grant_id"].as_str().unwrap();
        self.of("POST /api/v1/grants/{grant_id}/revoke", grant, &json!({}));
        for watch in ["GET /api/v1/approvals-watch", "GET /api/v1/attention-watch"] {
            let mut watched = String::new();
            get(watch, &self.token).send(self.port).read_line(&mut watched).unwrap();
            assert!(watched.contains(" 200 "), "{watched}");
            self.reached.insert(watch.to_owned());
        }
    }

    fn people_and_secrets(&mut self) {
        let role = json!({ "name": "user:eve", "role": "viewer" });
        let person = self.plain("POST /api/v1/people", &role)["person"].clone();
        let eve = person["principal_id"].as_str().unwrap();
        self.plain("GET /api/v1/people", &Value::Null);
        self.plain("POST /api/v1/me/time-zone", &json!({ "time_zone": "Europe/Prague" }));
        self.of("POST /api/v1/people/{principal_id}/rename", eve, &json!({ "name": "user:ada" }));
        self.of("POST /api/v1/people/{principal_id}/role", eve, &json!({ "role": "member" }));
        self.of("POST /api/v1/people/{principal_id}/disable", eve, &json!({}));
        self.of("POST /api/v1/people/{principal_id}/enable", eve, &json!({}));
        let token = self.plain("POST /api/v1/tokens", &json!({ "principal": "user:ada" }));
        self.plain("GET /api/v1/tokens", &Value::Null);
        self.of("POST /api/v1/tokens/{token_id}/revoke", token["token_id"].as_str().unwrap(), &json!({}));

        let put = json!({ "name": "forge", "value": "walnut-harbour-lantern", "hosts": ["a.example"] });
        self.plain("POST /api/v1/vault/secrets", &put);
        self.plain("GET /api/v1/vault/secrets", &Value::Null);
        let bind = json!({ "host": "b.example" });
        self.of("POST /api/v1/vault/secrets/{name}/bind", "forge", &bind);
        self.of("POST /api/v1/vault/secrets/{name}/unbind", "forge", &bind);
        self.of("POST /api/v1/vault/secrets/{name}/remove", "forge", &json!({}));
        self.plain("POST /api/v1/vault/passphrase", &json!({ "passphrase": "lantern-of-amber" }));
        self.plain("POST /api/v1/vault/unlock", &json!({ "passphrase": "lantern-of-amber" }));
        self.plain("GET /api/v1/vault", &Value::Null);
    }

    fn memory_and_references(&mut self) {
        let saved = self.plain("POST /api/v1/memories", &json!({ "text": "Herons count by night." }));
        let id = saved["memory"]["memory_id"].as_str().unwrap().to_owned();
        self.plain("GET /api/v1/memories", &Value::Null);
        let search = "GET /api/v1/memory-search";
        self.call(search, &format!("{search}?text=herons"), &Value::Null);
        self.of("POST /api/v1/memories/{memory_id}/forget", &id, &json!({}));
        let preview = json!({ "start": { "input": "see @file:README.md" } });
        self.plain("POST /api/v1/references/preview", &preview);
        self.home.write("AGENTS.md", "Be brief.\n");
        let rules = |home: &Home, more: &[&str]| {
            home.palyra(&[&["approve", "rules", "--json"][..], more].concat()).expect(0).json().remove(0)
        };
        let digest = rules(&self.home, &[])["files"][0]["sha256"].as_str().unwrap().to_owned();
        rules(&self.home, &["--accept", &digest]);
        let accepted = rules(&self.home, &[])["accepted"][0].clone();
        let seq = accepted["seq"].as_u64().unwrap_or_else(|| panic!("{accepted}")).to_string();
        self.of("POST /api/v1/project-rules/{seq}/withdraw", &seq, &json!({}));
    }

    fn budgets(&mut self) {
        let limit = json!({ "name": "tight", "window": "day", "hard": { "requests": 1 } });
        self.plain("POST /api/v1/budgets", &limit);
        let body = json!({ "input": "say something" });
        let start = |operations: &mut Self| {
            let started = operations.plain("POST /api/v1/runs", &body);
            let run = started["opened"]["run_id"].as_str().unwrap().to_owned();
            operations.home.palyra(&["runs", "wait", &run]);
            run
        };
        start(self);
        let waits = start(self);
        self.of("POST /api/v1/runs/{run_id}/go-on-once", &waits, &json!({}));
        self.plain("GET /api/v1/budgets", &Value::Null);
        let amount = json!({ "amount": { "requests": 5 } });
        self.of("POST /api/v1/budgets/{name}/top-up", "tight", &amount);
        self.of("POST /api/v1/budgets/{name}/remove", "tight", &json!({}));
    }

    fn compactions(&mut self) {
        let session = json!({ "session_key": "long" });
        let body = json!({ "input": "The lantern is in the harbour. ".repeat(40), "session": session });
        let mut id = String::new();
        for _ in 0..10 {
            let opened = self.plain("POST /api/v1/runs", &body)["opened"].clone();
            self.home.palyra(&["runs", "wait", opened["run_id"].as_str().unwrap()]).expect(0);
            id = opened["session_id"].as_str().unwrap().to_owned();
        }
        let of_session = "/api/v1/sessions/{session_id}/compactions";
        let made = self.of(&format!("POST {of_session}"), &id, &json!({}))["compaction"].clone();
        self.of(&format!("GET {of_session}"), &id, &Value::Null);
        let number = made["compaction"].as_u64().unwrap_or_else(|| panic!("{made}"));
        let line = format!("POST /api/v1/sessions/{id}/compactions/{number}/revert");
        self.call(&format!("POST {of_session}/{{compaction}}/revert"), &line, &json!({}));
    }

    /// Fills the window of a session, so that a task sums it up; returns the task while a worker is at it.
    fn task_at_work(&mut self) -> String {
        let body = json!({ "input": WIDE.repeat(1_500), "session": { "session_key": "wide" } });
        for _ in 0..6 {
            let opened = self.plain("POST /api/v1/runs", &body)["opened"].clone();
            self.home.palyra(&["runs", "wait", opened["run_id"].as_str().unwrap()]).expect(0);
        }
        self.summaries.recv_timeout(Duration::from_secs(30)).unwrap();
        let tasks = self.plain("GET /api/v1/queued-tasks", &Value::Null);
        tasks["tasks"][0]["task_id"].as_str().unwrap_or_else(|| panic!("{tasks}")).to_owned()
    }

    fn queued_tasks(&mut self) {
        let incidents = self.plain("GET /api/v1/incidents", &Value::Null);
        assert!(incidents["domains"].as_array().is_some_and(|domains| domains.len() == 10), "{incidents}");
        self.plain("POST /api/v1/healing-mode", &json!({ "domain": "runs", "mode": "observe_only" }));
        let task = self.task_at_work();
        self.of("POST /api/v1/queued-tasks/{task_id}/change", &task, &json!({ "change": "cancel" }));
    }

    /// Calls an operation about a thing that does not exist, where making one takes longer than a test may.
    #[track_caller]
    fn missing(&mut self, template: &str, code: &str, body: &Value) {
        let (before, rest) = template.split_once('{').unwrap();
        let (_, after) = rest.split_once('}').unwrap();
        let line = format!("{before}01ARZ3NDEKTSV4RRFFQ69G5FAV{after}");
        let body = if template.starts_with("GET") { String::new() } else { body.to_string() };
        let (status, answer) = HttpRequest { body, ..get(&line, &self.token) }.answer(self.port);
        assert!((400..=404).contains(&status) && answer.contains(code), "{line}: {status} {answer}");
        self.reached.insert(template.to_owned());
    }

    fn incidents_and_learning(&mut self) {
        self.missing("GET /api/v1/incidents/{incident_id}", "PLY-1131", &Value::Null);
        self.plain("GET /api/v1/learning-candidates", &Value::Null);
        let one = "/api/v1/learning-candidates/{candidate_id}";
        self.missing(&format!("GET {one}"), "no such candidate", &Value::Null);
        self.missing(&format!("POST {one}/review"), "no such candidate", &json!({ "review": "accept" }));
    }

    fn schedules(&mut self) {
        let draft =
            json!({ "draft": { "cron": "0 8 * * *", "reminder": "tea", "time_zone": "Europe/Prague" } });
        let preview = self.plain("POST /api/v1/schedules/preview", &draft);
        assert!(preview["next"].as_array().is_some_and(|next| next.len() == 5), "{preview}");
        let made = self.plain("POST /api/v1/schedules", &draft);
        let id = made["schedule_id"].as_str().unwrap().to_owned();
        self.plain("GET /api/v1/schedules", &Value::Null);
        let one = "/api/v1/schedules/{schedule_id}";
        self.of(&format!("GET {one}"), &id, &Value::Null);
        self.of(&format!("POST {one}/edit"), &id, &draft);
        let named = json!({ "schedule_id": id });
        self.plain("POST /api/v1/schedules/pause", &named);
        self.plain("POST /api/v1/schedules/resume", &named);
        self.of(&format!("POST {one}/run-now"), &id, &json!({}));
        self.of(&format!("POST {one}/remove"), &id, &json!({}));
    }

    fn notifications(&mut self) {
        let targets = self.plain("GET /api/v1/notifications/targets", &Value::Null);
        assert_eq!(targets["targets"][0]["kind"], "command", "{targets}");
        let step = self.plain("POST /api/v1/notifications/test", &json!({ "target": "command" }));
        assert!(step["notification"]["message_id"].is_string(), "{step}");
    }

    fn agents(&mut self) {
        let profile = json!({ "name": "reviewer", "instructions": "Change nothing." });
        let made = self.plain("POST /api/v1/agents", &json!({ "profile": profile }))["agent"].clone();
        let id = made["agent_id"].as_str().unwrap();
        self.of("GET /api/v1/agents/{agent_id}", id, &Value::Null);
        let change = json!({ "change": { "tools": { "names": ["read_file"] } } });
        self.of("POST /api/v1/agents/{agent_id}", id, &change);
        self.of("POST /api/v1/agents/{agent_id}/archive", id, &json!({}));
    }

    fn tools_and_policy(&mut self) {
        let path = lay_at(&self.home, "127.0.0.1:40000");
        let examined = self.plain("POST /api/v1/components/examine", &json!({ "path": path }));
        let sha256 = examined["sha256"].as_str().or_else(|| examined["component"]["sha256"].as_str());
        self.plain("POST /api/v1/components", &json!({ "path": path, "sha256": sha256 }));
        self.of("POST /api/v1/components/{name}/remove", "save_page", &json!({}));
        let skill =
            "---\nname: quoting\ndescription: Quotes.\nallowed-tools: read_file\n---\nQuote, never guess.\n";
        std::fs::create_dir_all(self.home.work().join("quoting")).unwrap();
        self.home.write("quoting/SKILL.md", skill);
        let folder = self.home.work().join("quoting").display().to_string();
        self.plain("POST /api/v1/skills", &json!({ "path": folder }));
        self.of("POST /api/v1/skills/{name}/enable", "quoting", &json!({}));
        self.of("GET /api/v1/skills/{name}", "quoting", &Value::Null);
        self.plain("POST /api/v1/skills-verify", &json!({}));
        self.of("POST /api/v1/skills/{name}/disable", "quoting", &json!({}));
        self.of("POST /api/v1/skills/{name}/remove", "quoting", &json!({}));
        self.plain("POST /api/v1/policy/diff", &json!({}));
        let posture = json!({ "tool": "write_file", "posture": "ask" });
        self.plain("POST /api/v1/postures", &posture);
        self.plain("POST /api/v1/postures/clear", &json!({ "tool": "write_file" }));
        self.plain("POST /api/v1/config/reload", &json!({}));
        self.plain("POST /api/v1/models/test", &json!({}));
        let added = json!({ "name": "second", "base_url": self.model_url, "model": "test-model", "key": "sesame-of-amber" });
        assert_eq!(self.plain("POST /api/v1/models", &added)["saved"], true);
    }

    fn journal(&mut self, run: &str) {
        self.plain("POST /api/v1/checkpoint", &json!({}));
        self.of("POST /api/v1/proofs/entries/{seq}", "1", &json!({}));
        let consistency = "GET /api/v1/proofs/consistency";
        self.call(consistency, &format!("{consistency}?old_size=1&new_size=2"), &Value::Null);
        let export = "GET /api/v1/journal/export";
        self.call(export, &format!("{export}?run_id={run}"), &Value::Null);
        self.plain("POST /api/v1/journal/verify", &json!({}));
        self.plain("POST /api/v1/journal/rebuild", &json!({}));
        let ids = "GET /api/v1/ids";
        self.call(ids, &format!("{ids}?kind=run&name={}", &run[20..]), &Value::Null);
    }

    /// Calls what needs nothing but to be called.
    fn rest(&mut self) {
        for path in [
            "agents",
            "background-tasks",
            "config",
            "error-codes",
            "journal",
            "journal/entries",
            "models",
            "policy",
            "policy/shadow",
            "postures",
            "project-rules",
            "sessions",
            "skills",
            "status",
            "tools",
            "usage",
        ] {
            self.plain(&format!("GET /api/v1/{path}"), &Value::Null);
        }
        for probe in ["GET /healthz", "GET /readyz", "GET /metrics"] {
            self.plain(probe, &Value::Null);
        }
    }
}

/// Returns what the document lists, as `METHOD PATH`.
fn listed() -> BTreeSet<String> {
    let document: Value =
        serde_json::from_str(include_str!("../../../../docs/reference/openapi.json")).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let of_path = |(path, methods): (&String, &Value)| {
        let line = |method: &String| format!("{} {path}", method.to_uppercase());
        methods.as_object().unwrap().keys().map(line).collect::<Vec<_>>()
    };
    paths.iter().flat_map(of_path).collect()
}

#[test]
fn every_operation_is_reached_and_what_no_token_may_is_refused() {
    let runtime = runtime();
    let (behaviour, summaries) = model();
    let server = serve(&runtime, behaviour);
    let home = home_with(&server).with("PALYRA__HTTP__LISTEN", "127.0.0.1:0");
    home.configure("[notify]\ncommand = [\"/bin/true\"]\n");
    let mut operations = Operations::start(home, server.base_url(), summaries);
    let run = operations.runs_and_sessions();
    operations.approvals();
    operations.effects();
    operations.people_and_secrets();
    operations.agents();
    operations.memory_and_references();
    operations.budgets();
    operations.compactions();
    operations.queued_tasks();
    operations.incidents_and_learning();
    operations.schedules();
    operations.notifications();
    operations.tools_and_policy();
    operations.journal(&run);
    operations.rest();
    for template in NEVER_BY_TOKEN {
        let line = template.replace("{approval_id}", &run);
        let request = HttpRequest { body: "{}".to_owned(), ..get(&line, &operations.token) };
        let (status, answer) = request.answer(operations.port);
        assert!(status == 403 && answer.contains("PLY-120"), "{template}: {status} {answer}");
        operations.reached.insert(template.to_owned());
    }
    let missing: Vec<_> = listed().difference(&operations.reached).cloned().collect();
    assert!(missing.is_empty(), "not called here: {missing:?}");
}

/// Has schemathesis make requests from the document, as one that a client may send and as one that none should.
fn schemathesis(home: &Home, port: u16, token: Option<&str>) -> Command {
    let python = std::env::var_os("PALYRA_TEST_PYTHON").expect(
        "PALYRA_TEST_PYTHON must name a Python with schemathesis; run `cargo xtask test`, which installs it",
    );
    let mut command = Command::new(Path::new(&python).with_file_name("schemathesis"));
    let checks =
        "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";
    let address = format!("http://127.0.0.1:{port}");
    command.args(["run", &format!("{address}/api/v1/openapi.json"), "--url", &address, "--checks", checks]);
    // A stream has no end to wait for, and a daemon that stops answers nothing more.
    command.args(["--exclude-path-regex", "events|-watch|shutdown", "--request-timeout", "10", "--no-color"]);
    command.args(["--max-failures", "20", "--generation-deterministic"]);
    command.args(["--phases", "coverage,fuzzing", "--max-examples", "3"]);
    if let Some(token) = token {
        command.args(["--header", &format!("authorization: Bearer {token}")]);
    }
    let folder = home.work();
    command.current_dir(&folder).env("HOME", &folder).stdout(std::process::Stdio::piped());
    command.stderr(std::process::Stdio::piped());
    command
}

#[track_caller]
fn nothing_broke(schemathesis: &mut Command) {
    let report = ended(schemathesis.spawn().unwrap());
    assert_eq!(report.code, 0, "{}\n{}", report.out, report.err);
    let passed = report.out.lines().find(|line| line.contains(" generated, ")).unwrap_or_default();
    let count: u32 = passed.split_whitespace().next().unwrap_or_default().parse().unwrap_or_default();
    assert!(count > 500, "{}", report.out);
}

#[test]
fn no_request_from_the_document_breaks_an_operation() {
    let runtime = runtime();
    let server = serve(&runtime, model().0);
    let home = home_with(&server).with("PALYRA__HTTP__LISTEN", "127.0.0.1:0");
    let made = home.palyra(&["admin", "tokens", "create", "user:member", "--role", "member"]).expect(0);
    let port = port(&home);
    for token in [Some(made.out.trim()), None] {
        nothing_broke(&mut schemathesis(&home, port, token));
    }
    home.palyra(&["journal", "verify"]).expect(0);
}

/// Returns the operations that take a one-time code, as `METHOD PATH`.
fn confirmed() -> BTreeSet<String> {
    let document: Value =
        serde_json::from_str(include_str!("../../../../docs/reference/openapi.json")).unwrap();
    let takes_code = |line: &String| {
        let (method, path) = line.split_once(' ').unwrap();
        let parameters = document["paths"][path][method.to_lowercase()]["parameters"].as_array();
        parameters.is_some_and(|all| all.iter().any(|one| one["name"] == "palyra-confirmation"))
    };
    listed().into_iter().filter(takes_code).collect()
}

/// What the owner's changes are about is made first; each function returns a call of each change that works whenever it
/// comes.
impl Operations {
    fn working_changes(&mut self) -> serde_json::Map<String, Value> {
        let parts = [
            self.changes_of_people(),
            self.changes_of_agents(),
            self.changes_of_skills(),
            self.changes_of_components(),
            self.changes_of_secrets(),
            self.changes_of_tasks(),
            self.changes_of_budgets(),
            self.other_changes(),
        ];
        parts.into_iter().flat_map(|part| part.as_object().cloned().unwrap_or_default()).collect()
    }

    fn changes_of_people(&mut self) -> Value {
        let mut person = |name: &str| {
            let made = self.plain("POST /api/v1/people", &json!({ "name": name, "role": "viewer" }));
            json!({ "principal_id": made["person"]["principal_id"] })
        };
        let (eve, ada, bea) = (person("user:eve"), person("user:ada"), person("user:bea"));
        let spare = json!({ "principal": "user:spare" });
        let token = json!({ "token_id": self.plain("POST /api/v1/tokens", &spare)["token_id"] });
        json!({
            "POST /api/v1/people": { "body": { "name": "user:new", "role": "member" } },
            "POST /api/v1/people/{principal_id}/disable": { "path": eve, "body": {} },
            "POST /api/v1/people/{principal_id}/enable": { "path": eve, "body": {} },
            "POST /api/v1/people/{principal_id}/rename": { "path": ada, "body": { "name": "user:zoe" } },
            "POST /api/v1/people/{principal_id}/role": { "path": bea, "body": { "role": "member" } },
            "POST /api/v1/tokens": { "body": spare },
            "POST /api/v1/tokens/{token_id}/revoke": { "path": token, "body": {} },
        })
    }

    fn changes_of_budgets(&mut self) -> Value {
        let budget = |name: &str| json!({ "name": name, "window": "day", "hard": { "requests": 1_000_000 } });
        for name in ["kept", "spare"] {
            self.plain("POST /api/v1/budgets", &budget(name));
        }
        let amount = json!({ "amount": { "requests": 5 } });
        let each = json!({ "name": "short", "window": "day", "purse": "session", "hard": { "requests": 1 } });
        self.plain("POST /api/v1/budgets", &each);
        let body = json!({ "input": "say something", "session": { "session_key": "short" } });
        let mut start = || self.plain("POST /api/v1/runs", &body)["opened"]["run_id"].clone();
        let runs = [start(), start()];
        runs.iter().for_each(|run| drop(self.home.palyra(&["runs", "wait", run.as_str().unwrap()])));
        let [_, waits] = runs;
        json!({
            "POST /api/v1/runs/{run_id}/go-on-once": { "path": { "run_id": waits }, "body": {} },
            "POST /api/v1/budgets": { "body": budget("new") },
            "POST /api/v1/budgets/{name}/remove": { "path": { "name": "spare" }, "body": {} },
            "POST /api/v1/budgets/{name}/top-up": { "path": { "name": "kept" }, "body": amount },
        })
    }

    fn changes_of_tasks(&mut self) -> Value {
        let task = json!({ "task_id": self.task_at_work() });
        json!({
            "POST /api/v1/queued-tasks/{task_id}/change": { "path": task, "body": { "change": "cancel" } },
            "POST /api/v1/healing-mode": { "body": { "domain": "runs", "mode": "auto" } },
        })
    }

    fn changes_of_agents(&mut self) -> Value {
        let mut agent = |name: &str| {
            let made = self.plain("POST /api/v1/agents", &json!({ "profile": { "name": name } }));
            json!({ "agent_id": made["agent"]["agent_id"] })
        };
        let (reviewer, archived) = (agent("reviewer"), agent("archived"));
        let change = json!({ "change": { "tools": { "names": ["read_file"] } } });
        json!({
            "POST /api/v1/agents": { "body": { "profile": { "name": "writer" } } },
            "POST /api/v1/agents/{agent_id}": { "path": reviewer, "body": change },
            "POST /api/v1/agents/{agent_id}/archive": { "path": archived, "body": {} },
        })
    }

    fn changes_of_skills(&mut self) -> Value {
        let skill = |name: &str| {
            let text = format!("---\nname: {name}\ndescription: Quotes.\n---\nQuote, never guess.\n");
            std::fs::create_dir_all(self.home.work().join(name)).unwrap();
            self.home.write(&format!("{name}/SKILL.md"), &text);
            json!({ "path": self.home.work().join(name).display().to_string() })
        };
        let (quoting, counting, dating) = (skill("quoting"), skill("counting"), skill("dating"));
        for folder in [&quoting, &counting] {
            self.plain("POST /api/v1/skills", folder);
        }
        json!({
            "POST /api/v1/skills": { "body": dating },
            "POST /api/v1/skills-verify": { "body": {} },
            "POST /api/v1/skills/{name}/disable": { "path": { "name": "quoting" }, "body": {} },
            "POST /api/v1/skills/{name}/enable": { "path": { "name": "quoting" }, "body": {} },
            "POST /api/v1/skills/{name}/remove": { "path": { "name": "counting" }, "body": {} },
        })
    }

    fn changes_of_components(&mut self) -> Value {
        let path = lay_at(&self.home, "127.0.0.1:40000");
        let examined = self.plain("POST /api/v1/components/examine", &json!({ "path": path }));
        let sha256 = examined["sha256"].as_str().or_else(|| examined["component"]["sha256"].as_str());
        let component = json!({ "path": path, "sha256": sha256 });
        self.plain("POST /api/v1/components", &component);
        json!({
            "POST /api/v1/components": { "body": component },
            "POST /api/v1/components/examine": { "body": { "path": path } },
            "POST /api/v1/components/{name}/remove": { "path": { "name": "save_page" }, "body": {} },
        })
    }

    fn changes_of_secrets(&mut self) -> Value {
        let secret = |name: &str| json!({ "name": name, "value": format!("walnut-harbour-{name}"), "hosts": ["a.example"] });
        for name in ["forge", "spare"] {
            self.plain("POST /api/v1/vault/secrets", &secret(name));
        }
        let (forge, host) = (json!({ "name": "forge" }), json!({ "host": "b.example" }));
        let passphrase = json!({ "passphrase": "lantern-of-amber" });
        json!({
            "POST /api/v1/vault/passphrase": { "body": passphrase },
            "POST /api/v1/vault/secrets": { "body": secret("lamp") },
            "POST /api/v1/vault/secrets/{name}/bind": { "path": forge, "body": host },
            "POST /api/v1/vault/secrets/{name}/remove": { "path": { "name": "spare" }, "body": {} },
            "POST /api/v1/vault/secrets/{name}/unbind": { "path": forge, "body": host },
            "POST /api/v1/vault/unlock": { "body": passphrase },
        })
    }

    fn other_changes(&mut self) -> Value {
        let run = self.plain("POST /api/v1/runs", &json!({ "input": "hello" }))["opened"]["run_id"].clone();
        let posture = json!({ "tool": "write_file", "posture": "ask" });
        let added =
            json!({ "name": "second", "base_url": self.model_url, "model": "test-model", "replace": true });
        json!({
            "GET /api/v1/journal/export": { "query": { "run_id": run } },
            "POST /api/v1/config/reload": { "body": {} },
            "POST /api/v1/journal/rebuild": { "body": {} },
            "POST /api/v1/models": { "body": added },
            "POST /api/v1/notifications/test": { "body": { "target": "command" } },
            "POST /api/v1/postures": { "body": posture },
            "POST /api/v1/postures/clear": { "body": { "tool": "write_file" } },
        })
    }
}

/// As an owner whose every change is confirmed: no change is refused for a missing code, so requests reach what is
/// behind the check.
#[test]
fn no_confirmed_request_from_the_document_breaks_a_change_of_the_owner() {
    let runtime = runtime();
    let (behaviour, summaries) = model();
    let server = serve(&runtime, behaviour);
    let home = home_with(&server).with("PALYRA__HTTP__LISTEN", "127.0.0.1:0");
    home.configure("[notify]\ncommand = [\"/bin/true\"]\n");
    let mut operations = Operations::start(home, server.base_url(), summaries);
    let changes = operations.working_changes();
    let names: BTreeSet<String> = changes.keys().cloned().collect();
    assert_eq!(names, confirmed());
    let Operations { home, token, port, .. } = operations;
    let [calls, answers] = ["calls.json", "answers.json"].map(|name| home.work().join(name));
    std::fs::write(&calls, Value::Object(changes).to_string()).unwrap();
    let hooks = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/http_operations/confirmed_calls.py");
    let mut owner = schemathesis(&home, port, Some(&token));
    owner.env("SCHEMATHESIS_HOOKS", hooks).env("PYTHONDONTWRITEBYTECODE", "1");
    owner.env("PALYRA_TEST_SOCKET", home.state_dir().join("palyrad.sock"));
    owner.env("PALYRA_TEST_CALLS", &calls).env("PALYRA_TEST_ANSWERS", &answers);
    nothing_broke(&mut owner);
    let answers: Value = serde_json::from_str(&std::fs::read_to_string(&answers).unwrap()).unwrap();
    for name in names {
        let of = |status: &str| answers[&name][status].as_u64().unwrap_or_default();
        // Random calls change budgets, so the run that waits for one may be over by then.
        let is_late = name.ends_with("/go-on-once") && of("409") > 0;
        assert!(of("200") > 0 || is_late, "{name} never succeeded: {}", answers[&name]);
        assert_eq!(of("unconfirmed"), 0, "{name}: {}", answers[&name]);
    }
    home.palyra(&["journal", "verify"]).expect(0);
}
