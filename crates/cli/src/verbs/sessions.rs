//! `palyra sessions`: conversations.

use clap::Subcommand;
use palyra_client::{Client, ClientError};
use palyra_wire::json::{to_json, to_json_with_defaults};
use palyra_wire::v1;

use super::ids::session_selector;
use crate::context::Context;
use crate::drive::Format;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::{age, date};
use crate::terminal::{Mark, clean_line};

const PAGE_SIZE_MAX: u32 = 500;

/// Look at conversations, or begin one anew.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsVerb {
    /// List sessions, most recently used first
    #[command(after_help = "Example:\n  palyra sessions list")]
    List {
        /// At most so many
        #[arg(long, default_value_t = 20, value_name = "N")]
        limit: u32,
        /// One line of JSON each
        #[arg(long)]
        json: bool,
    },
    /// Show a session
    #[command(after_help = "Example:\n  palyra sessions show notes")]
    Show {
        /// Its id or key
        session: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Begin a fresh context in a session; nothing is deleted
    #[command(after_help = "Example:\n  palyra sessions reset notes")]
    Reset {
        /// Its id or key
        session: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, verb: SessionsVerb) -> Result<Exit, Failure> {
    let client = context.connect().await?;
    match verb {
        SessionsVerb::List { limit, json } => list(context, &client, limit, json.into()).await,
        SessionsVerb::Show { session, json } => {
            let session = resolve(&client, existing(&session)).await?;
            show(context, &session, json.into())
        }
        SessionsVerb::Reset { session, json } => {
            let selector = v1::SessionSelector { reset: true, ..existing(&session) };
            let session = resolve(&client, selector).await?;
            if json {
                context.output.json(&to_json_with_defaults(&session))?;
            } else {
                context
                    .output
                    .note(Mark::Good, "a fresh context begins; what was said before stays in the journal");
            }
            Ok(Exit::Done)
        }
    }
}

fn existing(session: &str) -> v1::SessionSelector {
    v1::SessionSelector { require_existing: true, ..session_selector(session) }
}

async fn resolve(client: &Client, selector: v1::SessionSelector) -> Result<v1::Session, Failure> {
    let request = v1::ResolveSessionRequest { session: Some(selector), ..Default::default() };
    let answer = client.resolve_session(request).await?;
    Ok(answer.session.ok_or(ClientError::Protocol { what: "a session was not described" })?)
}

async fn list(context: &Context, client: &Client, limit: u32, format: Format) -> Result<Exit, Failure> {
    let mut sessions: Vec<v1::Session> = Vec::new();
    let mut page_token = String::new();
    loop {
        let left = limit.saturating_sub(u32::try_from(sessions.len()).unwrap_or(u32::MAX));
        if left == 0 {
            break;
        }
        let request =
            v1::ListSessionsRequest { page_size: left.min(PAGE_SIZE_MAX), page_token, ..Default::default() };
        let page = client.list_sessions(request).await?;
        sessions.extend(page.sessions);
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    if format == Format::Json {
        sessions.iter().try_for_each(|session| context.output.json(&to_json(session)))?;
        return Ok(Exit::Done);
    }
    if sessions.is_empty() {
        context.output.note(Mark::Info, "there are no sessions yet; `palyra chat` begins one");
        return Ok(Exit::Done);
    }
    let row = |session: v1::Session| {
        let name = if session.label.is_empty() { session.session_key } else { session.label };
        [session.session_id, age(session.updated), session.runs.to_string(), name]
    };
    let rows = sessions.into_iter().map(row).collect();
    context.table(["SESSION", "AGE", "RUNS", "NAME"], rows)?;
    Ok(Exit::Done)
}

fn show(context: &Context, session: &v1::Session, format: Format) -> Result<Exit, Failure> {
    if format == Format::Json {
        context.output.json(&to_json_with_defaults(session))?;
        return Ok(Exit::Done);
    }
    for (name, value) in [
        ("session", session.session_id.clone()),
        ("key", clean_line(&session.session_key, 200)),
        ("label", clean_line(&session.label, 200)),
        ("agent", session.agent_id.clone()),
        ("created", date(session.created)),
        ("updated", date(session.updated)),
        ("runs", session.runs.to_string()),
        ("last run", session.last_run_id.clone()),
    ] {
        if !value.is_empty() {
            context.output.line(&format!("{name:<9}{value}"))?;
        }
    }
    Ok(Exit::Done)
}
