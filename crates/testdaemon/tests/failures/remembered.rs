//! The daemon is killed while an item of memory is saved, by a person and by a run, and while a conversation is summed up: each
//! is there once or not at all, and a repetition adds none, at each call that changes files.

use anyhow::{Context, Result, ensure};
use palyra_client::{Client, ClientError, FollowEvent, RunFollower};
use palyra_model_server::{Behaviour, ModelServer, Reply};
use palyra_testdaemon::test_home::TestHome;
use palyra_testdaemon::verdict;
use palyra_wire::v1::{
    CompactSessionRequest, Compaction, ListCompactionsRequest, ListMemoriesRequest, SaveMemoryRequest,
    SessionSelector, StartRunRequest,
};
use serde_json::{Value, json};

use crate::kill_at_calls::{KilledChange, ServedHome, kill_at_calls_with};

const SAID_BY_PERSON: &str = "The ferry leaves at the old pier.";
const SAID_TO_RUN: &str = "Remember the lamp.";
const SAVED_BY_RUN: &str = "The lamp is in the shed.";
const KEY: &str = "remember-the-lamp";
/// Runs of the conversation that is summed up: more than stay as they are.
const RUNS: usize = 10;

/// Remembers when it is asked to, and sums up in one line.
fn reply(body: &Value) -> Reply {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let has = |message: &Value, text: &str| message["content"].to_string().contains(text);
    if messages.first().is_some_and(|message| has(message, "sum up the older part")) {
        return Reply::text("Decisions:\n- none\nDone:\n- They talked.\nOpen:\n- none\n");
    }
    let is_result = messages.last().is_some_and(|message| message["role"] == "tool");
    if !is_result && messages.last().is_some_and(|message| has(message, SAID_TO_RUN)) {
        return Reply::empty().call("memory_write", &json!({ "text": SAVED_BY_RUN }).to_string());
    }
    Reply::text("Very well.")
}

/// Says something and waits for the end of its run; fails at once where the daemon is gone.
async fn say(client: &Client, session: &str, input: &str, key: &str) -> Result<String> {
    let session = SessionSelector { session_key: session.to_owned(), ..SessionSelector::default() };
    let start = StartRunRequest {
        session: Some(session),
        input: input.to_owned(),
        idempotency_key: key.to_owned(),
        ..StartRunRequest::default()
    };
    let opened = client.start_run(start).await?;
    let run = opened.run_id.parse().context("the id of a run")?;
    let mut follower = RunFollower::attach(client, run, 0);
    loop {
        match follower.next().await?.context("a tape ended without its end")? {
            FollowEvent::Ended(_) => return Ok(opened.session_id),
            // The next daemon is started by the caller.
            FollowEvent::Lost => drop(client.status().await?),
            _ => {}
        }
    }
}

/// What is kept of the changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct KeptContent {
    of_person: usize,
    of_run: usize,
    summaries: usize,
}

/// The changes, one after the other.
struct RememberedContent {
    session: String,
    done: KeptContent,
}

impl RememberedContent {
    fn new() -> Self {
        Self { session: String::new(), done: KeptContent { of_person: 0, of_run: 0, summaries: 0 } }
    }

    async fn summaries(&self, client: &Client) -> Result<Vec<Compaction>, ClientError> {
        let request = ListCompactionsRequest { session_id: self.session.clone() };
        Ok(client.call(request).await?.compactions)
    }

    async fn kept(&self, client: &Client) -> Result<KeptContent> {
        let items = client.call(ListMemoriesRequest::default()).await?.memories;
        let count = |text: &str| items.iter().filter(|item| item.text == text).count();
        let summaries = self.summaries(client).await?;
        let whole = summaries.iter().all(|made| !made.summary.is_empty() && made.runs > 0);
        ensure!(whole, "a summary is not whole: {summaries:?}");
        let (of_person, of_run) = (count(SAID_BY_PERSON), count(SAVED_BY_RUN));
        ensure!(items.len() == of_person + of_run, "there are other items: {items:?}");
        Ok(KeptContent { of_person, of_run, summaries: summaries.len() })
    }
}

impl KilledChange for RememberedContent {
    const EVERY: u64 = 6;
    const PLACES: &'static [&'static str] = &["/journal.db-wal"];

    async fn prepare(&mut self, client: &Client) -> Result<()> {
        for number in 0..RUNS {
            let input = format!("Plain words of a long talk. {}", "And more of them. ".repeat(60));
            self.session = say(client, "long", &input, &format!("talk-{number}")).await?;
        }
        Ok(())
    }

    async fn make(&mut self, served: &ServedHome<'_>) -> Result<()> {
        let client = served.client;
        // Each is asked for again where it may be there already: a repetition adds nothing.
        client.call(SaveMemoryRequest { text: SAID_BY_PERSON.to_owned(), ..Default::default() }).await?;
        self.done.of_person = 1;
        say(client, "memo", SAID_TO_RUN, KEY).await?;
        self.done.of_run = 1;
        if self.summaries(client).await?.is_empty() {
            client.call_slowly(CompactSessionRequest { session_id: self.session.clone() }).await?;
        }
        self.done.summaries = 1;
        let kept = self.kept(client).await?;
        ensure!(kept == self.done, "there is {kept:?}");
        let runs = verdict::all_runs(client).await?.len();
        ensure!(runs == RUNS + 1, "{runs} runs, though one was repeated under its key");
        let refused = client.call_slowly(CompactSessionRequest { session_id: self.session.clone() }).await;
        ensure!(matches!(&refused, Err(ClientError::Refused { .. })), "it is summed up twice: {refused:?}");
        verdict::verify(client).await
    }

    async fn look(&mut self, served: &ServedHome<'_>) -> Result<()> {
        let kept = self.kept(served.client).await?;
        let KeptContent { of_person, of_run, summaries } = self.done;
        let pairs = [(kept.of_person, of_person), (kept.of_run, of_run), (kept.summaries, summaries)];
        let whole = pairs.iter().all(|(kept, acknowledged)| *kept <= 1 && kept >= acknowledged);
        ensure!(whole, "{kept:?} is kept, and {:?} was acknowledged", self.done);
        Ok(())
    }

    fn look_at_files(&self, _home: &TestHome) -> Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn crash_while_something_is_remembered_or_summed_up_keeps_it_once_or_not_at_all() {
    let model = ModelServer::start(Behaviour::by(reply)).await.expect("a port");
    kill_at_calls_with(&model, RememberedContent::new).await;
}
