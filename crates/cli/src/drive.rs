//! Drives one run at the terminal: shows it, takes Ctrl-C, asks when it waits, and knows how it ended.
//!
//! Invariant: returns when the run ended, when it waits and nobody here can answer, or with a failure.

use std::time::Duration;

use palyra_client::{Client, ClientError, FollowEvent, RunFollower};
use palyra_types::RunId;
use palyra_wire::json::to_json;
use palyra_wire::v1;
use tokio::time::Instant;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::{Echo, Flow, RunView, Shown, run_state, span};
use crate::terminal::{Interrupts, Mark, Output, TypedLines};

/// How long a cancelled run may take to end before it is left alone.
const END_WITHIN: Duration = Duration::from_secs(10);

/// A run that is followed.
pub(crate) trait FollowedRun {
    /// Returns the next event; `None` after the last. Dropping the future loses nothing.
    async fn next(&mut self) -> Result<Option<FollowEvent>, ClientError>;
    /// Asks the run to stop.
    fn request_cancel(&mut self);
    /// Sends the run an input.
    fn send_input(&mut self, text: String) -> Result<(), ClientError>;
    /// Returns the run's id, once it is known.
    fn run(&self) -> Option<RunId>;
    /// Returns what the run waits for; `None` when it does not.
    async fn waits_for(&self) -> Result<Option<String>, ClientError>;
}

/// A run of the daemon.
pub(crate) struct DaemonRun {
    pub(crate) client: Client,
    pub(crate) follower: RunFollower,
}

impl FollowedRun for DaemonRun {
    async fn next(&mut self) -> Result<Option<FollowEvent>, ClientError> {
        self.follower.next().await
    }

    fn request_cancel(&mut self) {
        self.follower.request_cancel();
    }

    fn send_input(&mut self, text: String) -> Result<(), ClientError> {
        self.follower.send_input(text)
    }

    fn run(&self) -> Option<RunId> {
        self.follower.run()
    }

    async fn waits_for(&self) -> Result<Option<String>, ClientError> {
        let Some(run) = self.follower.run() else { return Ok(None) };
        let run = self.client.get_run(run).await?;
        Ok((run.phase == "waiting").then_some(run.waiting_for))
    }
}

/// What goes to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// The model's text; all else is notes.
    Text,
    /// Every entry as a line of JSON.
    Json,
}

impl From<bool> for Format {
    /// Reads the flag `--json`.
    fn from(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

/// The terminal that a run is driven at.
pub(crate) struct Seat<'a> {
    pub(crate) output: &'a Output,
    pub(crate) interrupts: &'a Interrupts,
    /// Who answers when the run waits; `None` when nobody sits here.
    pub(crate) answers: Option<&'a mut TypedLines>,
    pub(crate) format: Format,
    pub(crate) echo: Echo,
    /// How long the run may take before it is cancelled from here.
    pub(crate) time_limit: Option<Duration>,
}

/// Drives a run to its end.
pub(crate) async fn drive(
    run: &mut impl FollowedRun,
    seat: Seat<'_>,
    opened: impl FnMut(&v1::Opened),
) -> Result<Exit, Failure> {
    seat.interrupts.begin("");
    let flow = if seat.output.is_watched() { Flow::Live } else { Flow::Whole };
    let view = RunView::new(seat.echo, flow);
    let time_up = seat.time_limit.map(|limit| Instant::now() + limit);
    Drive { run, seat, opened, view, caught_up: false, asking: false, time_up, timed_out: false }
        .until_over()
        .await
}

struct Drive<'a, R, F> {
    run: &'a mut R,
    seat: Seat<'a>,
    opened: F,
    view: RunView,
    caught_up: bool,
    /// A person was asked, and the answer is still due.
    asking: bool,
    /// When patience ends: first with the run, then with its end.
    time_up: Option<Instant>,
    timed_out: bool,
}

/// What happened first.
enum Happened {
    Interrupted,
    TimeUp,
    Typed(Option<String>),
    Event(Option<FollowEvent>),
}

