//! Drives one run at the terminal: shows it, takes Ctrl-C, asks when it waits, and knows how it ended.
//!
//! An answer is for the question that was on the screen when it was typed, and for no other: the question names its
//! approval, and nothing else is shown while it is open.
//!
//! Invariant: returns when the run ended, when it waits and nobody here can answer, or with a failure.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;

use palyra_client::{Client, ClientError, FollowEvent, RunFollower};
use palyra_types::RunId;
use palyra_wire::json::to_json;
use palyra_wire::v1;
use palyra_wire::v1::tape_entry::Event;
use tokio::time::Instant;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::run_folder;
use palyra_run_view::{AnswerForm, OfferScope, TypedAnswer};
use palyra_run_view::{
    CallProgress, DeferredOutput, EchoMode, PreviewDetail, RunView, ShownLine, TextFlow, is_said_by_tape,
    outcome, question, run_state,
};
use palyra_screen_text::{LineLook, count, short_id};
use palyra_terminal::{
    InterruptListener, Keyboard, NoteKind, Output, OutputError, PromptReader, PromptReply, ReadingMode,
};
use replay::RunQuestion;

mod left_open;
mod answer_prompt;
mod stopping;
mod replay;

/// How long a cancelled run may take to end before it is left alone.
const END_WITHIN: Duration = Duration::from_secs(10);
/// Said above a question that is asked again.
const ASKED_AGAIN: &str = "nothing ran: this call is asked about again";
/// After so long without more of a text, what was kept back of it is shown as it is.
const TEXT_PAUSE: Duration = Duration::from_secs(1);

/// A run that is followed.
pub(crate) trait FollowedRun {
    /// Returns the next event; `None` after the last. Dropping the future loses nothing.
    async fn next(&mut self) -> Result<Option<FollowEvent>, ClientError>;
    /// Asks the run to stop.
    fn request_cancel(&mut self);
    /// Sends the run an input.
    fn send_input(&mut self, text: String) -> Result<(), ClientError>;
    /// Lets the run go on once, which waits for a budget.
    async fn go_on_once(&mut self) -> Result<v1::GoOnOnceResponse, ClientError>;
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

impl DaemonRun {
    /// Follows a run from an entry of its tape on.
    pub(crate) fn attach(client: &Client, run: RunId, after: u32) -> Self {
        Self { client: client.clone(), follower: RunFollower::attach(client, run, after) }
    }
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

    async fn go_on_once(&mut self) -> Result<v1::GoOnOnceResponse, ClientError> {
        let run_id = self.run().map(|run| run.to_string()).unwrap_or_default();
        self.client.call(v1::GoOnOnceRequest { run_id }).await
    }

    fn run(&self) -> Option<RunId> {
        self.follower.run()
    }

    async fn answer_approval(
        &mut self,
        request: v1::ResolveApprovalRequest,
    ) -> Result<v1::ResolveApprovalResponse, ClientError> {
        self.client.call(request).await
    }

    async fn waits_for(&self) -> Result<Option<String>, ClientError> {
        let Some(run) = self.follower.run() else { return Ok(None) };
        let run = self.client.get_run(run).await?;
        Ok((run.phase() == v1::RunPhase::Waiting).then(|| run.waiting_for_name().into_owned()))
    }
}

/// What goes to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// The model's text; all else is notes.
    Text,
    /// Every entry as a line of JSON.
    Json,
}

