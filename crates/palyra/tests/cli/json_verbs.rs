//! What every verb prints with `--json`, over one small world, beside what it printed before.
//!
//! `snapshots/cli__json-verbs.snap` holds it, with ids, digests, times, sizes and paths masked; how many entries and
//! steps there were is masked too, because text is gathered by the clock. A verb of the help pages that has `--json`
//! and is not run here fails the test. After a wanted change: `INSTA_UPDATE=always cargo nextest run -p palyra --test
//! cli json_verbs`. Begin at [`every_verb_prints_the_json_that_it_printed_before`].

use std::collections::BTreeSet;
use std::fmt::Write as _;

use palyra_model_server::{Behaviour, ModelServer, Reply};
use serde_json::{Map, Value, json};

use crate::home::{Ended, Home};
use crate::snapshots::mask_word;

/// End-to-end tests of backups read it.
const BACKUP_SIZES: &str = "its numbers change with the journal of this home";

/// The queue is empty here.
const TASK_NEEDED: &str = "it takes a task of the queue";

/// End-to-end tests of services run them with a stand-in.
const SYSTEMD_NEEDED: &str = "systemd of this machine decides what it prints";

/// Verbs that are not run here, and why.
const NOT_RUN: [(&str, &str); 14] = [
    ("backup create", BACKUP_SIZES),
    ("backup verify", BACKUP_SIZES),
    ("backup restore", BACKUP_SIZES),
    ("budget go-on", "it takes a run that waits for a budget"),
    ("approve watch", "it does not end by itself"),
    ("admin tasks cancel", TASK_NEEDED),
    ("admin tasks run-now", TASK_NEEDED),
    ("admin tasks retry", TASK_NEEDED),
    ("admin tasks drop", TASK_NEEDED),
    ("admin incidents show", "it takes an incident"),
    ("admin service install", SYSTEMD_NEEDED),
    ("admin service status", SYSTEMD_NEEDED),
    ("admin service uninstall", SYSTEMD_NEEDED),
    ("logs", "its lines are the daemon's log, which changes with every machine"),
];

/// Members whose values depend on the clock or on the machine.
const VOLATILE: [&str; 44] = [
    "message_id",
    "integrity",
    "ticks",
    "journal_entries",
    "journal_signed",
    "pid",
    "process",
    "port",
    "entries",
    "commits",
    "bytes",
    "rows",
    "database_bytes",
    "wal_bytes",
    "size",
    "seq",
    "tape_seq",
    "first_seq",
    "last_seq",
    "last_tape_seq",
    "run_first_seq",
    "text_from",
    "text_to",
    "since",
    "created",
    "updated",
    "expires",
    "time",
    "at",
    "local",
    "started",
    "ended",
    "age",
    "build",
    "version",
    "detail",
    "free_bytes",
    "duration",
    "epoch",
    "decided",
    "salt",
    "tokens_estimated",
    "tokens_kept",
    "input_tokens",
];

/// Ends of the names of such members.
const VOLATILE_ENDINGS: [&str; 9] =
    ["_us", "_ms", "_at", "_seq", "_seconds", "_millis", "_micros", "_bytes", "_time"];

/// One home, one model that does as it is told, and what the verbs printed.
struct World {
    home: Home,
    text: String,
    run: BTreeSet<String>,
    runtime: tokio::runtime::Runtime,
    _server: ModelServer,
}

