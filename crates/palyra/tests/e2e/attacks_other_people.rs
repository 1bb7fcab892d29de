//! A person with a valid token asks every operation of the HTTP API for the content of another person.
//!
//! The operations come from the published document, so a new one is asked too.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::time::{Duration, Instant};

use palyra_model_server::{Behaviour, Reply};
use serde_json::{Map, Value, json};

use crate::home::Home;
use crate::http_api::{HttpRequest, get, port};
use crate::openai_server::{home_with, runtime, serve};

/// Each family of content that a person brings; the canary of a family is `lantern-PERSON-FAMILY`.
const FAMILIES: [&str; 11] = [
    "input",
    "attachment",
    "content",
    "file",
    "answer",
    "question",
    "key",
    "label",
    "bookmark",
    "memory",
    "draft",
];
/// How long a stream may take to show something.
const PATIENCE: Duration = Duration::from_secs(30);
/// Streams without an end.
const WATCHES: [&str; 2] = ["GET /api/v1/approvals-watch", "GET /api/v1/attention-watch"];

/// Calls the tool that an input names, and repeats in its answer what the tool returned.
fn model() -> Behaviour {
    Behaviour::by(|body| {
        let last = body["messages"].as_array().unwrap().last().unwrap().clone();
        let text = last["content"].as_str().unwrap_or_default().to_owned();
        let call: Option<Value> =
            (last["role"] == "user").then(|| serde_json::from_str(&text).ok()).flatten();
        match call {
            Some(call) => Reply::empty().call(call["tool"].as_str().unwrap(), &call["arguments"].to_string()),
            None => Reply::text(&format!("I read: {text}")),
        }
    })
}

/// A person with a token, and what belongs to them.
struct Person<'h> {
    home: &'h Home,
    name: &'static str,
    token: String,
    port: u16,
    /// By the name that the document has for them.
    ids: BTreeMap<&'static str, String>,
    /// A run that asked for an answer.
    answered: String,
}

impl<'h> Person<'h> {
    fn new(home: &'h Home, port: u16, name: &'static str) -> Self {
        let make = ["admin", "tokens", "create", &format!("user:{name}"), "--role", "member"];
        let token = home.palyra(&make).expect(0).out.trim().to_owned();
        Self { home, name, token, port, ids: BTreeMap::new(), answered: String::new() }
    }

    fn canary(&self, family: &str) -> String {
        assert!(FAMILIES.contains(&family), "{family}");
        format!("lantern-{}-{family}", self.name)
    }

