//! The daemon is killed while the vault is changed: the vault is what the journal says, at each call that changes files.

use anyhow::{Result, ensure};
use palyra_client::{Client, ClientError};
use palyra_testdaemon::test_home::TestHome;
use palyra_testdaemon::verdict;
use palyra_wire::v1::{PutSecretRequest, Secret, Vault};

use crate::kill_at_calls::{KilledChange, ServedHome, kill_at_calls};

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

/// The vault while it is changed.
struct VaultChanges {
    /// How many changes were acknowledged, or found in the journal after a kill.
    done: usize,
}

impl KilledChange for VaultChanges {
    const EVERY: u64 = 12;
    const PLACES: &'static [&'static str] = &["/vault", "/journal.db-wal"];

    async fn prepare(&mut self, _client: &Client) -> Result<()> {
        Ok(())
    }

    async fn make(&mut self, served: &ServedHome<'_>) -> Result<()> {
        while self.done < STEPS {
            step(served.client, self.done).await?;
            self.done += 1;
        }
        ensure!(agree(served.client).await? == STEPS, "more was recorded than was done");
        verdict::verify(served.client).await
    }

    async fn look(&mut self, served: &ServedHome<'_>) -> Result<()> {
        let (after, done) = (agree(served.client).await?, self.done);
        ensure!(after == done || after == done + 1, "{after} changes, and {done} were acknowledged");
        self.done = after;
        if expected(after).1 {
            served.client.unlock_vault("a heron on the eastern jetty".to_owned()).await?;
        }
        Ok(())
    }

    fn look_at_files(&self, home: &TestHome) -> Result<()> {
        let left: Vec<_> = std::fs::read_dir(home.state().join("vault"))?
            .map(|file| file.map(|file| file.file_name()))
            .collect::<Result<_, _>>()?;
        ensure!(left == ["passphrase.json"], "the vault holds {left:?}");
        ensure!(!home.state().join("vault.next").exists(), "what was sealed before is left");
        Ok(())
    }
}

#[tokio::test]
async fn crash_while_the_vault_is_changed_leaves_it_as_the_journal_says() {
    kill_at_calls(|| VaultChanges { done: 0 }).await;
}
