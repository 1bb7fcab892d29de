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
use crate::render::{Detail, Echo, Flow, RunView, Shown, outcome, question, run_state, span};
use crate::terminal::{Answer, Interrupts, Keyboard, Mark, Output, TypedLines};

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
    /// Answers an approval of the run.
    async fn answer_approval(
        &mut self,
        request: v1::ResolveApprovalRequest,
    ) -> Result<v1::ResolveApprovalResponse, ClientError>;
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

    async fn answer_approval(
        &mut self,
        request: v1::ResolveApprovalRequest,
    ) -> Result<v1::ResolveApprovalResponse, ClientError> {
        self.client.resolve_approval(request).await
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

/// Who sits here.
pub(crate) enum Person<'a> {
    /// Nobody who could answer when the run waits.
    Nobody,
    /// Somebody who types a line when the run waits.
    Types(&'a mut TypedLines),
    /// Somebody whose keyboard is watched; what is typed is read elsewhere.
    Watched(&'a Keyboard),
}

impl<'a> Person<'a> {
    /// Somebody who types lines, where there are any.
    pub(crate) fn at(lines: Option<&'a mut TypedLines>) -> Self {
        lines.map_or(Self::Nobody, Self::Types)
    }
}

/// Why driving pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// The run is over, or nothing more can be done from here.
    Over(Exit),
    /// A key was pressed at a watched keyboard.
    Touched,
}

/// The terminal that a run is driven at.
pub(crate) struct Seat<'a> {
    pub(crate) output: &'a Output,
    pub(crate) interrupts: &'a Interrupts,
    pub(crate) person: Person<'a>,
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
    let mut drive = Drive::begin(run, seat, opened);
    loop {
        if let Pause::Over(exit) = drive.go_on().await? {
            return Ok(exit);
        }
    }
}

/// A run that is being driven.
pub(crate) struct Drive<'a, R, F> {
    run: &'a mut R,
    seat: Seat<'a>,
    opened: F,
    view: RunView,
    caught_up: bool,
    /// What a person was asked and has not answered.
    asking: Asking,
    /// When patience ends: first with the run, then with its end.
    time_up: Option<Instant>,
    timed_out: bool,
}

/// What a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asking {
    Nothing,
    /// For words that let the run go on.
    Words,
    /// Whether a call may run.
    Approval,
}

/// What happened first.
enum Happened {
    Interrupted,
    TimeUp,
    Touched,
    Typed(Option<String>),
    Event(Option<FollowEvent>),
}

impl<'a, R: FollowedRun, F: FnMut(&v1::Opened)> Drive<'a, R, F> {
    /// Begins to drive a run.
    pub(crate) fn begin(run: &'a mut R, seat: Seat<'a>, opened: F) -> Self {
        seat.interrupts.begin("");
        let flow = if seat.output.is_watched() { Flow::Live } else { Flow::Whole };
        let view = RunView::new(seat.echo, flow);
        let time_up = seat.time_limit.map(|limit| Instant::now() + limit);
        Self { run, seat, opened, view, caught_up: false, asking: Asking::Nothing, time_up, timed_out: false }
    }

    /// Returns the run.
    pub(crate) fn run(&self) -> Option<RunId> {
        self.run.run()
    }

    /// Returns whether the run waits for what the person types next.
    pub(crate) fn is_asking(&self) -> bool {
        self.asking != Asking::Nothing
    }

    /// Drives until the run is over, or a key is pressed.
    pub(crate) async fn go_on(&mut self) -> Result<Pause, Failure> {
        loop {
            match self.happening().await? {
                Happened::Interrupted => self.cancel(),
                Happened::TimeUp if self.timed_out => return Ok(Pause::Over(Exit::TimeLimit)),
                Happened::TimeUp => self.stop_at_limit(),
                Happened::Touched => return Ok(Pause::Touched),
                Happened::Typed(Some(answer)) => self.take_line(answer).await?,
                Happened::Typed(None) => {
                    self.say_how_to_answer();
                    return Ok(Pause::Over(Exit::Withheld));
                }
                Happened::Event(None) => return Ok(Pause::Over(Exit::Failed)),
                Happened::Event(Some(FollowEvent::Ended(end))) => {
                    return Ok(Pause::Over(match self.view.exit(run_state(end.state)) {
                        Exit::Cancelled if self.timed_out => Exit::TimeLimit,
                        exit => exit,
                    }));
                }
                Happened::Event(Some(event)) => {
                    if let Some(exit) = self.take(event).await? {
                        return Ok(Pause::Over(exit));
                    }
                }
            }
        }
    }

