//! The follower: yields a run's entries each once and in order, and takes wishes meanwhile.
//!
//! Invariant: dropping the future of [`RunFollower::next`] loses nothing; all progress is in the follower.

use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use palyra_types::RunId;
use palyra_wire::v1;
use palyra_wire::v1::run_stream_response::Frame;
use tonic::Status;

use super::controls::{ControlOutcome, ControlQueue, new_idempotency_key};
use super::opening::StreamOpening;
use super::reopen::open_stream;
use super::run_stream::RunStream;
use super::sequence::TapeCursor;
use crate::client::Client;
use crate::error::ClientError;

/// A daemon with nothing to say says so every 10 seconds.
const SILENCE_MAX: Duration = Duration::from_secs(35);

/// What a follower yields.
#[derive(Debug, Clone, PartialEq)]
pub enum FollowEvent {
    /// The run exists; comes once, and first.
    Opened(v1::Opened),
    /// The next entry of the tape.
    Entry(Box<v1::TapeEntry>),
    /// All entries that existed when the stream opened were yielded.
    CaughtUp,
    /// The daemon is gone; it is searched for.
    Lost,
    /// The daemon is back; entries go on where they stopped.
    Reattached,
    /// The request to stop is durable.
    CancelTaken,
    /// An input is durable.
    InputAccepted(v1::InputAccepted),
    /// The run is over and every entry was yielded; comes last.
    Ended(v1::StreamEnd),
}

