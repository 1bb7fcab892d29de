//! Which files beside the journal differ from the digests that it pins.
//!
//! Owns the order in which they are read: those known as damaged, those whose use failed, then the others in turn, the newest
//! first, a slice at each look. Invariant: an artifact is damaged because of a digest in the journal, never because of a name
//! or a text that a model or a page can choose.

use std::collections::{BTreeMap, BTreeSet};

use palyra_healing::{ArtifactFact, ArtifactStanding, IncidentSubject};
use palyra_journal_core::families::{components, skills};
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::{ArtifactCheck, ArtifactKind, ArtifactRef, CheckArtifacts, ReadError};
use palyra_types::component::ComponentRecord;
use palyra_types::skill::SkillRecord;

/// Bytes that are read in turn at a look, at most; one artifact is read whole in any case.
const SLICE_BYTES_MAX: u64 = 32 << 20;
/// Artifacts that are read in turn at a look, at most.
const SLICE_ARTIFACTS_MAX: usize = 64;

/// An artifact with the name that people know it by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PinnedArtifact {
    pub(super) artifact: ArtifactRef,
    name: String,
    /// Where the journal pins it, for the order.
    seq: u64,
    /// Its use failed before, as far as the journal says.
    is_suspect: bool,
}

impl PinnedArtifact {
    /// Returns the subject of its incident.
    pub(super) fn subject(&self) -> IncidentSubject {
        let kind = kind_word(self.artifact.kind);
        let mut text = format!("palyra/incident/artifact/{kind}/").into_bytes();
        text.extend(self.artifact.sha256);
        let mut subject = [0; 16];
        subject.copy_from_slice(&palyra_ledger::sha256(&text)[..16]);
        IncidentSubject(subject)
    }

    /// Says which one it is.
    pub(super) fn label(&self) -> String {
        format!("{} {}", kind_word(self.artifact.kind), self.name)
    }
}

fn kind_word(kind: ArtifactKind) -> &'static str {
    match kind {
        ArtifactKind::Component => "component",
        ArtifactKind::NativeCode => "native code of",
        ArtifactKind::SkillCopy => "skill",
    }
}

/// Reads what the journal pins, in no order.
pub(super) async fn pinned(families: &dyn ReadFamilies) -> Result<Vec<PinnedArtifact>, ReadError> {
    let (components, skills) = families
        .query(|rows, log| Ok((components::records(rows, log)?, skills::records(rows, log)?)))
        .await?;
    let mut all: Vec<PinnedArtifact> = components.iter().flat_map(of_component).collect();
    all.extend(skills.iter().filter_map(of_skill));
    Ok(all)
}

fn of_component(record: &ComponentRecord) -> Vec<PinnedArtifact> {
    let added = &record.added;
    if record.removed.is_some() || added.is_erased() {
        return Vec::new();
    }
    let of = |kind| PinnedArtifact {
        artifact: ArtifactRef { kind, sha256: added.sha256 },
        name: added.name.expose().to_string(),
        seq: record.seq.0,
        is_suspect: false,
    };
    vec![of(ArtifactKind::Component), of(ArtifactKind::NativeCode)]
}

fn of_skill(record: &SkillRecord) -> Option<PinnedArtifact> {
    let installed = &record.installed;
    let is_there = record.removed.is_none() && !installed.is_erased();
    is_there.then(|| PinnedArtifact {
        artifact: ArtifactRef { kind: ArtifactKind::SkillCopy, sha256: installed.sha256 },
        name: installed.name.expose().to_string(),
        seq: record.seq.0,
        is_suspect: record.quarantine.is_some(),
    })
}

/// Reads a part of the artifacts at each look.
#[derive(Debug, Default)]
pub(super) struct ArtifactWatch {
    damaged: BTreeMap<ArtifactRef, ArtifactStanding>,
    /// Those that were read in turn since the first one of this round.
    read: BTreeSet<ArtifactRef>,
}

/// What a look found.
#[derive(Debug, Default)]
pub(super) struct ArtifactLook {
    pub(super) damaged: Vec<ArtifactFact>,
    pub(super) known: Vec<PinnedArtifact>,
}

impl ArtifactWatch {
    /// Reads those known as damaged, those whose use failed, and the next slice of the others.
    pub(super) async fn look(
        &mut self,
        families: &dyn ReadFamilies,
        artifacts: &dyn CheckArtifacts,
    ) -> Result<ArtifactLook, ReadError> {
        let mut known = pinned(families).await?;
        known.sort_by_key(|one| (std::cmp::Reverse(one.seq), one.artifact));
        let failed: BTreeSet<ArtifactRef> = artifacts.take_failed_reads().into_iter().collect();
        let damaged_before = std::mem::take(&mut self.damaged);
        let is_first = |one: &PinnedArtifact| {
            let artifact = &one.artifact;
            one.is_suspect || failed.contains(artifact) || damaged_before.contains_key(artifact)
        };
        let (first, others): (Vec<_>, Vec<_>) = known.iter().cloned().partition(is_first);
        let mut look = ArtifactLook { damaged: Vec::new(), known };
        for one in &first {
            let before = damaged_before.get(&one.artifact).copied();
            self.check(one, before, artifacts, &mut look).await;
        }
        if others.iter().all(|one| self.read.contains(&one.artifact)) {
            self.read.clear();
        }
        let mut bytes = 0;
        let mut count = 0;
        for one in &others {
            if bytes >= SLICE_BYTES_MAX || count >= SLICE_ARTIFACTS_MAX {
                break;
            }
            if self.read.insert(one.artifact) {
                bytes += self.check(one, None, artifacts, &mut look).await;
                count += 1;
            }
        }
        let known = &look.known;
        self.read.retain(|artifact| known.iter().any(|one| one.artifact == *artifact));
        Ok(look)
    }

    /// Compares one artifact; returns the bytes that were read. One that cannot be read now counts as before.
    async fn check(
        &mut self,
        one: &PinnedArtifact,
        before: Option<ArtifactStanding>,
        artifacts: &dyn CheckArtifacts,
        look: &mut ArtifactLook,
    ) -> u64 {
        let (bytes, standing) = match artifacts.check(one.artifact).await {
            Ok(ArtifactCheck::Whole { bytes }) => (bytes, None),
            Ok(ArtifactCheck::Repairable) => (0, Some(ArtifactStanding::Repairable)),
            Ok(ArtifactCheck::Lost) => (0, Some(ArtifactStanding::Lost)),
            Err(error) => {
                tracing::warn!(artifact = one.label(), %error, "an artifact could not be compared with its digest");
                (0, before)
            }
        };
        if let Some(standing) = standing {
            self.damaged.insert(one.artifact, standing);
            look.damaged.push(ArtifactFact { subject: one.subject(), standing });
        }
        bytes
    }
}

#[cfg(test)]
mod tests;
