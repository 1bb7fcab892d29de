//! A daemon at one HTTP port that is killed and started again, and a model whose answers last until it was killed.

use std::io::BufReader;
use std::net::TcpListener;
use std::process::{Child, ChildStdout, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use palyra_model_server::{Behaviour, ModelServer, Reply};
use palyra_testkit::Gate;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::home::{Home, ended, read_until, signal};
use crate::openai_server::serve;

/// Kills that fall into one turn: after five of them shortly after each other a run waits for a person.
const KILLS_PER_TURN: usize = 2;
/// Words of a turn; as many as no slow answer comes to the end of.
const WORDS: usize = 600;
const PACE: Duration = Duration::from_millis(40);

/// Ports that the system gives to no outgoing connection, so that nothing else takes ours while the daemon is down.
const FIRST_PORT: u16 = 12_000;
const PORTS: u16 = 16_000;

/// A daemon in the foreground.
pub(crate) struct KilledDaemon {
    daemon: Child,
    out: BufReader<ChildStdout>,
}

impl KilledDaemon {
    /// Starts it and waits until it is ready.
    pub(crate) fn start(home: &Home) -> Self {
        let mut daemon = home.command(&["serve"]).stderr(Stdio::null()).spawn().unwrap();
        let mut out = BufReader::new(daemon.stdout.take().unwrap());
        read_until(&mut out, "\"ready\":true");
        Self { daemon, out }
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(mut self) {
        signal(&self.daemon, Signal::KILL);
        self.daemon.wait().unwrap();
    }

    pub(crate) fn stop(self) {
        signal(&self.daemon, Signal::TERM);
        drop(self.out);
        ended(self.daemon).expect(0);
    }
}

/// Returns a port that is free, another one for each process that asks.
pub(crate) fn steady_port() -> u16 {
    let own = u16::try_from(std::process::id() % u32::from(PORTS)).unwrap();
    let ports = (0..PORTS).map(|step| FIRST_PORT + (own + step) % PORTS);
    let mut free = ports.filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.next().expect("a free port")
}

/// A model for one run of several turns. It speaks slowly until the daemon was killed in that turn as often as it should
/// be, then says the whole turn at once; turns but the last one call a tool.
pub(crate) struct TurnsModel {
    pub(crate) server: ModelServer,
    kills: Arc<AtomicUsize>,
}

impl TurnsModel {
    pub(crate) fn start(runtime: &Runtime, kills_max: usize) -> Self {
        let kills = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&kills);
        let behaviour = Behaviour::by(move |body| reply(body, counted.load(Ordering::SeqCst), kills_max));
        Self { server: serve(runtime, behaviour), kills }
    }

    /// Waits until it speaks again after so many kills: it was asked once for each, and once more for each whole turn.
    pub(crate) async fn is_speaking(&self, kills: usize) {
        self.server.wait_asked(1 + kills + kills / KILLS_PER_TURN).await;
    }

    /// Counts a kill that is about to come.
    pub(crate) fn note_kill(&self) {
        self.kills.fetch_add(1, Ordering::SeqCst);
    }
}

fn reply(body: &Value, kills: usize, kills_max: usize) -> Reply {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let turn = messages.iter().filter(|message| message["role"] == "tool").count();
    let killed_enough = (turn + 1) * KILLS_PER_TURN;
    if kills < killed_enough.min(kills_max) {
        return said(turn, kills).paced(PACE).hold(&Gate::closed());
    }
    let whole = said(turn, kills);
    if killed_enough >= kills_max {
        return whole;
    }
    whole.call("glob", &json!({ "pattern": format!("*.{turn}") }).to_string())
}

/// Says the same words at each attempt of an even turn, and others in an odd one.
fn said(turn: usize, kills: usize) -> Reply {
    let attempt = if turn.is_multiple_of(2) { String::new() } else { format!("-{kills}") };
    (0..WORDS).fold(Reply::empty(), |reply, word| reply.piece(&format!("{turn}{attempt}.{word} ")))
}
