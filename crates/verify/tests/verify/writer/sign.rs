//! Checkpoints of a log.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer as _, SigningKey};

use super::Log;
use super::log::sha256;

/// A checkpoint, and the places of the keys that signed it.
#[derive(Debug, Clone)]
pub(crate) struct Signed {
    pub(crate) note: String,
    pub(crate) signers: Vec<usize>,
    /// The EpochStarted entries of those keys.
    pub(crate) started: Vec<u64>,
}

impl Log {
    /// Returns the log's name.
    pub(crate) fn name(&self) -> String {
        let hex: String = self.log_id.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("palyra.log/{hex}")
    }

    /// Returns a checkpoint of this size, signed by these keys.
    pub(crate) fn note(&self, size: usize, keys: &[&SigningKey]) -> String {
        let name = self.name();
        let body = format!("{name}\n{size}\n{}\n", STANDARD.encode(self.root(size)));
        let lines: String = keys
            .iter()
            .map(|key| {
                let blob = [&self.key_id(key)[..], &key.sign(body.as_bytes()).to_bytes()].concat();
                format!("\u{2014} {name} {}\n", STANDARD.encode(blob))
            })
            .collect();
        format!("{body}\n{lines}")
    }

    fn key_id(&self, key: &SigningKey) -> [u8; 4] {
        key_id(&self.name(), &key.verifying_key().to_bytes())
    }

    /// Returns a key as its owner would publish it.
    pub(crate) fn vkey(&self, key: &SigningKey) -> String {
        let id: String = self.key_id(key).iter().map(|byte| format!("{byte:02x}")).collect();
        let blob = [&[1][..], &key.verifying_key().to_bytes()].concat();
        format!("{}+{id}+{}", self.name(), STANDARD.encode(blob))
    }

    /// Signs the log as it is with the keys at these places of the present log, and stores the checkpoint.
    pub(crate) fn sign(&mut self, signers: &[usize]) {
        let size = self.entries.len();
        let keys: Vec<&SigningKey> = signers.iter().map(|at| &self.keys[*at].1).collect();
        let started = signers.iter().map(|at| self.keys[*at].0).collect();
        let signed = Signed { note: self.note(size, &keys), signers: signers.to_vec(), started };
        self.checkpoints.insert(size as u64, signed);
    }

    /// Signs the log as it is with the present key.
    pub(crate) fn sign_newest(&mut self) {
        self.sign(&[self.keys.len() - 1]);
    }

    /// Begins the next epoch and hands over to it.
    pub(crate) fn hand_over(&mut self) {
        self.next_epoch();
        self.sign(&[self.keys.len() - 2, self.keys.len() - 1]);
    }

    /// Keeps of the checkpoints what a daemon keeps: handovers and the newest.
    pub(crate) fn prune(&mut self) {
        let last = self.checkpoints.keys().next_back().copied();
        // The first one of a log that was brought up stands for its older epochs.
        let first = self.checkpoints.keys().next().copied().filter(|_| self.early);
        let stays = |size, signed: &Signed| signed.signers.len() > 1 || [first, last].contains(&Some(size));
        let one_log = self.entries.iter().all(|entry| entry.envelope[2..4] != [0, 4]);
        self.checkpoints.retain(|size, signed| !one_log || stays(*size, signed));
    }

    /// Returns the newest checkpoint.
    pub(crate) fn newest(&self) -> Option<(u64, &Signed)> {
        self.checkpoints.last_key_value().map(|(size, signed)| (*size, signed))
    }
}

/// Returns the id of a key.
pub(crate) fn key_id(name: &str, public: &[u8]) -> [u8; 4] {
    let hash = sha256(&[name.as_bytes(), &[0x0A, 1], public]);
    [hash[0], hash[1], hash[2], hash[3]]
}
