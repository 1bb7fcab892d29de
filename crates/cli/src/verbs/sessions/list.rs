//! `palyra sessions list`: which conversations there are.

use palyra_client::Client;
use palyra_wire::json::to_json;
use palyra_wire::v1;

use super::super::pages::{ItemSelection, ListedItems, read_list};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::verbs::runs::erased::is_erased;
use crate::verbs::start_run::chat_folder;
use palyra_run_view::{
    ERASED_MARK, SearchedSessions, age, is_named, no_match_note, session_title, shows_match, surface_named,
    way_on_of,
};
use palyra_screen_text::short_id;
use palyra_terminal::NoteKind;

/// List sessions, most recently used first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  palyra sessions list\n  palyra sessions list --search invoice --all")]
pub(crate) struct ListArgs {
    /// Only those with this in their key, their title or the first 120 characters of an input
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    search: String,
    /// Archived ones only
    #[arg(long, conflicts_with = "all")]
    archived: bool,
    /// Archived ones too
    #[arg(long)]
    all: bool,
    /// Only those that began here, such as openai, http or local_socket
    #[arg(long, value_name = "SURFACE")]
    surface: Option<String>,
    /// At most so many
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// One line of JSON each
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
/// Returns the title of a session. Where that was erased, says so, and shows the earliest input that is left.
pub(in crate::verbs) async fn title(client: &Client, session: &v1::Session) -> Result<String, Failure> {
    if session.runs == 0 || !session.first_input.is_empty() || is_named(session) {
        return Ok(session_title(session));
    }
    let request = v1::ListRunsRequest { session_id: session.session_id.clone(), ..Default::default() };
    let runs = client.call(request).await?.runs;
    let oldest = runs.last().map(|run| run.run_id.as_str()).unwrap_or_default();
    if !is_erased(client, oldest).await? {
        return Ok(session_title(session));
    }
    let inputs = runs.iter().rev().map(|run| run.input_preview.as_str());
    let left = [session.matched.as_str()].into_iter().chain(inputs).find(|input| !input.is_empty());
    Ok(left.map_or_else(|| ERASED_MARK.to_owned(), |left| format!("{ERASED_MARK} {left}")))
}

pub(super) async fn run(context: &Context, client: &Client, args: ListArgs) -> Result<Exit, Failure> {
    let listed = read(client, &args).await?;
    if args.json {
        listed.items.iter().try_for_each(|session| context.output.json(&to_json(session)))?;
        listed.note_further(&context.output);
        return Ok(Exit::Done);
    }
    if listed.items.is_empty() {
        let message = match (args.search.is_empty(), args.archived) {
            (true, archived) => match (&args.surface, archived) {
                (Some(_), _) => {
                    "no such session began there; `palyra sessions list --all` lists all of them".to_owned()
                }
                (None, true) => "no session is archived".to_owned(),
                (None, false) => no_sessions(client, &args).await?,
            },
            (false, _) => no_match_note(&args.search, searched(&args)),
        };
        context.output.note(NoteKind::Info, &message);
        return Ok(Exit::Done);
    }
    let mut titles = Vec::with_capacity(listed.items.len());
    for session in &listed.items {
        let title = title(client, session).await?;
        titles.push(if shows_match(session, &title, &args.search) { session.matched.clone() } else { title });
    }
    let row = |(session, title): (&v1::Session, String)| {
        [short_id(&session.session_id), age(session.updated), session.runs.to_string(), title]
    };
    context.table(["SESSION", "AGE", "RUNS", "TITLE"], listed.items.iter().zip(titles).map(row).collect())?;
    listed.note_further(&context.output);
    if context.output.is_watched() {
        context.output.note(NoteKind::Info, &way_on_of(&listed.items, chat_folder(context)));
    }
    Ok(Exit::Done)
}

/// Says that no session takes input, and whether some are archived.
async fn no_sessions(client: &Client, args: &ListArgs) -> Result<String, Failure> {
    let only = v1::SessionFilter::Archived.into();
    let request = v1::ListSessionsRequest { page_size: 1, only, ..Default::default() };
    let is_any_archived = !args.all && !client.call(request).await?.sessions.is_empty();
    Ok(match is_any_archived {
        true => "every session is archived: `palyra sessions list --archived` lists them, and `palyra sessions restore` makes one active again",
        false => "there are no sessions yet; `palyra chat` begins one",
    }
    .to_owned())
}

fn searched(args: &ListArgs) -> SearchedSessions {
    match (args.archived, args.all) {
        (true, _) => SearchedSessions::Archived,
        (false, true) => SearchedSessions::All,
        (false, false) => SearchedSessions::Current,
    }
}

async fn read(client: &Client, args: &ListArgs) -> Result<ListedItems<v1::Session>, Failure> {
    let only = match (args.archived, args.all) {
        (true, _) => v1::SessionFilter::Archived,
        (false, true) => v1::SessionFilter::All,
        (false, false) => v1::SessionFilter::Unspecified,
    };
    let surface =
        args.surface.as_deref().map(surface_named).transpose().map_err(Failure::Usage)?.unwrap_or_default();
    let request = v1::ListSessionsRequest {
        search: args.search.clone(),
        only: only.into(),
        surface: surface.into(),
        ..Default::default()
    };
    read_list(args.limit, ItemSelection::All, |page_size, page_token| {
        let request = v1::ListSessionsRequest { page_size, page_token, ..request.clone() };
        async move { client.call(request).await.map(|page| (page.sessions, page.next_page_token)) }
    })
    .await
}
