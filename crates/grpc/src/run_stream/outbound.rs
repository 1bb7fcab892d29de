//! Frames to the client: the tape, receipts, and a heartbeat in silence.

use std::pin::pin;
use std::time::Duration;

use palyra_api::{ApiError, checkpoint_to_wire, run_state, tape_entry};
use palyra_runtime::tape::{TapeFollowEvent, TapeFollower};
use palyra_types::Seq;
use palyra_wire::v1::run_stream_response::Frame;
use palyra_wire::v1::{CaughtUp, Heartbeat, Opened, RunStreamResponse, StreamEnd};
use tokio::sync::{Mutex, mpsc};
use tokio::time::Instant;

use super::{Receipt, RunStreamTask};

/// How long the end of a stream waits for a signed head that covers the run; all entries are sent by then.
const SIGNED_WITHIN: Duration = Duration::from_millis(20);

impl RunStreamTask {
    /// Sends the tape to its end; waits wherever the client does not read.
    pub(super) async fn send_frames(
        &self,
        mut opened: Opened,
        mut follower: TapeFollower,
        mut receipts: mpsc::Receiver<Receipt>,
        at_work: &Mutex<()>,
    ) -> Result<(), ApiError> {
        let journal = &self.context.state.journal;
        opened.checkpoint = journal.newest_checkpoint().as_ref().map(checkpoint_to_wire);
        self.send(Frame::Opened(opened)).await;
        let mut last_seq = Seq(0);
        // Set anew only once it has rung: a timer for each frame would cost more than the frame.
        let mut silent_until = Instant::now() + self.heartbeat();
        let mut alarm = pin!(tokio::time::sleep_until(silent_until));
        loop {
            let frame = tokio::select! {
                biased;
                Some(receipt) = receipts.recv() => receipt.into(),
                followed = follower.next() => match followed? {
                    Some(TapeFollowEvent::Entry(entry)) => {
                        last_seq = entry.seq;
                        Frame::Entry(tape_entry(&entry))
                    }
                    Some(TapeFollowEvent::CaughtUp(last)) => Frame::CaughtUp(CaughtUp { tape_seq: last.0 }),
                    None => break,
                },
                () = alarm.as_mut() => {
                    if Instant::now() < silent_until {
                        alarm.as_mut().reset(silent_until);
                        continue;
                    }
                    Frame::Heartbeat(Heartbeat { tape_seq: follower.last().0 })
                }
            };
            self.send(frame).await;
            silent_until = Instant::now() + self.heartbeat();
            if alarm.is_elapsed() {
                alarm.as_mut().reset(silent_until);
            }
        }
        self.send_last_receipts(&mut receipts, at_work).await;
        let state = match follower.ended_as() {
            Some(state) => state,
            None => self.context.state.runs.get(self.context.identity.caller(), self.run).await?.state,
        };
        let state = run_state(state);
        let checkpoint = journal.checkpoint_over(last_seq, SIGNED_WITHIN).await;
        let checkpoint = checkpoint.as_ref().map(checkpoint_to_wire);
        self.send(Frame::End(StreamEnd { state, tape_seq: follower.last().0, checkpoint })).await;
        Ok(())
    }

    /// Waits for a frame that is being worked on, and sends its receipt.
    async fn send_last_receipts(&self, receipts: &mut mpsc::Receiver<Receipt>, at_work: &Mutex<()>) {
        loop {
            tokio::select! {
                biased;
                Some(receipt) = receipts.recv() => self.send(receipt.into()).await,
                _idle = at_work.lock() => return,
            }
        }
    }

    async fn send(&self, frame: Frame) {
        // Fails only when the client has left, which ends the task elsewhere.
        let _ = self.outgoing.send(Ok(RunStreamResponse { frame: Some(frame) })).await;
    }
}
