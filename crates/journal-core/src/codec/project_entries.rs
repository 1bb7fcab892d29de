//! Stored forms of what projects say about work on them: the files of a run, and what a person accepted.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use palyra_types::event::{JournalEvent, PolicyEvent};
use palyra_types::project_file::{AcceptedProjectFile, ProjectFile};
use palyra_types::{Redacted, Seq};
use palyra_wire::store;
use prost::Message;

use super::field::{EncodedParts, ReadResult, VERSION, facts_only, fixed_or_zero, pair, unless_zero};
use super::stored_enums::StoredEnum;

pub(super) fn files_to_stored(files: &[ProjectFile]) -> Vec<store::ProjectFile> {
    let stored = files.iter().map(|file| store::ProjectFile {
        path: file.path.expose().clone(),
        sha256: unless_zero(file.sha256.expose()),
        text: file.text.expose().as_ref().to_owned(),
        standing: file.standing.to_stored(),
    });
    stored.collect()
}

pub(super) fn files_from_stored(stored: Vec<store::ProjectFile>) -> ReadResult<Vec<ProjectFile>> {
    let files = stored.into_iter().map(|file| {
        Ok(ProjectFile {
            path: Redacted::from_stored(file.path),
            sha256: Redacted::from_stored(fixed_or_zero(&file.sha256)?),
            text: Redacted::from_stored(file.text.into()),
            standing: StoredEnum::from_stored(file.standing)?,
        })
    });
    files.collect()
}

pub(super) fn encode_accepted(file: &AcceptedProjectFile) -> EncodedParts {
    pair(
        &store::ProjectRulesAcceptedFacts { version: VERSION },
        &store::ProjectRulesAcceptedPayload {
            root: file.root.expose().as_os_str().as_bytes().to_vec(),
            path: file.path.expose().clone(),
            sha256: unless_zero(file.sha256.expose()),
        },
    )
}

pub(super) fn decode_accepted(_facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let payload = store::ProjectRulesAcceptedPayload::decode(payload)?;
    Ok(PolicyEvent::ProjectRulesAccepted(AcceptedProjectFile {
        root: Redacted::from_stored(PathBuf::from(OsString::from_vec(payload.root))),
        path: Redacted::from_stored(payload.path),
        sha256: Redacted::from_stored(fixed_or_zero(&payload.sha256)?),
    })
    .into())
}

pub(super) fn encode_withdrawn(accepted: Seq) -> EncodedParts {
    facts_only(&store::ProjectRulesWithdrawnFacts { version: VERSION, accepted: accepted.0 })
}

pub(super) fn decode_withdrawn(facts: &[u8]) -> ReadResult<JournalEvent> {
    let accepted = store::ProjectRulesWithdrawnFacts::decode(facts)?.accepted;
    Ok(PolicyEvent::ProjectRulesWithdrawn(Seq(accepted)).into())
}
