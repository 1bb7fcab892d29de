//! Rules of projects: which `AGENTS.md` files are accepted, and accepting or withdrawing one.

use std::path::PathBuf;

use palyra_client::Client;
use palyra_run_view::{ERASED_MARK, date};
use palyra_screen_text::clean_line;
use palyra_terminal::NoteKind;
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::verbs::start_run::{RunChoice, working_folder, workspace_root};

const PATH_CHARS_MAX: usize = 1_000;

/// List, accept and withdraw AGENTS.md files as rules of a project
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  palyra approve rules\n  palyra approve rules --accept DIGEST\n  palyra approve rules --withdraw 41"
)]
pub(super) struct RulesArgs {
    /// Accept the file of this folder that has this SHA-256 now, for your runs here
    #[arg(long, value_name = "DIGEST", conflicts_with = "withdraw")]
    accept: Option<String>,
    /// Take the file of this number as data again
    #[arg(long, value_name = "NUMBER")]
    withdraw: Option<u64>,
    /// The folder of the project [default: this one]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(super) async fn run(context: &Context, client: &Client, args: RulesArgs) -> Result<Exit, Failure> {
    if let Some(seq) = args.withdraw {
        let withdrawn = client.call(v1::WithdrawProjectRulesRequest { seq }).await?;
        if args.json {
            context.output.json(&to_json_with_defaults(&withdrawn))?;
        } else {
            context.output.note(NoteKind::Good, "withdrawn; runs from now on read the file as data");
        }
        return Ok(Exit::Done);
    }
    let workspace_root =
        workspace_root(context, &RunChoice { workspace: args.workspace, ..RunChoice::default() })?;
    let working_folder = working_folder(&workspace_root);
    if let Some(sha256) = args.accept {
        let request = v1::AcceptProjectRulesRequest { workspace_root, working_folder, sha256 };
        let accepted = client.call(request).await?;
        if args.json {
            context.output.json(&to_json_with_defaults(&accepted))?;
        } else {
            let said = "accepted; it is part of the instructions of your runs here until it changes";
            context.output.note(NoteKind::Good, said);
        }
        return Ok(Exit::Done);
    }
    let listed = client.call(v1::ListProjectRulesRequest { workspace_root, working_folder }).await?;
    if args.json {
        context.output.json(&to_json_with_defaults(&listed))?;
        return Ok(Exit::Done);
    }
    for line in listed.files.iter().map(of_folder).chain(listed.accepted.iter().map(accepted)) {
        context.output.line(&line)?;
    }
    for refused in &listed.refused {
        context.output.note(NoteKind::Doubt, &clean_line(refused, PATH_CHARS_MAX));
    }
    if listed.files.is_empty() && listed.accepted.is_empty() {
        context.output.note(NoteKind::Info, "nothing is accepted, and no AGENTS.md is in this folder");
    }
    Ok(Exit::Done)
}

/// Says what a file of this folder is, with the command that accepts it.
fn of_folder(file: &v1::ProjectFile) -> String {
    let path = clean_line(&file.path, PATH_CHARS_MAX);
    match file.standing() {
        v1::ProjectFileStanding::Accepted => format!("{path} of this folder: rules"),
        v1::ProjectFileStanding::Data | v1::ProjectFileStanding::Unspecified => {
            format!("{path} of this folder: data\n        palyra approve rules --accept {}", file.sha256)
        }
    }
}

fn accepted(one: &v1::AcceptedProjectRules) -> String {
    let place = match one.path.as_str() {
        "" => ERASED_MARK.to_owned(),
        path => clean_line(&format!("{}/{path}", one.workspace_root), PATH_CHARS_MAX),
    };
    format!("{}  {place}\n        accepted {}, {}", one.seq, date(one.accepted), one.sha256)
}
