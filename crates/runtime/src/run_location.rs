//! Where a run works, as seen from a folder.
//!
//! Owns the only comparison of a run's workspace with the folder of a caller: the beginning of the run's tape says which
//! folder it is.

use std::path::Path;

use palyra_types::TapeSeq;
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::run::RunRecord;
use palyra_types::session::SessionRef;

use crate::error::RequestError;
use crate::parts::RuntimePorts;

/// Where a run works, as seen from a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunLocation {
    Here,
    Elsewhere,
    /// It was erased.
    Unknown,
}

/// Returns where a run works, as seen from a folder; every run works here where none is named.
pub(crate) async fn run_location(
    ports: &RuntimePorts,
    run: &RunRecord,
    folder: Option<&Path>,
) -> Result<RunLocation, RequestError> {
    let Some(folder) = folder else { return Ok(RunLocation::Here) };
    let page = ports.tapes.tape(run.run, TapeSeq(0), 1).await?;
    let Some(TapeEvent::Run(RunEvent::Started(started))) =
        page.entries.into_iter().next().map(|entry| entry.event)
    else {
        return Ok(RunLocation::Unknown);
    };
    let root = started.workspace_root.expose();
    let session = SessionRef { principal: run.principal, id: run.session };
    Ok(match ports.workspaces.is_of_folder(folder, root, session) {
        _ if root.as_os_str().is_empty() => RunLocation::Unknown,
        true => RunLocation::Here,
        false => RunLocation::Elsewhere,
    })
}