    fn ask(&self, line: &str, body: &Value) -> (u16, String) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        HttpRequest { body, ..get(line, &self.token) }.answer(self.port)
    }

    #[track_caller]
    fn done(&self, line: &str, body: &Value) -> Value {
        let (status, answer) = self.ask(line, body);
        assert_eq!(status, 200, "{line}: {answer}");
        serde_json::from_str(&answer).unwrap()
    }

    /// Has a tool called in a run of one conversation; returns the run, which may wait.
    #[track_caller]
    fn runs(&self, tool: &str, arguments: &Value, attachments: &Value) -> Value {
        let input = json!({ "tool": tool, "arguments": arguments, "why": self.canary("input") });
        let session = json!({ "session_key": self.canary("key") });
        let body = json!({ "input": input.to_string(), "session": session, "attachments": attachments });
        self.done("POST /api/v1/runs", &body)["opened"].clone()
    }

    /// Has a run of a new conversation read a run; returns its events.
    fn reads(&self, run: &str) -> String {
        let input = json!({ "tool": "read_run", "arguments": { "run": run } });
        let opened = self.done("POST /api/v1/runs", &json!({ "input": input.to_string() }))["opened"].clone();
        let reading = opened["run_id"].as_str().unwrap();
        self.read_until(&format!("GET /api/v1/runs/{reading}/events"), "run_finished")
    }

    fn write(&self, path: &str, family: &str) -> Value {
        let arguments = json!({ "path": path, "content": self.canary(family) });
        self.runs("write_file", &arguments, &json!([]))
    }

    /// Waits for the approval that a run asks for.
    fn waiting(&self, run: &str) -> String {
        self.read_until(WATCHES[0], run);
        let approvals = self.done("GET /api/v1/approvals", &Value::Null);
        let of_run = |row: &&Value| row["run_id"] == *run;
        let row = approvals["approvals"].as_array().unwrap().iter().find(of_run);
        row.unwrap_or_else(|| panic!("{approvals}"))["approval_id"].as_str().unwrap().to_owned()
    }

    fn follow_to_the_end(&self, run: &str) {
        self.read_until(&format!("GET /api/v1/runs/{run}/events"), "run_finished");
    }

    /// Reads a stream until it shows some words.
    fn read_until(&self, line: &str, words: &str) -> String {
        let mut stream = get(line, &self.token).send(self.port);
        let mut text = String::new();
        let deadline = Instant::now() + PATIENCE;
        while !text.contains(words) {
            // Lines that keep the connection alive come for ever.
            assert!(Instant::now() < deadline, "{line} never showed `{words}`: {text}");
            let bytes = stream.read_line(&mut text).unwrap();
            assert_ne!(bytes, 0, "{line} ended without `{words}`: {text}");
        }
        text
    }

    /// Brings content of every family.
    fn bring_content(&mut self) {
        let file = format!("{}.txt", self.canary("file"));
        let written = self.write(&file, "content");
        let run = written["run_id"].as_str().unwrap().to_owned();
        let yes = self.waiting(&run);
        self.home.palyra(&["approve", "yes", &yes]).expect(0);
        self.follow_to_the_end(&run);
        let attachment =
            json!([{ "name": format!("{}.txt", self.canary("attachment")), "content": "bGFudGVybg==" }]);
        let read = self.runs("read_file", &json!({ "path": file }), &attachment);
        let read_run = read["run_id"].as_str().unwrap().to_owned();
        self.follow_to_the_end(&read_run);
        let question = json!({ "question": format!("Which {}?", self.canary("question")) });
        let body = json!({ "input": json!({ "tool": "ask_user", "arguments": question }).to_string() });
        let asks = self.done("POST /api/v1/runs", &body)["opened"]["run_id"].as_str().unwrap().to_owned();
        self.read_until(&format!("GET /api/v1/runs/{asks}/events"), "tool_proposed");
        let answer = json!({ "input": { "text": self.canary("answer") } });
        self.done(&format!("POST /api/v1/runs/{asks}/input"), &answer);
        self.follow_to_the_end(&asks);
        let session = read["session_id"].as_str().unwrap().to_owned();
        self.done(
            &format!("POST /api/v1/sessions/{session}/rename"),
            &json!({ "label": self.canary("label") }),
        );
        let bookmark = json!({ "run_id": read_run, "tape_seq": 1, "name": self.canary("bookmark") });
        self.done("POST /api/v1/bookmarks", &bookmark);
        let memory = json!({ "text": format!("The word of the day is {}.", self.canary("memory")) });
        let saved = self.done("POST /api/v1/memories", &memory);
        // This one stays open.
        let draft = self.write("draft.txt", "draft");
        let approval = self.waiting(draft["run_id"].as_str().unwrap());
        self.answered = asks;
        self.ids = BTreeMap::from([
            ("run_id", read_run),
            ("session_id", session),
            ("session_key", self.canary("key")),
            ("approval_id", approval),
            ("memory_id", saved["memory"]["memory_id"].as_str().unwrap().to_owned()),
            ("tape_seq", "1".to_owned()),
            ("index", "0".to_owned()),
            ("effect_id", "1".to_owned()),
            ("seq", "1".to_owned()),
            ("old_size", "1".to_owned()),
            ("new_size", "2".to_owned()),
            ("text", "the word of the day".to_owned()),
            ("name", "lantern".to_owned()),
            ("kind", "run".to_owned()),
        ]);
    }
}

/// An operation of the document.
struct Operation {
    method: String,
    path: String,
    query: Vec<String>,
    body: Option<Value>,
}

fn operations(document: &Value) -> Vec<Operation> {
    let paths = document["paths"].as_object().unwrap();
    let of_path = |(path, methods): (&String, &Value)| {
        let operation = |(method, operation): (&String, &Value)| {
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let in_query = parameters.iter().filter(|parameter| parameter["in"] == "query");
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            Operation {
                method: method.to_uppercase(),
                path: path.clone(),
                query: in_query.map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect(),
                body: (!schema.is_null()).then(|| schema.clone()),
            }
        };
        methods.as_object().unwrap().iter().map(operation).collect::<Vec<_>>()
    };
    paths.iter().flat_map(of_path).collect()
}