enum StreamLink {
    Opening(BoxFuture<'static, Result<RunStream, ClientError>>),
    Open(Box<RunStream>),
    /// The run is over; the head that came with the end is being kept.
    Closing(BoxFuture<'static, Result<v1::StreamEnd, ClientError>>),
    Ended,
}

/// Follows one run.
pub struct RunFollower {
    client: Client,
    link: StreamLink,
    /// How the run is named until its id is known.
    first: StreamOpening,
    sequence: Option<TapeCursor>,
    controls: ControlQueue,
    opened_yielded: bool,
    last_frame_at: Instant,
    lost_since: Option<Instant>,
}

/// Keeps the journal's head that the stream ended with.
async fn close(client: Client, end: v1::StreamEnd) -> Result<v1::StreamEnd, ClientError> {
    if let Some(checkpoint) = end.checkpoint.clone() {
        client.keep_head(checkpoint).await?;
    }
    Ok(end)
}

impl RunFollower {
    /// Starts a run and follows it. An empty idempotency key is replaced by a fresh one.
    #[must_use]
    pub fn start(client: &Client, mut start: v1::StartRunRequest) -> Self {
        if start.idempotency_key.is_empty() {
            start.idempotency_key = new_idempotency_key();
        }
        Self::new(client, StreamOpening::start(start), None)
    }

    /// Follows a run that exists, from the entry after a number on.
    #[must_use]
    pub fn attach(client: &Client, run: RunId, after_tape_seq: u32) -> Self {
        let first = StreamOpening::attach(run.to_string(), after_tape_seq);
        Self::new(client, first, Some(TapeCursor::new(run, after_tape_seq)))
    }

    fn new(client: &Client, first: StreamOpening, sequence: Option<TapeCursor>) -> Self {
        let link = StreamLink::Opening(Box::pin(open_stream(client.clone(), first.clone(), None)));
        let client = client.clone();
        let controls = ControlQueue::default();
        Self {
            client,
            link,
            first,
            sequence,
            controls,
            opened_yielded: false,
            last_frame_at: Instant::now(),
            lost_since: None,
        }
    }

    /// Returns the run, once it is known.
    #[must_use]
    pub fn run(&self) -> Option<RunId> {
        self.sequence.as_ref().map(TapeCursor::run)
    }

    /// Returns the number of the last entry yielded.
    #[must_use]
    pub fn last_tape_seq(&self) -> u32 {
        self.sequence.as_ref().map_or(0, TapeCursor::last)
    }

    /// Asks the run to stop, as soon as it can be told; [`FollowEvent::CancelTaken`] says when it was.
    pub fn request_cancel(&mut self) {
        self.controls.cancel();
    }

    /// Sends the run an input; [`FollowEvent::InputAccepted`] says when it was taken.
    ///
    /// # Errors
    /// [`ClientError::TooManyInputs`] when earlier ones are still on their way.
    pub fn send_input(&mut self, text: String) -> Result<(), ClientError> {
        self.controls.input(text)
    }

    /// Returns the next event; `None` after [`FollowEvent::Ended`].
    ///
    /// # Errors
    /// The daemon's refusal, [`ClientError::TapeOrder`] when the tape does not come whole,
    /// [`ClientError::GaveUp`] when a lost daemon did not come back, or, where heads are kept,
    /// [`ClientError::RolledBack`] and [`ClientError::Forked`].
    pub async fn next(&mut self) -> Result<Option<FollowEvent>, ClientError> {
        loop {
            let step = match &mut self.link {
                StreamLink::Ended => return Ok(None),
                StreamLink::Opening(opening) => {
                    let stream = opening.await?;
                    self.link = StreamLink::Open(Box::new(stream));
                    self.last_frame_at = Instant::now();
                    None
                }
                StreamLink::Closing(closing) => {
                    let end = closing.await?;
                    self.link = StreamLink::Ended;
                    Some(FollowEvent::Ended(end))
                }
                StreamLink::Open(_) => self.step().await?,
            };
            if step.is_some() {
                return Ok(step);
            }
        }
    }

    /// Waits for a frame, the outcome of a request, or too much silence.
    async fn step(&mut self) -> Result<Option<FollowEvent>, ClientError> {
        let StreamLink::Open(stream) = &mut self.link else { return Ok(None) };
        let silence = SILENCE_MAX.saturating_sub(self.last_frame_at.elapsed());
        let sequence = &self.sequence;
        let (controls, client) = (&mut self.controls, &self.client);
        let granted = async move {
            match sequence {
                Some(sequence) => controls.granted(client, sequence.run()).await,
                None => futures::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            outcome = granted => self.after_control(outcome),
            frame = stream.message() => self.after_message(frame),
            () = tokio::time::sleep(silence) => Ok(self.lose()),
        }
    }

    fn after_control(
        &mut self,
        outcome: Result<ControlOutcome, ClientError>,
    ) -> Result<Option<FollowEvent>, ClientError> {
        match outcome {
            Ok(ControlOutcome::Cancel) => Ok(Some(FollowEvent::CancelTaken)),
            Ok(ControlOutcome::Input(accepted)) => Ok(Some(FollowEvent::InputAccepted(accepted))),
            // The request waits for the next connection, which the stream's own end would bring anyway.
            Err(error) if error.is_lost() => Ok(self.lose()),
            Err(error) => Err(error),
        }
    }

    fn after_message(
        &mut self,
        message: Result<Option<v1::RunStreamResponse>, Status>,
    ) -> Result<Option<FollowEvent>, ClientError> {
        match message {
            Ok(Some(response)) => {
                self.last_frame_at = Instant::now();
                response.frame.map_or(Ok(None), |frame| self.take(frame))
            }
            Ok(None) => Ok(self.lose()),
            Err(status) => match ClientError::from_status(&status, &self.client.endpoint()) {
                error if error.is_lost() => Ok(self.lose()),
                error => Err(error),
            },
        }
    }

    fn take(&mut self, frame: Frame) -> Result<Option<FollowEvent>, ClientError> {
        let event = match frame {
            Frame::Opened(opened) => return self.opened(opened),
            Frame::Heartbeat(_) => {
                self.lost_since = None;
                None
            }
            Frame::CaughtUp(_) => {
                self.lost_since = None;
                Some(FollowEvent::CaughtUp)
            }
            Frame::InputAccepted(accepted) => Some(FollowEvent::InputAccepted(accepted)),
            // Approvals are answered by calls beside the stream.
            Frame::ApprovalAnswered(_) | Frame::ApprovalRefused(_) => None,
            Frame::Entry(entry) => {
                self.known()?.take(&entry.run_id, entry.tape_seq)?;
                self.lost_since = None;
                Some(FollowEvent::Entry(Box::new(entry)))
            }
            Frame::End(end) => {
                self.known()?.ends_at(end.tape_seq)?;
                self.link = StreamLink::Closing(Box::pin(close(self.client.clone(), end)));
                None
            }
        };
        Ok(event)
    }

    fn opened(&mut self, opened: v1::Opened) -> Result<Option<FollowEvent>, ClientError> {
        let run =
            opened.run_id.parse().map_err(|_| ClientError::Protocol { what: "a run's id is not an id" })?;
        match &self.sequence {
            Some(sequence) if sequence.run() != run => {
                return Err(ClientError::Protocol { what: "another run was opened than asked for" });
            }
            Some(_) => {}
            None => self.sequence = Some(TapeCursor::new(run, 0)),
        }
        // The search is over only when more than this came: a daemon may open streams and drop them.
        let again = std::mem::replace(&mut self.opened_yielded, true);
        Ok(Some(if again { FollowEvent::Reattached } else { FollowEvent::Opened(opened) }))
    }

    fn known(&mut self) -> Result<&mut TapeCursor, ClientError> {
        self.sequence.as_mut().ok_or(ClientError::Protocol { what: "the stream did not begin with its run" })
    }

    /// Drops the stream and begins to search for the daemon.
    fn lose(&mut self) -> Option<FollowEvent> {
        self.controls.renew();
        let was_lost = self.lost_since.is_some();
        let since = *self.lost_since.get_or_insert_with(Instant::now);
        let first = match &self.sequence {
            Some(sequence) => StreamOpening::attach(sequence.run().to_string(), sequence.last()),
            None => self.first.clone(),
        };
        self.link = StreamLink::Opening(Box::pin(open_stream(self.client.clone(), first, Some(since))));
        (!was_lost).then_some(FollowEvent::Lost)
    }
}
