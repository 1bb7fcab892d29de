//! `palyra admin agents`: what agents there are, and changing them.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use palyra_client::Client;
use palyra_types::ErrorCode;
use palyra_wire::json::to_json;
use palyra_wire::v1;

use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::{agent_lines, agent_named, agent_row, recall_switch_of};
use palyra_screen_text::clean_line;
use palyra_terminal::{NoteKind, Output};

/// List agents
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  palyra admin agents\n  palyra admin agents update main --root ~/project"
)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    verb: Option<AgentsVerb>,
    /// One line of JSON each
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum AgentsVerb {
    /// Show an agent
    #[command(after_help = "Example:\n  palyra admin agents show main")]
    Show {
        /// The name, or the whole id
        agent: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Create an agent
    #[command(
        after_help = "Example:\n  palyra admin agents create reviewer --tool read_file --root ~/project"
    )]
    Create {
        /// The name: a letter, then letters, digits and hyphens, all small
        name: String,
        #[command(flatten)]
        profile: ProfileArgs,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Change an agent; runs that begin from now on have it as it is then
    #[command(after_help = "Example:\n  palyra admin agents update main --root ~/project")]
    Update {
        /// The name, or the whole id
        agent: String,
        /// The new name
        #[arg(long)]
        name: Option<String>,
        #[command(flatten)]
        profile: ProfileArgs,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Archive an agent: its sessions go on, and no new one begins with it
    #[command(after_help = "Example:\n  palyra admin agents archive reviewer")]
    Archive {
        /// The name, or the whole id
        agent: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// What an agent is to be.
#[derive(Debug, Args)]
struct ProfileArgs {
    /// Its instructions, put before every conversation
    #[arg(long, value_name = "TEXT")]
    instructions: Option<String>,
    /// A file with its instructions
    #[arg(long = "file", value_name = "FILE", conflicts_with = "instructions")]
    instructions_file: Option<PathBuf>,
    /// Its model, as provider/model; empty for the default
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// A tool that it may use; once for each
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,
    /// All tools
    #[arg(long, conflicts_with = "tools")]
    all_tools: bool,
    /// No tools
    #[arg(long, conflicts_with_all = ["tools", "all_tools"])]
    no_tools: bool,
    /// A folder for its runs over HTTP or TCP; repeatable
    #[arg(long = "root", value_name = "FOLDER")]
    roots: Vec<PathBuf>,
    /// No such folder: each session has one of its own
    #[arg(long, conflicts_with = "roots")]
    no_roots: bool,
    /// Memory given unasked: on, off, inherit
    #[arg(long, value_name = "SWITCH", value_parser = ["on", "off", "inherit"], hide_possible_values = true)]
    recall: Option<String>,
}

impl ProfileArgs {
    fn change(self, name: Option<String>) -> Result<v1::AgentChange, Failure> {
        let instructions = match &self.instructions_file {
            Some(file) => Some(
                std::fs::read_to_string(file)
                    .map_err(|error| Failure::Usage(format!("{} cannot be read: {error}", file.display())))?,
            ),
            None => self.instructions,
        };
        let named = !self.tools.is_empty() || self.no_tools;
        let tools =
            (named || self.all_tools).then_some(v1::AgentTools { all: self.all_tools, names: self.tools });
        let roots = self.roots.iter().map(|root| absolute(root)).collect::<Result<Vec<_>, _>>()?;
        let workspace_roots =
            (!roots.is_empty() || self.no_roots).then_some(v1::AgentFolders { paths: roots });
        let recall = self.recall.as_deref().and_then(recall_switch_of).unwrap_or_default().into();
        Ok(v1::AgentChange { name, instructions, model: self.model, tools, workspace_roots, recall })
    }
}

/// The daemon's own folder is another one.
fn absolute(folder: &Path) -> Result<String, Failure> {
    let absolute = std::path::absolute(folder)
        .map_err(|error| Failure::Usage(format!("{} cannot be used: {error}", folder.display())))?;
    absolute
        .into_os_string()
        .into_string()
        .map_err(|_| Failure::Usage(format!("{} is not UTF-8, and cannot be sent", folder.display())))
}

/// Runs the verb.
pub(super) async fn run(context: &Context, args: AgentsArgs) -> Result<Exit, Failure> {
    let client = context.connect().await?;
    let (agent, done, json) = match args.verb {
        None => {
            let agents = client.list_agents().await?;
            if args.json {
                agents.iter().try_for_each(|agent| context.output.json(&to_json(agent)))?;
            } else {
                let head = ["NAME", "AGENT", "STATE", "MODEL", "INSTRUCTIONS"];
                context.table(head, agents.into_iter().map(agent_row).collect())?;
            }
            return Ok(Exit::Done);
        }
        Some(AgentsVerb::Show { agent, json }) => {
            return show(&context.output, &find(&client, &agent).await?, json.into());
        }
        Some(AgentsVerb::Create { name, profile, json }) => {
            let profile = Some(profile.change(Some(name))?);
            (client.call(v1::CreateAgentRequest { profile }).await?.agent, "created", json)
        }
        Some(AgentsVerb::Update { agent, name, profile, json }) => {
            let change = profile.change(name)?;
            if change == v1::AgentChange::default() {
                return Err(Failure::Usage("say what changes, such as --instructions or --root".to_owned()));
            }
            let agent_id = find(&client, &agent).await?.agent_id;
            let request = v1::UpdateAgentRequest { agent_id, change: Some(change) };
            (client.call(request).await?.agent, "changed; runs that begin from now on have it so", json)
        }
        Some(AgentsVerb::Archive { agent, json }) => {
            let agent_id = find(&client, &agent).await?.agent_id;
            let answer = client.call(v1::ArchiveAgentRequest { agent_id }).await?;
            (answer.agent, "archived; its sessions go on", json)
        }
    };
    let agent = agent.unwrap_or_default();
    if json {
        context.output.json(&to_json(&agent))?;
    } else {
        context.output.note(NoteKind::Good, &format!("{}: {done}", agent.name));
    }
    Ok(Exit::Done)
}

fn show(output: &Output, agent: &v1::Agent, format: OutputFormat) -> Result<Exit, Failure> {
    if format == OutputFormat::Json {
        output.json(&to_json(agent))?;
        return Ok(Exit::Done);
    }
    agent_lines(agent).try_for_each(|line| output.line(&line))?;
    Ok(Exit::Done)
}

/// Returns an agent that is named by its name, its id or a part of that.
async fn find(client: &Client, named: &str) -> Result<v1::Agent, Failure> {
    let mend = "`palyra admin agents` lists the agents there are".to_owned();
    let message = format!("there is no agent `{}`", clean_line(named, 60));
    agent_named(named, client.list_agents().await?).map_err(|several| match several {
        Some(several) => Failure::Usage(several),
        None => Failure::WithMend { code: ErrorCode::AgentNotFound, message, mend },
    })
}