/// Fills a schema with the ids of a person, wherever a field has the name of one.
fn filled(document: &Value, schema: &Value, ids: &BTreeMap<&str, String>, depth: usize) -> Value {
    let named = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    let schema = named.map_or(schema, |name| &document["components"]["schemas"][name]);
    let mut object = Map::new();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let id = ids.get(name.as_str());
        let value = match (id, field["type"].as_str()) {
            (Some(id), Some("integer")) => id.parse::<u64>().map_or(Value::Null, Value::from),
            (Some(id), Some("string")) => Value::from(id.clone()),
            (None, _) if field["$ref"].is_string() && depth > 0 => filled(document, field, ids, depth - 1),
            _ => Value::Null,
        };
        if !(value.is_null() || value.as_object().is_some_and(Map::is_empty)) {
            object.insert(name.clone(), value);
        }
    }
    Value::Object(object)
}

/// Has a person ask every operation for what belongs to someone; returns all answers.
fn asked_everything(document: &Value, asking: &Person<'_>, of: &Person<'_>) -> String {
    let mut of_answered = of.ids.clone();
    of_answered.insert("run_id", of.answered.clone());
    // These first: nothing waits any more once a person has asked for the end of their own runs.
    let watched = WATCHES.map(|line| asking.read_until(line, "\"run_id\""));
    let answers = [&of.ids, &of_answered].map(|ids| asked_with(document, asking, ids));
    watched.concat() + &answers.concat()
}

/// Has a person ask every operation, with and without these ids.
fn asked_with(document: &Value, asking: &Person<'_>, ids: &BTreeMap<&str, String>) -> String {
    let mut answers = String::new();
    for operation in operations(document) {
        let line = format!("{} {}", operation.method, operation.path);
        if WATCHES.contains(&line.as_str()) {
            continue;
        }
        let parts = operation.path.split('/').map(|part| {
            let name = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
            name.map_or(part, |name| ids.get(name).map_or("1", String::as_str)).to_owned()
        });
        let path = parts.collect::<Vec<_>>().join("/");
        let known = operation.query.iter().filter_map(|name| ids.get(name.as_str()).map(|id| (name, id)));
        let query: Vec<_> = known.map(|(name, id)| format!("{name}={}", id.replace(' ', "%20"))).collect();
        let bodies = match &operation.body {
            Some(schema) => vec![filled(document, schema, ids, 2), json!({})],
            None => vec![Value::Null],
        };
        for body in &bodies {
            for query in [query.join("&"), String::new()] {
                let mark = if query.is_empty() { "" } else { "?" };
                let line = format!("{} {path}{mark}{query}", operation.method);
                let (status, answer) = asking.ask(&line, body);
                assert!(status < 500, "{line}: {status} {answer}");
                answers += &format!("{line}: {status} {answer}\n");
            }
        }
    }
    answers
}

#[test]
fn no_operation_shows_content_of_another_person() {
    let runtime = runtime();
    let server = serve(&runtime, model());
    let home = home_with(&server).with("PALYRA__HTTP__LISTEN", "127.0.0.1:0");
    home.configure("[memory]\nrecall = true\n");
    let port = port(&home);
    let document: Value =
        serde_json::from_str(include_str!("../../../../docs/reference/openapi.json")).unwrap();
    let mut people = [Person::new(&home, port, "alice"), Person::new(&home, port, "bob")];
    people.iter_mut().for_each(Person::bring_content);
    let [alice, bob] = &people;
    for (asking, other) in [(alice, bob), (bob, alice)] {
        let answers = asked_everything(&document, asking, other);
        let leaked = format!("lantern-{}-", other.name);
        let line = answers.lines().find(|line| {
            // Words that the person sent themselves come back in messages of errors.
            line.replace(&other.canary("key"), "").contains(&leaked)
        });
        assert_eq!(line, None, "content of {} was shown to {}", other.name, asking.name);
    }
    // A tool that reads runs knows those of its person alone.
    for (asking, other) in [(alice, bob), (bob, alice)] {
        for run in [&other.ids["run_id"], &other.answered] {
            let refused = asking.reads(run);
            let leaks = refused.contains(&format!("lantern-{}-", other.name));
            assert!(refused.contains("PLY-1103") && !leaks, "{refused}");
        }
        let own = asking.reads(&asking.ids["run_id"]);
        assert!(own.contains(&asking.canary("input")) && !own.contains("PLY-1103"), "the control: {own}");
    }
    // No request to the model has words of both.
    for request in server.asked() {
        let body = request.body.to_string();
        assert!(!(body.contains("lantern-alice-") && body.contains("lantern-bob-")), "{body}");
    }
    // The control: each person finds every family of their own by the same questions.
    for person in &people {
        let answers = asked_everything(&document, person, person);
        let missing: Vec<_> =
            FAMILIES.iter().filter(|family| !answers.contains(&person.canary(family))).collect();
        assert!(missing.is_empty(), "{missing:?} of {}", person.name);
    }
}
