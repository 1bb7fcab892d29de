//! Tapes by the page.

use palyra_runtime::Caller;
use palyra_runtime::tape::TapeHandle;
use palyra_types::{Seq, TapeSeq};
use palyra_wire::v1::{ReadSessionTapeRequest, ReadSessionTapeResponse, ReadTapeRequest, ReadTapeResponse};

use crate::status::Refusal;
use crate::translate;

/// Answers `ReadTape`.
pub(crate) async fn read_tape(
    tapes: &TapeHandle,
    caller: Caller,
    message: ReadTapeRequest,
) -> Result<ReadTapeResponse, Refusal> {
    let run = translate::id("run_id", &message.run_id)?;
    let after = TapeSeq(message.after_tape_seq);
    let page = tapes.page(caller, run, after, translate::tape_rows(message.limit)).await?;
    let (entries, more) = translate::page_to_wire(&page);
    Ok(ReadTapeResponse { entries, more })
}

/// Answers `ReadSessionTape`.
pub(crate) async fn read_session_tape(
    tapes: &TapeHandle,
    caller: Caller,
    message: ReadSessionTapeRequest,
) -> Result<ReadSessionTapeResponse, Refusal> {
    let session = translate::id("session_id", &message.session_id)?;
    let after = message.after_seq.map(Seq);
    let page = tapes.session_page(caller, session, after, translate::tape_rows(message.limit)).await?;
    let (entries, more) = translate::page_to_wire(&page);
    Ok(ReadSessionTapeResponse { entries, more })
}
