//! Which runs began with the same words: they are numbered, so that none is lost and a repetition finds the latest.
//!
//! A run is started under an idempotency key that is made of a digest of the conversation and a number from 0. Numbers
//! are dense, so the latest is found by doubling and halving. Nothing is stored for it but the key of each run.

use palyra_runtime::runs::RunsHandle;
use palyra_runtime::{Caller, RequestError};
use palyra_types::{Content, RunId};
use sha2::{Digest as _, Sha256};

/// Runs that began with the same words, at most.
const SLOTS_MAX: u32 = 1 << 24;

/// The runs of one beginning of a conversation.
#[derive(Debug, Clone)]
pub(crate) struct RequestSlots {
    base: String,
}

impl RequestSlots {
    /// Names the runs of a digest.
    pub(crate) fn new(digest: &str) -> Self {
        Self { base: format!("openai:{digest}") }
    }

    /// Names the run of a key that the client chose; its number is 0.
    pub(crate) fn of_client_key(key: &Content<String>) -> Self {
        let digest: String = Sha256::digest(key.expose()).iter().map(|byte| format!("{byte:02x}")).collect();
        Self::new(&format!("key:{digest}"))
    }

    /// Returns the idempotency key of a number.
    pub(crate) fn key(&self, number: u32) -> Content<String> {
        Content::new(format!("{}:{number}", self.base))
    }

    /// Returns the run of a number.
    pub(crate) async fn run(
        &self,
        runs: &RunsHandle,
        caller: Caller,
        number: u32,
    ) -> Result<Option<RunId>, RequestError> {
        runs.of_key(caller, &self.key(number)).await
    }

    /// Returns how many runs there are: the first free number.
    pub(crate) async fn count(&self, runs: &RunsHandle, caller: Caller) -> Result<u32, RequestError> {
        let mut free = 0;
        while free < SLOTS_MAX && self.run(runs, caller, free).await?.is_some() {
            free = free.saturating_mul(2).max(1);
        }
        // Everything below `taken` is taken, and `free` is free.
        let mut taken = if free == 0 { 0 } else { free / 2 + 1 };
        while taken < free {
            let middle = taken + (free - taken) / 2;
            match self.run(runs, caller, middle).await? {
                Some(_) => taken = middle + 1,
                None => free = middle,
            }
        }
        Ok(free)
    }
}
