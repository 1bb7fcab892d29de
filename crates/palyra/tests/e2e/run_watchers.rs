//! One run is watched over gRPC, by a browser's `EventSource` and by a script while its daemon is killed twenty times.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use palyra_client::{Client, ConnectOptions, DaemonTarget, FollowEvent, RunFollower, StartPolicy};
use palyra_types::RunId;
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;
use serde_json::Value;
use tokio::sync::watch;

use crate::home::Home;
use crate::killed_daemon::{KilledDaemon, TurnsModel, steady_port};
use crate::openai_server::{home_with, runtime};
use crate::tcp::token;

const KILLS: usize = 20;
/// How long a watcher may take to come back; a browser waits three seconds before it tries.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a watcher meets.
enum WatchEvent {
    Entry(Value),
    CaughtUp,
    /// Its stream broke off, or was closed after the end.
    Cut,
    Ended,
    /// It does not come back any more.
    Closed,
}

/// What a watcher has met so far.
#[derive(Debug, Default)]
struct WatchRecord {
    entries: Vec<Value>,
    /// Streams that caught up.
    caught_up: usize,
    /// Entries since the last stream caught up.
    live: usize,
    /// Streams that broke off before the end.
    cuts: usize,
    is_ended: bool,
    is_closed: bool,
}

impl WatchRecord {
    fn note(&mut self, event: WatchEvent) {
        match event {
            WatchEvent::Entry(entry) => {
                self.entries.push(entry);
                self.live += 1;
            }
            WatchEvent::CaughtUp => {
                self.caught_up += 1;
                self.live = 0;
            }
            WatchEvent::Cut if self.is_ended => {}
            WatchEvent::Cut => self.cuts += 1,
            WatchEvent::Ended => self.is_ended = true,
            WatchEvent::Closed => self.is_closed = true,
        }
    }

    /// Returns whether its stream has caught up, is alive, and is not over; it is the one after so many cuts.
    fn is_amid(&self, cuts: usize) -> bool {
        (self.caught_up, self.cuts, self.is_ended) == (cuts + 1, cuts, false) && self.live > 0
    }
}

/// Somebody who watches.
struct RunWatcher {
    name: &'static str,
    record: watch::Receiver<WatchRecord>,
    program: Option<Child>,
}

impl RunWatcher {
    /// Follows over the daemon's socket, in this process.
    fn grpc(client: Client, run: RunId) -> Self {
        let (sender, record) = watch::channel(WatchRecord::default());
        tokio::spawn(async move {
            let mut follower = RunFollower::attach(&client, run, 0);
            while let Some(event) = follower.next().await.unwrap() {
                let event = match event {
                    FollowEvent::Entry(entry) => WatchEvent::Entry(to_json_with_defaults(&*entry)),
                    FollowEvent::CaughtUp => WatchEvent::CaughtUp,
                    FollowEvent::Lost => WatchEvent::Cut,
                    FollowEvent::Ended(_) => WatchEvent::Ended,
                    _ => continue,
                };
                sender.send_modify(|record| record.note(event));
            }
            sender.send_modify(|record| record.note(WatchEvent::Closed));
        });
        Self { name: "grpc", record, program: None }
    }

    /// Follows in a program of its own, which reports on its standard output and ends with its standard input.
    fn program(name: &'static str, mut command: Command) -> Self {
        let (sender, record) = watch::channel(WatchRecord::default());
        let mut program = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(program.stdout.take().unwrap()).lines();
        std::thread::spawn(move || {
            for line in lines {
                let event = reported(&line.unwrap());
                sender.send_modify(|record| record.note(event));
            }
        });
        Self { name, record, program: Some(program) }
    }

    async fn until(&mut self, what: &str, wanted: impl FnMut(&WatchRecord) -> bool) {
        let reached = tokio::time::timeout(PATIENCE, self.record.wait_for(wanted)).await;
        let is_reached = reached.is_ok_and(|reached| reached.is_ok());
        assert!(is_reached, "{}: {what}: {}", self.name, self.summary());
    }

    fn summary(&self) -> String {
        let WatchRecord { entries, caught_up, live, cuts, is_ended, is_closed } = &*self.record.borrow();
        let numbers: Vec<_> = entries.iter().map(|entry| entry["tape_seq"].as_u64()).collect();
        format!(
            "{caught_up} caught up, {cuts} cuts, {live} live, ended: {is_ended}, closed: {is_closed}, {numbers:?}"
        )
    }
}

