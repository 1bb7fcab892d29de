//! Files that came with inputs, out again in parts.

use futures::StreamExt;
use futures::stream;
use palyra_runtime::Caller;
use palyra_types::TapeSeq;
use palyra_wire::v1::{ReadAttachmentRequest, ReadAttachmentResponse};

use crate::api_error::ApiError;
use crate::files::PART_BYTES_MAX;
use crate::operations::{OperationHandlers, ResponseStream};
use crate::translate;

impl OperationHandlers {
    /// Answers `ReadAttachment`: what is known of the file comes with its first part, which may be empty.
    pub async fn read_attachment(
        &self,
        caller: Caller,
        message: ReadAttachmentRequest,
    ) -> Result<ResponseStream<ReadAttachmentResponse>, ApiError> {
        let run = translate::id("run_id", &message.run_id)?;
        let place = TapeSeq(message.tape_seq);
        let (attachment, content) = self.state.tapes.attachment(caller, run, place, message.index).await?;
        let mut info = Some(translate::attachment_info(message.index, &attachment));
        let content = content.into_exposed();
        let starts = (0..content.len().max(1)).step_by(PART_BYTES_MAX);
        let parts = stream::iter(starts).map(move |from| {
            let to = content.len().min(from + PART_BYTES_MAX);
            Ok(ReadAttachmentResponse { info: info.take(), data: content[from..to].to_vec() })
        });
        Ok(parts.boxed())
    }
}
