//! The writer's part in signing: it tells what is committed, stores heads, and changes keys.
//!
//! Owns the order of a change of keys: key file, EpochStarted, handover stored, older keys destroyed. Invariant:
//! a crash between two of these leaves a key that a stored head vouches for.

use palyra_ledger::EpochKey;
use palyra_ports::{AppendError, KeyChoice, ProofError};
use palyra_types::event::{JournalEvent, LogEvent};
use palyra_types::proof::SignedCheckpoint;

use super::log_writer::GroupError;
use super::prepare::{own_append, own_entry};
use super::queue::PendingHead;
use super::thread::Writer;
use crate::connection::{self, Failure};
use crate::sign::{self, SignDelay, SignedHead};

impl Writer {
    /// Tells the signer of what was committed since it was told last.
    pub(super) fn tell_signer(&mut self) {
        let size = self.log.size();
        if let Some(signer) = &self.signer
            && size > self.told
        {
            let wanted = if self.run_ended { SignDelay::Soon } else { SignDelay::WithinASecond };
            signer.slot().committed(self.log.head(), wanted);
            (self.told, self.run_ended) = (size, false);
        }
    }

    /// A head was stored in the transaction of a group.
    pub(super) fn rode_along(&self, riding: Option<SignedHead>) {
        if let (Some(signer), Some(signed)) = (&self.signer, riding)
            && self.log.has_stored(signed.size())
        {
            signer.slot().stored(signed.size());
        }
    }

    /// Stores the newest signed head, if it is not.
    pub(super) fn store_newest(&mut self) {
        let unstored = self.signer.as_ref().and_then(|signer| signer.slot().unstored());
        if let Some(signed) = unstored
            && let Err(error) = self.store(&signed)
        {
            tracing::warn!(%error, "a signed head could not be stored");
        }
    }

    /// Answers a wish for a signed head.
    pub(super) fn sign(&mut self, wish: PendingHead) {
        let result = match wish.key {
            KeyChoice::Current => self.sign_current(),
            KeyChoice::Rotate => self.rotate(),
        };
        drop(wish.answer.send(result));
    }

    fn sign_current(&mut self) -> Result<SignedCheckpoint, ProofError> {
        let Some(signer) = &self.signer else { return Err(self.no_signer()) };
        let signed = signer.slot().sign_now(self.log.head());
        self.store(&signed)?;
        Ok(signed.checkpoint)
    }

    fn no_signer(&self) -> ProofError {
        let why = if self.counters.is_quarantined() { "it is read-only" } else { "another daemon writes it" };
        ProofError::CannotSign { why }
    }

    fn store(&mut self, signed: &SignedHead) -> Result<(), AppendError> {
        self.log.store_head(signed).map_err(|error| self.failed(&error))?;
        self.signer.iter().for_each(|signer| signer.slot().stored(signed.size()));
        Ok(())
    }

    /// Begins an epoch with a new key, which the key in use vouches for, and destroys all older keys.
    fn rotate(&mut self) -> Result<SignedCheckpoint, ProofError> {
        if self.signer.is_none() {
            return Err(self.no_signer());
        }
        let key = EpochKey::from_entropy(self.keys.entropy.bytes32());
        let epoch = self.log.epoch().next();
        sign::save(&self.keys.state_dir, epoch, &key)
            .map_err(|_| ProofError::CannotSign { why: "the new key could not be saved" })?;
        let sealing = Some(self.log.sealing().of_epoch());
        let started = JournalEvent::Log(LogEvent::EpochStarted { epoch, key: key.public(), sealing });
        let append = own_append([own_entry(self.keys.clock.wall(), started)]);
        self.log.commit(&[&append]).map_err(|error| self.failed(&error))?;
        let Some(signer) = &self.signer else { return Err(self.no_signer()) };
        let handover = signer.slot().sign_handover(self.log.head(), &key);
        self.log.store_head(&handover).map_err(|error| self.failed(&error))?;
        let Some(signer) = &self.signer else { return Err(self.no_signer()) };
        signer.slot().change_keys(key, handover.clone());
        self.told = handover.size();
        sign::destroy_older(&self.keys.state_dir, epoch);
        Ok(handover.checkpoint)
    }

    fn failed(&mut self, error: &GroupError) -> AppendError {
        match error {
            GroupError::Fenced => {
                self.signer = None;
                AppendError::Fenced
            }
            GroupError::Store(cause) => match connection::classify(cause) {
                Failure::Full => AppendError::DiskFull,
                Failure::Busy => AppendError::Busy,
                Failure::Constraint | Failure::Interrupted | Failure::Storage => {
                    self.quarantine(error);
                    AppendError::Unknown
                }
            },
        }
    }

    /// The log is closed in order: its end is signed, stored, and kept in the anchor.
    pub(super) fn finish(mut self) {
        if self.counters.is_quarantined() {
            return;
        }
        if let Some(signer) = &self.signer {
            signer.slot().sign_now(self.log.head());
            self.store_newest();
        }
        if let Some(signer) = self.signer.take() {
            signer.end_in_order();
        }
    }
}
