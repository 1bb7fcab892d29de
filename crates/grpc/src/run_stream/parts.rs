//! The frames right after one that announces files: their bytes.

use std::time::Duration;

use palyra_api::ApiError;
use palyra_api::files::{FileAssembly, UploadRoom};
use palyra_runtime::session::IncomingFile;
use palyra_wire::v1::run_stream_request::Frame;
use palyra_wire::v1::{Attachment, RunStreamRequest};
use tokio::time::Instant;
use tonic::Streaming;

use super::StreamContext;
use crate::status;

/// How long a stream may take to bring the next part.
const PART_SPAN_MAX: Duration = Duration::from_secs(60);
/// How long it may take to bring all of them: room is not held by a byte a minute.
const PARTS_SPAN_MAX: Duration = Duration::from_secs(300);

/// Files that are all there, and the room they take until they are recorded.
pub(super) struct ReceivedFiles {
    pub(super) files: Vec<IncomingFile>,
    _room: UploadRoom,
}

/// Takes frames until every announced byte is there, and whoever sent them would be let in again.
pub(super) async fn receive_files(
    attachments: Vec<Attachment>,
    incoming: &mut Streaming<RunStreamRequest>,
    context: &StreamContext,
) -> Result<ReceivedFiles, ApiError> {
    let mut assembly = FileAssembly::new(attachments)?;
    let room = context.uploads.room_for(context.identity.caller().actor.principal, &assembly)?;
    let end = Instant::now() + PARTS_SPAN_MAX;
    while !assembly.is_complete() {
        let latest = end.min(Instant::now() + PART_SPAN_MAX);
        let frame = tokio::select! {
            biased;
            () = context.stop.cancelled() => return Err(ApiError::shutting_down()),
            frame = tokio::time::timeout_at(latest, incoming.message()) => frame,
        };
        let frame = frame.map_err(|_| {
            ApiError::invalid_frame("no part of an attachment came within 60 seconds, or not all within 300")
        })?;
        let frame = frame.map_err(|status| status::undelivered(&status))?;
        // A token may be revoked while its bytes are still coming.
        context.trusted()?;
        match frame.and_then(|frame| frame.frame) {
            Some(Frame::AttachmentPart(part)) => assembly.take(&part)?,
            Some(
                Frame::Start(_)
                | Frame::Attach(_)
                | Frame::Input(_)
                | Frame::AnswerApproval(_)
                | Frame::Cancel(_),
            )
            | None => {
                return Err(ApiError::invalid_frame("the bytes of announced attachments come first"));
            }
        }
    }
    Ok(ReceivedFiles { files: assembly.finish(), _room: room })
}