    async fn happening(&mut self) -> Result<Happened, Failure> {
        let (asking, time_up) = (self.is_asking(), self.time_up);
        let person = &mut self.seat.person;
        let hands = async {
            match person {
                Person::Types(lines) if asking => Happened::Typed(lines.next().await),
                Person::Watched(keyboard) => {
                    keyboard.touched().await;
                    Happened::Touched
                }
                Person::Types(_) | Person::Nobody => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.seat.interrupts.pressed() => Ok(Happened::Interrupted),
            happened = hands => Ok(happened),
            () = until(time_up) => Ok(Happened::TimeUp),
            event = self.run.next() => Ok(Happened::Event(event?)),
        }
    }

    /// Asks the run to stop.
    pub(crate) fn cancel(&mut self) {
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

    async fn take_line(&mut self, answer: String) -> Result<(), Failure> {
        self.seat.output.line_was_typed();
        if self.asking == Asking::Words && answer.trim().is_empty() {
            self.seat.output.prompt("answer> ");
            return Ok(());
        }
        self.answer(answer).await
    }

    /// Answers a run that waits.
    pub(crate) async fn answer(&mut self, answer: String) -> Result<(), Failure> {
        if self.asking == Asking::Approval {
            return self.answer_approval(&answer).await;
        }
        self.asking = Asking::Nothing;
        Ok(self.run.send_input(answer)?)
    }

    async fn answer_approval(&mut self, typed: &str) -> Result<(), Failure> {
        let Some(asked) = self.view.asked().cloned() else {
            self.asking = Asking::Nothing;
            return Ok(());
        };
        match Answer::read(typed) {
            Answer::Decide { decision, note, remember } => {
                self.asking = Asking::Nothing;
                let request = v1::ResolveApprovalRequest {
                    approval_id: asked.approval_id,
                    decision: decision.into(),
                    note,
                    remember,
                    run_id: self.run.run().map(|run| run.to_string()).unwrap_or_default(),
                    ..Default::default()
                };
                let answer = self.run.answer_approval(request).await?;
                // The rest is on the tape.
                if !answer.counted {
                    let (mark, told) = outcome(&answer);
                    self.seat.output.note(mark, &told);
                }
                return Ok(());
            }
            Answer::More => {
                let prompt = asked.prompt.unwrap_or_default();
                let lines = question(&prompt, &asked.risk, Detail::Full);
                lines.iter().for_each(|line| self.seat.output.row(line));
            }
            Answer::Skip => {
                let told = format!("left for later; `palyra approve yes {}` runs it", asked.approval_id);
                self.seat.output.note(Mark::Info, &told);
            }
            Answer::Unclear => self.seat.output.note(Mark::Info, Answer::HELP),
        }
        self.seat.output.prompt(Answer::PROMPT);
        Ok(())
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
        if self.asking == Asking::Approval && self.view.asked().is_none() {
            // Somebody else answered.
            self.seat.output.close_line();
            self.asking = Asking::Nothing;
        }
        if !self.caught_up || self.is_asking() || !self.view.may_wait() {
            return Ok(None);
        }
        self.ask().await
    }

    /// Takes note of what the daemon said when the run was opened.
    pub(crate) fn take_opened(&mut self, opened: &v1::Opened) {
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
                Shown::Progress(progress) => self.seat.output.progress(&progress),
                Shown::Remark(remark) => self.seat.output.remark(&remark)?,
                Shown::Note(mark, note) => self.seat.output.note(mark, &note),
                Shown::Row(row) => self.seat.output.row(&row),
                Shown::Printed(line) => self.seat.output.printed(&line),
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
        if waits_for == "approval" {
            return Ok(self.ask_approval());
        }
        let (told, prompt) = match &self.seat.person {
            Person::Nobody => {
                self.say_how_to_answer();
                return Ok(Some(Exit::Withheld));
            }
            Person::Types(_) => {
                ("the run waits: a line you type lets it go on, Ctrl-C cancels it", "answer> ")
            }
            Person::Watched(_) => ("the run waits: what you type next lets it go on, Ctrl-C cancels it", ""),
        };
        self.asking = Asking::Words;
        self.seat.output.note(Mark::Doubt, told);
        if !prompt.is_empty() {
            self.seat.output.prompt(prompt);
        }
        Ok(None)
    }

    /// Asks whether a call may run, or says how that is answered elsewhere.
    fn ask_approval(&mut self) -> Option<Exit> {
        let asked = self.view.asked()?;
        match &self.seat.person {
            Person::Nobody => {
                self.say_how_to_approve(&asked.approval_id);
                return Some(Exit::Withheld);
            }
            Person::Types(_) => self.seat.output.prompt(Answer::PROMPT),
            Person::Watched(_) => self.seat.output.note(Mark::Doubt, Answer::HELP),
        }
        self.asking = Asking::Approval;
        None
    }

    fn say_how_to_approve(&self, approval: &str) {
        let told = format!(
            "the run waits; `palyra approve yes {approval}` lets it run, `palyra approve no {approval}` denies it"
        );
        self.seat.output.note(Mark::Doubt, &told);
    }

    fn say_how_to_answer(&self) {
        if let Some(asked) = self.view.asked() {
            return self.say_how_to_approve(&asked.approval_id);
        }
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