impl<R: FollowedRun, F: FnMut(&v1::Opened)> Drive<'_, R, F> {
    async fn until_over(mut self) -> Result<Exit, Failure> {
        loop {
            match self.happening().await? {
                Happened::Interrupted => self.cancel(),
                Happened::TimeUp if self.timed_out => return Ok(Exit::TimeLimit),
                Happened::TimeUp => self.stop_at_limit(),
                Happened::Typed(Some(answer)) => self.answer(answer)?,
                Happened::Typed(None) => {
                    self.say_how_to_answer();
                    return Ok(Exit::Withheld);
                }
                Happened::Event(None) => return Ok(Exit::Failed),
                Happened::Event(Some(FollowEvent::Ended(end))) => {
                    return Ok(match self.view.exit(run_state(end.state)) {
                        Exit::Cancelled if self.timed_out => Exit::TimeLimit,
                        exit => exit,
                    });
                }
                Happened::Event(Some(event)) => {
                    if let Some(exit) = self.take(event).await? {
                        return Ok(exit);
                    }
                }
            }
        }
    }

    async fn happening(&mut self) -> Result<Happened, Failure> {
        let (asking, time_up) = (self.asking, self.time_up);
        let answers = &mut self.seat.answers;
        let typed = async {
            match answers {
                Some(lines) if asking => lines.next().await,
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.seat.interrupts.pressed() => Ok(Happened::Interrupted),
            line = typed => Ok(Happened::Typed(line)),
            () = until(time_up) => Ok(Happened::TimeUp),
            event = self.run.next() => Ok(Happened::Event(event?)),
        }
    }

    fn cancel(&mut self) {
        self.run.request_cancel();
        self.seat.output.note(Mark::Info, "cancelling the run; Ctrl-C again leaves without waiting for it");
    }

    fn stop_at_limit(&mut self) {
        self.timed_out = true;
        self.time_up = Some(Instant::now() + END_WITHIN);
        self.run.request_cancel();
        let limit = span(self.seat.time_limit.unwrap_or_default());
        self.seat
            .output
            .note(Mark::Doubt, &format!("the time limit of {limit} is reached; cancelling the run"));
    }

    fn answer(&mut self, answer: String) -> Result<(), Failure> {
        self.seat.output.line_was_typed();
        if answer.trim().is_empty() {
            self.seat.output.prompt("answer> ");
            return Ok(());
        }
        self.asking = false;
        Ok(self.run.send_input(answer)?)
    }

    /// Takes an event; returns how the program ends when nothing more can be done here.
    async fn take(&mut self, event: FollowEvent) -> Result<Option<Exit>, Failure> {
        match event {
            FollowEvent::Opened(opened) => self.take_opened(&opened),
            FollowEvent::Entry(entry) => self.show(&entry)?,
            FollowEvent::CaughtUp => self.caught_up = true,
            FollowEvent::Lost => self.seat.output.note(Mark::Doubt, "the daemon is gone; looking for it"),
            FollowEvent::Reattached => self.seat.output.note(Mark::Info, "the daemon is back; going on"),
            FollowEvent::InputAccepted(accepted) => self.take_accepted(&accepted),
            FollowEvent::CancelTaken | FollowEvent::Ended(_) => {}
        }
        if !self.caught_up || self.asking || !self.view.may_wait() {
            return Ok(None);
        }
        self.ask().await
    }

    fn take_opened(&mut self, opened: &v1::Opened) {
        for note in &opened.notes {
            self.seat.output.note(Mark::Info, note);
        }
        self.seat
            .interrupts
            .say_at_parting(&format!("left; `palyra runs tail {}` shows how it ends", opened.run_id));
        (self.opened)(opened);
    }

    fn take_accepted(&mut self, accepted: &v1::InputAccepted) {
        if accepted.queued {
            let told =
                format!("the run went on meanwhile; the input is run {} of this session", accepted.run_id);
            self.seat.output.note(Mark::Info, &told);
        }
    }

    fn show(&mut self, entry: &v1::TapeEntry) -> Result<(), Failure> {
        let shown = self.view.absorb(entry);
        if self.seat.format == Format::Json {
            return self.seat.output.json(&to_json(entry));
        }
        for shown in shown {
            match shown {
                Shown::Text(text) => self.seat.output.text(&text)?,
                Shown::LineEnd => self.seat.output.end_line()?,
                Shown::Remark(remark) => self.seat.output.remark(&remark)?,
                Shown::Note(mark, note) => self.seat.output.note(mark, &note),
                Shown::Error(code, message) => self.seat.output.error(code, &message),
            }
        }
        Ok(())
    }

    /// Asks a person when the run waits for one, or says how it is done.
    async fn ask(&mut self) -> Result<Option<Exit>, Failure> {
        let waits_for = match self.run.waits_for().await {
            Ok(Some(waits_for)) => waits_for,
            // The stream tells of a loss and takes care of it.
            Ok(None) | Err(ClientError::Lost { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if waits_for == "unknown_kind" {
            let told =
                "the run's tape holds an entry this version does not know; a newer version can go on with it";
            self.seat.output.note(Mark::Doubt, told);
            return Ok(Some(Exit::Withheld));
        }
        if self.seat.answers.is_none() {
            self.say_how_to_answer();
            return Ok(Some(Exit::Withheld));
        }
        self.asking = true;
        let told = "the run waits: a line you type lets it go on, Ctrl-C cancels it";
        self.seat.output.note(Mark::Doubt, told);
        self.seat.output.prompt("answer> ");
        Ok(None)
    }

    fn say_how_to_answer(&self) {
        let run = self.run.run().map_or_else(|| "ID".to_owned(), |run| run.to_string());
        let told = format!(
            "the run waits; `palyra runs answer {run} TEXT` lets it go on, `palyra runs cancel {run}` ends it"
        );
        self.seat.output.note(Mark::Doubt, &told);
    }
}

async fn until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
