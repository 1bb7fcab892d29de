//! Tapes by the page.

use palyra_runtime::Caller;
use palyra_types::{Seq, TapeSeq};
use palyra_wire::v1::{ReadSessionTapeRequest, ReadSessionTapeResponse, ReadTapeRequest, ReadTapeResponse};

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::translate;

impl OperationHandlers {
    /// Answers `ReadTape`.
    pub async fn read_tape(
        &self,
        caller: Caller,
        message: ReadTapeRequest,
    ) -> Result<ReadTapeResponse, ApiError> {
        let run = translate::id("run_id", &message.run_id)?;
        let after = TapeSeq(message.after_tape_seq);
        let page = self.state.tapes.page(caller, run, after, translate::tape_rows(message.limit)).await?;
        let (entries, more) = translate::page_to_wire(&page);
        Ok(ReadTapeResponse { entries, more })
    }
}

impl OperationHandlers {
    /// Answers `ReadSessionTape`.
    pub async fn read_session_tape(
        &self,
        caller: Caller,
        message: ReadSessionTapeRequest,
    ) -> Result<ReadSessionTapeResponse, ApiError> {
        let session = translate::id("session_id", &message.session_id)?;
        let after = message.after_seq.map(Seq);
        let page = self
            .state
            .tapes
            .session_page(caller, session, after, translate::tape_rows(message.limit))
            .await?;
        let (entries, more) = translate::page_to_wire(&page);
        Ok(ReadSessionTapeResponse { entries, more })
    }
}
