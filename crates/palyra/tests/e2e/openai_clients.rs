//! OpenAI's clients, installed by name, against the daemon: what works with OpenAI works here, and nothing of the inside
//! is seen.

use std::io::BufReader;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use palyra_model_server::{Behaviour, Fault, ModelServer, Reply};
use palyra_testkit::Gate;
use rustix::process::Signal;

use crate::home::{Home, ended, read_until, signal};
use crate::openai_server::{runtime, serve};

/// A daemon with an HTTP listener, in the foreground.
pub(crate) struct HttpDaemon {
    daemon: Child,
    out: BufReader<ChildStdout>,
    base_url: String,
}

impl HttpDaemon {
    pub(crate) fn start(home: &Home) -> Self {
        let mut daemon = home.command(&["serve"]).stderr(Stdio::null()).spawn().unwrap();
        let mut out = BufReader::new(daemon.stdout.take().unwrap());
        read_until(&mut out, "\"ready\":true");
        let checks = home.palyra(&["doctor", "--json"]).expect(0).json();
        let listening =
            checks.iter().find(|check| check["name"] == "listening").unwrap()["found"].as_str().unwrap();
        let port = listening.split("//localhost:").nth(1).expect("HTTP is served");
        let port: String = port.chars().take_while(char::is_ascii_digit).collect();
        Self { daemon, out, base_url: format!("http://127.0.0.1:{port}/v1") }
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    pub(crate) fn stop(self) {
        signal(&self.daemon, Signal::TERM);
        drop(self.out);
        ended(self.daemon).expect(0);
    }

    pub(crate) fn kill(mut self) {
        signal(&self.daemon, Signal::KILL);
        self.daemon.wait().unwrap();
    }
}

/// A home whose default model is a small assistant that sees, and which has models that fail and one that takes its time.
fn home_of(assistant: &ModelServer, faults: &ModelServer) -> Home {
    let home = Home::new().with("PALYRA__HTTP__LISTEN", "127.0.0.1:0");
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    let text = format!(
        "model.default = \"eyes/assistant\"\nembeddings.model = \"eyes/embed\"\n[providers.eyes]\nbase_url = \"{}\"\nimages = true\n\
         [providers.faults]\nbase_url = \"{}\"\n",
        assistant.base_url(),
        faults.base_url()
    );
    std::fs::write(home.config_file(), text).unwrap();
    home
}

fn faults(gate: &Gate) -> Behaviour {
    Behaviour::per_model([
        ("quota", Behaviour::always(Fault::Quota)),
        ("context", Behaviour::always(Fault::ContextExceeded)),
        ("auth", Behaviour::always(Fault::Auth)),
        ("slow", Behaviour::always(Reply::text("one two ").hold(gate).piece("three"))),
    ])
}

fn token(home: &Home) -> String {
    token_of(home, "user:alice")
}

pub(crate) fn token_of(home: &Home, principal: &str) -> String {
    let created = home.palyra(&["admin", "tokens", "create", principal, "--scope", "openai"]);
    created.expect(0).out.trim().to_owned()
}

pub(crate) fn python() -> std::ffi::OsString {
    std::env::var_os("PALYRA_TEST_PYTHON").expect(
        "PALYRA_TEST_PYTHON must name a Python with the `openai` package; run `cargo xtask test`, which installs one",
    )
}

pub(crate) fn node_modules() -> std::ffi::OsString {
    std::env::var_os("PALYRA_TEST_NODE_MODULES").expect(
        "PALYRA_TEST_NODE_MODULES must name a folder with the packages of Node; run `cargo xtask test`, which installs them",
    )
}

pub(crate) fn script(
    program: impl AsRef<std::ffi::OsStr>,
    script: &str,
    daemon: &HttpDaemon,
    token: &str,
) -> Command {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/openai_clients").join(script);
    let mut command = Command::new(program);
    command
        .arg(path)
        .env("OPENAI_BASE_URL", &daemon.base_url)
        .env("OPENAI_API_KEY", token)
        .env("NO_PROXY", "127.0.0.1")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The same with the packages of Node, and with a token that opens other endpoints alone.
fn client_script(
    program: &std::ffi::OsStr,
    name: &str,
    daemon: &HttpDaemon,
    home: &Home,
    token: &str,
) -> Command {
    let narrow = ["admin", "tokens", "create", "user:alice", "--scope", "runs.read"];
    let narrow = home.palyra(&narrow).expect(0).out;
    let mut command = script(program, name, daemon, token);
    command.env("PALYRA_NARROW_TOKEN", narrow.trim()).env("PALYRA_TEST_NODE_MODULES", node_modules());
    command
}

#[test]
fn the_python_client_of_openai_works_and_sees_nothing_of_the_inside() {
    let runtime = runtime();
    let gate = Gate::closed();
    let assistant = serve(&runtime, Behaviour::assistant(Duration::from_millis(2)));
    let faults = serve(&runtime, faults(&gate));
    let home = home_of(&assistant, &faults);
    let daemon = HttpDaemon::start(&home);
    let token = token(&home);
    let client = client_script(&python(), "openai_sdk.py", &daemon, &home, &token).spawn().unwrap();
    let client = ended(client).expect(0);
    let expected = "models text stream usage embeddings tools structured image settings errors failures session responses response_stream \
                    background previous unstored deleted input_items disconnect\n";
    assert_eq!(client.out, expected);
    check_settings(&assistant);
    check_embedded_texts(&assistant, &token);
    let runs = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    assert!(runs.is_empty(), "the runs are those of another principal");
    gate.open();
    daemon.stop();
    let daemon = HttpDaemon::start(&home);
    let mut again = script(python(), "deleted.py", &daemon, &token);
    let again = ended(again.args(client.err.split_whitespace()).spawn().unwrap()).expect(0);
    assert_eq!(again.out, "gone\ngone\n", "{}", client.err);
    daemon.stop();
    home.palyra(&["journal", "verify"]).expect(0);
}

/// Checks that what the client set came to the model, in the request that asks with those words alone.
fn check_settings(assistant: &ModelServer) {
    let asked = |words: &str| {
        let request = assistant.asked().into_iter().find(|request| {
            let last = request.body["messages"].as_array().and_then(|messages| messages.last()).cloned();
            last.is_some_and(|message| message["content"] == words)
        });
        request.expect("a request with these words").body.clone()
    };
    let body = asked("with settings");
    for (name, value) in [
        ("temperature", serde_json::json!(0.2)),
        ("top_p", serde_json::json!(0.5)),
        ("stop", serde_json::json!(["END"])),
        ("seed", serde_json::json!(-7)),
        ("reasoning_effort", serde_json::json!("low")),
        ("verbosity", serde_json::json!("high")),
        ("parallel_tool_calls", serde_json::json!(false)),
        ("max_tokens", serde_json::json!(900)),
    ] {
        assert_eq!(body[name], value, "{name}");
    }
    let body = asked("respond with settings");
    assert_eq!((&body["temperature"], &body["verbosity"]), (&serde_json::json!(0.3), &"low".into()));
    assert_eq!((&body["reasoning_effort"], &body["max_tokens"]), (&"minimal".into(), &800.into()));
    assert!(body.get("seed").is_none() && body.get("stop").is_none());
}

/// Checks that the texts of which the client wanted vectors came to the model without its secret.
fn check_embedded_texts(assistant: &ModelServer, token: &str) {
    let asked = assistant.asked().into_iter().filter(|request| request.path == "/v1/embeddings");
    let bodies: Vec<String> = asked.map(|request| request.body["input"].to_string()).collect();
    assert!(bodies.iter().any(|body| body.contains("We deploy on Fridays.")), "{bodies:?}");
    let with_key = bodies.iter().find(|body| body.contains("the key is")).expect("the text with the key");
    assert!(with_key.contains("<secret:") && !with_key.contains(token), "{with_key}");
}

/// Clients with principals of their own, so that none of them continues a conversation of another.
#[test]
fn langchain_the_node_client_of_openai_and_the_ai_sdk_work() {
    let runtime = runtime();
    let assistant = serve(&runtime, Behaviour::assistant(Duration::from_millis(2)));
    let faults = serve(&runtime, faults(&Gate::closed()));
    let home = home_of(&assistant, &faults);
    let daemon = HttpDaemon::start(&home);
    let clients = [
        (
            python(),
            "langchain_client.py",
            "user:chain",
            "text stream session structured image RateLimitError ContextOverflowError BadRequestError NotFoundError \
             AuthenticationError PermissionDeniedError ConflictError InternalServerError stream-error\n",
        ),
        (
            "node".into(),
            "openai_node.mjs",
            "user:node",
            "text stream responses structured response-structured image response-image RateLimitError BadRequestError \
             BadRequestError NotFoundError AuthenticationError PermissionDeniedError ConflictError InternalServerError \
             stream-error response-error\n",
        ),
        (
            "node".into(),
            "ai_sdk.mjs",
            "user:sdk",
            "text stream structured stream-structured image 429 400 400 404 401 403 409 5xx stream-error\n",
        ),
    ];
    let started = clients.map(|(program, name, user, works)| {
        let token = token_of(&home, user);
        let client = client_script(&program, name, &daemon, &home, &token).spawn().unwrap();
        (client, works)
    });
    for (client, works) in started {
        assert_eq!(ended(client).expect(0).out, works);
    }
    daemon.stop();
    home.palyra(&["journal", "verify"]).expect(0);
}

#[test]
fn a_request_that_is_repeated_after_a_killed_daemon_is_one_run() {
    let runtime = runtime();
    let gate = Gate::closed();
    let assistant = serve(&runtime, Behaviour::assistant(Duration::ZERO));
    let faults = serve(&runtime, faults(&gate));
    let home = home_of(&assistant, &faults);
    let daemon = HttpDaemon::start(&home);
    let token = token(&home);
    let first = script(python(), "repeated.py", &daemon, &token).arg("0").spawn().unwrap();
    runtime.block_on(faults.wait_asked(1));
    daemon.kill();
    ended(first).expect(0);
    let daemon = HttpDaemon::start(&home);
    gate.open();
    let again = ended(script(python(), "repeated.py", &daemon, &token).arg("1").spawn().unwrap()).expect(0);
    assert_eq!(again.out, "one two three\n1 run\n");
    daemon.stop();
}
