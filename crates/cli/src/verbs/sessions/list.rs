//! `palyra sessions list`: which conversations there are.

use palyra_client::Client;
use palyra_wire::json::to_json;
use palyra_wire::v1;

use super::super::pages::{Listed, Taken, read_list};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::{ERASED_MARK, age, session_title, short_id};
use crate::verbs::runs::erased::is_erased;
use palyra_screen_text::clean_line;
use palyra_terminal::Mark;

const SEARCH_CHARS_MAX: usize = 60;

/// List sessions, most recently used first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  palyra sessions list\n  palyra sessions list --search invoice --all")]
pub(crate) struct ListArgs {
    /// Only those with this in their key, their title or the beginning of an input; answers are not searched
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    search: String,
    /// Archived ones only
    #[arg(long, conflicts_with = "all")]
    archived: bool,
    /// Archived ones too
    #[arg(long)]
    all: bool,
    /// At most so many
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// One line of JSON each
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(super) async fn run(context: &Context, client: &Client, args: ListArgs) -> Result<Exit, Failure> {
    let listed = read(client, &args).await?;
    if args.json {
        listed.items.iter().try_for_each(|session| context.output.json(&to_json(session)))?;
        listed.note_further(context);
        return Ok(Exit::Done);
    }
    if listed.items.is_empty() {
        let told = match (args.search.is_empty(), args.archived) {
            (true, false) => "there are no sessions yet; `palyra chat` begins one".to_owned(),
            (true, true) => "no session is archived".to_owned(),
            (false, _) => nothing_found(&args),
        };
        context.output.note(Mark::Info, &told);
        return Ok(Exit::Done);
    }
    let mut titles = Vec::with_capacity(listed.items.len());
    for session in &listed.items {
        let title = session_title(session);
        let is_erased = title.is_empty() && is_erased(client, &session.last_run_id).await?;
        titles.push(if is_erased { ERASED_MARK.to_owned() } else { title });
    }
    let row = |(session, title): (&v1::Session, String)| {
        [short_id(&session.session_id), age(session.updated), session.runs.to_string(), title]
    };
    context.table(["SESSION", "AGE", "RUNS", "TITLE"], listed.items.iter().zip(titles).map(row).collect())?;
    listed.note_further(context);
    if context.output.is_watched() {
        let newest = short_id(&listed.items[0].session_id);
        context
            .output
            .note(Mark::Info, &format!("`palyra chat --session {newest}` goes on with that session"));
    }
    Ok(Exit::Done)
}

/// Says what was looked for, where, and what was left out.
fn nothing_found(args: &ListArgs) -> String {
    let search = clean_line(&args.search, SEARCH_CHARS_MAX);
    let (which, left_out) = match (args.archived, args.all) {
        (true, _) => ("no archived session", ""),
        (false, true) => ("no session", ""),
        (false, false) => ("no session", "; `--all` looks at archived ones too"),
    };
    format!(
        "{which} has \"{search}\" in its key, its title or the beginning of an input; answers are not \
         searched{left_out}"
    )
}

async fn read(client: &Client, args: &ListArgs) -> Result<Listed<v1::Session>, Failure> {
    let only = match (args.archived, args.all) {
        (true, _) => "archived",
        (false, true) => "all",
        (false, false) => "",
    };
    let request =
        v1::ListSessionsRequest { search: args.search.clone(), only: only.to_owned(), ..Default::default() };
    read_list(args.limit, Taken::All, |page_size, page_token| {
        let request = v1::ListSessionsRequest { page_size, page_token, ..request.clone() };
        async move { client.list_sessions(request).await.map(|page| (page.sessions, page.next_page_token)) }
    })
    .await
}
