//! `palyra chat`: what is typed is said in the session of this folder.
//!
//! Owns the order of things: who types when, what waits while a run is active, what ends the chat. At a
//! terminal lines are edited, and typing while an answer streams holds the answer for the moment;
//! elsewhere one line is one input, and the next is read when its answer is there.
//! Begin at [`run`]; `words` says what a line means.

mod input;
mod chat_session;
mod words;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use palyra_client::{ClientError, FollowEvent};
use palyra_types::ErrorCode;
use palyra_wire::v1;
use palyra_wire::v1::InputDelivery;

use super::attachments;
use super::ids::{MissingSession, find_or_make_session, find_session};
use super::start_run::{Choice, note_other_model, start, workspace_root};
use crate::context::Context;
use crate::drive::{DaemonRun, Drive, FollowedRun, Format, Pause, Person, Seat, drive};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::{Echo, age, branch_origin, bytes, count, session_title, short_id};
use chat_session::ChatSession;
use input::Input;
use palyra_screen_text::clean_line;
use palyra_terminal::{Keyboard, Mark, PromptReader, Typed};
use words::Line;

const NAME_CHARS_MAX: usize = 60;
const SESSIONS_LISTED_MAX: u32 = 10;
/// More wait in the daemon; these are the ones this chat will show.
const WAITING_MAX: usize = 256;

/// Talk, line by line, and go on where this folder's last chat ended.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Examples:\n  palyra chat\n  palyra chat --session notes")]
pub(crate) struct ChatArgs {
    /// The session: its id, or a key of your own [default: this folder's]
    #[arg(long, value_name = "ID|KEY", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    session: Option<String>,
    /// Every entry of the answers' tapes as a line of JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    choice: Choice,
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, args: ChatArgs) -> Result<Exit, Failure> {
    let workspace_root = workspace_root(context, &args.choice)?;
    let client = context.connect_to_model(args.choice.model.as_deref()).await?;
    let key = || format!("chat:{workspace_root}");
    let selector = match &args.session {
        Some(name) => find_or_make_session(context, &client, name).await?,
        None => find_session(&client, &key(), MissingSession::Create).await?,
    };
    let agent = args.choice.agent.clone().unwrap_or_default();
    let chat_session = ChatSession { client, agent, selector };
    let models = Arc::new(Mutex::new(Vec::new()));
    let mut chat = Chat {
        context,
        input: Input::open(context, &models)?,
        chat_session,
        choice: args.choice,
        workspace_root,
        format: args.json.into(),
        told_model: false,
        files: Vec::new(),
        waiting: VecDeque::new(),
    };
    let exit = chat.go_on_with_session(&models).await?;
    let exit = chat.until_left(exit).await?;
    Ok(if chat.input.is_person() { Exit::Done } else { exit })
}

/// A run of this chat that is not followed yet.
struct WaitingRun {
    run: DaemonRun,
    opened: v1::Opened,
    echo: Echo,
}

/// What a line led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Obeyed {
    GoOn,
    Leave,
}

struct Chat<'a> {
    context: &'a Context,
    input: Input,
    chat_session: ChatSession,
    choice: Choice,
    workspace_root: String,
    format: Format,
    told_model: bool,
    /// Files that go along with what is said next.
    files: Vec<v1::Attachment>,
    waiting: VecDeque<WaitingRun>,
}

