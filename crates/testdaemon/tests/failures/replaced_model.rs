//! The daemon is killed while a server of models is replaced: the server that the configuration names answers with its own
//! key, at each call that changes files.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use palyra_client::{Client, ClientError};
use palyra_testdaemon::strace::{CallRecording, InjectedFault, Selector, StraceTracer, SystemCall};
use palyra_testdaemon::test_home::{Programs, TestHome};
use palyra_testdaemon::tool_setup::TestSettings;
use palyra_testdaemon::verdict;
use palyra_testkit::model_server::{Behaviour, ModelServer, Reply};
use palyra_wire::v1::AddModelRequest;

/// Every so many calls are tried; which of them changes with the commit.
const EVERY: u64 = 8;
/// No story takes longer, or it waits for something that never comes.
const PATIENCE: Duration = Duration::from_secs(60);
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

/// Puts a server in the place of the one that is there.
async fn replace(client: &Client, server: &ModelServer, key: &str) -> Result<()> {
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

/// Replaces the server unless that was acknowledged; then looks at what there is.
async fn take(
    house: &TestHome,
    client: &Client,
    servers: &ModelServers,
    is_acknowledged: &mut bool,
) -> Result<()> {
    if !*is_acknowledged {
        replace(client, &servers.new, NEW_KEY).await?;
        *is_acknowledged = true;
    }
    answers(client).await?;
    let config = std::fs::read_to_string(house.path("home/.config/palyra/palyra.toml"))?;
    ensure!(config.contains(&servers.new.base_url()), "another server is named: {config}");
    verdict::verify(client).await
}

/// Replaces the server under a tracer, which writes to `log`; where the daemon's death interrupts that, it is done again.
async fn live(
    root: &Path,
    programs: &Programs,
    servers: &ModelServers,
    (tracer, log): (&StraceTracer, &Path),
) -> Result<CallRecording> {
    if root.exists() {
        std::fs::remove_dir_all(root).context("could not empty the folder")?;
    }
    let house = TestHome::make(root)?;
    let (mut daemon, mut client, _) = house.serve(programs).await?;
    replace(&client, &servers.former, FORMER_KEY).await?;
    let mut attached = Some(tracer.attach(daemon.pid).await?);
    let mut is_acknowledged = false;
    while let Err(error) = take(&house, &client, servers, &mut is_acknowledged).await {
        ensure!(error.downcast_ref().is_some_and(ClientError::is_unreachable), "{error:#}");
        daemon.ended().await?;
        let attached = attached.take().context("the daemon died once more by itself")?;
        attached.ended().await?;
        (daemon, client, _) = house.serve(programs).await?;
        answers(&client).await.context("after the daemon was killed")?;
    }
    daemon.kill().await?;
    if let Some(attached) = attached {
        attached.ended().await?;
    }
    for key in [FORMER_KEY, NEW_KEY] {
        ensure!(!has_file_with(root, key)?, "a file has the key");
    }
    CallRecording::read(log)
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

#[tokio::test]
async fn crash_while_a_model_server_is_replaced_leaves_one_that_answers_with_its_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = palyra_testdaemon::script::model_server().await.expect("a port");
    let servers = ModelServers::start().await.expect("two ports");
    let programs = Programs {
        daemon: env!("CARGO_BIN_EXE_palyra-testdaemon").into(),
        before: Vec::new(),
        model_url: model.base_url(),
        setting: TestSettings::default(),
    };
    let (house, log) = (folder.path().join("house"), folder.path().join("log"));
    let story = async |tracer: StraceTracer| {
        let lived = live(&house, &programs, &servers, (&tracer, &log));
        tokio::time::timeout(PATIENCE, lived).await.expect("something that must happen does not")
    };
    let recorded = story(StraceTracer::recording(&log)).await.expect("undisturbed").calls;
    let matters = |call: &SystemCall| {
        let places = ["/vault", "/.config/palyra", "/journal.db-wal"];
        call.path.as_ref().is_none_or(|path| places.iter().any(|place| path.contains(place)))
    };
    let offset = palyra_testkit::suite_seed() % EVERY;
    let chosen = (0..recorded.len()).filter(|place| matters(&recorded[*place]));
    let chosen = chosen.zip(0_u64..).filter(|(_, number)| number % EVERY == offset);
    let (mut kills, mut tried) = (0, 0);
    for (place, number) in chosen {
        let Some(selector) = Selector::of(&recorded, place) else { continue };
        let lived = story(StraceTracer::injecting(&log, selector.clone(), InjectedFault::Kill)).await;
        let lived = lived
            .unwrap_or_else(|error| panic!("call {number}, {:?}, {selector:?}: {error:#}", recorded[place]));
        (kills, tried) = (kills + usize::from(lived.injected), tried + 1);
    }
    eprintln!("{kills} kills of {tried} tried, {} calls recorded", recorded.len());
    assert!(kills > 0, "no daemon was killed, so nothing was tried");
}