impl World {
    fn new() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(ModelServer::start(Behaviour::by(reply))).unwrap();
        let home = Home::new();
        home.write("README.md", "# Lantern\n\nA box that keeps the wind in.\n");
        let config = home.config_file();
        std::fs::create_dir_all(config.parent().unwrap()).unwrap();
        let text = format!(
            "[model]\ndefault = \"local/m\"\n\n[providers.local]\nbase_url = \"{}\"\n",
            server.base_url()
        );
        std::fs::write(config, text).unwrap();
        Self { home, text: String::new(), run: BTreeSet::new(), runtime, _server: server }
    }

    /// Runs a verb and keeps what it printed.
    #[track_caller]
    fn verb(&mut self, arguments: &[&str]) -> Vec<Value> {
        self.reading(arguments, "")
    }

    #[track_caller]
    fn reading(&mut self, arguments: &[&str], input: &str) -> Vec<Value> {
        let all = [arguments, &["--json"]].concat();
        let ended = self.home.palyra_reading(&all, input);
        let words =
            arguments.iter().take_while(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
        self.run.insert(words.copied().collect::<Vec<_>>().join(" "));
        self.keep(&all, &ended)
    }

    #[track_caller]
    fn keep(&mut self, arguments: &[&str], ended: &Ended) -> Vec<Value> {
        let shown: Vec<String> = arguments.iter().map(|word| self.mask(word)).collect();
        writeln!(self.text, "$ palyra {}", shown.join(" ")).unwrap();
        let values = lines(&ended.out);
        let errors = lines(&ended.err);
        for value in values.iter().chain(&errors) {
            let masked = self.masked("", value.clone());
            writeln!(self.text, "{masked}").unwrap();
        }
        let said = if values.is_empty() && errors.is_empty() { "nothing, " } else { "" };
        writeln!(self.text, "[{said}exit {}]\n", ended.code).unwrap();
        values
    }

    /// Lets the model propose a call and returns the approval that it waits for.
    #[track_caller]
    fn asked(&self, tool: &str, arguments: &Value) -> (String, String) {
        let told = json!({ "tool": tool, "arguments": arguments }).to_string();
        self.home.palyra(&["run", &told]).expect(3);
        let waits = self.home.palyra(&["approve", "list", "--json"]).expect(0).json().remove(0);
        let text = |name: &str| waits[name].as_str().unwrap().to_owned();
        (text("approval_id"), text("run_id"))
    }

    fn masked(&self, name: &str, value: Value) -> Value {
        let is_volatile =
            VOLATILE.contains(&name) || VOLATILE_ENDINGS.iter().any(|ending| name.ends_with(ending));
        match value {
            Value::Object(members) => {
                // Each check of `doctor` says what it found on this machine.
                let is_check = members.contains_key("found") && members.contains_key("level");
                let members = members.into_iter().map(|(name, value)| {
                    let value = if is_check && name != "name" { "[...]".into() } else { value };
                    let value = self.masked(&name, value);
                    (self.mask(&name), value)
                });
                Value::Object(members.collect::<Map<_, _>>())
            }
            Value::Array(values) => {
                values.into_iter().map(|value| self.masked(name, value)).collect::<Vec<_>>().into()
            }
            Value::Number(_) if is_volatile => "[N]".into(),
            Value::String(_) if is_volatile => "[...]".into(),
            Value::String(text) => self.mask(&text).into(),
            other => other,
        }
    }

    /// Masks ids, digests, heads of the log, ports and paths within a text.
    fn mask(&self, text: &str) -> String {
        let folder = self.home.work().parent().unwrap().canonicalize().unwrap();
        let text = text.replace(folder.to_str().unwrap(), "[FOLDER]");
        if text.contains("palyra.log/") {
            return "[HEAD]".to_owned();
        }
        let is_time = text.get(10..11) == Some("T") && text.ends_with('Z') && text.starts_with("20");
        if is_time && text.chars().filter(|c| *c == ':').count() == 2 {
            return "[TIME]".to_owned();
        }
        let is_confirmation = text.len() == 11
            && text.bytes().enumerate().all(|(at, byte)| match at {
                5 => byte == b'-',
                _ => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            });
        if is_confirmation {
            return "[CODE]".to_owned();
        }
        let is_base64 = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
        if text.len() >= 40 && text.chars().all(is_base64) {
            return "[BASE64]".to_owned();
        }
        let mut masked = String::new();
        for part in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
            let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            let is_instant = word.len() >= 12 && word.chars().all(|c| c.is_ascii_digit());
            let host_before = ["127.0.0.1:", "localhost:"].iter().any(|host| masked.ends_with(host));
            let short = masked.ends_with("palyra runs kept list ").then(|| "[ID]".to_owned());
            let port = host_before.then(|| "[PORT]".to_owned());
            let instant = is_instant.then(|| "[N]".to_owned());
            masked +=
                &port.or(short).or(instant).or_else(|| mask_word(word)).unwrap_or_else(|| word.to_owned());
            masked += &part[word.len()..];
        }
        masked
    }
}

/// Returns the lines that are JSON.
fn lines(text: &str) -> Vec<Value> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).filter(Value::is_object).collect()
}

