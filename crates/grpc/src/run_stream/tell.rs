//! Frames to the client: the tape, receipts, and a heartbeat in silence.

use palyra_runtime::tape::{Followed, TapeFollower};
use palyra_wire::v1::run_stream_response::Frame;
use palyra_wire::v1::{CaughtUp, Heartbeat, InputAccepted, Opened, RunStreamResponse, StreamEnd};
use tokio::sync::{Mutex, mpsc};

use super::Conversation;
use crate::status::Refusal;
use crate::translate;

impl Conversation {
    /// Tells the tape to its end; waits wherever the client does not read.
    pub(super) async fn tell(
        &self,
        opened: Opened,
        mut follower: TapeFollower,
        mut receipts: mpsc::Receiver<InputAccepted>,
        at_work: &Mutex<()>,
    ) -> Result<(), Refusal> {
        self.send(Frame::Opened(opened)).await;
        loop {
            let frame = tokio::select! {
                biased;
                Some(accepted) = receipts.recv() => Frame::InputAccepted(accepted),
                followed = follower.next() => match followed? {
                    Some(Followed::Entry(entry)) => Frame::Entry(translate::tape_entry(&entry)),
                    Some(Followed::CaughtUp(last)) => Frame::CaughtUp(CaughtUp { tape_seq: last.0 }),
                    None => break,
                },
                () = tokio::time::sleep(self.heartbeat()) => Frame::Heartbeat(Heartbeat { tape_seq: follower.last().0 }),
            };
            self.send(frame).await;
        }
        self.tell_last_receipts(&mut receipts, at_work).await;
        let state = match follower.ended_as() {
            Some(state) => state,
            None => self.doorway.state.runs.get(self.doorway.identity.caller(), self.run).await?.state,
        };
        let state = translate::run_state(state);
        self.send(Frame::End(StreamEnd { state, tape_seq: follower.last().0, checkpoint: None })).await;
        Ok(())
    }

    /// Waits for a frame that is being worked on, and tells its receipt.
    async fn tell_last_receipts(&self, receipts: &mut mpsc::Receiver<InputAccepted>, at_work: &Mutex<()>) {
        loop {
            tokio::select! {
                biased;
                Some(accepted) = receipts.recv() => self.send(Frame::InputAccepted(accepted)).await,
                _idle = at_work.lock() => return,
            }
        }
    }

    async fn send(&self, frame: Frame) {
        // Fails only when the client has left, which ends the conversation elsewhere.
        let _ = self.outgoing.send(Ok(RunStreamResponse { frame: Some(frame) })).await;
    }
}
