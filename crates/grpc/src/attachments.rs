//! Files that came with inputs, out again in parts.

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use palyra_runtime::Caller;
use palyra_runtime::tape::TapeHandle;
use palyra_types::TapeSeq;
use palyra_wire::v1::{ReadAttachmentRequest, ReadAttachmentResponse};
use tonic::Status;

use crate::files::PART_BYTES_MAX;
use crate::status::Refusal;
use crate::translate;

/// Answers `ReadAttachment`: what is known of the file comes with its first part, which may be empty.
pub(crate) async fn read_attachment(
    tapes: &TapeHandle,
    caller: Caller,
    message: ReadAttachmentRequest,
) -> Result<BoxStream<'static, Result<ReadAttachmentResponse, Status>>, Refusal> {
    let run = translate::id("run_id", &message.run_id)?;
    let place = TapeSeq(message.tape_seq);
    let (attachment, content) = tapes.attachment(caller, run, place, message.index).await?;
    let mut info = Some(translate::attachment_info(message.index, &attachment));
    let content = content.into_exposed();
    let starts = (0..content.len().max(1)).step_by(PART_BYTES_MAX);
    let parts = stream::iter(starts).map(move |from| {
        let to = content.len().min(from + PART_BYTES_MAX);
        Ok(ReadAttachmentResponse { info: info.take(), data: content[from..to].to_vec() })
    });
    Ok(parts.boxed())
}
