//! A chat with a model that repeats what it heard, and can be held in the middle of an answer.

use palyra_model_server::{Behaviour, ModelServer, Reply};
use palyra_testkit::Gate;
use serde_json::Value;

use crate::home::Home;
use crate::pty::Pty;

/// A server that answers with all that was said, and a home that uses it.
pub(crate) struct Scene {
    runtime: tokio::runtime::Runtime,
    _server: ModelServer,
    /// Opens what answers to an input with `slowly` in it wait for.
    pub(crate) gate: Gate,
    pub(crate) home: Home,
}

impl Scene {
    /// Answers with every input of the context, between `<` and `>`.
    pub(crate) fn new() -> Self {
        let gate = Gate::closed();
        let waits = gate.clone();
        let behaviour = Behaviour::by(move |body| {
            let said = said(body);
            let answer = format!("<{}>", said.join("|").replace('\n', "/"));
            match said.last() {
                Some(last) if last.contains("slowly") => {
                    Reply::empty().piece("well, ").hold(&waits).piece(&answer)
                }
                _ => Reply::text(&answer),
            }
        });
        Self::with(gate, behaviour)
    }

    /// Answers as a model of one's own does; `gate` is what its answers wait for.
    pub(crate) fn with(gate: Gate, behaviour: Behaviour) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(ModelServer::start(behaviour)).unwrap();
        let home = Home::new()
            .with("TERM", "xterm")
            .with("OPENAI_BASE_URL", &server.base_url())
            .with("PALYRA_MODEL", "test-model");
        Self { runtime, _server: server, gate, home }
    }

    /// Sits down to chat.
    pub(crate) fn chat(&self) -> Pty {
        self.chat_in(&["chat"])
    }

    /// Sits down to chat, with these arguments.
    pub(crate) fn chat_in(&self, arguments: &[&str]) -> Pty {
        let mut pty = Pty::spawn(&self.home.command(arguments), 200);
        pty.expect("/help lists commands");
        pty.expect("> ");
        pty
    }

    /// Has something said whose answer begins and then waits.
    pub(crate) fn begin_slowly(&self, pty: &mut Pty) {
        pty.type_in("go slowly\r");
        pty.expect("well, ");
        self.until_held();
    }

    /// Waits until an answer is held.
    pub(crate) fn until_held(&self) {
        self.runtime.block_on(self.gate.reached());
    }

    pub(crate) fn runs(&self) -> Vec<Value> {
        self.home.palyra(&["runs", "list", "--json"]).expect(0).json()
    }
}

/// Returns the inputs of a request's messages.
pub(crate) fn said(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().unwrap();
    let said = messages.iter().filter(|message| message["role"] == "user");
    said.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}
