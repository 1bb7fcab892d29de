//! An input at the door: checked, cleaned, with its files taken in and its key digested.
//!
//! Invariant: nothing that is refused here leaves a trace in the journal.

use palyra_admin::Caller;
use palyra_types::Content;
use palyra_types::attachment::Blob;
use palyra_types::run::{IdempotencyDigest, UserInput};

use crate::engine::Engine;
use crate::error::RequestError;
use palyra_attachments::{AdmittedFiles, IncomingFile, admit_files};

/// Characters of an idempotency key, at most.
const IDEMPOTENCY_KEY_CHARS_MAX: usize = 200;

/// An input that may be recorded.
#[derive(Debug, Clone)]
pub(crate) struct PreparedInput {
    pub(crate) input: UserInput,
    /// Its files that are not text, as its attachments number them.
    pub(crate) blobs: Vec<Blob>,
    pub(crate) idempotency: Option<IdempotencyDigest>,
}

/// Prepares what a person said.
pub(super) fn prepare(
    engine: &Engine,
    caller: Caller,
    text: &Content<String>,
    files: &[IncomingFile],
    key: Option<&Content<String>>,
) -> Result<PreparedInput, RequestError> {
    let bytes_max = engine.config.borrow().input_bytes_max;
    let bytes = text.expose().len();
    if bytes > bytes_max {
        return Err(RequestError::TooLarge { bytes, bytes_max });
    }
    if text.expose().trim().is_empty() && files.is_empty() {
        return Err(RequestError::InvalidArgument { what: "the input is empty".to_owned() });
    }
    let chars = key.map(|key| key.expose().chars().count());
    if chars.is_some_and(|chars| chars == 0 || chars > IDEMPOTENCY_KEY_CHARS_MAX) {
        let what = format!("an idempotency key has 1 to {IDEMPOTENCY_KEY_CHARS_MAX} characters");
        return Err(RequestError::InvalidArgument { what });
    }
    let redactor = &*engine.ports.redactor;
    let admitted = admit_files(files, redactor).inspect_err(|error| {
        if let Some(refused) = error.secret_found() {
            engine.ports.recorder.note_refused(caller.actor.principal, refused);
        }
    });
    let AdmittedFiles { attachments, blobs } = admitted?;
    let input = UserInput { text: redactor.redact(text.clone()).text, attachments };
    let idempotency = key.map(|key| palyra_ledger::idempotency_digest(caller.actor.principal, key));
    Ok(PreparedInput { input, blobs, idempotency })
}
