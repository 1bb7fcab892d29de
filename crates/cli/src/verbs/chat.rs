//! `palyra chat`: what is typed is said in the session of this folder.
//!
//! Owns the order of things: who types when, what waits while a run is active, what ends the chat. At a
//! terminal lines are edited, and typing while an answer streams holds the answer for the moment;
//! elsewhere one line is one input, and the next is read when its answer is there.
//! Begin at [`run`]; [`ChatLine`] says what a line means.

mod input;
mod chat_session;
mod chat_mend;
mod model_choice;
mod sent_files;
mod session_lines;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use palyra_client::{AskProviders, ClientError, FollowEvent};
use palyra_types::RunId;
use palyra_wire::v1;
use palyra_wire::v1::InputDelivery;

use super::approve::folder_of;
use super::ids::{MissingSession, RunName, find_or_make_session, find_session};
use super::run::note_cost;
use super::runs::acting::acting_before;
use super::runs::erased::note_erased_origin;
use super::sessions;
use super::start_run::{
    RunChoice, note_other_model, note_unapplied_images, note_unkinded, start, workspace_root,
};
use crate::context::Context;
use crate::drive::{
    DaemonRun, DrivePause, FollowedRun, InteractionMode, OutputFormat, RunDriver, TerminalSession, drive,
};
use crate::exit::Exit;
use crate::failure::Failure;
use chat_mend::{in_archived, in_chat, in_chat_out_of_range, is_missing_session};
use chat_session::{ChatSession, check_model};
use input::Input;
use palyra_run_view::{
    ChatLine, EchoMode, InputPlace, SearchMatch, age, branch_origin, chat_command_of, chat_command_rest,
    chat_help, instead_of_last, is_bare_answer, line_behind_others, nearest_chat_command, no_session_note,
    once_over, read_chat_line, shell_command_of,
};
use palyra_screen_text::clean_line;
use palyra_screen_text::shell_word;
use palyra_screen_text::{bytes, count, short_id};
use palyra_terminal::{Keyboard, LineOutcome, NoteKind, PromptReader};

const NAME_CHARS_MAX: usize = 60;
const SESSIONS_LISTED_MAX: u32 = 10;
/// More wait in the daemon; these are the ones this chat will show.
const WAITING_MAX: usize = 256;

/// Said of a line that found no daemon.
const LINE_UNSENT: &str = "the line was not sent; once that is mended, Up brings it back";

/// Said where nothing waits for an answer.
const NOTHING_ASKED: &str = "nothing waits for your answer in this chat; in a shell, `palyra approve` asks for all that waits elsewhere";

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
    choice: RunChoice,
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, mut args: ChatArgs) -> Result<Exit, Failure> {
    args.choice.model = context.whole_model(args.choice.model);
    let workspace_root = workspace_root(context, &args.choice)?;
    let client = context.connect_to_model(args.choice.model.as_deref()).await?;
    if let Some(model) = &mut args.choice.model {
        *model = context.waiting("asking the providers", check_model(&client, model)).await?;
    }
    let selector = match &args.session {
        Some(name) => find_or_make_session(context, &client, name).await?,
        None => find_session(&client, &folder_key(&workspace_root), MissingSession::Create).await?,
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
        last_done: String::new(),
        search_matches: Vec::new(),
    };
    let exit = chat.go_on_with_session(&models).await?;
    let exit = chat.until_left(exit).await?;
    Ok(if chat.input.is_person() { Exit::Done } else { exit })
}

/// A run of this chat that is not followed yet.
struct WaitingRun {
    run: DaemonRun,
    opened: v1::Opened,
    echo: EchoMode,
}

/// The run that is active while a line is typed.
#[derive(Debug, Clone, Copy)]
struct ActiveRun<'a> {
    run: &'a str,
    /// Whether it waits for an answer of the person who types.
    waits: bool,
}

/// What a line led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEffect {
    GoOn,
    Leave,
}

struct Chat<'a> {
    context: &'a Context,
    input: Input,
    chat_session: ChatSession,
    choice: RunChoice,
    workspace_root: String,
    format: OutputFormat,
    told_model: bool,
    /// Files that go along with what is said next.
    files: Vec<v1::Attachment>,
    waiting: VecDeque<WaitingRun>,
    /// The run that was seen to its end last; empty where none was.
    last_done: String,
    /// What the last search of sessions found.
    search_matches: Vec<SearchMatch>,
}

