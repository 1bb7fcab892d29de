//! Translation alone, for tests that make messages up; no part of what the crate promises.

use palyra_types::RunId;
use palyra_wire::v1::RunStreamRequest;
use palyra_wire::v1::run_stream_request::Frame;

use crate::approvals::reply_of;
use crate::files;
use crate::start_run::submit_request;
use crate::status::Refusal;
use crate::translate;

/// Translates a frame of `RunStream` as if it were alone; returns whether it was acceptable.
#[must_use]
pub fn frame(message: RunStreamRequest) -> bool {
    translated(message).is_ok()
}

fn translated(message: RunStreamRequest) -> Result<(), Refusal> {
    match message.frame {
        Some(Frame::Start(mut start)) => {
            let files = files::inline(std::mem::take(&mut start.attachments))?;
            submit_request(start, files)?;
        }
        Some(Frame::Attach(attach)) => {
            translate::id::<RunId>("run_id", &attach.run_id)?;
        }
        Some(Frame::Input(mut input)) => {
            files::inline(std::mem::take(&mut input.attachments))?;
            translate::input_delivery(input.delivery())?;
        }
        Some(Frame::AnswerApproval(answer)) => {
            reply_of(answer)?;
        }
        Some(Frame::Cancel(_) | Frame::AttachmentPart(_)) => {}
        None => return Err(Refusal::invalid_frame("the frame is empty")),
    }
    Ok(())
}