/// Proposes the call that the input names, else says what it heard; is content with every outcome.
fn reply(body: &Value) -> Reply {
    let Some(last) = body["messages"].as_array().and_then(|messages| messages.last()) else {
        return Reply::text("Nothing.");
    };
    let said = last["content"].as_str().unwrap_or_default();
    match serde_json::from_str::<Value>(said) {
        Ok(call) if last["role"] == "user" && call["tool"].is_string() => {
            Reply::empty().call(call["tool"].as_str().unwrap_or_default(), &call["arguments"].to_string())
        }
        _ if last["role"] == "user" => Reply::empty().piece("You asked something."),
        _ => Reply::empty().piece("That is that."),
    }
}

fn set_up(world: &mut World) {
    world.verb(&["config", "check"]);
    world.verb(&["config", "show"]);
    world.verb(&["init"]);
    world.verb(&["model", "list"]);
    world.verb(&["model", "test"]);
    let add = ["--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--no-test", "--no-default"];
    world.verb(&[&["model", "add", "here"][..], &add].concat());
    world.verb(&["model", "use"]);
    world.verb(&["config", "reload"]);
    let schema = world.home.palyra(&["config", "schema", "--json"]).expect(0);
    let schema: Value = serde_json::from_str(&schema.out).unwrap();
    let names: Vec<_> = schema["properties"].as_object().unwrap().keys().cloned().collect();
    writeln!(world.text, "$ palyra config schema --json: properties {}\n", names.join(" ")).unwrap();
    world.run.insert("config schema".to_owned());
    world.verb(&["status"]);
    world.verb(&["doctor"]);
}

fn runs(world: &mut World) -> String {
    let read = json!({ "tool": "read_file", "arguments": { "path": "README.md" } }).to_string();
    let tape = world.verb(&["run", "--session", "notes", &read]);
    let run = tape[0]["run_id"].as_str().map(str::to_owned);
    world.reading(&["chat"], "what can you do\n");
    world.verb(&["runs", "list", "--session", "notes"]);
    let listed = world.home.palyra(&["runs", "list", "--session", "notes", "--json"]).expect(0).json();
    let run = run.unwrap_or_else(|| listed[0]["run_id"].as_str().unwrap().to_owned());
    for verb in ["show", "tail", "wait", "effects", "cancel"] {
        world.verb(&["runs", verb, &run]);
    }
    world.verb(&["runs", "answer", &run, "go on"]);
    world.verb(&["runs", "steer", &run, "go on"]);
    world.verb(&["runs", "effects", "resolve", &run, "1", "happened"]);
    world.verb(&["usage", "--by", "model"]);
    run
}

fn approvals(world: &mut World) {
    let write = |path: &str| json!({ "path": path, "content": "milk\n" });
    let (approval, run) = world.asked("write_file", &write("todo.txt"));
    world.verb(&["approve", "list"]);
    world.verb(&["approve", "show", &approval]);
    world.verb(&["approve", "always", &approval, "--uses", "3"]);
    world.home.palyra(&["runs", "wait", &run]).expect(0);
    world.verb(&["runs", "effects", &run]);
    let (yes, run) = world.asked("write_file", &write("more/todo.txt"));
    world.verb(&["approve", "yes", &yes]);
    world.home.palyra(&["runs", "wait", &run]).expect(0);
    world.verb(&["runs", "undo", &run]);
    world.verb(&["policy", "explain", &run, "1"]);
    let (no, _) = world.asked("write_file", &write("other/todo.txt"));
    world.verb(&["approve", "no", &no]);
    world.verb(&["approve", "export"]);
    let grants = world.verb(&["approve", "grants"]);
    let grant = grants[0]["grant_id"].as_str().unwrap_or("last").to_owned();
    world.verb(&["approve", "revoke", &grant]);
    world.verb(&["approve", "rules"]);
    world.verb(&["runs", "kept", "list", &run]);
    world.verb(&["runs", "kept", "show", &run, "1"]);
    world.verb(&["runs", "kept", "apply", &run, "1", "--shown", &"0".repeat(64)]);
    world.verb(&["runs", "kept", "discard", &run, "1", "--yes"]);
}