impl From<bool> for OutputFormat {
    /// Reads the flag `--json`.
    fn from(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

/// How a run that waits gets its answer.
pub(crate) enum InteractionMode<'a> {
    /// No person can answer here.
    Unattended,
    /// A person types a line when the run waits.
    LinePrompt(&'a mut PromptReader),
    /// A person's keyboard is watched; what is typed is read elsewhere.
    WatchedKeyboard {
        /// Reports keys.
        keyboard: &'a Keyboard,
        /// Drops what was typed before a question.
        reader: &'a mut PromptReader,
    },
}

impl<'a> InteractionMode<'a> {
    /// Returns a prompt, where a person can be asked.
    pub(crate) fn at(reader: Option<&'a mut PromptReader>) -> Self {
        reader.map_or(Self::Unattended, Self::LinePrompt)
    }

    fn reader(&mut self) -> Option<(&mut PromptReader, ReadingMode)> {
        match self {
            Self::Unattended => None,
            Self::LinePrompt(reader) => Some((reader, ReadingMode::Shown)),
            Self::WatchedKeyboard { reader, .. } => Some((reader, ReadingMode::Elsewhere)),
        }
    }
}

/// Why driving pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DrivePause {
    /// The run is over, or nothing more can be done from here.
    Over(Exit),
    /// A key was pressed at a watched keyboard.
    KeyPressed,
}

/// The terminal that a run is driven at.
pub(crate) struct TerminalSession<'a> {
    pub(crate) output: &'a Output,
    pub(crate) interrupts: &'a InterruptListener,
    pub(crate) person: InteractionMode<'a>,
    pub(crate) format: OutputFormat,
    pub(crate) echo: EchoMode,
    /// Whether this is a chat, which has commands of its own.
    pub(crate) in_chat: bool,
    /// Where grants hold that are given here.
    pub(crate) scope: OfferScope,
    /// Names of people who decided about calls of the run, by principal.
    pub(crate) deciders: BTreeMap<String, String>,
    /// How long the run may take before it is cancelled from here.
    pub(crate) time_limit: Option<Duration>,
    pub(crate) at_interrupt: InterruptEffect,
}

/// Whether Ctrl-C ends the run or only the view of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InterruptEffect {
    Cancels,
    Leaves,
}

impl<'a> TerminalSession<'a> {
    /// Returns a terminal at which a run may take as long as it needs.
    pub(crate) fn new(
        output: &'a Output,
        interrupts: &'a InterruptListener,
        person: InteractionMode<'a>,
        format: OutputFormat,
        echo: EchoMode,
    ) -> Self {
        Self {
            output,
            interrupts,
            person,
            format,
            echo,
            in_chat: false,
            scope: OfferScope::default(),
            deciders: BTreeMap::new(),
            time_limit: None,
            at_interrupt: InterruptEffect::Cancels,
        }
    }
}

/// Drives a run to its end.
pub(crate) async fn drive(
    run: &mut impl FollowedRun,
    seat: TerminalSession<'_>,
    opened: impl FnMut(&v1::Opened),
) -> Result<Exit, Failure> {
    drive_after(run, 0, seat, opened).await
}

/// Drives a run to its end, of which the person has seen the entries up to a number: they count and are not shown.
pub(crate) async fn drive_after(
    run: &mut impl FollowedRun,
    seen: u32,
    seat: TerminalSession<'_>,
    opened: impl FnMut(&v1::Opened),
) -> Result<Exit, Failure> {
    let mut drive = RunDriver::begin(run, seat, opened);
    drive.seen = seen;
    drive.until_over().await
}

/// A run that is being driven.
pub(crate) struct RunDriver<'a, R, F> {
    run: &'a mut R,
    seat: TerminalSession<'a>,
    opened: F,
    view: RunView,
    calls: CallProgress,
    caught_up: bool,
    /// The last entry that is not shown.
    seen: u32,
    /// What a person was asked and has not answered.
    asking: PendingQuestion,
    /// Whether the prompt is drawn, where its answer is read elsewhere.
    drawn: bool,
    /// The approval that was shown last, if nothing was shown after it.
    on_screen: Option<String>,
    /// A question of before that is shown once it is known whether it is open.
    replayed: Option<RunQuestion>,
    /// Approvals that this person leaves for later.
    left: BTreeSet<String>,
    /// Whether this person leaves the question of a budget for later.
    budget_left: bool,
    /// What came while a question was open.
    deferred: DeferredOutput,
    /// The run was asked to stop, so nothing is asked any more.
    stopping: bool,
    /// When text that does not go on is shown as far as it came.
    text_pauses: Option<Instant>,
    /// When patience ends: first with the run, then with its end.
    time_up: Option<Instant>,
    timed_out: bool,
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq)]
enum PendingQuestion {
    Nothing,
    /// For words that let the run go on.
    Words,
    /// How the run goes on, which waits for a budget.
    Budget,
    /// Whether a call may run.
    Approval {
        /// The only approval that the answer is for.
        approval_id: String,
        form: Box<AnswerForm>,
    },
}

