//! The daemon is killed while the vault is changed: the vault is what the journal says, at each call that changes files.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use palyra_client::{Client, ClientError};
use palyra_testdaemon::strace::{CallRecording, InjectedFault, Selector, StraceTracer, SystemCall};
use palyra_testdaemon::test_home::{Programs, TestHome};
use palyra_testdaemon::tool_setup::TestSettings;
use palyra_testdaemon::verdict;
use palyra_wire::v1::{PutSecretRequest, Secret, Vault};

/// Every so many calls are tried; which of them changes with the commit.
const EVERY: u64 = 12;
/// No story takes longer, or it waits for something that never comes.
const PATIENCE: Duration = Duration::from_secs(60);
const NAME: &str = "forge";
const HOST: &str = "api.forge.example";
const OTHER: &str = "uploads.forge.example";
const ENTRIES_MAX: u32 = 500;

/// One change after the other.
const STEPS: usize = 6;

async fn step(client: &Client, step: usize) -> Result<(), ClientError> {
    let name = || NAME.to_owned();
    let put = |value: &str, another| PutSecretRequest {
        name: name(),
        value: value.to_owned(),
        hosts: if another { Vec::new() } else { vec![HOST.to_owned()] },
        another,
        ..PutSecretRequest::default()
    };
    match step {
        0 => client.put_secret(put("walnut-harbour-lantern", false)).await.map(drop),
        1 => client.put_secret(put("copper-meadow-thimble", true)).await.map(drop),
        2 => client.bind_secret(name(), OTHER.to_owned()).await.map(drop),
        3 => client.unbind_secret(name(), HOST.to_owned()).await.map(drop),
        4 => client.set_vault_passphrase("a heron on the eastern jetty".to_owned()).await.map(drop),
        _ => client.remove_secret(name()).await,
    }
}

/// What there is after so many changes: the value's number and the hosts, and whether there is a passphrase.
fn expected(changes: usize) -> (Option<(u32, Vec<&'static str>)>, bool) {
    let secret = match changes {
        0 => None,
        1 => Some((1, vec![HOST])),
        2 => Some((2, vec![HOST])),
        3 => Some((2, vec![HOST, OTHER])),
        4 | 5 => Some((2, vec![OTHER])),
        _ => None,
    };
    (secret, changes >= 5)
}

/// Demands that the vault is what the journal says; returns how many changes were made.
async fn agree(client: &Client) -> Result<usize> {
    let entries = client.list_entries(0, ENTRIES_MAX).await?;
    let kinds: Vec<_> = entries.iter().map(|entry| entry.kind.as_str()).collect();
    let is_change = |kind: &&&str| {
        ["secret_put", "secret_bound", "secret_removed", "vault_passphrase_set"].contains(kind)
    };
    let changes = kinds.iter().filter(is_change).count();
    let secrets: Vec<Secret> = client.list_secrets().await?;
    let vault: Vault = client.get_vault().await?;
    ensure!(vault.damaged.is_empty(), "damaged: {:?}", vault.damaged);
    let (secret, passphrase) = expected(changes);
    let seen =
        secrets.iter().map(|secret| (secret.version, secret.hosts.iter().map(String::as_str).collect()));
    let seen: Vec<(u32, Vec<&str>)> = seen.collect();
    ensure!(seen == Vec::from_iter(secret), "after {changes} changes there is {seen:?}");
    ensure!(
        (vault.key_name() == "passphrase") == passphrase,
        "after {changes} changes the key is a {}",
        vault.key_name()
    );
    Ok(changes)
}

/// Makes the changes that are left, and counts each once it is acknowledged; then looks at them all.
async fn take(client: &Client, done: &mut usize) -> Result<()> {
    while *done < STEPS {
        step(client, *done).await?;
        *done += 1;
    }
    ensure!(agree(client).await? == STEPS, "more was recorded than was done");
    verdict::verify(client).await
}

/// Makes all changes under a tracer, which writes to `log`; a call that the daemon's death interrupts is made again.
async fn live(root: &Path, programs: &Programs, tracer: &StraceTracer, log: &Path) -> Result<CallRecording> {
    if root.exists() {
        std::fs::remove_dir_all(root).context("could not empty the house")?;
    }
    let house = TestHome::make(root)?;
    let (mut daemon, mut client, _) = house.serve(programs).await?;
    let mut attached = Some(tracer.attach(daemon.pid).await?);
    let mut done = 0;
    loop {
        // A write of the vault may follow its acknowledgement, so the death may also meet the last look.
        let error = match take(&client, &mut done).await {
            Ok(()) => break,
            Err(error) => error,
        };
        ensure!(error.downcast_ref().is_some_and(ClientError::is_unreachable), "change {done}: {error:#}");
        daemon.ended().await?;
        let attached = attached.take().context("the daemon died once more by itself")?;
        attached.ended().await?;
        (daemon, client, _) = house.serve(programs).await?;
        let after = agree(&client).await?;
        ensure!(after == done || after == done + 1, "{after} changes, and {done} were acknowledged");
        done = after;
        if expected(done).1 {
            client.unlock_vault("a heron on the eastern jetty".to_owned()).await?;
        }
    }
    daemon.kill().await?;
    if let Some(attached) = attached {
        attached.ended().await?;
    }
    let left: Vec<_> = std::fs::read_dir(house.state().join("vault"))?
        .map(|file| file.map(|file| file.file_name()))
        .collect::<Result<_, _>>()?;
    ensure!(left == ["passphrase.json"], "the vault holds {left:?}");
    ensure!(!house.state().join("vault.next").exists(), "what was sealed before is left");
    CallRecording::read(log)
}

#[tokio::test]
async fn crash_while_the_vault_is_changed_leaves_it_as_the_journal_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = palyra_testdaemon::script::model_server().await.expect("a port");
    let programs = Programs {
        daemon: env!("CARGO_BIN_EXE_palyra-testdaemon").into(),
        before: Vec::new(),
        model_url: model.base_url(),
        setting: TestSettings::default(),
    };
    let (house, log) = (folder.path().join("house"), folder.path().join("log"));
    let story = async |tracer: StraceTracer| {
        let told = tokio::time::timeout(PATIENCE, live(&house, &programs, &tracer, &log)).await;
        told.expect("something that must happen does not")
    };
    let recorded = story(StraceTracer::recording(&log)).await.expect("undisturbed").calls;
    let matters = |call: &SystemCall| {
        call.path.as_ref().is_none_or(|path| path.contains("/vault") || path.ends_with("/journal.db-wal"))
    };
    let offset = palyra_testkit::suite_seed() % EVERY;
    let chosen = (0..recorded.len()).filter(|place| matters(&recorded[*place]));
    let chosen = chosen.zip(0_u64..).filter(|(_, number)| number % EVERY == offset);
    let (mut kills, mut tried) = (0, 0);
    for (place, number) in chosen {
        let Some(selector) = Selector::of(&recorded, place) else { continue };
        let told = story(StraceTracer::injecting(&log, selector.clone(), InjectedFault::Kill)).await;
        let told = told
            .unwrap_or_else(|error| panic!("call {number}, {:?}, {selector:?}: {error:#}", recorded[place]));
        (kills, tried) = (kills + usize::from(told.injected), tried + 1);
    }
    eprintln!("{kills} kills of {tried} tried, {} calls recorded", recorded.len());
    assert!(kills > 0, "nobody was killed, so nothing was tried");
}