fn sessions(world: &mut World, run: &str) {
    world.verb(&["sessions", "rename", "notes", "My notes"]);
    world.verb(&["sessions", "list"]);
    world.verb(&["sessions", "show", "notes"]);
    world.verb(&["sessions", "branch", &format!("{run}@3")]);
    world.verb(&["sessions", "compact", "notes", "--list"]);
    world.verb(&["sessions", "recall", "notes", "on"]);
    world.verb(&["sessions", "reset", "notes"]);
    world.verb(&["sessions", "archive", "notes"]);
    world.verb(&["sessions", "restore", "notes"]);
    world.verb(&["sessions", "cleanup", "notes"]);
}

fn policy_and_tools(world: &mut World) {
    world.verb(&["policy", "show"]);
    world.verb(&["policy", "check"]);
    world.verb(&["policy", "test"]);
    world.verb(&["policy", "diff"]);
    world.verb(&["policy", "shadow"]);
    world.verb(&["policy", "posture", "set", "write_file", "ask"]);
    world.verb(&["policy", "posture", "list"]);
    world.verb(&["policy", "posture", "clear", "write_file"]);
    world.verb(&["tools", "list"]);
    world.verb(&["tools", "add", "missing.wasm", "--yes"]);
    world.verb(&["tools", "remove", "missing"]);
    std::fs::create_dir_all(world.home.work().join("quoting")).unwrap();
    let skill =
        "---\nname: quoting\ndescription: Quotes.\nallowed-tools: read_file\n---\nQuote, never guess.\n";
    world.home.write("quoting/SKILL.md", skill);
    world.verb(&["tools", "skills", "install", "./quoting"]);
    world.verb(&["tools", "skills", "enable", "quoting"]);
    world.verb(&["tools", "skills"]);
    world.verb(&["tools", "skills", "list"]);
    world.verb(&["tools", "skills", "show", "quoting"]);
    world.verb(&["tools", "skills", "verify"]);
    world.verb(&["tools", "skills", "disable", "quoting"]);
    world.verb(&["tools", "skills", "remove", "quoting"]);
}

fn journal(world: &mut World, run: &str) {
    world.verb(&["journal", "status"]);
    world.verb(&["journal", "show", "--limit", "3"]);
    world.verb(&["journal", "checkpoint"]);
    world.verb(&["journal", "prove", "3"]);
    world.verb(&["journal", "export", "--run", run, "./bundle"]);
    world.verb(&["journal", "rebuild"]);
    world.verb(&["journal", "erase", "--run", run, "--yes"]);
    world.verb(&["journal", "verify"]);
    world.verb(&["journal", "scrub"]);
    world.verb(&["journal", "accept-rollback", "--yes"]);
}

fn schedules(world: &mut World) {
    let times = ["--cron", "0 8 * * *", "--zone", "UTC", "--missed", "skip"];
    let with = |first: &[&'static str], last: &[&'static str]| [first, &times[..], last].concat();
    let made = world.verb(&with(&["admin", "schedules", "add"], &["--remind", "tea", "--yes"]));
    let id = made[0]["schedule_id"].as_str().unwrap_or_else(|| panic!("{made:?}")).to_owned();
    world.verb(&["admin", "schedules"]);
    world.verb(&["admin", "schedules", "list"]);
    world.verb(&["admin", "schedules", "pause", &id]);
    world.verb(&["admin", "schedules", "resume", &id]);
    world.verb(&["admin", "schedules", "run-now", &id]);
    world.verb(&[
        "admin",
        "schedules",
        "edit",
        &id,
        "--cron",
        "30 8 * * *",
        "--zone",
        "UTC",
        "--remind",
        "tea",
    ]);
    world.verb(&["admin", "schedules", "show", &id]);
    world.verb(&["admin", "schedules", "remove", &id]);
}

/// One target takes messages, and the list says so.
fn notifications(world: &mut World) {
    let text = std::fs::read_to_string(world.home.config_file()).unwrap();
    std::fs::write(world.home.config_file(), format!("{text}\n[notify]\ncommand = [\"/bin/true\"]\n"))
        .unwrap();
    world.home.palyra(&["config", "reload"]).expect(0);
    world.verb(&["admin", "notify", "test", "command"]);
    world.verb(&["admin", "notify"]);
    world.verb(&["admin", "notify", "list"]);
}