/// What happened first.
enum DriveEvent {
    Interrupted,
    TimeUp,
    TextPauses,
    CallGoesOn,
    KeyPressed,
    Replied(io::Result<PromptReply>),
    Event(Option<FollowEvent>),
}

impl<'a, R: FollowedRun, F: FnMut(&v1::Opened)> RunDriver<'a, R, F> {
    /// Begins to drive a run.
    pub(crate) fn begin(run: &'a mut R, mut seat: TerminalSession<'a>, opened: F) -> Self {
        seat.interrupts.begin("");
        let flow = if seat.output.is_watched() { TextFlow::Live } else { TextFlow::Whole };
        let mut view = RunView::new(seat.echo, flow);
        view.in_chat = seat.in_chat;
        view.scope = std::mem::take(&mut seat.scope);
        view.deciders = std::mem::take(&mut seat.deciders);
        let time_up = seat.time_limit.map(|limit| Instant::now() + limit);
        Self {
            run,
            seat,
            opened,
            view,
            calls: CallProgress::default(),
            caught_up: false,
            seen: 0,
            asking: PendingQuestion::Nothing,
            drawn: false,
            on_screen: None,
            replayed: None,
            left: BTreeSet::new(),
            budget_left: false,
            deferred: DeferredOutput::default(),
            stopping: false,
            text_pauses: None,
            time_up,
            timed_out: false,
        }
    }

    /// Returns the run.
    pub(crate) fn run(&self) -> Option<RunId> {
        self.run.run()
    }

    /// Returns whether the run waits for what the person types next.
    pub(crate) fn is_asking(&self) -> bool {
        self.asking != PendingQuestion::Nothing
    }

    async fn until_over(mut self) -> Result<Exit, Failure> {
        loop {
            if let DrivePause::Over(exit) = self.resume().await? {
                return Ok(exit);
            }
        }
    }

    /// Drives until the run is over, or a key is pressed.
    pub(crate) async fn resume(&mut self) -> Result<DrivePause, Failure> {
        let pause = self.until_pause().await?;
        self.seat.output.end_progress();
        self.seat.output.flush_text()?;
        Ok(pause)
    }

    async fn until_pause(&mut self) -> Result<DrivePause, Failure> {
        loop {
            match self.next_event().await? {
                DriveEvent::Interrupted if self.seat.at_interrupt == InterruptEffect::Leaves => {
                    self.close_question()?;
                    self.say_how_to_end();
                    return Ok(DrivePause::Over(Exit::Cancelled));
                }
                DriveEvent::Interrupted => self.cancel()?,
                DriveEvent::TimeUp if self.timed_out => {
                    self.close_question()?;
                    return Ok(DrivePause::Over(Exit::TimeLimit));
                }
                DriveEvent::TimeUp => self.stop_at_limit()?,
                DriveEvent::TextPauses => {
                    self.text_pauses = None;
                    self.seat.output.flush_text()?;
                }
                DriveEvent::CallGoesOn => self.show_call_progress(),
                DriveEvent::KeyPressed => return Ok(DrivePause::KeyPressed),
                DriveEvent::Replied(reply) => {
                    if let Some(exit) = self.take_reply(reply.map_err(OutputError::Failed)?).await? {
                        return Ok(DrivePause::Over(exit));
                    }
                }
                DriveEvent::Event(None) => {
                    self.close_question()?;
                    return Ok(DrivePause::Over(Exit::Failed));
                }
                DriveEvent::Event(Some(FollowEvent::Ended(end))) => {
                    self.close_question()?;
                    return Ok(DrivePause::Over(match Exit::of_view(&self.view, run_state(end.state)) {
                        Exit::Cancelled if self.timed_out => Exit::TimeLimit,
                        exit => exit,
                    }));
                }
                DriveEvent::Event(Some(event)) => {
                    if let Some(exit) = self.take(event).await? {
                        return Ok(DrivePause::Over(exit));
                    }
                }
            }
        }
    }

