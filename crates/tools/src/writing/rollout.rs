//! Puts new contents in place: all of them, or none.
//!
//! First everything new is written beside its place and synced. Then each file changes places with what is there, in
//! one step, and what was displaced is looked at: if it is not what the plan says, all is put back. Only then is the
//! displaced removed. So whoever comes after a crash finds at each place what was there or what shall be there, and
//! beside it the other of the two.
//!
//! Invariant: nothing that was not seen before is ever removed.
//! Begin at [`Rollout::run`].

use std::io;

use palyra_ports::GrantedState;

use super::change::FileChange;
use super::end::WriteEnd;
use super::pace::CallPace;
use crate::failure::ToolFailure;
use crate::workspace::{
    ExchangeOutcome, FileAccess, FileSlot, MadeFolders, Sha256, SlotState, Workspace, WorkspacePath, hex,
};

/// How far a file has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MoveStage {
    /// Nothing was done for it.
    Planned,
    /// Its new bytes lie beside its place.
    Staged,
    /// It is in place; what was there lies beside it.
    Moved,
    /// It is in place; what was there is gone, on a file system that cannot exchange names.
    Overwritten,
}

/// A file on its way.
#[derive(Debug)]
pub(super) struct FileMove {
    pub(super) slot: FileSlot,
    /// The names beside it.
    pub(super) beside: SiblingNames,
    pub(super) before: Option<Sha256>,
    pub(super) after: Option<Sha256>,
    pub(super) content: Option<(Vec<u8>, FileAccess)>,
    pub(super) stage: MoveStage,
    pub(super) shown: String,
}

/// The names beside a place that one effect uses, the same each time it is made.
#[derive(Debug)]
pub(super) struct SiblingNames {
    /// For what is being written: whatever is there is ours, and incomplete.
    pub(super) draft: FileSlot,
    /// For what is new before the move, and for what was old after it; what is there is complete.
    pub(super) aside: FileSlot,
}

impl SiblingNames {
    pub(super) fn of(slot: &FileSlot, key: &[u8; 32], path: &WorkspacePath) -> Self {
        const NAME_BYTES: usize = 12;
        let text = path.as_path().as_os_str().as_encoded_bytes();
        let digest = Sha256::of(&[&b"palyra/aside/v1\n"[..], key, text].concat());
        let name = hex(&digest.0[..NAME_BYTES]);
        let named = |end: &str| slot.beside(&format!(".palyra-{name}.{end}"));
        Self { draft: named("draft"), aside: named("tmp") }
    }
}

/// Several files on their way together.
pub(super) struct Rollout<'r> {
    files: Vec<FileMove>,
    made: MadeFolders,
    pace: &'r CallPace<'r>,
}

impl<'r> Rollout<'r> {
    /// Begins with files that have come so far already.
    pub(super) fn with(files: Vec<FileMove>, pace: &'r CallPace<'r>) -> Self {
        Self { files, made: MadeFolders::default(), pace }
    }

    /// Brings every file into place, and with them these changes; what cannot be finished is put back.
    pub(super) fn run(
        &mut self,
        workspace: &Workspace,
        changes: Vec<FileChange>,
        key: &[u8; 32],
    ) -> Result<(), WriteEnd> {
        match self.add(workspace, changes, key).map_err(WriteEnd::from).and_then(|()| self.forward()) {
            Err(WriteEnd::Failed(failure)) => Err(match self.take_back() {
                Ok(()) => WriteEnd::Failed(failure),
                Err(lost) => lost,
            }),
            Ok(()) => self.finish(),
            end => end,
        }
    }

    /// Adds changes of which nothing is done yet; folders that they lack are made.
    fn add(
        &mut self,
        workspace: &Workspace,
        changes: Vec<FileChange>,
        key: &[u8; 32],
    ) -> Result<(), ToolFailure> {
        for change in changes {
            let (before, after) = (change.before_sha256(), change.after_sha256());
            if before == after {
                continue;
            }
            let slot = match workspace.slot(&change.path)? {
                Some(slot) => slot,
                None => workspace.slot_with_folders(&change.path, &mut self.made)?,
            };
            let beside = SiblingNames::of(&slot, key, &change.path);
            let state = after.map(|digest| GrantedState { sha256: digest.0, mode: change.access.bits() });
            workspace.record_write(&change.path, state);
            let content = change.after.map(|bytes| (bytes, change.access));
            let shown = change.path.show();
            self.files.push(FileMove {
                slot,
                beside,
                before,
                after,
                content,
                stage: MoveStage::Planned,
                shown,
            });
        }
        Ok(())
    }

    fn forward(&mut self) -> Result<(), WriteEnd> {
        for file in self.files.iter().filter(|file| file.stage == MoveStage::Planned) {
            file.verify()?;
        }
        for file in self.files.iter_mut().filter(|file| file.stage == MoveStage::Planned) {
            self.pace.check_cancel()?;
            file.stage(self.pace)?;
        }
        // From here on it is not stopped any more: what is begun is finished.
        self.pace.check_cancel()?;
        for file in self.files.iter_mut().filter(|file| file.stage != MoveStage::Moved) {
            self.pace.step()?;
            file.advance()?;
        }
        self.pace.step()
    }