impl Chat<'_> {
    fn note(&self, mark: NoteKind, text: &str) {
        self.context.output.note(mark, text);
    }

    /// Shows where the session stands, and follows what of it is still open.
    async fn go_on_with_session(&mut self, models: &Mutex<Vec<String>>) -> Result<Exit, Failure> {
        let session = self.chat_session.session().await?;
        let open = self.chat_session.open_runs(&session).await?;
        if self.input.is_person() {
            *models.lock().unwrap_or_else(PoisonError::into_inner) =
                self.chat_session.models(AskProviders::No).await?;
            self.greet(&session, open.is_empty()).await?;
        }
        self.join(open).await?;
        self.follow_waiting().await.map(|(exit, _)| exit)
    }

    /// Follows open runs of the session, so that what is typed next does not wait behind them unseen.
    async fn join(&mut self, open: Vec<RunId>) -> Result<(), Failure> {
        for run in open {
            self.note(
                NoteKind::Info,
                &format!("run {} of this chat is still open; following it", short_id(&run.to_string())),
            );
            let run = DaemonRun::attach(&self.chat_session.client, run, 0);
            let waiting = opened(run, EchoMode::Inputs).await?;
            self.waiting.push_back(waiting);
        }
        Ok(())
    }

    /// Follows runs of the session that were begun in another terminal since; returns how many there are.
    async fn join_others(&mut self) -> Result<usize, Failure> {
        let session = self.chat_session.session().await?;
        // Runs of a session follow each other.
        if session.last_run_id == self.last_done {
            return Ok(0);
        }
        let open = self.chat_session.open_runs(&session).await?;
        let others = open.len();
        self.join(open).await?;
        Ok(others)
    }

    async fn greet(&self, session: &v1::Session, at_rest: bool) -> Result<(), Failure> {
        let in_context = session.runs.saturating_sub(session.runs_before_reset);
        let is_after_reset = in_context == 0 && session.runs > 0;
        let known = match (in_context, session.runs, &session.branched_from) {
            (0, 0, Some(point)) => branch_origin(point),
            (0, 0, None) => "a new chat".to_owned(),
            (0, earlier, _) => format!("a fresh context after {}", count(earlier, "earlier run")),
            (runs, ..) => {
                format!("going on after {}, the last {} ago", count(runs, "run"), age(session.updated))
            }
        };
        let is_of_folder = session.session_key == folder_key(&self.workspace_root);
        let whose = if is_of_folder { "this folder's session" } else { "session" };
        let id = short_id(&session.session_id);
        let message = format!("{known}, in {whose} {id}; /help lists commands");
        self.note(NoteKind::Info, &message);
        if let (0, Some(point)) = (session.runs, &session.branched_from) {
            note_erased_origin(&self.context.output, &self.chat_session.client, &point.run_id).await?;
        }
        if session.archived.is_some() {
            let mend = format!(
                "it is archived and takes no input: `palyra sessions restore {id}` in another terminal makes it active again"
            );
            self.note(NoteKind::Doubt, &mend);
        }
        if at_rest
            && !is_after_reset
            && let Some([said, answer]) = self.chat_session.last_exchange(session).await?
        {
            // Nothing is left of what was erased.
            for (what, text) in [("you said", said), ("the answer", answer)] {
                if !text.is_empty() {
                    self.note(NoteKind::Info, &format!("{what}: {text}"));
                }
            }
        }
        Ok(())
    }

    /// Carries out line after line.
    async fn until_left(&mut self, mut exit: Exit) -> Result<Exit, Failure> {
        loop {
            let Some(line) = self.input.typed(self.context).await? else {
                self.say_how_to_return();
                break;
            };
            if self.dispatch(&line).await? == LineEffect::Leave {
                break;
            }
            let (ended, dispatched) = self.follow_waiting().await?;
            // The exit code shows a script that something went wrong on the way.
            if exit == Exit::Done {
                exit = ended;
            }
            if dispatched == LineEffect::Leave || (!self.input.is_person() && ended == Exit::Withheld) {
                break;
            }
        }
        Ok(exit)
    }

    /// Finds or starts a daemon where the last one ended since the line before, so that a line is not lost with it.
    async fn restore_daemon(&self) -> Result<(), Failure> {
        let restored = self.chat_session.client.restore();
        if self.context.waiting("waiting for the daemon", restored).await? {
            self.note(NoteKind::Info, "the daemon was gone and is back; going on");
        }
        Ok(())
    }

    /// Carries out a line; what it says waits to be followed.
    async fn dispatch(&mut self, line: &str) -> Result<LineEffect, Failure> {
        let typed = read_chat_line(line);
        if typed.asks_daemon()
            && let Err(failure) = self.restore_daemon().await
        {
            return self.tell_unsent(failure);
        }
        let dispatched = match typed {
            ChatLine::Quit => {
                self.say_how_to_return();
                return Ok(LineEffect::Leave);
            }
            ChatLine::Say(delivery, text) => self.say_next(text, delivery).await,
            ChatLine::Cancel => {
                self.note(NoteKind::Info, "no run is active");
                Ok(())
            }
            ChatLine::Approve => {
                if self.join_others().await? == 0 {
                    self.note(NoteKind::Info, NOTHING_ASKED);
                }
                Ok(())
            }
            ChatLine::Reset => self.reset().await,
            ChatLine::Compact => self.compact().await,
            ChatLine::Undo(run) => self.undo(run).await,
            ChatLine::Branch(place) => self.branch(place).await,
            ChatLine::Sessions(name) => self.sessions(name).await,
            other => self.look(other).await,
        };
        self.tell(dispatched)
    }

    /// Says how this chat is found again, where its folder alone does not find it.
    fn say_how_to_return(&self) {
        let selector = &self.chat_session.selector;
        let named = match (selector.session_key.as_str(), selector.session_id.as_str()) {
            (key, _) if key == folder_key(&self.workspace_root) => "palyra chat".to_owned(),
            ("", id) => format!("palyra chat --session {}", short_id(id)),
            (key, _) => format!("palyra chat --session {}", shell_word(key)),
        };
        if self.input.is_person() {
            self.note(NoteKind::Info, &format!("`{named}` goes on here"));
        }
    }

    /// Carries out a line while a run is active.
    async fn dispatch_during_run<F: FnMut(&v1::Opened)>(
        &mut self,
        drive: &mut RunDriver<'_, DaemonRun, F>,
        line: &str,
    ) -> Result<LineEffect, Failure> {
        let active = drive.run().map(|run| run.to_string()).unwrap_or_default();
        let typed = read_chat_line(line);
        if typed.asks_daemon()
            && let Err(failure) = self.restore_daemon().await
        {
            return self.tell_unsent(failure);
        }
        let is_answer = matches!(typed, ChatLine::Say(InputDelivery::Queue, _) | ChatLine::Approve);
        let dispatched = match typed {
            ChatLine::Quit => {
                self.note(NoteKind::Info, &drive.parting_words());
                return Ok(LineEffect::Leave);
            }
            ChatLine::Say(InputDelivery::Queue, text) if drive.is_asking() => {
                drive.answer(text.to_owned()).await.map(|_| ())
            }
            ChatLine::Say(InputDelivery::Queue, text) if drive.reads_as_left_answer(text) => {
                let typed = clean_line(text, NAME_CHARS_MAX);
                let message = format!(
                    "\"{typed}\" was not sent to the model: it reads as an answer to the open question, which is asked \
                     again; a space before a line sends it"
                );
                self.note(NoteKind::Doubt, &message);
                drive.ask_again().await.map(|_| ())
            }
            ChatLine::Say(delivery, text) => {
                let active = ActiveRun { run: &active, waits: drive.waits_for_call() };
                self.say(text, delivery, Some(active)).await
            }
            ChatLine::Approve => self.ask_again(drive).await,
            ChatLine::Cancel => drive.cancel(),
            waits @ (ChatLine::Reset
            | ChatLine::Compact
            | ChatLine::Undo(_)
            | ChatLine::Branch(_)
            | ChatLine::Sessions(_)) => {
                self.note(NoteKind::Bad, &once_over(&waits, &active));
                Ok(())
            }
            other => self.look(other).await,
        };
        let effect = self.tell(dispatched)?;
        if !is_answer {
            drive.remind()?;
        }
        Ok(effect)
    }

    /// Asks again what the active run waits for.
    async fn ask_again<F: FnMut(&v1::Opened)>(
        &self,
        drive: &mut RunDriver<'_, DaemonRun, F>,
    ) -> Result<(), Failure> {
        if !drive.ask_again().await? {
            self.note(NoteKind::Info, NOTHING_ASKED);
        }
        Ok(())
    }

    /// What may be obeyed at any time and starts nothing.
    async fn look(&mut self, line: ChatLine<'_>) -> Result<(), Failure> {
        match line {
            ChatLine::Help => chat_help().for_each(|line| self.context.output.row(&line)),
            ChatLine::Status => return self.status().await,
            ChatLine::Model(name) => return self.model(name).await,
            ChatLine::Recall(switch) => return self.recall(switch).await,
            ChatLine::Preview(text) => return self.preview(text).await,
            ChatLine::Attach(files) => return self.attach(files),
            ChatLine::Detach => self.detach(),
            ChatLine::OfShell(verb) => {
                let here = chat_command_of(verb)
                    .map(|(command, what)| format!("; in this chat, {command} does this: {what}"));
                let message = format!(
                    "this is a command of your shell{}; type it in another terminal, or after /quit. A space before it \
                     sends it to the model",
                    here.unwrap_or_default()
                );
                self.note(NoteKind::Bad, &message);
            }
            ChatLine::Unknown(command) => {
                let nearest = match shell_command_of(command) {
                    Some(line) => {
                        let session = short_id(&self.chat_session.session().await?.session_id);
                        Some(format!("in a shell, type `{}`; ", line.replace("SESSION", &session)))
                    }
                    None => nearest_chat_command(command).map(|name| format!("did you mean {name}? ")),
                };
                let message = format!(
                    "there is no {command}; {}/help lists commands. To send a line that begins with / to the model, \
                     type a space before it",
                    nearest.unwrap_or_default()
                );
                self.note(NoteKind::Bad, &message);
            }
            ChatLine::Incomplete(command) => {
                let what = chat_command_rest(command);
                self.note(NoteKind::Bad, &format!("write {command} {what}; /help lists commands"));
            }
            _ => {}
        }
        Ok(())
    }

    /// The next line may fare better; only what ends the chat is an error.
    fn tell(&self, outcome: Result<(), Failure>) -> Result<LineEffect, Failure> {
        let session = &self.chat_session.selector;
        let name = if session.session_id.is_empty() { &session.session_key } else { &session.session_id };
        match outcome.map_err(|failure| in_archived(failure, name)) {
            Ok(()) => Ok(LineEffect::GoOn),
            Err(failure @ Failure::Output(_)) => Err(failure),
            Err(Failure::Usage(message)) => {
                self.note(NoteKind::Bad, &message);
                Ok(LineEffect::GoOn)
            }
            Err(failure) if self.input.is_person() => {
                in_chat(failure).show(&self.context.output);
                Ok(LineEffect::GoOn)
            }
            Err(failure) => Err(failure),
        }
    }

    /// A line that found no daemon is typed again once there is one.
    fn tell_unsent(&self, failure: Failure) -> Result<LineEffect, Failure> {
        let told = self.tell(Err(failure))?;
        self.note(NoteKind::Info, LINE_UNSENT);
        Ok(told)
    }

    async fn reset(&mut self) -> Result<(), Failure> {
        let session = self.chat_session.reset().await?;
        let before = match session.last_run_id.as_str() {
            "" => String::new(),
            run => format!(", and /branch {} goes on from it", short_id(run)),
        };
        let note = format!("a fresh context begins; what was said before stays in the journal{before}");
        self.note(NoteKind::Good, &note);
        Ok(())
    }

    /// Takes back what a run changed, or the last run of this session.
    async fn undo(&self, named: &str) -> Result<(), Failure> {
        let session = self.chat_session.session().await?;
        let client = &self.chat_session.client;
        if !named.is_empty() {
            let run = named.parse::<RunName>().map_err(Failure::Usage)?.resolve(client).await?;
            let known = client.get_run(run).await?;
            if known.session_id != session.session_id
                && folder_of(client, &known.run_id).await != self.workspace_root
            {
                let id = short_id(&known.run_id);
                return Err(Failure::Usage(format!(
                    "run {id} is neither of this chat nor of this folder; `palyra runs undo {id}` in another terminal \
                     takes its changes back"
                )));
            }
            return super::runs::undo_run(self.context, client, run, session.session_id).await;
        }
        let mut run_id = session.last_run_id;
        let among = v1::ListRunsRequest { session_id: session.session_id.clone(), ..Default::default() };
        if let Some(run) = acting_before(client, &run_id, among).await? {
            self.note(NoteKind::Info, &instead_of_last(&run));
            run_id = run.run_id;
        }
        let Ok(run) = run_id.parse() else {
            return Err(Failure::Usage(
                "no run was made here yet, so there is nothing to take back".to_owned(),
            ));
        };
        super::runs::undo_run(self.context, client, run, session.session_id).await
    }

    async fn branch(&mut self, place: &str) -> Result<(), Failure> {
        if place.is_empty() {
            return self.list_entries().await;
        }
        let origin = short_id(&self.chat_session.session().await?.session_id);
        let session = self.chat_session.branch(place).await.map_err(in_chat_out_of_range)?;
        let id = short_id(&session.session_id);
        let message = format!(
            "going on in a branch; `palyra chat --session {id}` comes back to it, and `/sessions {origin}` to the \
             conversation that it left"
        );
        self.note(NoteKind::Good, &message);
        let run = session.branched_from.unwrap_or_default().run_id;
        note_erased_origin(&self.context.output, &self.chat_session.client, &run).await
    }

    /// Lists the entries to branch from.
    async fn list_entries(&self) -> Result<(), Failure> {
        let session = self.chat_session.session().await?;
        let entries = self.chat_session.last_entries(&session).await?;
        entries.iter().for_each(|entry| self.context.output.row(entry));
        if session.runs > 1 {
            let runs = session.runs;
            let id = short_id(&session.session_id);
            self.note(
                NoteKind::Info,
                &format!(
                    "that is the last of {runs} runs; in another terminal `palyra runs list --session {id}` shows the \
                     others and `palyra runs tail RUN` the numbers of one; /branch RUN@NUMBER goes on from there"
                ),
            );
        }
        self.note(
            NoteKind::Info,
            "/branch NUMBER begins a new session that has everything up to that entry; /branch here, one that has all",
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
                    self.greet(&session, true).await?;
                    self.note_files();
                    self.note_search_match(&session).await
                }
                Err(failure) => {
                    self.chat_session.selector = old;
                    if is_missing_session(&failure) { self.search(name).await } else { Err(failure) }
                }
            };
        }
        if self.list_sessions("").await? > 0 {
            self.note(
                NoteKind::Info,
                "/sessions ID goes on in one of them, /sessions WORD searches for a word",
            );
        }
        Ok(())
    }

    /// Says where the input is that a search found, if what is said next does not follow on it.
    async fn note_search_match(&self, session: &v1::Session) -> Result<(), Failure> {
        let found = self.search_matches.iter().find(|found| found.is_in(session));
        let Some(found) = found else { return Ok(()) };
        if let Some(run) = self.chat_session.run_of_match(session, found).await?
            && run.run_id != session.last_run_id
        {
            self.note(NoteKind::Info, &found.note(&run));
        }
        Ok(())
    }

    /// Lists the sessions that hold a text which names none.
    async fn search(&mut self, text: &str) -> Result<(), Failure> {
        if self.list_sessions(text).await? == 0 {
            return Err(Failure::Usage(no_session_note(text)));
        }
        self.note(NoteKind::Info, "/sessions ID goes on in one of them");
        Ok(())
    }

    /// Lists the latest sessions that hold a text; returns how many.
    async fn list_sessions(&mut self, search: &str) -> Result<usize, Failure> {
        let request = v1::ListSessionsRequest {
            page_size: SESSIONS_LISTED_MAX,
            search: search.to_owned(),
            ..Default::default()
        };
        let page = self.chat_session.client.call(request).await?;
        let listed = page.sessions.len();
        self.search_matches = page.sessions.iter().filter_map(SearchMatch::of).collect();
        for session in page.sessions {
            let title = sessions::list::title(&self.chat_session.client, &session).await?;
            let name = clean_line(&title, NAME_CHARS_MAX);
            let id = short_id(&session.session_id);
            let age = age(session.updated);
            self.context.output.row(&format!("{id}  {age:>4} ago  {:>4}  {name}", session.runs));
        }
        Ok(listed)
    }

    async fn status(&self) -> Result<(), Failure> {
        let session = self.chat_session.session().await?;
        let models = self.chat_session.models(AskProviders::No).await?;
        let model = self.choice.model.as_ref().or(models.first()).cloned().unwrap_or_default();
        let message = format!(
            "session {}, {}, model {model}",
            self.context.output.id(&session.session_id),
            count(session.runs, "run")
        );
        self.note(NoteKind::Info, &message);
        self.note_files();
        Ok(())
    }

    /// Says something while this chat has no active run; runs of the session from another terminal are followed first.
    async fn say_next(&mut self, text: &str, delivery: InputDelivery) -> Result<(), Failure> {
        if self.input.is_person() && self.join_others().await? > 0 {
            self.note(NoteKind::Info, line_behind_others(text));
            if is_bare_answer(text) {
                return Ok(());
            }
        }
        self.say(text, delivery, None).await
    }

    /// Says something; the run that answers it waits to be followed.
    async fn say(
        &mut self,
        text: &str,
        delivery: InputDelivery,
        active: Option<ActiveRun<'_>>,
    ) -> Result<(), Failure> {
        if self.waiting.len() >= WAITING_MAX {
            return Err(Failure::Usage("too much waits already; it was not sent".to_owned()));
        }
        note_unkinded(&self.context.output, text, &self.workspace_root, InputPlace::Chat);
        let request = v1::StartRunRequest {
            session: Some(self.chat_session.selector.clone()),
            input: text.to_owned(),
            workspace_root: self.workspace_root.clone(),
            delivery: delivery.into(),
            attachments: self.files.clone(),
            ..Default::default()
        };
        let run = start(&self.chat_session.client, &self.choice, request);
        let echo = if active.is_some() { EchoMode::Inputs } else { EchoMode::No };
        let waiting = opened(run, echo).await?;
        self.files.clear();
        note_unapplied_images(self.context, &waiting.opened.notes);
        if !std::mem::replace(&mut self.told_model, true) {
            note_other_model(self.context, &self.choice, &waiting.opened.model);
        }
        match (active, delivery) {
            (None, _) => self.waiting.push_back(waiting),
            (Some(active), _) if waiting.opened.run_id == active.run => {
                self.note(NoteKind::Good, "the run takes it into account with its next step");
            }
            (Some(_), InputDelivery::Interrupt) => {
                self.note(NoteKind::Info, "interrupting the run");
                self.waiting.push_front(waiting);
            }
            (Some(active), _) => {
                let when = if active.waits { "when the open call is answered" } else { "after this run" };
                self.note(NoteKind::Info, &format!("kept; it is sent to the model {when}"));
                self.waiting.push_back(waiting);
            }
        }
        Ok(())
    }

    /// Follows what waits, one after the other; returns how the last of it that went wrong ended.
    async fn follow_waiting(&mut self) -> Result<(Exit, LineEffect), Failure> {
        let mut exit = Exit::Done;
        while let Some(waiting) = self.waiting.pop_front() {
            let run = waiting.opened.run_id.clone();
            let followed = match &self.input {
                Input::Editor(_) => self.follow_at_keyboard(waiting).await,
                Input::Person(_) | Input::Script(_) => {
                    self.follow_lines(waiting).await.map(|exit| (exit, LineEffect::GoOn))
                }
            };
            let (ended, dispatched) = match followed {
                // The next line may fare better; only what ends the chat is an error.
                Err(Failure::Client(error)) if self.input.is_person() || !error.is_unreachable() => {
                    let failure = self.context.with_mend(Failure::Client(error));
                    failure.show(&self.context.output);
                    (failure.exit(), LineEffect::GoOn)
                }
                followed => followed?,
            };
            if ended != Exit::Done {
                exit = ended;
            }
            let watched = run.parse().ok().filter(|_| self.format == OutputFormat::Text);
            note_cost(&self.context.output, &self.chat_session.client, watched).await;
            if (ended, dispatched) == (Exit::Done, LineEffect::GoOn) {
                self.last_done = run;
            }
            if dispatched == LineEffect::Leave {
                return Ok((exit, dispatched));
            }
        }
        Ok((exit, LineEffect::GoOn))
    }

    async fn follow_lines(&mut self, mut waiting: WaitingRun) -> Result<Exit, Failure> {
        let context = self.context;
        for note in &waiting.opened.notes {
            self.note(NoteKind::Info, note);
        }
        let person = match &mut self.input {
            Input::Person(reader) => InteractionMode::LinePrompt(reader),
            Input::Script(_) | Input::Editor(_) => InteractionMode::Unattended,
        };
        let seat = seat(context, person, self.format, waiting.echo);
        drive(&mut waiting.run, seat, |_| {}).await
    }

    /// Follows a run at a terminal: the first key holds the answer, the line it begins is obeyed, and the
    /// answer goes on.
    async fn follow_at_keyboard(&mut self, mut waiting: WaitingRun) -> Result<(Exit, LineEffect), Failure> {
        let context = self.context;
        let keyboard = Keyboard::watch(&context.interrupts);
        let mut reader = PromptReader::of_process(&context.output, &context.interrupts);
        let person = match (&keyboard, &mut reader) {
            (Some(keyboard), Some(reader)) => InteractionMode::WatchedKeyboard { keyboard, reader },
            _ => InteractionMode::Unattended,
        };
        let seat = seat(context, person, self.format, waiting.echo);
        let mut drive = RunDriver::begin(&mut waiting.run, seat, |_| {});
        drive.take_opened(&waiting.opened);
        loop {
            match drive.resume().await? {
                DrivePause::Over(exit) => return Ok((exit, LineEffect::GoOn)),
                DrivePause::KeyPressed => {}
            }
            let Input::Editor(editor) = &mut self.input else { return Ok((Exit::Failed, LineEffect::Leave)) };
            let form = drive.open_form();
            // A reason for a no is not a line of the chat, and an erasure does not look for it there.
            let is_answer = |line: &str| form.as_ref().is_some_and(|form| form.is_answer(line));
            let typed = if drive.is_asking() {
                editor.read_answer("? ", is_answer, &context.output).await?
            } else {
                editor.read("> ", is_answer, &context.output).await?
            };
            let dispatched = match typed {
                LineOutcome::Text(line) => self.dispatch_during_run(&mut drive, &line).await?,
                LineOutcome::End => self.dispatch_during_run(&mut drive, "/quit").await?,
                // As if it had been pressed while the answer streamed.
                LineOutcome::Interrupted if context.interrupts.press() => LineEffect::Leave,
                LineOutcome::Interrupted => LineEffect::GoOn,
            };
            if dispatched == LineEffect::Leave {
                return Ok((Exit::Done, LineEffect::Leave));
            }
            keyboard.iter().for_each(Keyboard::rearm);
        }
    }
}

/// Returns the key of the session that a folder's chats go on with.
fn folder_key(workspace_root: &str) -> String {
    format!("chat:{workspace_root}")
}

fn seat<'a>(
    context: &'a Context,
    person: InteractionMode<'a>,
    format: OutputFormat,
    echo: EchoMode,
) -> TerminalSession<'a> {
    let seat = TerminalSession::new(&context.output, &context.interrupts, person, format, echo);
    TerminalSession { in_chat: true, ..seat }
}

fn described(file: &v1::Attachment) -> String {
    format!("{} ({}, {})", file.name, file.media_type, bytes(file.bytes))
}

/// Waits until the daemon has taken a run on.
async fn opened(mut run: DaemonRun, echo: EchoMode) -> Result<WaitingRun, Failure> {
    loop {
        match run.next().await? {
            Some(FollowEvent::Opened(opened)) => return Ok(WaitingRun { run, opened, echo }),
            Some(_) => {}
            None => return Err(ClientError::Protocol { what: "a run ended before it was opened" }.into()),
        }
    }
}