    async fn next_event(&mut self) -> Result<DriveEvent, Failure> {
        self.show_idle_prompt();
        let (asking, drawn) = (self.is_asking(), self.drawn);
        let (time_up, text_pauses) = (self.time_up, self.text_pauses);
        let call_due = self.calls.due().map(Instant::from_std);
        let person = &mut self.seat.person;
        let hands = async {
            match person {
                InteractionMode::LinePrompt(reader) if asking => DriveEvent::Replied(reader.replied().await),
                // A key that was pressed before the prompt is no answer to it.
                InteractionMode::WatchedKeyboard { reader, .. } if asking && !drawn => {
                    DriveEvent::Replied(reader.replied().await)
                }
                InteractionMode::WatchedKeyboard { keyboard, .. } => {
                    keyboard.touched().await;
                    DriveEvent::KeyPressed
                }
                InteractionMode::LinePrompt(_) | InteractionMode::Unattended => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.seat.interrupts.pressed() => Ok(DriveEvent::Interrupted),
            happened = hands => Ok(happened),
            () = until(time_up) => Ok(DriveEvent::TimeUp),
            event = self.run.next() => Ok(DriveEvent::Event(event?)),
            () = until(text_pauses) => Ok(DriveEvent::TextPauses),
            () = until(call_due) => Ok(DriveEvent::CallGoesOn),
        }
    }

    /// Shows how far a long call is, unless something is asked.
    fn show_call_progress(&mut self) {
        let line = self.calls.line(Instant::now().into_std());
        if !line.is_empty() && !self.is_asking() && self.seat.format == OutputFormat::Text {
            self.seat.output.progress(&line);
        }
    }

    /// Takes what came of a prompt; returns how the program ends when nothing more can be done here.
    async fn take_reply(&mut self, reply: PromptReply) -> Result<Option<Exit>, Failure> {
        match reply {
            PromptReply::Drawn => self.drawn = true,
            PromptReply::Line(line) => return self.answer(line).await,
            PromptReply::End => {
                self.seat.output.close_line();
                self.close_question()?;
                self.say_how_to_answer();
                return Ok(Some(Exit::Withheld));
            }
        }
        Ok(None)
    }

    /// Answers a run that waits; returns how the program ends when the answer is left for later.
    pub(crate) async fn answer(&mut self, answer: String) -> Result<Option<Exit>, Failure> {
        if let PendingQuestion::Approval { approval_id, form } = self.asking.clone() {
            return self.answer_approval(&approval_id, form, &answer).await;
        }
        if self.asking == PendingQuestion::Budget {
            return self.answer_budget(&answer).await;
        }
        if self.asking == PendingQuestion::Words && self.take_no_words(&answer)? {
            return Ok(None);
        }
        self.close_question()?;
        self.run.send_input(answer)?;
        Ok(None)
    }

    async fn answer_approval(
        &mut self,
        approval_id: &str,
        mut form: Box<AnswerForm>,
        typed: &str,
    ) -> Result<Option<Exit>, Failure> {
        match form.read(typed) {
            TypedAnswer::Decide { decision, note, remember } => {
                self.close_question()?;
                let request = v1::ResolveApprovalRequest {
                    approval_id: approval_id.to_owned(),
                    decision: decision.into(),
                    note,
                    remember,
                    run_id: self.run.run().map(|run| run.to_string()).unwrap_or_default(),
                    ..Default::default()
                };
                let answer = self.run.answer_approval(request).await?;
                // The rest is on the tape.
                if !is_said_by_tape(&answer) {
                    // The question that follows is shown here, with its cause.
                    if answer.asked_again_as.is_empty() {
                        let (mark, notice) = outcome(&answer, "", |id| self.seat.output.id(id));
                        self.seat.output.note(mark, &notice);
                    } else {
                        self.seat.output.note(NoteKind::Doubt, ASKED_AGAIN);
                    }
                }
                return Ok(None);
            }
            TypedAnswer::Skip => return self.leave_for_later(approval_id),
            TypedAnswer::More => {
                let asked =
                    self.view.pending_approvals().iter().find(|asked| asked.approval_id == approval_id);
                if let Some(asked) = asked.map(RunQuestion::of) {
                    self.show_question(&asked, PreviewDetail::More);
                }
            }
            TypedAnswer::WordMissing => {
                form.word_missing(typed).iter().for_each(|line| self.seat.output.note(NoteKind::Doubt, line));
            }
            TypedAnswer::Unclear => {
                form.unclear(typed).iter().for_each(|line| self.seat.output.note(NoteKind::Info, line));
            }
        }
        let prompt = form.prompt();
        self.asking = PendingQuestion::Approval { approval_id: approval_id.to_owned(), form };
        self.begin_prompt(&prompt)?;
        Ok(None)
    }

    /// Takes an event; returns how the program ends when nothing more can be done here.
    async fn take(&mut self, event: FollowEvent) -> Result<Option<Exit>, Failure> {
        match event {
            FollowEvent::Opened(opened) => self.take_opened(&opened),
            FollowEvent::Entry(entry) => self.show(&entry)?,
            FollowEvent::CaughtUp => {
                self.caught_up = true;
                self.show_replayed()?;
            }
            FollowEvent::Lost => self.note_at_once(NoteKind::Doubt, "the daemon is gone; looking for it")?,
            FollowEvent::Reattached => {
                self.note_at_once(NoteKind::Info, "the daemon is back; going on")?;
                self.remind()?;
            }
            FollowEvent::InputAccepted(accepted) => self.take_accepted(&accepted)?,
            FollowEvent::CancelTaken | FollowEvent::Ended(_) => {}
        }
        self.budget_left &= self.view.waits_for_budget();
        let answered_elsewhere = match &self.asking {
            PendingQuestion::Nothing => false,
            PendingQuestion::Words => !self.view.may_wait(),
            PendingQuestion::Budget => !self.view.waits_for_budget(),
            PendingQuestion::Approval { approval_id, .. } => {
                !self.view.pending_approvals().iter().any(|asked| asked.approval_id == *approval_id)
            }
        };
        if answered_elsewhere {
            self.close_question()?;
        }
        if !self.caught_up || self.stopping || self.is_asking() || !self.view.may_wait() {
            return Ok(None);
        }
        self.ask().await
    }

    /// Takes note of what the daemon said when the run was opened.
    pub(crate) fn take_opened(&mut self, opened: &v1::Opened) {
        for note in &opened.notes {
            self.seat.output.note(NoteKind::Info, note);
        }
        self.seat.interrupts.say_at_parting(&format!(
            "left; `palyra runs tail {}` shows how it ends",
            short_id(&opened.run_id)
        ));
        (self.opened)(opened);
    }

    fn take_accepted(&mut self, accepted: &v1::InputAccepted) -> Result<(), Failure> {
        if !accepted.queued {
            return Ok(());
        }
        let notice = format!(
            "the run went on in that time; the input is run {} of this session",
            short_id(&accepted.run_id)
        );
        self.note(NoteKind::Info, &notice)
    }

    fn note(&mut self, mark: NoteKind, text: &str) -> Result<(), Failure> {
        self.put(ShownLine::Note(mark, text.to_owned()))
    }

    /// Shows a note also while a question is open, whose prompt is withdrawn: [`Self::remind`] draws it again.
    fn note_at_once(&mut self, mark: NoteKind, text: &str) -> Result<(), Failure> {
        self.drawn = false;
        if let Some((reader, _)) = self.seat.person.reader() {
            reader.withdraw();
        }
        self.write(ShownLine::Note(mark, text.to_owned()))
    }

    fn show(&mut self, entry: &v1::TapeEntry) -> Result<(), Failure> {
        if let Some(Event::RunStarted(started)) = &entry.event {
            self.view.scope.elsewhere = run_folder::elsewhere_of(&started.workspace_root);
        }
        let shown = self.view.absorb(entry);
        self.calls.absorb(entry, Instant::now().into_std());
        if entry.tape_seq <= self.seen {
            return Ok(());
        }
        if self.seat.format == OutputFormat::Json {
            return Ok(self.seat.output.json(&to_json(entry))?);
        }
        shown.into_iter().try_for_each(|shown| self.put(self.as_output(shown)))
    }

    /// Where a tape is what was asked for, its steps are the output: beside a terminal they go to standard output.
    fn as_output(&self, shown: ShownLine) -> ShownLine {
        match shown {
            ShownLine::Note(mark, step)
                if self.seat.echo == EchoMode::Tape && !self.seat.output.is_watched() =>
            {
                ShownLine::Text(format!("{} {step}\n", mark.sign()))
            }
            ShownLine::Copied(line) if self.seat.echo == EchoMode::Tape && !self.seat.output.is_watched() => {
                ShownLine::Text(format!("  {line}\n"))
            }
            ShownLine::Change(lines)
                if self.seat.echo == EchoMode::Tape && !self.seat.output.is_watched() =>
            {
                ShownLine::Text(lines.iter().map(|line| format!("  {}\n", line.text)).collect())
            }
            shown => shown,
        }
    }

    /// Shows something, unless a question is open: nothing comes between a question and its answer.
    fn put(&mut self, shown: ShownLine) -> Result<(), Failure> {
        if self.is_asking() {
            self.deferred.push(shown);
            return Ok(());
        }
        self.write(shown)
    }

    fn write(&mut self, shown: ShownLine) -> Result<(), Failure> {
        self.show_replayed()?;
        let output = self.seat.output;
        self.on_screen = None;
        self.text_pauses = matches!(shown, ShownLine::Text(_)).then(|| Instant::now() + TEXT_PAUSE);
        match shown {
            ShownLine::TextBegins => output.end_text()?,
            ShownLine::Text(text) => output.text(&text)?,
            ShownLine::LineEnd => output.end_line()?,
            ShownLine::Progress(progress) => output.progress(&progress),
            ShownLine::Remark(remark) => output.remark(&remark)?,
            ShownLine::Note(mark, note) => output.note(mark, &note),
            ShownLine::Copied(line) => output.diff([(line.as_str(), LineLook::Plain)]),
            ShownLine::Change(lines) => {
                output.diff(lines.iter().map(|line| (line.text.as_str(), line.look)));
            }
            ShownLine::Question { approval_id, prompt, risk } if !self.caught_up => {
                self.replayed = Some(RunQuestion { approval_id, prompt, risk });
            }
            ShownLine::Question { approval_id, prompt, risk } => {
                let asked = RunQuestion { approval_id, prompt, risk };
                self.show_question(&asked, self.detail());
                self.on_screen = Some(asked.approval_id);
            }
            ShownLine::Printed(line) => {
                output.printed(&line);
                self.show_call_progress();
            }
            ShownLine::Error(code, message) => {
                let run = self.run.run().map(|run| run.to_string()).unwrap_or_default();
                let failure = Failure::local(code, message).naming_run(&output.id(&run), self.view.model());
                let failure = if self.seat.in_chat { failure.in_chat() } else { failure };
                output.error_lines(&failure.lines());
            }
        }
        Ok(())
    }

    /// Returns how much of a question is shown at first.
    fn detail(&self) -> PreviewDetail {
        match self.seat.person {
            InteractionMode::Unattended => PreviewDetail::Unattended,
            InteractionMode::LinePrompt(_) | InteractionMode::WatchedKeyboard { .. } => PreviewDetail::Prompt,
        }
    }

    fn show_question(&self, asked: &RunQuestion, detail: PreviewDetail) {
        let lines = question(&asked.approval_id, &asked.prompt, &asked.risk, detail, &self.view.scope);
        self.seat.output.question(lines.iter().map(|line| (line.text.as_str(), line.look)));
    }

    /// Ends the question, and shows what came in that time.
    fn close_question(&mut self) -> Result<(), Failure> {
        self.show_replayed()?;
        if !self.is_asking() {
            return Ok(());
        }
        self.asking = PendingQuestion::Nothing;
        self.drawn = false;
        if let Some((reader, _)) = self.seat.person.reader() {
            reader.withdraw();
        }
        let (held, left_out) = self.deferred.take();
        held.into_iter().try_for_each(|shown| self.write(shown))?;
        if left_out > 0 {
            let left_out = count(left_out, "more line");
            let run =
                self.run.run().map_or_else(|| "last".to_owned(), |run| self.seat.output.id(&run.to_string()));
            let notice =
                format!("{left_out} came while the question was open; `palyra runs tail {run}` shows all");
            self.seat.output.note(NoteKind::Info, &notice);
        }
        Ok(())
    }

    fn begin_prompt(&mut self, text: &str) -> Result<(), Failure> {
        self.drawn = false;
        match self.seat.person.reader() {
            Some((reader, reading)) => {
                reader.begin(text, reading).map_err(|error| OutputError::Failed(error).into())
            }
            None => Ok(()),
        }
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
            let notice =
                "the run's tape holds an entry this version does not know; a newer version can go on with it";
            self.seat.output.note(NoteKind::Doubt, notice);
            return Ok(Some(Exit::Withheld));
        }
        if waits_for == "approval" {
            return self.ask_approval();
        }
        if matches!(self.seat.person, InteractionMode::Unattended) {
            self.say_how_to_answer();
            return Ok(Some(Exit::Withheld));
        }
        match (self.view.waits_for_budget(), self.budget_left) {
            (true, true) => {}
            (true, false) => self.ask_about_budget()?,
            (false, _) => self.ask_for_words()?,
        }
        Ok(None)
    }

    /// Asks whether a call may run, or says how that is answered elsewhere.
    fn ask_approval(&mut self) -> Result<Option<Exit>, Failure> {
        let asked =
            self.view.pending_approvals().iter().find(|asked| !self.left.contains(&asked.approval_id));
        let Some(asked) = asked.cloned() else { return Ok(None) };
        if matches!(self.seat.person, InteractionMode::Unattended) {
            self.say_how_to_approve(&asked.approval_id);
            return Ok(Some(Exit::Withheld));
        }
        if self.on_screen.as_ref() != Some(&asked.approval_id) {
            self.show_question(&RunQuestion::of(&asked), self.detail());
        }
        let asked_prompt = asked.prompt.clone().unwrap_or_default();
        let form = AnswerForm::of(&asked.approval_id, &asked.risk_name(), &asked_prompt, &self.view.scope);
        let form = Box::new(form);
        let prompt = form.prompt();
        self.asking = PendingQuestion::Approval { approval_id: asked.approval_id, form };
        self.begin_prompt(&prompt)?;
        Ok(None)
    }

    fn say_how_to_approve(&self, approval: &str) {
        self.seat.output.note(NoteKind::Doubt, &self.how_to_approve(approval));
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
