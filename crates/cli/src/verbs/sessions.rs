//! `palyra sessions`: conversations.

mod compact;
pub(super) mod recall;
pub(super) mod list;

use clap::Subcommand;
use palyra_client::{Client, ClientError};
use palyra_types::{ErrorCode, SessionId};
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;

use super::ids::{MissingSession, RunPlace, find_session, require_branched};
use super::runs::erased::note_erased_origin;
use super::start_run::chat_folder;
use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::{
    ERASED_MARK, branch_origin, chat_command_in, run_state, run_state_name, session_lines, ways_on_in,
};
use palyra_screen_text::clean_line;
use palyra_screen_text::{count, short_id};
use palyra_terminal::{NoteKind, Output};

/// Runs that are shown of a session.
const RUNS_SHOWN_MAX: u32 = 5;
const INPUT_CHARS_MAX: usize = 60;

/// Look at conversations, rename, branch or archive one.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsVerb {
    /// List sessions, most recently used first
    List(list::ListArgs),
    /// Show a session
    #[command(after_help = "Example:\n  palyra sessions show notes")]
    Show(NamedSession),
    /// Begin a fresh context in a session; nothing is deleted
    #[command(after_help = "Example:\n  palyra sessions reset notes")]
    Reset(NamedSession),
    /// Give a session another title
    #[command(after_help = "Example:\n  palyra sessions rename notes \"Notes of May\"")]
    Rename {
        #[command(flatten)]
        named: NamedSession,
        /// The title; an empty one takes it away
        #[arg(required = true)]
        title: Vec<String>,
    },
    /// Open a new session that goes on from a place in a run
    #[command(
        after_help = "Examples:\n  palyra sessions branch last\n  palyra run --session $(palyra sessions branch last@2) \"Go on\""
    )]
    Branch {
        /// The run's id or a part of it, `last`; with @SEQ, only what came up to that entry; or @NAME of a bookmark
        #[arg(value_name = "RUN[@SEQ]")]
        place: RunPlace,
        /// A title for the new session
        #[arg(long, default_value = "", hide_default_value = true)]
        label: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Sum up the older runs of a session, so that more of the window is left; nothing is deleted
    #[command(
        after_help = "Examples:\n  palyra sessions compact notes\n  palyra sessions compact notes --list"
    )]
    Compact(compact::CompactArgs),
    /// Say whether the runs of a session begin with items of memory that fit their input
    #[command(
        after_help = "Examples:\n  palyra sessions recall notes off\n  palyra sessions recall notes inherit"
    )]
    Recall(recall::RecallArgs),
    /// Archive a session: open runs go on, new input is refused
    #[command(after_help = "Example:\n  palyra sessions archive notes")]
    Archive(NamedSession),
    /// Restore an archived session, so that it takes input again
    #[command(after_help = "Example:\n  palyra sessions restore notes")]
    Restore(NamedSession),
    /// Cancel a session's open runs and archive it; nothing is deleted
    #[command(after_help = "Example:\n  palyra sessions cleanup notes")]
    Cleanup(NamedSession),
}