fn admin(world: &mut World) {
    let created = world.verb(&["admin", "tokens", "create", "user:a"]);
    world.verb(&["admin", "tokens", "list"]);
    let token = created[0]["token_id"].as_str().unwrap_or_default().to_owned();
    world.verb(&["admin", "tokens", "revoke", &token]);
    world.verb(&["admin", "people", "add", "user:eve", "--role", "approver"]);
    world.verb(&["admin", "people", "rename", "user:eve", "user:ada"]);
    world.verb(&["admin", "people", "role", "user:ada", "viewer"]);
    world.verb(&["admin", "people", "disable", "user:ada"]);
    world.verb(&["admin", "people", "enable", "user:ada"]);
    world.verb(&["admin", "people", "list"]);
    world.verb(&["admin", "people", "zone", "Europe/Prague"]);
    world.verb(&["admin", "people", "invite", "user:ada"]);
    world.verb(&["admin", "confirm"]);
    world.verb(&["console"]);
    world.verb(&["console", "--sign-out-all"]);
    world.reading(&["admin", "vault", "put", "forge"], "walnut-harbour-lantern\n");
    world.reading(&["admin", "vault", "rotate", "forge"], "walnut-harbour-candle\n");
    world.verb(&["admin", "vault", "bind", "forge", "a.example"]);
    world.verb(&["admin", "vault", "list"]);
    world.verb(&["admin", "vault", "unbind", "forge", "a.example"]);
    world.verb(&["admin", "vault", "remove", "forge"]);
    world.verb(&["admin", "vault", "status"]);
    world.reading(&["admin", "vault", "unlock"], "lantern-of-amber\n");
    world.reading(&["admin", "vault", "passphrase"], "lantern-of-amber\n");
    world.verb(&["admin", "agents"]);
    world.verb(&["admin", "agents", "create", "reviewer", "--instructions", "Review."]);
    world.verb(&["admin", "agents", "update", "reviewer", "--tool", "read_file"]);
    world.verb(&["admin", "agents", "show", "reviewer"]);
    world.verb(&["admin", "agents", "archive", "reviewer"]);
    world.verb(&["admin", "tasks"]);
    world.verb(&["admin", "tasks", "list"]);
    world.verb(&["admin", "incidents"]);
    world.verb(&["admin", "incidents", "mode"]);
    schedules(world);
    notifications(world);
    world.home.palyra(&["runs", "bookmarks", "last", "first draft"]).expect(0);
    world.verb(&["runs", "bookmarks"]);
    world.verb(&["memory", "add", "likes tea"]);
    world.verb(&["memory", "list"]);
    world.verb(&["memory", "search", "tea"]);
    // There is one item, and its id begins so.
    world.verb(&["memory", "forget", "01"]);
    world.verb(&["budget", "set", "daily", "--limit", "requests=1000"]);
    world.verb(&["budget", "top-up", "daily", "requests=5"]);
    world.verb(&["budget", "list"]);
    world.verb(&["budget", "remove", "daily"]);
    world.verb(&["admin", "stop"]);
}

/// Returns the verbs whose help page has `--json`.
fn verbs_with_json() -> BTreeSet<String> {
    let pages = include_str!("../../../../docs/reference/help.txt");
    let page = |page: &str| {
        let (name, text) = page.split_once('\n')?;
        let verb = name.strip_prefix("palyra help ")?;
        text.lines().any(|line| line.trim_start().starts_with("--json ")).then(|| verb.to_owned())
    };
    pages.split("\n======== ").filter_map(page).collect()
}

#[test]
fn every_verb_prints_the_json_that_it_printed_before() {
    let mut world = World::new();
    set_up(&mut world);
    let run = runs(&mut world);
    approvals(&mut world);
    sessions(&mut world, &run);
    policy_and_tools(&mut world);
    journal(&mut world, &run);
    admin(&mut world);
    let World { text, run, runtime, .. } = world;
    drop(runtime);
    let was_run =
        |verb: &String| run.iter().any(|words| words == verb || words.starts_with(&format!("{verb} ")));
    let left_out = |verb: &String| NOT_RUN.iter().any(|(name, _)| name == verb);
    let verbs = verbs_with_json();
    let missing: Vec<_> = verbs.iter().filter(|verb| !was_run(verb) && !left_out(verb)).collect();
    assert!(missing.is_empty() && verbs.len() > 80, "verbs with --json that are not run here: {missing:?}");
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("json-verbs", text);
    });
}
