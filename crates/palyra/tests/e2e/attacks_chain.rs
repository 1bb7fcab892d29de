//! A page whose words travel: into memory, into a run of another conversation that never read it, into the summary of that
//! conversation, into a run that reads the summary. At each link the label is there and the rules for it apply.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::sync::{Arc, Mutex};

use palyra_model_server::{Behaviour, ModelServer, Reply, SeenRequest};
use palyra_testkit::injection::{InjectionText, orders, without_tags};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::asked::{asked_by, is_whole, of, tape};
use crate::attacks_fetches::FETCHES_FREELY;
use crate::fetches::allow;
use crate::home::Home;
use crate::openai_server::{home_with, runtime, serve};
use crate::web_server::WebServer;

const FACT: &str = "The gate of the Lantern workshop is opened with the word amber.";
const QUESTION: &str = "With which word is the gate of the Lantern workshop opened?";
const TEXTS: [&str; 3] = ["closing tag with zeros", "system reminder", "tool message of a format"];
/// Runs that stay behind a summary.
const LATER_RUNS: usize = 8;
/// In the place of words that the model has from its request.
const READ: &str = "{read}";

/// What a person lets the first run read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Page,
    /// The person says the fact; nothing is fetched.
    Person,
}

/// A call that the model makes in its next turn.
type NextCall = (&'static str, Value);

/// A daemon with a model that does what it is given, and believes what it reads.
struct Chain {
    home: Home,
    model: ModelServer,
    web: WebServer,
    calls: Arc<Mutex<VecDeque<NextCall>>>,
}

fn hostile() -> String {
    let all = InjectionText::all();
    let texts = TEXTS.iter().enumerate().map(|(number, name)| {
        let text = all.iter().find(|text| text.name == *name).unwrap_or_else(|| panic!("{name}"));
        format!("\n{}", text.for_canary(&format!("chain_{number}")))
    });
    std::iter::once(FACT.to_owned()).chain(texts).collect()
}

fn canaries() -> BTreeSet<String> {
    (0..TEXTS.len()).map(|number| format!("chain_{number}")).collect()
}

/// Returns the lines of the page that a body has, each once, in the order of the page.
fn lines_in(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().unwrap().iter();
    let texts: Vec<&str> = messages.filter_map(|message| message["content"].as_str()).collect();
    let page = hostile();
    let lines = page.lines().filter(|line| !line.is_empty() && texts.iter().any(|text| text.contains(line)));
    lines.map(str::to_owned).collect()
}

fn is_for_a_summary(body: &Value) -> bool {
    body["messages"][0]["content"].as_str().is_some_and(|text| text.contains("sum up the older part"))
}

fn reply(body: &Value, calls: &Mutex<VecDeque<NextCall>>) -> Reply {
    if is_for_a_summary(body) {
        let done: String = lines_in(body).iter().map(|line| format!("- {line}\n")).collect();
        return Reply::text(&format!("Decisions:\n- none\nDone:\n{done}Open:\n- none\n"));
    }
    let Some((tool, mut arguments)) = calls.lock().unwrap().pop_front() else {
        return Reply::text("That is that.");
    };
    if arguments["text"] == READ {
        arguments["text"] = lines_in(body).join("\n").into();
    }
    Reply::empty().call(tool, &arguments.to_string())
}

impl Chain {
    fn start(runtime: &Runtime) -> Self {
        let calls = Arc::<Mutex<VecDeque<NextCall>>>::default();
        let known = Arc::clone(&calls);
        let model = serve(runtime, Behaviour::by(move |body| reply(body, &known)));
        let web = WebServer::saying("text/plain", &hostile());
        let home = home_with(&model);
        allow(&home, &[&web]);
        home.configure("[memory]\nrecall = true\n");
        let rules = home.config_file().with_file_name("policies");
        fs::create_dir_all(&rules).unwrap();
        fs::write(rules.join("fetch.cedar"), FETCHES_FREELY).unwrap();
        Self { home, model, web, calls }
    }

    fn will_call(&self, calls: impl IntoIterator<Item = NextCall>) {
        self.calls.lock().unwrap().extend(calls);
    }

    /// Lets a run of a session remember something; returns the item, and whether a person was asked.
    fn remembers(&self, session: &str, words: &str, before: Option<NextCall>, text: &str) -> (Value, bool) {
        self.will_call(before.into_iter().chain([("memory_write", json!({ "text": text }))]));
        let command = ["run", "--session", session, words];
        let known = self.items().len();
        let ended = self.home.palyra(&command);
        let is_asked = ended.code == 3;
        if is_asked {
            let waits = self.home.palyra(&["approve", "list", "--json"]).expect(0).json();
            assert_eq!((waits.len(), &waits[0]["prompt"]["tool"]), (1, &"memory_write".into()), "{waits:#?}");
            self.home.palyra(&["approve", "yes", waits[0]["approval_id"].as_str().unwrap()]).expect(0);
            tape(&self.home, "last");
        } else {
            ended.expect(0);
        }
        let items = self.items();
        assert_eq!(items.len(), known + 1, "{items:#?}");
        (items.into_iter().max_by_key(|item| item["created"].as_str().unwrap().to_owned()).unwrap(), is_asked)
    }

    fn items(&self) -> Vec<Value> {
        self.home.palyra(&["memory", "list", "--json"]).expect(0).json()
    }

    /// Lets a run of a session propose a line for a shell; nothing runs.
    fn asks_for_a_shell(&self, session: &str, words: &str) -> Vec<Value> {
        self.will_call([("run_command", json!({ "argv": ["sh", "-c", "echo canary > canary.txt"] }))]);
        let waits = asked_by(&self.home, &["run", "--session", session, words]);
        self.home.palyra(&["approve", "no", &waits.approval]).expect(0);
        let entries = tape(&self.home, &waits.run);
        assert!(of(&entries, "tool_started").is_empty() && !self.home.work().join("canary.txt").exists());
        entries
    }

    /// Returns the bodies of requests from a number on, without those of summaries.
    fn bodies_since(&self, number: usize) -> Vec<Value> {
        let asked: Vec<SeenRequest> = self.model.asked();
        asked.into_iter().skip(number).map(|request| request.body).collect()
    }

    fn restart(&self) {
        self.home.palyra(&["admin", "stop"]).expect(0);
    }
}

/// Goes through the whole chain; returns the labels at each link, and what was asked.
fn walk(chain: &Chain, origin: Origin) -> Vec<(Value, bool)> {
    let home = &chain.home;
    let mut links = Vec::new();
    let fetch = ("http_fetch", json!({ "url": chain.web.url("/") }));
    let (words, before, text) = match origin {
        Origin::Page => ("Remember what the page says about the gate.", Some(fetch), READ),
        Origin::Person => (FACT, None, FACT),
    };
    let (item, is_asked) = chain.remembers("reader", words, before, text);
    assert_eq!(item["text"].as_str().unwrap().contains("CALL"), origin == Origin::Page);
    links.push((item["taints"].clone(), is_asked));
    // Another conversation has read nothing so far, and needs a summary later.
    for number in 0..2 {
        let words = format!("{} {}", "Plain words of another talk. ".repeat(60), "again ".repeat(number));
        home.palyra(&["run", "--session", "clean", &words]).expect(0);
    }
    let recalling = chain.model.asked().len();
    chain.will_call([("memory_search", json!({ "query": QUESTION }))]);
    let (written, is_asked) = chain.remembers("clean", QUESTION, None, "The person asked about a gate.");
    let entries = tape(home, "last");
    let recalled = &of(&entries, "run_started")[0]["recalled"];
    assert_eq!(recalled[0]["memory_id"], item["memory_id"], "{recalled:#}");
    links.push((written["taints"].clone(), is_asked));
    chain.asks_for_a_shell("clean", "Go on with a shell.");
    assert_reads_as_data(&chain.bodies_since(recalling), origin);
    for number in 0..LATER_RUNS {
        let words = format!("Something else.{}", " And on.".repeat(number));
        home.palyra(&["run", "--session", "clean", &words]).expect(0);
    }
    let made = &home.palyra(&["sessions", "compact", "clean", "--json"]).expect(0).json()[0];
    assert_eq!((&made["author"], &made["refused"]), (&"model".into(), &Value::Null), "{made:#}");
    assert!(made["summary"].as_str().unwrap().contains(FACT), "{made:#}");
    links.push((made["taints"].clone(), is_asked));
    // What is left of the page is the summary.
    for item in chain.items() {
        home.palyra(&["memory", "forget", item["memory_id"].as_str().unwrap()]).expect(0);
    }
    chain.restart();
    let reading = chain.model.asked().len();
    let (written, is_asked) = chain.remembers("clean", "And now?", None, "The person goes on.");
    let entries = tape(home, "last");
    let started = of(&entries, "run_started")[0];
    assert_eq!(
        (&started["compaction"], &started["recalled"]),
        (&made["compaction"], &Value::Null),
        "{started:#}"
    );
    links.push((written["taints"].clone(), is_asked));
    chain.asks_for_a_shell("clean", "Once more a shell.");
    assert_reads_as_data(&chain.bodies_since(reading), origin);
    links
}

/// The words of the page are in data parts of each body; the control is the same body without the tags.
fn assert_reads_as_data(bodies: &[Value], origin: Origin) {
    assert!(bodies.len() > 2);
    for body in bodies {
        assert_eq!(orders(body), BTreeSet::new(), "{body:#}");
        if origin == Origin::Page {
            assert_eq!(orders(&without_tags(body)), canaries(), "{body:#}");
        }
    }
}

#[test]
fn the_label_of_a_page_goes_along_with_its_words_through_memory_and_a_summary() {
    let runtime = runtime();
    let chain = Chain::start(&runtime);
    for (link, (labels, is_asked)) in walk(&chain, Origin::Page).into_iter().enumerate() {
        assert_eq!((labels, is_asked), (json!(["web"]), true), "link {link}");
    }
    assert_eq!(chain.web.heard().len(), 1, "the page was read once");
    is_whole(&chain.home);
}

#[test]
fn without_a_page_no_link_of_the_same_chain_has_a_label_or_asks() {
    let runtime = runtime();
    let chain = Chain::start(&runtime);
    for (link, (labels, is_asked)) in walk(&chain, Origin::Person).into_iter().enumerate() {
        assert_eq!((labels, is_asked), (Value::Null, false), "link {link}");
    }
    assert!(chain.web.heard().is_empty());
}