/// A session that exists.
#[derive(Debug, clap::Args)]
pub(crate) struct NamedSession {
    /// Its id, 4 letters of its beginning or end, its key, or `last`
    session: String,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl NamedSession {
    async fn selector(&self, client: &Client) -> Result<v1::SessionSelector, Failure> {
        find_session(client, &self.session, MissingSession::Refuse).await
    }

    async fn find(&self, client: &Client) -> Result<v1::Session, Failure> {
        let session = Some(self.selector(client).await?);
        resolve(client, v1::ResolveSessionRequest { session, ..Default::default() }).await
    }

    async fn id(&self, client: &Client) -> Result<SessionId, Failure> {
        let selector = self.selector(client).await?;
        match selector.session_id.parse() {
            Ok(id) => Ok(id),
            Err(_) => id_of(&self.find(client).await?),
        }
    }
}

impl SessionsVerb {
    /// Returns the session that is named, where one is.
    fn named(&self) -> Option<String> {
        match self {
            Self::List(_) | Self::Branch { .. } => None,
            Self::Show(named)
            | Self::Reset(named)
            | Self::Rename { named, .. }
            | Self::Archive(named)
            | Self::Restore(named)
            | Self::Cleanup(named) => Some(named.session.clone()),
            Self::Compact(args) => Some(args.session().to_owned()),
            Self::Recall(args) => Some(args.session().to_owned()),
        }
    }
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, verb: SessionsVerb) -> Result<Exit, Failure> {
    let client = context.connect().await?;
    let named = verb.named();
    let done = async {
        match verb {
            SessionsVerb::List(args) => list::run(context, &client, args).await,
            SessionsVerb::Show(named) => {
                let session = named.find(&client).await?;
                show(context, &client, &session, named.json.into()).await
            }
            SessionsVerb::Reset(named) => {
                let selector = v1::SessionSelector { reset: true, ..named.selector(&client).await? };
                let request = v1::ResolveSessionRequest { session: Some(selector), ..Default::default() };
                let session = resolve(&client, request).await?;
                let notice = "a fresh context begins; what was said before stays in the journal";
                say(&context.output, &session, named.json.into(), NoteKind::Good, notice)
            }
            SessionsVerb::Rename { named, title } => {
                let session = client.rename_session(named.id(&client).await?, title.join(" ")).await?;
                let notice = match session.label.as_str() {
                    "" => "the session has no title".to_owned(),
                    label => format!("the session is called {label}"),
                };
                say(&context.output, &session, named.json.into(), NoteKind::Good, &notice)
            }
            SessionsVerb::Branch { place, label, json } => {
                branch(context, &client, place, label, json.into()).await
            }
            SessionsVerb::Compact(args) => compact::run(&context.output, &client, args).await,
            SessionsVerb::Recall(args) => recall::run(&context.output, &client, args).await,
            SessionsVerb::Archive(named) => {
                let session = client.archive_session(named.id(&client).await?).await?;
                let id = context.output.id(&session.session_id);
                let notice = format!("session archived; `palyra sessions restore {id}` restores it");
                say(&context.output, &session, named.json.into(), NoteKind::Good, &notice)
            }
            SessionsVerb::Restore(named) => {
                let session = named.find(&client).await?;
                if session.archived.is_none() {
                    let notice = "the session is not archived, so nothing was changed; it takes input";
                    return say(&context.output, &session, named.json.into(), NoteKind::Info, notice);
                }
                let session = client.restore_session(id_of(&session)?).await?;
                let notice = "session restored; it takes input again";
                say(&context.output, &session, named.json.into(), NoteKind::Good, notice)
            }
            SessionsVerb::Cleanup(named) => cleanup(context, &client, &named).await,
        }
    };
    match named {
        Some(session) => done.await.map_err(|failure| failure.naming_session(&session)),
        None => done.await,
    }
}

async fn resolve(client: &Client, request: v1::ResolveSessionRequest) -> Result<v1::Session, Failure> {
    let answer = client.call(request).await?;
    Ok(answer.session.ok_or(ClientError::Protocol { what: "a session was not described" })?)
}

fn id_of(session: &v1::Session) -> Result<SessionId, Failure> {
    let no_id = |_| ClientError::Protocol { what: "a session's id is not an id" };
    Ok(session.session_id.parse().map_err(no_id)?)
}

fn say(
    output: &Output,
    session: &v1::Session,
    format: OutputFormat,
    mark: NoteKind,
    notice: &str,
) -> Result<Exit, Failure> {
    match format {
        OutputFormat::Json => output.json(&to_json_with_defaults(session))?,
        OutputFormat::Text => output.note(mark, notice),
    }
    Ok(Exit::Done)
}

async fn branch(
    context: &Context,
    client: &Client,
    place: RunPlace,
    label: String,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let point = place.branch_point(client).await?;
    let run = point.run_id.clone();
    let request = v1::ResolveSessionRequest {
        session: Some(v1::SessionSelector { label, ..Default::default() }),
        branch_from: Some(point),
        ..Default::default()
    };
    let session = resolve(client, request).await.map_err(|failure| out_of_range(failure, &run))?;
    require_branched(&session)?;
    match format {
        OutputFormat::Json => context.output.json(&to_json_with_defaults(&session))?,
        OutputFormat::Text => context.output.line(&session.session_id)?,
    }
    let goes_on = chat_command_in(&session.session_id, chat_folder(context));
    let origin = session.branched_from.as_ref().map(branch_origin).unwrap_or_default();
    context.output.note(NoteKind::Info, &format!("{origin}; {goes_on} goes on there"));
    note_erased_origin(&context.output, client, &run).await?;
    Ok(Exit::Done)
}

/// Names the run whose entries there are.
fn out_of_range(failure: Failure, run: &str) -> Failure {
    match failure {
        Failure::Client(error) if error.code() == ErrorCode::BranchOutOfRange => Failure::WithMend {
            code: error.code(),
            message: error.to_string(),
            mend: format!("`palyra runs tail {}` shows the numbers of its entries", short_id(run)),
        },
        failure => failure,
    }
}

async fn cleanup(context: &Context, client: &Client, named: &NamedSession) -> Result<Exit, Failure> {
    let cleaned = client.cleanup_session(named.id(client).await?).await?;
    if named.json {
        context.output.json(&to_json_with_defaults(&cleaned))?;
        return Ok(Exit::Done);
    }
    let cancelled = match cleaned.cancelled_runs {
        0 => "no run was open".to_owned(),
        runs => format!("{} asked to stop", count(runs.into(), "run")),
    };
    context.output.note(NoteKind::Good, &format!("{cancelled}; the session is archived"));
    Ok(Exit::Done)
}

async fn show(
    context: &Context,
    client: &Client,
    session: &v1::Session,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    if format == OutputFormat::Json {
        context.output.json(&to_json_with_defaults(session))?;
        return Ok(Exit::Done);
    }
    session_lines(session).try_for_each(|line| context.output.line(&line))?;
    show_last_runs(&context.output, client, session).await?;
    context.output.note(NoteKind::Info, &ways_on_in(session, chat_folder(context)));
    Ok(Exit::Done)
}

/// Shows the last runs of a session, oldest first.
async fn show_last_runs(output: &Output, client: &Client, session: &v1::Session) -> Result<(), Failure> {
    let request = v1::ListRunsRequest {
        session_id: session.session_id.clone(),
        page_size: RUNS_SHOWN_MAX,
        ..Default::default()
    };
    let runs = client.call(request).await?.runs;
    for (at, run) in runs.iter().rev().enumerate() {
        let begin = if at == 0 { "latest" } else { "" };
        let input = clean_line(&run.input_preview, INPUT_CHARS_MAX);
        let input = if input.is_empty() { ERASED_MARK } else { &input };
        let state = run_state_name(run_state(run.state));
        output.line(&format!("{begin:<9}{}  {state:<9}  {input}", short_id(&run.run_id)))?;
    }
    Ok(())
}
