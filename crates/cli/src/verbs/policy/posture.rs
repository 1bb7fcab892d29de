//! `palyra policy posture`: standing settings of tools, everywhere or in one place.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use palyra_client::Client;
use palyra_types::ErrorCode;
use palyra_wire::json::{to_json, to_json_with_defaults};
use palyra_wire::v1;
use palyra_wire::v1::posture_scope::Place;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::verbs::ids::session_id;
use palyra_run_view::posture_line;
use palyra_terminal::NoteKind;

/// Standing settings of tools
#[derive(Debug, Subcommand)]
pub(crate) enum PostureVerb {
    /// List the settings that hold
    #[command(after_help = "Example:\n  palyra policy posture list")]
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Set how calls of a tool are treated; the next call is judged by it
    #[command(
        after_help = "The most specific setting holds; `disabled` wins at any place.\n\nExamples:\n  palyra policy posture set write_file disabled --workspace .\n  palyra policy posture set read_file ask"
    )]
    Set {
        /// The tool
        tool: String,
        /// `always_allow` runs what would be asked about, `ask` asks about what would run, `disabled` denies
        posture: PostureRequest,
        #[command(flatten)]
        place: PlaceArgs,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Take a setting back
    #[command(after_help = "Example:\n  palyra policy posture clear write_file --workspace .")]
    Clear {
        /// The tool
        #[arg(required_unless_present = "entry", conflicts_with = "entry")]
        tool: Option<String>,
        #[command(flatten)]
        place: PlaceArgs,
        /// The entry that made it, such as one whose content was erased
        #[arg(long, value_name = "SEQ", conflicts_with_all = ["agent", "workspace", "session"])]
        entry: Option<u64>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// What can be set.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum PostureRequest {
    // Told with the argument: a help of each would make the page longer than a screen.
    AlwaysAllow,
    Ask,
    Disabled,
}

/// Where a setting holds: everywhere, unless one of these is given.
#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// For this agent
    #[arg(long, value_name = "NAME", conflicts_with_all = ["workspace", "session"])]
    agent: Option<String>,
    /// In this folder; what narrows holds below it as well
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    workspace: Option<PathBuf>,
    /// In this session
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

impl PlaceArgs {
    async fn to_wire(&self, client: &Client) -> Result<Option<v1::PostureScope>, Failure> {
        let place = match (&self.agent, &self.workspace, &self.session) {
            (Some(agent), ..) => Place::Agent(agent.clone()),
            (_, Some(folder), _) => Place::Workspace(real_path(folder)?),
            (.., Some(session)) => Place::Session(v1::PostureSession {
                session_id: session_id(client, session).await?,
                principal_id: String::new(),
            }),
            (None, None, None) => return Ok(None),
        };
        Ok(Some(v1::PostureScope { place: Some(place) }))
    }
}

/// Runs name their workspace by its real path.
fn real_path(folder: &Path) -> Result<String, Failure> {
    let message =
        |what: String| Failure::local(ErrorCode::InvalidArgument, format!("{}: {what}", folder.display()));
    let real = std::fs::canonicalize(folder).map_err(|error| message(error.to_string()))?;
    real.into_os_string().into_string().map_err(|_| message("its path is not text".to_owned()))
}

/// Runs the verb.
pub(super) async fn run(context: &Context, verb: PostureVerb) -> Result<Exit, Failure> {
    match verb {
        PostureVerb::List { json } => {
            let listed = context.connect().await?.call(v1::ListPosturesRequest {}).await?;
            if json {
                context.output.json(&to_json_with_defaults(&listed))?;
                return Ok(Exit::Done);
            }
            for posture in &listed.postures {
                context.output.line(&posture_line(posture))?;
            }
            if listed.unreadable {
                let unreadable =
                    "the settings cannot be read, so every call is denied; `palyra journal verify`";
                context.output.note(NoteKind::Bad, unreadable);
            } else if listed.postures.is_empty() {
                context.output.note(NoteKind::Info, "nothing is set; policy alone decides");
            }
        }
        PostureVerb::Set { tool, posture, place, json } => {
            let wanted = posture.to_possible_value().map(|value| value.get_name().to_owned());
            let client = context.connect().await?;
            let posture = v1::PostureSetting::from_short_name(&wanted.unwrap_or_default());
            let (posture, scope) = (posture.unwrap_or_default().into(), place.to_wire(&client).await?);
            let set = client.call(v1::SetPostureRequest { tool, posture, scope }).await?;
            tell(context, set.posture.as_ref(), "", json)?;
        }
        PostureVerb::Clear { tool, place, entry, json } => {
            let client = context.connect().await?;
            let (tool, scope) = (tool.unwrap_or_default(), place.to_wire(&client).await?);
            let cleared = client.call(v1::ClearPostureRequest { tool, scope, seq: entry }).await?;
            tell(context, cleared.posture.as_ref(), "no longer: ", json)?;
        }
    }
    Ok(Exit::Done)
}

fn tell(context: &Context, posture: Option<&v1::Posture>, before: &str, json: bool) -> Result<(), Failure> {
    let Some(posture) = posture else { return Ok(()) };
    if json {
        return Ok(context.output.json(&to_json(posture))?);
    }
    context.output.note(NoteKind::Good, &format!("{before}{}", posture_line(posture)));
    Ok(())
}