impl Chat<'_> {
    fn note(&self, mark: Mark, text: &str) {
        self.context.output.note(mark, text);
    }

    /// Shows where the session stands, and follows what of it is still open.
    async fn go_on_with_session(&mut self, models: &Mutex<Vec<String>>) -> Result<Exit, Failure> {
        let session = self.chat_session.session().await?;
        let open = self.chat_session.open_runs(&session).await?;
        if self.input.is_person() {
            *models.lock().unwrap_or_else(PoisonError::into_inner) = self.chat_session.models().await?;
            self.greet(&session, open.is_empty()).await?;
        }
        // So that what is typed next does not wait behind them unseen.
        for run in open {
            self.note(Mark::Info, &format!("run {run} of this chat is still open; following it"));
            let run = DaemonRun::attach(&self.chat_session.client, run, 0);
            let waiting = opened(run, Echo::Inputs).await?;
            self.waiting.push_back(waiting);
        }
        self.follow_waiting().await.map(|(exit, _)| exit)
    }

    async fn greet(&self, session: &v1::Session, at_rest: bool) -> Result<(), Failure> {
        let known = match (session.runs, &session.branched_from) {
            (0, Some(point)) => branch_origin(point),
            (0, None) => "a new chat".to_owned(),
            (runs, _) => {
                format!("going on after {}, the last {} ago", count(runs, "run"), age(session.updated))
            }
        };
        self.note(Mark::Info, &format!("{known}; /help lists commands"));
        if at_rest && let Some([said, answer]) = self.chat_session.last_exchange(session).await? {
            // Nothing is left of what was erased.
            for (what, text) in [("you said", said), ("the answer", answer)] {
                if !text.is_empty() {
                    self.note(Mark::Info, &format!("{what}: {text}"));
                }
            }
        }
        Ok(())
    }

    /// Obeys line after line.
    async fn until_left(&mut self, mut exit: Exit) -> Result<Exit, Failure> {
        while let Some(line) = self.input.typed(self.context).await? {
            if self.obey(&line).await? == Obeyed::Leave {
                break;
            }
            let (ended, obeyed) = self.follow_waiting().await?;
            // A script that talks is told by the exit code that something went wrong on the way.
            if exit == Exit::Done {
                exit = ended;
            }
            if obeyed == Obeyed::Leave || (!self.input.is_person() && ended == Exit::Withheld) {
                break;
            }
        }
        Ok(exit)
    }

    /// Obeys a line; what it says waits to be followed.
    async fn obey(&mut self, line: &str) -> Result<Obeyed, Failure> {
        let obeyed = match words::read(line) {
            Line::Quit => return Ok(Obeyed::Leave),
            Line::Say(delivery, text) => self.say(text, delivery, None).await,
            Line::Cancel => {
                self.note(Mark::Info, "no run is active");
                Ok(())
            }
            Line::Reset => self.reset().await,
            Line::Branch(place) => self.branch(place).await,
            Line::Sessions(name) => self.sessions(name).await,
            other => self.look(other).await,
        };
        self.tell(obeyed)
    }

    /// Obeys a line while a run is active.
    async fn obey_meanwhile<F: FnMut(&v1::Opened)>(
        &mut self,
        drive: &mut Drive<'_, DaemonRun, F>,
        line: &str,
    ) -> Result<Obeyed, Failure> {
        let active = drive.run().map(|run| run.to_string()).unwrap_or_default();
        let obeyed = match words::read(line) {
            Line::Quit => {
                self.note(
                    Mark::Info,
                    &format!("the run goes on; `palyra runs tail {active}` shows how it ends"),
                );
                return Ok(Obeyed::Leave);
            }
            Line::Say(InputDelivery::Queue, text) if drive.is_asking() => {
                drive.answer(text.to_owned()).await.map(|_| ())
            }
            Line::Say(delivery, text) => self.say(text, delivery, Some(&active)).await,
            Line::Cancel => drive.cancel(),
            Line::Reset | Line::Branch(_) | Line::Sessions(_) => {
                self.note(Mark::Bad, "a run is active; that goes once it is over, or after /cancel");
                Ok(())
            }
            other => self.look(other).await,
        };
        self.tell(obeyed)
    }

    /// What may be obeyed at any time and starts nothing.
    async fn look(&mut self, line: Line<'_>) -> Result<(), Failure> {
        match line {
            Line::Help => words::help().for_each(|line| self.context.output.row(&line)),
            Line::Status => return self.status().await,
            Line::Model(name) => return self.model(name).await,
            Line::Attach(files) => return self.attach(files),
            Line::Unknown(command) => {
                let told = format!(
                    "there is no {command}; /help lists commands, and a blank before it has it said as it is"
                );
                self.note(Mark::Bad, &told);
            }
            Line::Incomplete(command) => {
                let what = words::what_follows(command);
                self.note(Mark::Bad, &format!("write {command} {what}; /help lists commands"));
            }
            _ => {}
        }
        Ok(())
    }

    /// The next line may fare better; only what ends the chat is an error.
    fn tell(&self, outcome: Result<(), Failure>) -> Result<Obeyed, Failure> {
        match outcome {
            Ok(()) => Ok(Obeyed::GoOn),
            Err(Failure::Client(error)) if error.is_unreachable() => Err(error.into()),
            Err(failure @ Failure::Output(_)) => Err(failure),
            Err(Failure::Usage(told)) => {
                self.note(Mark::Bad, &told);
                Ok(Obeyed::GoOn)
            }
            Err(failure) if self.input.is_person() => {
                failure.show(&self.context.output);
                Ok(Obeyed::GoOn)
            }
            Err(failure) => Err(failure),
        }
    }

    async fn reset(&mut self) -> Result<(), Failure> {
        self.chat_session.reset().await?;
        self.note(Mark::Good, "a fresh context begins; what was said before stays in the journal");
        Ok(())
    }

    async fn branch(&mut self, place: &str) -> Result<(), Failure> {
        if place.is_empty() {
            return self.list_entries().await;
        }
        let session = self.chat_session.branch(place).await?;
        let id = short_id(&session.session_id);
        let told = format!("going on in a branch; `palyra chat --session {id}` comes back to it");
        self.note(Mark::Good, &told);
        Ok(())
    }

    /// Lists the entries to branch from.
    async fn list_entries(&self) -> Result<(), Failure> {
        let session = self.chat_session.session().await?;
        let entries = self.chat_session.last_entries(&session).await?;
        entries.iter().for_each(|entry| self.context.output.row(entry));
        if session.runs > 1 {
            let (runs, id) = (session.runs, short_id(&session.session_id));
            self.note(
                Mark::Info,
                &format!(
                    "that is the last of {runs} runs; `palyra runs list --session {id}` shows the others, and \
                     /branch RUN@NUMBER goes on from one"
                ),
            );
        }
        self.note(
            Mark::Info,
            "/branch NUMBER goes on in a new session after that entry, /branch here after all",
        );
        Ok(())
    }

    async fn sessions(&mut self, name: &str) -> Result<(), Failure> {
        if !name.is_empty() {
            let found = find_session(&self.chat_session.client, name, MissingSession::Refuse).await;
            let selector = match found {
                Err(failure) if is_missing_session(&failure) => return self.search(name).await,
                found => found?,
            };
            let old = std::mem::replace(&mut self.chat_session.selector, selector);
            return match self.chat_session.session().await {
                Ok(session) => {
                    self.chat_session.go_to(&session);
                    self.greet(&session, true).await
                }
                Err(failure) => {
                    self.chat_session.selector = old;
                    if is_missing_session(&failure) { self.search(name).await } else { Err(failure) }
                }
            };
        }
        self.list_sessions("").await.map(|_| ())
    }

    /// Lists the sessions that hold a text which names none.
    async fn search(&self, text: &str) -> Result<(), Failure> {
        if self.list_sessions(text).await? == 0 {
            let text = clean_line(text, NAME_CHARS_MAX);
            return Err(Failure::Usage(format!(
                "no session is named `{text}`, or has it in its title or inputs; answers are not searched, and /sessions \
                 lists the latest"
            )));
        }
        self.note(Mark::Info, "/sessions ID goes on in one of them");
        Ok(())
    }

    /// Lists the latest sessions that hold a text; returns how many.
    async fn list_sessions(&self, search: &str) -> Result<usize, Failure> {
        let request = v1::ListSessionsRequest {
            page_size: SESSIONS_LISTED_MAX,
            search: search.to_owned(),
            ..Default::default()
        };
        let page = self.chat_session.client.list_sessions(request).await?;
        let listed = page.sessions.len();
        for session in page.sessions {
            let name = clean_line(&session_title(&session), NAME_CHARS_MAX);
            let (id, age) = (short_id(&session.session_id), age(session.updated));
            self.context.output.row(&format!("{id}  {age:>4} ago  {:>4}  {name}", session.runs));
        }
        Ok(listed)
    }

    async fn status(&self) -> Result<(), Failure> {
        let session = self.chat_session.session().await?;
        let models = self.chat_session.models().await?;
        let model = self.choice.model.as_ref().or(models.first()).cloned().unwrap_or_default();
        let told = format!("session {}, {}, model {model}", session.session_id, count(session.runs, "run"));
        self.note(Mark::Info, &told);
        for file in &self.files {
            self.note(Mark::Info, &format!("goes along with the next input: {}", described(file)));
        }
        Ok(())
    }

    async fn model(&mut self, name: &str) -> Result<(), Failure> {
        let models = self.chat_session.models().await?;
        if name.is_empty() {
            let chosen = self.choice.model.as_ref().or(models.first()).cloned();
            for model in &models {
                let mark = if Some(model) == chosen.as_ref() { "* " } else { "  " };
                self.context.output.row(&format!("{mark}{}", clean_line(model, NAME_CHARS_MAX)));
            }
            return Ok(());
        }
        let Some((provider, _)) = name.split_once('/') else {
            return Err(Failure::Usage(format!("a model is named as provider/model, such as {}", models[0])));
        };
        if !models.iter().any(|model| model.split('/').next() == Some(provider)) {
            let provider = clean_line(provider, NAME_CHARS_MAX);
            return Err(Failure::Usage(format!(
                "no provider `{provider}` is configured; /model lists what is"
            )));
        }
        self.choice.model = Some(name.to_owned());
        self.note(Mark::Good, &format!("{name} answers from now on"));
        Ok(())
    }

    fn attach(&mut self, files: &str) -> Result<(), Failure> {
        // A name with blanks in it is one file, when there is one.
        let whole = PathBuf::from(files.replace("\\ ", " "));
        let files =
            if whole.exists() { vec![whole] } else { files.split_whitespace().map(PathBuf::from).collect() };
        let read = attachments::read(&files)?;
        attachments::check_together(self.files.iter().chain(&read))?;
        for file in &read {
            self.note(Mark::Good, &format!("goes along with the next input: {}", described(file)));
        }
        self.files.extend(read);
        Ok(())
    }

    /// Says something; the run that answers it waits to be followed.
    async fn say(
        &mut self,
        text: &str,
        delivery: InputDelivery,
        active: Option<&str>,
    ) -> Result<(), Failure> {
        if self.waiting.len() >= WAITING_MAX {
            return Err(Failure::Usage("too much waits already; it was not sent".to_owned()));
        }
        let request = v1::StartRunRequest {
            session: Some(self.chat_session.selector.clone()),
            input: text.to_owned(),
            workspace_root: self.workspace_root.clone(),
            delivery: delivery.into(),
            attachments: self.files.clone(),
            ..Default::default()
        };
        let run = start(&self.chat_session.client, &self.choice, request);
        let echo = if active.is_some() { Echo::Inputs } else { Echo::No };
        let waiting = opened(run, echo).await?;
        self.files.clear();
        if !std::mem::replace(&mut self.told_model, true) {
            note_other_model(self.context, &self.choice, &waiting.opened.model);
        }
        match (active, delivery) {
            (None, _) => self.waiting.push_back(waiting),
            (Some(active), _) if waiting.opened.run_id == active => {
                self.note(Mark::Good, "the run takes it into account with its next step");
            }
            (Some(_), InputDelivery::Interrupt) => {
                self.note(Mark::Info, "interrupting the run");
                self.waiting.push_front(waiting);
            }
            (Some(_), _) => {
                self.note(Mark::Info, "it waits for its turn");
                self.waiting.push_back(waiting);
            }
        }
        Ok(())
    }

    /// Follows what waits, one after the other; returns how the last of it that went wrong ended.
    async fn follow_waiting(&mut self) -> Result<(Exit, Obeyed), Failure> {
        let mut exit = Exit::Done;
        while let Some(waiting) = self.waiting.pop_front() {
            let followed = match &self.input {
                Input::Editor(_) => self.follow_at_keyboard(waiting).await,
                Input::Person(_) | Input::Script(_) => {
                    self.follow_lines(waiting).await.map(|exit| (exit, Obeyed::GoOn))
                }
            };
            let (ended, obeyed) = match followed {
                // The next line may fare better; only what ends the chat is an error.
                Err(Failure::Client(error)) if !error.is_unreachable() => {
                    let failure = self.context.with_mend(Failure::Client(error));
                    failure.show(&self.context.output);
                    (failure.exit(), Obeyed::GoOn)
                }
                followed => followed?,
            };
            if ended != Exit::Done {
                exit = ended;
            }
            if obeyed == Obeyed::Leave {
                return Ok((exit, obeyed));
            }
        }
        Ok((exit, Obeyed::GoOn))
    }

    async fn follow_lines(&mut self, mut waiting: WaitingRun) -> Result<Exit, Failure> {
        let context = self.context;
        for note in &waiting.opened.notes {
            self.note(Mark::Info, note);
        }
        let person = match &mut self.input {
            Input::Person(reader) => Person::Types(reader),
            Input::Script(_) | Input::Editor(_) => Person::Nobody,
        };
        let seat = seat(context, person, self.format, waiting.echo);
        drive(&mut waiting.run, seat, |_| {}).await
    }

    /// Follows a run at a terminal: the first key holds the answer, the line it begins is obeyed, and the
    /// answer goes on.
    async fn follow_at_keyboard(&mut self, mut waiting: WaitingRun) -> Result<(Exit, Obeyed), Failure> {
        let context = self.context;
        let keyboard = Keyboard::watch(&context.interrupts);
        let mut reader = PromptReader::of_process(&context.output, &context.interrupts);
        let person = match (&keyboard, &mut reader) {
            (Some(keyboard), Some(reader)) => Person::Watched { keyboard, reader },
            _ => Person::Nobody,
        };
        let seat = seat(context, person, self.format, waiting.echo);
        let mut drive = Drive::begin(&mut waiting.run, seat, |_| {});
        drive.take_opened(&waiting.opened);
        loop {
            match drive.go_on().await? {
                Pause::Over(exit) => return Ok((exit, Obeyed::GoOn)),
                Pause::Touched => {}
            }
            let Input::Editor(editor) = &mut self.input else { return Ok((Exit::Failed, Obeyed::Leave)) };
            let prompt = if drive.is_asking() { "? " } else { "> " };
            let typed = editor.read(prompt, &context.output).await?;
            let obeyed = match typed {
                Typed::Text(line) => self.obey_meanwhile(&mut drive, &line).await?,
                Typed::End => self.obey_meanwhile(&mut drive, "/quit").await?,
                // As if it had been pressed while the answer streamed.
                Typed::Interrupted if context.interrupts.press() => Obeyed::Leave,
                Typed::Interrupted => Obeyed::GoOn,
            };
            if obeyed == Obeyed::Leave {
                return Ok((Exit::Done, Obeyed::Leave));
            }
            keyboard.iter().for_each(Keyboard::rearm);
        }
    }
}

fn seat<'a>(context: &'a Context, person: Person<'a>, format: Format, echo: Echo) -> Seat<'a> {
    Seat::new(&context.output, &context.interrupts, person, format, echo)
}

fn is_missing_session(failure: &Failure) -> bool {
    match failure {
        Failure::Client(error) => error.code() == ErrorCode::SessionNotFound,
        Failure::Local { code, .. } => *code == ErrorCode::SessionNotFound,
        _ => false,
    }
}

fn described(file: &v1::Attachment) -> String {
    format!("{} ({}, {})", file.name, file.media_type, bytes(file.bytes))
}

/// Waits until the daemon has taken a run on.
async fn opened(mut run: DaemonRun, echo: Echo) -> Result<WaitingRun, Failure> {
    loop {
        match run.next().await? {
            Some(FollowEvent::Opened(opened)) => return Ok(WaitingRun { run, opened, echo }),
            Some(_) => {}
            None => return Err(ClientError::Protocol { what: "a run ended before it was opened" }.into()),
        }
    }
}
