//! The daemon is killed while a server of models is added or replaced: a server that the configuration names answers with its
//! own key, at each call that changes files.

use std::path::Path;

use anyhow::{Result, ensure};
use palyra_client::Client;
use palyra_model_server::{Behaviour, ModelServer, Reply};
use palyra_testdaemon::test_home::TestHome;
use palyra_testdaemon::verdict;
use palyra_wire::v1::AddModelRequest;

use crate::kill_at_calls::{KilledChange, ServedHome, kill_at_calls};

const MODEL: &str = "box/m";
const FORMER_KEY: &str = "canary-lantern-of-amber-4711";
const NEW_KEY: &str = "canary-harbour-of-walnut-1147";

/// The two servers; each answers with its own key only.
struct ModelServers {
    former: ModelServer,
    new: ModelServer,
}

impl ModelServers {
    async fn start() -> std::io::Result<Self> {
        let behaviour = |key| Behaviour::always(Reply::text("At your service.")).with_key(key);
        let former = ModelServer::start(behaviour(FORMER_KEY)).await?;
        Ok(Self { former, new: ModelServer::start(behaviour(NEW_KEY)).await? })
    }
}

/// What is there before the new server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormerServer {
    /// No server: the new one is the first.
    Absent,
    /// A server of the same name.
    Replaced,
}

/// The addition of the new server.
struct ServerAddition<'s> {
    servers: &'s ModelServers,
    former: FormerServer,
    is_acknowledged: bool,
}

/// Adds a server, in the place of one that is there.
async fn add(client: &Client, server: &ModelServer, key: &str) -> Result<()> {
    let request = AddModelRequest {
        name: "box".to_owned(),
        base_url: server.base_url(),
        model: "m".to_owned(),
        key: key.to_owned(),
        make_default: true,
        replace: true,
        ..AddModelRequest::default()
    };
    let answer = client.call_slowly(request).await?;
    ensure!(answer.saved && answer.mistakes.is_empty(), "it is not in use: {answer:?}");
    Ok(())
}

/// Demands that the server which the configuration names answers with the key that the daemon sends.
async fn answers(client: &Client) -> Result<()> {
    let tested = client.test_model(Some(MODEL)).await?;
    ensure!(tested.ok, "{} {}", tested.error_code, tested.text);
    Ok(())
}

/// Returns the text of the configuration file; empty where there is none.
fn config(home: &TestHome) -> Result<String> {
    match std::fs::read_to_string(home.path("home/.config/palyra/palyra.toml")) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        read => Ok(read?),
    }
}

impl KilledChange for ServerAddition<'_> {
    const EVERY: u64 = 8;
    const PLACES: &'static [&'static str] = &["/vault", "/.config/palyra", "/journal.db-wal"];

    async fn prepare(&mut self, client: &Client) -> Result<()> {
        match self.former {
            FormerServer::Absent => Ok(()),
            FormerServer::Replaced => add(client, &self.servers.former, FORMER_KEY).await,
        }
    }

    async fn make(&mut self, served: &ServedHome<'_>) -> Result<()> {
        if !self.is_acknowledged {
            add(served.client, &self.servers.new, NEW_KEY).await?;
            self.is_acknowledged = true;
        }
        answers(served.client).await?;
        let config = config(served.home)?;
        ensure!(config.contains(&self.servers.new.base_url()), "another server is named: {config}");
        verdict::verify(served.client).await
    }

    async fn look(&mut self, served: &ServedHome<'_>) -> Result<()> {
        let is_named = config(served.home)?.contains("[providers.box]");
        ensure!(is_named || !self.is_acknowledged, "a server was acknowledged and is not named");
        ensure!(is_named || self.former == FormerServer::Absent, "the server that was there is gone");
        if is_named {
            return answers(served.client).await;
        }
        let unnamed = served.client.test_model(Some(MODEL)).await;
        ensure!(!unnamed.is_ok_and(|tested| tested.ok), "a server answers that no configuration names");
        Ok(())
    }

    fn look_at_files(&self, home: &TestHome) -> Result<()> {
        for key in [FORMER_KEY, NEW_KEY] {
            ensure!(!has_file_with(&home.path("."), key)?, "a file has the key");
        }
        Ok(())
    }
}

/// Returns whether a file below a folder has a text in its bytes.
fn has_file_with(folder: &Path, text: &str) -> std::io::Result<bool> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let has_it = if kind.is_dir() {
            has_file_with(&entry.path(), text)?
        } else {
            kind.is_file()
                && std::fs::read(entry.path())?.windows(text.len()).any(|part| part == text.as_bytes())
        };
        if has_it {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn kill_while_added(former: FormerServer) {
    let servers = ModelServers::start().await.expect("two ports");
    kill_at_calls(|| ServerAddition { servers: &servers, former, is_acknowledged: false }).await;
}

#[tokio::test]
async fn crash_while_a_model_server_is_replaced_leaves_one_that_answers_with_its_key() {
    kill_while_added(FormerServer::Replaced).await;
}

#[tokio::test]
async fn crash_while_the_first_model_server_is_added_leaves_none_or_one_that_answers_with_its_key() {
    kill_while_added(FormerServer::Absent).await;
}