    /// Removes what was displaced, and puts all names on the disk.
    fn finish(&mut self) -> Result<(), WriteEnd> {
        for file in &self.files {
            if file.before.is_some() && file.stage == MoveStage::Moved {
                // A name that stays is found by its name later; the call is done all the same.
                let _ = file.beside.aside.remove();
                self.pace.step()?;
            }
        }
        let synced =
            self.files.iter().try_for_each(|file| file.slot.sync_folder()).and_then(|()| self.made.sync());
        synced.map_err(|_| WriteEnd::Lost)?;
        self.pace.step()
    }

    /// Puts every file back.
    pub(super) fn take_back(&mut self) -> Result<(), WriteEnd> {
        let mut all = Ok(());
        for file in self.files.iter_mut().rev() {
            self.pace.step()?;
            all = all.and(file.take_back().map_err(|_| WriteEnd::Lost));
        }
        let synced = self.files.iter().try_for_each(|file| file.slot.sync_folder());
        self.made.take_back();
        all.and(synced.map_err(|_| WriteEnd::Lost))
    }
}

impl FileMove {
    fn verify(&self) -> Result<(), ToolFailure> {
        let found = self.slot.look(&self.shown)?;
        if found.sha256() == self.before { Ok(()) } else { Err(self.conflict()) }
    }

    fn conflict(&self) -> ToolFailure {
        ToolFailure::Conflict(format!(
            "`{}` changed since this call was prepared, so nothing was done; read it again",
            self.shown
        ))
    }

    fn failed(&self, cause: &io::Error) -> ToolFailure {
        ToolFailure::System(format!("could not write `{}`, so nothing was done: {cause}", self.shown))
    }

    /// Writes what is new beside its place.
    fn stage(&mut self, pace: &CallPace<'_>) -> Result<(), WriteEnd> {
        let Some((bytes, access)) = &self.content else { return Ok(()) };
        pace.step()?;
        let SiblingNames { draft, aside } = &self.beside;
        // Nobody else knows the names: a draft is left over from this very effect. What lies aside may have been
        // displaced by it, and is somebody's then.
        let is_ours = match aside.see() {
            SlotState::Absent => true,
            SlotState::Bytes(digest) => [self.before, self.after].contains(&Some(digest)),
            SlotState::Other => false,
        };
        if !is_ours {
            return Err(self.conflict().into());
        }
        let made = draft.remove().and_then(|()| draft.make(bytes, *access, || pace.midway()));
        if pace.is_halted() {
            return Err(WriteEnd::Halted);
        }
        let staged = made.and_then(|()| aside.remove()).and_then(|()| draft.move_to(aside));
        self.stage = MoveStage::Staged;
        staged.map_err(|cause| self.failed(&cause))?;
        pace.step()
    }

    /// Moves the file into its place.
    fn advance(&mut self) -> Result<(), WriteEnd> {
        let done = match (self.before, self.after) {
            (None, Some(_)) => self.beside.aside.move_to(&self.slot).map(|()| MoveStage::Moved),
            (Some(_), None) => self.slot.move_to(&self.beside.aside).map(|()| MoveStage::Moved),
            (Some(_), Some(_)) => {
                self.beside.aside.exchange(&self.slot).and_then(|exchange| match exchange {
                    ExchangeOutcome::Done => Ok(MoveStage::Moved),
                    ExchangeOutcome::Unsupported => self.overwrite(),
                })
            }
            (None, None) => Ok(self.stage),
        };
        match done {
            Ok(stage) => self.stage = stage,
            Err(cause) if matches!(cause.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => {
                return Err(self.conflict().into());
            }
            Err(cause) => return Err(self.failed(&cause).into()),
        }
        match (self.stage, self.before) {
            (MoveStage::Moved, Some(before)) if self.beside.aside.see() != SlotState::Bytes(before) => {
                Err(self.conflict().into())
            }
            _ => Ok(()),
        }
    }

    fn overwrite(&self) -> io::Result<MoveStage> {
        if self.verify().is_err() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.beside.aside.move_over(&self.slot).map(|()| MoveStage::Overwritten)
    }

    /// Puts back what was there.
    fn take_back(&mut self) -> io::Result<()> {
        match (self.stage, self.before, self.after) {
            (MoveStage::Planned, _, _) => Ok(()),
            (MoveStage::Overwritten, _, _) => Err(io::ErrorKind::Unsupported.into()),
            (MoveStage::Staged, _, _) | (MoveStage::Moved, None, None) => {
                self.beside.draft.remove().and(self.beside.aside.remove())
            }
            (MoveStage::Moved, Some(_), None) => self.beside.aside.move_to(&self.slot),
            (MoveStage::Moved, None, Some(after)) => {
                self.slot.move_to(&self.beside.aside)?;
                self.remove_if(after, || self.beside.aside.move_to(&self.slot))
            }
            (MoveStage::Moved, Some(_), Some(after)) => {
                self.slot.exchange(&self.beside.aside)?;
                self.remove_if(after, || self.slot.exchange(&self.beside.aside).map(|_| ()))
            }
        }
    }

    /// Removes what lies beside the place if it is ours, else undoes the last move.
    fn remove_if(&self, ours: Sha256, undo: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        if self.beside.aside.see() == SlotState::Bytes(ours) {
            return self.beside.aside.remove();
        }
        undo()?;
        Err(io::ErrorKind::Other.into())
    }
}

#[cfg(test)]
mod tests;
