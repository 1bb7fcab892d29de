//! `palyra memory`: what is remembered for you.

mod learning;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use palyra_client::Client;
use palyra_types::ErrorCode;
use palyra_wire::json::to_json;
use palyra_wire::v1;

use self::learning::LearningVerb;
use super::pages::{ItemSelection, read_list};
use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::{learning_head, learning_row, memory_row};
use palyra_screen_text::clean_line;
use palyra_terminal::{NoteKind, Output};

const LISTED_DEFAULT: u32 = 50;
/// Items of a principal, at most.
const ITEMS_MAX: u32 = 1_000;
const TEXT_CHARS_MAX: usize = 300;
const HEAD: [&str; 4] = ["ID", "SAVED", "FROM", "TEXT"];
const NOTHING: &str = "nothing is remembered; `palyra memory add TEXT` remembers something";
const NOTHING_HERE: &str = "nothing is remembered for that folder; `palyra memory list` lists what is remembered elsewhere, `palyra \
                            memory add TEXT --folder FOLDER` remembers something for it";
const NOTHING_LEARNED: &str = "nothing was learned yet";
const NOTHING_FITS: &str = "nothing that is remembered fits; `palyra memory list` lists all of it";

/// See what is remembered for you, add to it, search it, forget.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryVerb {
    /// List what is remembered, newest first
    #[command(after_help = "Example:\n  palyra memory list --folder .")]
    List {
        /// Only what holds in this folder
        #[arg(long, value_name = "FOLDER")]
        folder: Option<PathBuf>,
        /// At most so many
        #[arg(long, value_name = "N", default_value_t = LISTED_DEFAULT)]
        limit: u32,
        /// One line of JSON each
        #[arg(long)]
        json: bool,
    },
    /// Remember something
    #[command(
        after_help = "Examples:\n  palyra memory add \"I prefer short answers\"\n  palyra memory add \"Deploys are on Fridays\" --folder ."
    )]
    Add {
        /// What to remember
        #[arg(required = true)]
        text: Vec<String>,
        /// Only in conversations that work in this folder
        #[arg(long, value_name = "FOLDER")]
        folder: Option<PathBuf>,
        /// Forget it by itself after so many days
        #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
        days: u32,
        /// The item that is out of date because of this one
        #[arg(long, value_name = "ID")]
        replaces: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// See and review what was learned from your conversations
    #[command(subcommand, after_help = "Example:\n  palyra memory learning list")]
    Learning(LearningVerb),
    /// Forget an item
    #[command(after_help = "Example:\n  palyra memory forget 7XQ2")]
    Forget {
        /// Its id, or a part of it
        id: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Search what is remembered, best matches first
    #[command(after_help = "Example:\n  palyra memory search \"when do we deploy\"")]
    Search {
        /// What to look for
        #[arg(required = true)]
        text: Vec<String>,
        /// One line of JSON each
        #[arg(long)]
        json: bool,
    },
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, verb: MemoryVerb) -> Result<Exit, Failure> {
    let client = &context.connect().await?;
    match verb {
        MemoryVerb::Learning(LearningVerb::List(args)) => {
            let listed = learning::listed(client, &args).await?;
            listed.note_further(&context.output);
            context.list(args.json.into(), listed.items, NOTHING_LEARNED, learning_head(), |item| {
                learning_row(&item)
            })
        }
        MemoryVerb::Learning(LearningVerb::Review(verb)) => {
            learning::run(&context.output, client, verb).await
        }
        MemoryVerb::List { folder, limit, json } => {
            let folder = folder.as_deref().map(real_folder).transpose()?.unwrap_or_default();
            let listed = read_list(limit, ItemSelection::All, |page_size, page_token| {
                let folder = folder.clone();
                let request = v1::ListMemoriesRequest { page_size, page_token, folder, ..Default::default() };
                async move { client.call(request).await.map(|page| (page.memories, page.next_page_token)) }
            });
            let listed = listed.await?;
            listed.note_further(&context.output);
            let none = if folder.is_empty() { NOTHING } else { NOTHING_HERE };
            context.list(json.into(), listed.items, none, HEAD, |item| memory_row(&item))
        }
        MemoryVerb::Add { text, folder, days, replaces, json } => {
            let replaces = match replaces {
                Some(named) => item_id(client, &named).await?,
                None => String::new(),
            };
            let folder = folder.as_deref().map(real_folder).transpose()?.unwrap_or_default();
            let text = text.join(" ");
            let request = v1::SaveMemoryRequest { text, folder, days, replaces, ..Default::default() };
            let saved = client.call(request).await?.memory.unwrap_or_default();
            say(&context.output, json.into(), &saved, "remembered")
        }
        MemoryVerb::Forget { id, json } => {
            let memory_id = item_id(client, &id).await?;
            let forgotten = client.call(v1::ForgetMemoryRequest { memory_id }).await?;
            say(&context.output, json.into(), &forgotten.memory.unwrap_or_default(), "forgotten")
        }
        MemoryVerb::Search { text, json } => {
            let text = text.join(" ");
            let found = client.call(v1::SearchMemoriesRequest { text, ..Default::default() }).await?;
            context.list(json.into(), found.memories, NOTHING_FITS, HEAD, |item| memory_row(&item))
        }
    }
}

fn say(output: &Output, format: OutputFormat, item: &v1::Memory, done: &str) -> Result<Exit, Failure> {
    if format == OutputFormat::Json {
        output.json(&to_json(item))?;
    } else {
        let id = output.id(&item.memory_id);
        let text = clean_line(&item.text, TEXT_CHARS_MAX);
        output.note(NoteKind::Good, &format!("{done}, {id}: {text}"));
    }
    Ok(Exit::Done)
}

fn real_folder(folder: &Path) -> Result<String, Failure> {
    let real = std::fs::canonicalize(folder).map_err(|error| {
        Failure::Usage(format!("the folder `{}` cannot be used: {error}", folder.display()))
    })?;
    let text = real.into_os_string().into_string();
    text.map_err(|_| Failure::Usage("the path of the folder is not UTF-8".to_owned()))
}

/// Returns the id of an item that is named by it or by a part of it.
async fn item_id(client: &Client, named: &str) -> Result<String, Failure> {
    let wanted = named.to_ascii_uppercase();
    let fits = |item: &v1::Memory| item.memory_id.ends_with(&wanted) || item.memory_id.starts_with(&wanted);
    let found = read_list(ITEMS_MAX, ItemSelection::Fitting(&fits), |page_size, page_token| {
        let request = v1::ListMemoriesRequest { page_size, page_token, ..Default::default() };
        async move { client.call(request).await.map(|page| (page.memories, page.next_page_token)) }
    });
    let mut found = found.await?.items;
    let shown = clean_line(named, 30);
    match (found.pop(), found.is_empty()) {
        (Some(item), true) if !wanted.is_empty() => Ok(item.memory_id),
        (Some(_), _) => {
            Err(Failure::Usage(format!("several items have `{shown}` in their id; give more of it")))
        }
        (None, _) => Err(Failure::WithMend {
            code: ErrorCode::MemoryNotFound,
            message: format!("no item in memory has the id `{shown}`"),
            mend: "`palyra memory list` shows the items".to_owned(),
        }),
    }
}
