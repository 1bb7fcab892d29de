//! `palyra tools skills`: folders with instructions, installed, looked at, switched on and off by a person.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use palyra_client::Client;
use palyra_types::ErrorCode;
use palyra_wire::json::{to_json, to_json_with_defaults};
use palyra_wire::v1;

use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::date;
use palyra_screen_text::clean_line;
use palyra_screen_text::{bytes, count};
use palyra_terminal::{NoteKind, Output};

const DESCRIPTION_CHARS_MAX: usize = 200;
const PATH_CHARS_MAX: usize = 300;
const TEXT_LINE_CHARS_MAX: usize = 400;

/// Skills
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  palyra tools skills\n  palyra tools skills install ./notes"
)]
pub(crate) struct SkillsArgs {
    #[command(subcommand)]
    verb: Option<SkillsVerb>,
    /// The list as lines of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum SkillsVerb {
    /// List what is installed
    #[command(after_help = "Example:\n  palyra tools skills list")]
    List {
        /// As lines of JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one, with the words that a model gets
    #[command(after_help = "Example:\n  palyra tools skills show notes")]
    Show {
        /// Its name or id
        name: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Copy a folder with a SKILL.md and pin its bytes; it is not enabled by this
    #[command(after_help = "Example:\n  palyra tools skills install ./notes")]
    Install {
        /// The folder
        path: PathBuf,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Switch one on for new runs of an agent; ends its quarantine
    #[command(after_help = "Example:\n  palyra tools skills enable notes")]
    Enable {
        #[command(flatten)]
        request: SkillRequest,
    },
    /// Switch one off for new runs of an agent
    #[command(after_help = "Example:\n  palyra tools skills disable notes --agent main")]
    Disable {
        #[command(flatten)]
        request: SkillRequest,
    },
    /// Remove one and its copy
    #[command(after_help = "Example:\n  palyra tools skills remove notes")]
    Remove {
        /// Its name or id
        name: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Compare every copy with what was installed
    #[command(after_help = "Example:\n  palyra tools skills verify")]
    Verify {
        /// As lines of JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
struct SkillRequest {
    /// Its name or id
    name: String,
    /// The agent [default: main]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(super) async fn run(context: &Context, args: SkillsArgs) -> Result<Exit, Failure> {
    let verb = args.verb.unwrap_or(SkillsVerb::List { json: args.json });
    // Told before a daemon is started for it.
    let folder = match &verb {
        SkillsVerb::Install { path, .. } => absolute(path)?,
        _ => String::new(),
    };
    let client = context.connect().await?;
    match verb {
        SkillsVerb::Install { json, .. } => install(context, &client, folder, json.into()).await,
        SkillsVerb::List { json } => list(context, &client, json.into()).await,
        SkillsVerb::Show { name, json } => show(context, &client, name, json.into()).await,
        SkillsVerb::Enable { request } => {
            let SkillRequest { name, agent, json } = request;
            let skill =
                client.call(v1::EnableSkillRequest { name, agent: agent.unwrap_or_default() }).await?.skill;
            tell_switched(context, &skill.unwrap_or_default(), "enabled", json.into())
        }
        SkillsVerb::Disable { request } => {
            let SkillRequest { name, agent, json } = request;
            let skill =
                client.call(v1::DisableSkillRequest { name, agent: agent.unwrap_or_default() }).await?.skill;
            tell_switched(context, &skill.unwrap_or_default(), "disabled", json.into())
        }
        SkillsVerb::Remove { name, json } => {
            let removed = client.call(v1::RemoveSkillRequest { name }).await?;
            if json {
                context.output.json(&to_json_with_defaults(&removed))?;
            } else {
                context.output.note(NoteKind::Good, &format!("removed {}", clean_line(&removed.name, 64)));
            }
            Ok(Exit::Done)
        }
        SkillsVerb::Verify { json } => verify(context, &client, json.into()).await,
    }
}

/// The daemon has no place of its own to start a path from.
fn absolute(path: &Path) -> Result<String, Failure> {
    let message = |what: String| {
        let shown = clean_line(&path.display().to_string(), PATH_CHARS_MAX);
        Failure::local(ErrorCode::SkillInvalid, format!("{shown}: {what}"))
    };
    let real = path
        .canonicalize()
        .map_err(|error| Failure::unreadable_file(ErrorCode::SkillInvalid, path, &error))?;
    if !real.is_dir() {
        return Err(message("it is a file; name the folder that holds SKILL.md, unpacked".to_owned()));
    }
    real.into_os_string().into_string().map_err(|_| message("the path is not UTF-8".to_owned()))
}

async fn list(context: &Context, client: &Client, format: OutputFormat) -> Result<Exit, Failure> {
    let skills = client.call(v1::ListSkillsRequest {}).await?.skills;
    if format == OutputFormat::Json {
        skills.iter().try_for_each(|skill| context.output.json(&to_json(skill)))?;
        return Ok(Exit::Done);
    }
    if skills.is_empty() {
        context.output.note(NoteKind::Info, "no skill is installed; `palyra tools skills install FOLDER`");
        return Ok(Exit::Done);
    }
    context.table(["SKILL", "STATE", "AGENTS", "TOOLS", "FOR"], skills.iter().map(row).collect())?;
    Ok(Exit::Done)
}

fn row(skill: &v1::Skill) -> [String; 5] {
    let name = if skill.name.is_empty() { &skill.skill_id } else { &skill.name };
    let agents: Vec<&str> = skill.agents.iter().map(|agent| agent.agent.as_str()).collect();
    let agents = if agents.is_empty() { "none".to_owned() } else { agents.join(", ") };
    [name.clone(), skill.state_name().into_owned(), agents, tools_of(skill), skill.description.clone()]
}

fn tools_of(skill: &v1::Skill) -> String {
    match (skill.narrows, skill.allowed_tools.as_slice()) {
        (false, _) => "all".to_owned(),
        (true, []) => "none".to_owned(),
        (true, tools) => tools.join(", "),
    }
}

async fn show(
    context: &Context,
    client: &Client,
    name: String,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let shown = client.call(v1::GetSkillRequest { name }).await?;
    if format == OutputFormat::Json {
        context.output.json(&to_json(&shown))?;
        return Ok(Exit::Done);
    }
    tell(context, &shown.skill.unwrap_or_default())?;
    tell_text(&context.output, &shown.text)
}

/// Shows all that is known of a skill, line by line.
fn tell(context: &Context, skill: &v1::Skill) -> Result<(), Failure> {
    let line = |label: &str, value: &str, chars: usize| {
        context.output.line(&format!("{label:<12} {}", clean_line(value, chars)))
    };
    line("skill", &skill.name, 64)?;
    line("id", &skill.skill_id, 64)?;
    line("for", &skill.description, DESCRIPTION_CHARS_MAX)?;
    line("state", &skill.state_name(), 64)?;
    line("tools", &tools_of(skill), PATH_CHARS_MAX)?;
    for agent in &skill.agents {
        let left = if agent.tools_left.is_empty() { "none".to_owned() } else { agent.tools_left.join(", ") };
        line("enabled for", &format!("{} (its runs have: {left})", agent.agent), PATH_CHARS_MAX)?;
    }
    line("pinned", &skill.sha256, 64)?;
    line("holds", &format!("{}, {}", count(skill.files.into(), "file"), bytes(skill.bytes)), 64)?;
    line("from", &skill.source, PATH_CHARS_MAX)?;
    line("installed", &date(skill.installed), 64)?;
    for unknown in &skill.unknown_tools {
        let near =
            if unknown.near.is_empty() { String::new() } else { format!("; is `{}` meant?", unknown.near) };
        context
            .output
            .note(NoteKind::Doubt, &format!("there is no tool `{}`{near}", clean_line(&unknown.name, 64)));
    }
    show_quarantine(&context.output, skill);
    Ok(())
}

fn show_quarantine(output: &Output, skill: &v1::Skill) {
    if skill.state() == v1::SkillState::Quarantined {
        output.note(NoteKind::Bad, &quarantine(skill));
    }
}

/// Says why a skill takes no part, and the mend.
fn quarantine(skill: &v1::Skill) -> String {
    let what = match skill.fault() {
        v1::SkillFault::Changed => "its copy is not what was installed",
        v1::SkillFault::Missing => "its copy is gone",
        v1::SkillFault::Unreadable | v1::SkillFault::Unspecified => "its copy cannot be read whole",
    };
    let since = date(skill.quarantined);
    format!(
        "quarantined since {since}: {what}; runs of its agents have no tools until you install its folder again, look at it and enable it, or disable it"
    )
}

fn tell_text(output: &Output, text: &str) -> Result<Exit, Failure> {
    output.line("")?;
    text.lines().try_for_each(|line| output.line(&clean_line(line, TEXT_LINE_CHARS_MAX)))?;
    Ok(Exit::Done)
}

async fn install(
    context: &Context,
    client: &Client,
    path: String,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let installed = client.call(v1::InstallSkillRequest { path }).await?;
    if format == OutputFormat::Json {
        context.output.json(&to_json_with_defaults(&installed))?;
        return Ok(Exit::Done);
    }
    let skill = installed.skill.unwrap_or_default();
    tell(context, &skill)?;
    let name = clean_line(&skill.name, 64);
    if installed.repaired {
        context
            .output
            .note(NoteKind::Info, "the same bytes were installed already; their copy was written again");
    } else if !installed.replaced.is_empty() {
        context
            .output
            .note(NoteKind::Info, "it takes the place of another one of its name, which is removed");
    }
    if skill.state() != v1::SkillState::Enabled {
        let message = format!(
            "installed and pinned, and not enabled: read `palyra tools skills show {name}`, then `palyra tools skills enable {name}`"
        );
        context.output.note(NoteKind::Good, &message);
    }
    Ok(Exit::Done)
}

fn tell_switched(
    context: &Context,
    skill: &v1::Skill,
    how: &str,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    if format == OutputFormat::Json {
        context.output.json(&to_json_with_defaults(skill))?;
        return Ok(Exit::Done);
    }
    let name = clean_line(&skill.name, 64);
    context.output.note(NoteKind::Good, &format!("{how} {name} for runs that begin from now on"));
    for agent in &skill.agents {
        let (mark, left) = match agent.tools_left.as_slice() {
            [] => (NoteKind::Doubt, "no tools at all".to_owned()),
            tools => (NoteKind::Info, tools.join(", ")),
        };
        context.output.note(mark, &format!("runs of {} have: {left}", clean_line(&agent.agent, 64)));
    }
    show_quarantine(&context.output, skill);
    Ok(Exit::Done)
}

async fn verify(context: &Context, client: &Client, format: OutputFormat) -> Result<Exit, Failure> {
    let verified = client.call(v1::VerifySkillsRequest {}).await?.skills;
    let bad = verified.iter().filter(|verified| !verified.whole).count();
    for verified in &verified {
        if format == OutputFormat::Json {
            context.output.json(&to_json_with_defaults(verified))?;
        } else if let Some(skill) = &verified.skill {
            let name = clean_line(&skill.name, 64);
            if verified.whole {
                context.output.note(NoteKind::Good, &format!("{name} is what was installed"));
            } else {
                context.output.note(NoteKind::Bad, &format!("{name}: {}", quarantine(skill)));
            }
        }
    }
    if format != OutputFormat::Json && verified.is_empty() {
        context.output.note(NoteKind::Info, "no skill is installed");
    }
    Ok(if bad == 0 { Exit::Done } else { Exit::Failed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_what_a_skill_leaves_and_for_whom() {
        let skill = v1::Skill {
            name: "notes".to_owned(),
            state: v1::SkillState::Enabled.into(),
            description: "Takes notes.".to_owned(),
            narrows: true,
            agents: vec![v1::SkillAgent { agent: "main".to_owned(), tools_left: Vec::new() }],
            ..Default::default()
        };
        assert_eq!(row(&skill), ["notes", "enabled", "main", "none", "Takes notes."]);
        let tools = vec!["glob".to_owned(), "read_file".to_owned()];
        assert_eq!(tools_of(&v1::Skill { allowed_tools: tools, ..skill.clone() }), "glob, read_file");
        assert_eq!(tools_of(&v1::Skill { narrows: false, ..skill }), "all");
    }

    #[test]
    fn a_quarantine_names_its_cause_and_the_way_out() {
        let of = |fault: v1::SkillFault| quarantine(&v1::Skill { fault: fault.into(), ..Default::default() });
        assert!(
            of(v1::SkillFault::Changed).contains("is not what was installed")
                && of(v1::SkillFault::Missing).contains("is gone")
        );
        assert!(of(v1::SkillFault::Unreadable).contains("install its folder again"));
    }
}