fn reported(line: &str) -> WatchEvent {
    let mut report: Value = serde_json::from_str(line).unwrap();
    let mut data = report["data"].take();
    match report["kind"].as_str().unwrap() {
        "entry" => {
            assert_eq!(data["id"], data["entry"]["tape_seq"].to_string(), "an event's id is its number");
            WatchEvent::Entry(data["entry"].take())
        }
        "caught_up" => WatchEvent::CaughtUp,
        "cut" => WatchEvent::Cut,
        "end" => WatchEvent::Ended,
        "closed" => WatchEvent::Closed,
        other => panic!("{other}: {data}"),
    }
}

/// Returns a client that starts no daemon.
async fn client(home: &Home) -> Client {
    let mut options = ConnectOptions::new(DaemonTarget::StateDir(home.state_dir()));
    options.start = StartPolicy::Never;
    Client::connect(options).await.unwrap()
}

/// Returns the command of a program that watches over HTTP.
fn watching(
    program: impl AsRef<std::ffi::OsStr>,
    script: &str,
    port: u16,
    run: RunId,
    token: &str,
) -> Command {
    let mut command = Command::new(program);
    command
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/run_watchers").join(script))
        .env("PALYRA_TEST_PORT", port.to_string())
        .env("PALYRA_TEST_ORIGIN", format!("http://localhost:{port}"))
        .env("PALYRA_TEST_PATH", format!("/api/v1/runs/{run}/events"))
        .env("PALYRA_TOKEN", token);
    command
}

async fn start_run(client: &Client, home: &Home) -> RunId {
    let start = v1::StartRunRequest {
        input: "say all of it".to_owned(),
        workspace_root: home.work().display().to_string(),
        ..Default::default()
    };
    client.start_run(start).await.unwrap().run_id.parse().unwrap()
}

#[test]
fn one_run_is_the_same_for_grpc_a_browser_and_a_script_over_twenty_kills() {
    let runtime = runtime();
    let model = TurnsModel::start(&runtime, KILLS);
    let port = steady_port();
    let home = home_with(&model.server).with("PALYRA__HTTP__LISTEN", &format!("127.0.0.1:{port}"));
    let profile = tempfile::tempdir().unwrap();
    let daemon = KilledDaemon::start(&home);
    let token = token(&home, "user:local");
    let daemon = runtime.block_on(async {
        let mut daemon = daemon;
        let client = client(&home).await;
        let run = start_run(&client, &home).await;
        let python =
            std::env::var_os("PALYRA_TEST_PYTHON").expect("`cargo xtask test` sets PALYRA_TEST_PYTHON");
        let mut browser = watching("node", "browser.mjs", port, run, &token);
        browser.env("PALYRA_TEST_PROFILE", profile.path()).env("HOME", profile.path());
        let mut watchers = [
            RunWatcher::program("browser", browser),
            RunWatcher::program("script", watching(python, "script.py", port, run, &token)),
            RunWatcher::grpc(client.clone(), run),
        ];
        for kill in 0..KILLS {
            model.is_speaking(kill).await;
            for watcher in &mut watchers {
                watcher.until("a live stream", |record| record.is_amid(kill)).await;
            }
            let amid = watchers.iter().filter(|watcher| watcher.record.borrow().is_amid(kill)).count();
            assert_eq!(amid, watchers.len(), "all watch when the daemon is killed");
            model.note_kill();
            daemon.kill();
            for watcher in &mut watchers {
                watcher.until("a cut", |record| record.cuts == kill + 1).await;
            }
            daemon = KilledDaemon::start(&home);
        }
        for watcher in &mut watchers {
            watcher.until("the end", |record| record.is_closed).await;
            let ended = watcher.program.as_mut().map(|program| program.wait().unwrap());
            assert!(ended.is_none_or(|status| status.success()), "{}: {ended:?}", watcher.name);
        }
        let late = RunWatcher::grpc(client, run);
        check(&watchers, late).await;
        daemon
    });
    home.palyra(&["journal", "verify"]).expect(0);
    daemon.stop();
}

/// Checks that all have seen the whole tape, each entry once, over all kills.
async fn check(watchers: &[RunWatcher], mut late: RunWatcher) {
    late.until("the end", |record| record.is_closed).await;
    let late = late.record.borrow();
    let tape = &late.entries;
    let numbers: Vec<_> = tape.iter().map(|entry| entry["tape_seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=tape.len() as u64).collect::<Vec<_>>());
    for watcher in watchers {
        let record = watcher.record.borrow();
        assert!(record.is_ended && record.cuts == KILLS, "{}", watcher.summary());
        assert!(record.entries == *tape, "{} of {}: {}", watcher.name, tape.len(), watcher.summary());
    }
    let caught = |entry: &&Value| entry["model_attempt_abandoned"]["cause"] == "restart";
    let last = tape.last().unwrap();
    assert_eq!(tape.iter().filter(caught).count(), KILLS, "each kill caught the model in its answer");
    assert_eq!(last["run_finished"]["state"], "RUN_STATE_DONE", "{last}");
}
