//! Translation alone, for tests that make messages up; no part of what the crate promises.

use palyra_api::approvals::reply_of;
use palyra_api::start_run::submit_request;
use palyra_api::{ApiError, files};
use palyra_types::RunId;
use palyra_wire::v1::RunStreamRequest;
use palyra_wire::v1::run_stream_request::Frame;

/// Translates a frame of `RunStream` as if it were alone; returns whether it was acceptable.
#[must_use]
pub fn frame(message: RunStreamRequest) -> bool {
    translated(message).is_ok()
}

fn translated(message: RunStreamRequest) -> Result<(), ApiError> {
    match message.frame {
        Some(Frame::Start(mut start)) => {
            let files = files::inline(std::mem::take(&mut start.attachments))?;
            submit_request(start, files)?;
        }
        Some(Frame::Attach(attach)) => {
            palyra_api::id::<RunId>("run_id", &attach.run_id)?;
        }
        Some(Frame::Input(mut input)) => {
            files::inline(std::mem::take(&mut input.attachments))?;
            palyra_api::input_delivery(input.delivery)?;
        }
        Some(Frame::AnswerApproval(answer)) => {
            reply_of(answer)?;
        }
        Some(Frame::Cancel(_) | Frame::AttachmentPart(_)) => {}
        None => return Err(ApiError::invalid_frame("the frame is empty")),
    }
    Ok(())
}
