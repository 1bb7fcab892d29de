//! Frames from the client: inputs and cancels for the stream's run.

use palyra_api::{ApiError, admit_request, approvals, runs};
use palyra_runtime::Caller;
use palyra_wire::v1::run_stream_request::Frame;
use palyra_wire::v1::{
    ApprovalRefused, CancelRunRequest, ResolveApprovalRequest, RunStreamRequest, SendInputRequest,
};
use tokio::sync::{Mutex, mpsc};
use tonic::Streaming;

use super::parts::receive_files;
use super::{Receipt, RunStreamTask};
use crate::status;

impl RunStreamTask {
    /// Takes frames until one is wrong; after the client's half-close there is nothing more to receive.
    pub(super) async fn receive_frames(
        &self,
        mut incoming: Streaming<RunStreamRequest>,
        receipts: mpsc::Sender<Receipt>,
        at_work: &Mutex<()>,
    ) -> ApiError {
        loop {
            let frame = match incoming.message().await {
                Ok(Some(frame)) => frame,
                Ok(None) => return std::future::pending().await,
                Err(status) => return status::undelivered(&status),
            };
            let working = at_work.lock().await;
            let taken = self.process_run_stream_message(frame, &mut incoming, &receipts).await;
            drop(working);
            if let Err(refusal) = taken {
                return refusal;
            }
        }
    }

    async fn process_run_stream_message(
        &self,
        message: RunStreamRequest,
        incoming: &mut Streaming<RunStreamRequest>,
        receipts: &mpsc::Sender<Receipt>,
    ) -> Result<(), ApiError> {
        self.context.trusted()?;
        let (caller, runs_of) = (self.context.identity.caller(), &self.context.state.runs);
        let access = &self.context.state.admin.access;
        match message.frame {
            Some(Frame::Input(mut input)) => {
                admit_request::<SendInputRequest>(access, &caller).await?;
                let announced = std::mem::take(&mut input.attachments);
                let mut received = receive_files(announced, incoming, &self.context).await?;
                let files = std::mem::take(&mut received.files);
                let accepted =
                    runs::give_input(runs_of, caller, self.run, runs::input_request(input, files)?).await?;
                // Fails only when the stream is about to end for another reason.
                let _ = receipts.send(Receipt::Input(accepted)).await;
                Ok(())
            }
            Some(Frame::AnswerApproval(answer)) => {
                let receipt = self.answer_approval(caller, answer).await?;
                // Fails only when the stream is about to end for another reason.
                let _ = receipts.send(receipt).await;
                Ok(())
            }
            Some(Frame::Cancel(_)) => {
                admit_request::<CancelRunRequest>(access, &caller).await?;
                // The receipt is the run's own entry.
                runs_of.cancel(caller, self.run).await?;
                Ok(())
            }
            Some(Frame::Start(_) | Frame::Attach(_)) => {
                Err(ApiError::invalid_frame("start and attach are first frames; open another stream"))
            }
            Some(Frame::AttachmentPart(_)) => {
                Err(ApiError::invalid_frame("nothing that was announced waits for this part"))
            }
            None => {
                Err(ApiError::invalid_frame("the frame is empty: it is input, answer_approval or cancel"))
            }
        }
    }

    /// Answers an approval of the stream's own run. A refused answer ends no stream: the approval still waits, or is
    /// decided, and the person may want to try again.
    async fn answer_approval(
        &self,
        caller: Caller,
        answer: ResolveApprovalRequest,
    ) -> Result<Receipt, ApiError> {
        let approval_id = answer.approval_id.clone();
        let run_id = self.run.to_string();
        if !answer.run_id.is_empty() && answer.run_id != run_id {
            return Err(ApiError::invalid_frame("a stream answers approvals of its own run"));
        }
        let answer = ResolveApprovalRequest { run_id, ..answer };
        let state = &self.context.state;
        let answered = match admit_request::<ResolveApprovalRequest>(&state.admin.access, &caller).await {
            Ok(()) => approvals::resolve(state, caller, answer).await,
            Err(refusal) => Err(refusal),
        };
        match answered {
            Ok(answered) => Ok(Receipt::Answered(Box::new(answered))),
            Err(refusal) => Ok(Receipt::Refused(ApprovalRefused {
                approval_id,
                error_code: refusal.code().to_string(),
                message: refusal.text().to_owned(),
            })),
        }
    }
}
