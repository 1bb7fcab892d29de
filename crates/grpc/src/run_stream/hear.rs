//! Frames from the client: inputs and cancels for the stream's run.

use palyra_wire::v1::run_stream_request::Frame;
use palyra_wire::v1::{InputAccepted, RunStreamRequest};
use tokio::sync::{Mutex, mpsc};
use tonic::Streaming;

use super::Conversation;
use super::parts::receive_files;
use crate::runs;
use crate::status::Refusal;

impl Conversation {
    /// Takes frames until one is wrong; after the client's half-close there is nothing more to hear.
    pub(super) async fn hear(
        &self,
        mut incoming: Streaming<RunStreamRequest>,
        receipts: mpsc::Sender<InputAccepted>,
        at_work: &Mutex<()>,
    ) -> Refusal {
        loop {
            let frame = match incoming.message().await {
                Ok(Some(frame)) => frame,
                Ok(None) => return std::future::pending().await,
                Err(status) => return Refusal::undelivered(&status),
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
        receipts: &mpsc::Sender<InputAccepted>,
    ) -> Result<(), Refusal> {
        self.doorway.trusted()?;
        let (caller, runs_of) = (self.doorway.identity.caller(), &self.doorway.state.runs);
        match message.frame {
            Some(Frame::Input(mut input)) => {
                let announced = std::mem::take(&mut input.attachments);
                let mut received = receive_files(announced, incoming, &self.doorway).await?;
                let files = std::mem::take(&mut received.files);
                let accepted = runs::give_input(runs_of, caller, self.run, input, files).await?;
                // Fails only when the stream is about to end for another reason.
                let _ = receipts.send(accepted).await;
                Ok(())
            }
            Some(Frame::Cancel(_)) => {
                // The receipt is the run's own entry.
                runs_of.cancel(caller, self.run).await?;
                Ok(())
            }
            Some(Frame::Start(_) | Frame::Attach(_)) => {
                Err(Refusal::invalid_frame("start and attach are first frames; open another stream"))
            }
            Some(Frame::AttachmentPart(_)) => {
                Err(Refusal::invalid_frame("nothing that was announced waits for this part"))
            }
            None => Err(Refusal::invalid_frame("the frame is empty: it is input or cancel")),
        }
    }
}
