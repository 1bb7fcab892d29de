//! The frames right after one that announces files: their bytes.

use std::time::Duration;

use palyra_runtime::session::IncomingFile;
use palyra_wire::v1::run_stream_request::Frame;
use palyra_wire::v1::{Attachment, RunStreamRequest};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;
use tonic::Streaming;

use crate::files::{Assembly, Uploads};
use crate::status::Refusal;

/// How long a stream may take to bring the next part.
const PART_SPAN_MAX: Duration = Duration::from_secs(60);

/// Files that are all there, and the room they take until they are recorded.
pub(super) struct ReceivedFiles {
    pub(super) files: Vec<IncomingFile>,
    _room: OwnedSemaphorePermit,
}

/// Takes frames until every announced byte is there.
pub(super) async fn receive_files(
    attachments: Vec<Attachment>,
    incoming: &mut Streaming<RunStreamRequest>,
    uploads: &Uploads,
    stop: &CancellationToken,
) -> Result<ReceivedFiles, Refusal> {
    let mut assembly = Assembly::new(attachments)?;
    let room = uploads.room_for(&assembly)?;
    while !assembly.is_complete() {
        let frame = tokio::select! {
            biased;
            () = stop.cancelled() => return Err(Refusal::shutting_down()),
            frame = tokio::time::timeout(PART_SPAN_MAX, incoming.message()) => frame,
        };
        let frame =
            frame.map_err(|_| Refusal::invalid_frame("no part of an attachment came within 60 seconds"))?;
        let frame = frame.map_err(|status| Refusal::undelivered(&status))?;
        match frame.and_then(|frame| frame.frame) {
            Some(Frame::AttachmentPart(part)) => assembly.take(&part)?,
            Some(Frame::Start(_) | Frame::Attach(_) | Frame::Input(_) | Frame::Cancel(_)) | None => {
                return Err(Refusal::invalid_frame("the bytes of announced attachments come first"));
            }
        }
    }
    Ok(ReceivedFiles { files: assembly.finish(), _room: room })
}
