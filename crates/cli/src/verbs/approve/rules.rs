//! Rules of projects: which `AGENTS.md` files are accepted, and accepting or withdrawing one.

use std::path::PathBuf;

use palyra_client::Client;
use palyra_run_view::{accepted_digest, accepted_file_lines, project_file_lines};
use palyra_screen_text::clean_line;
use palyra_terminal::{NoteKind, Output};
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::verbs::start_run::{RunChoice, working_folder};

const PATH_CHARS_MAX: usize = 1_000;

/// List, accept and withdraw AGENTS.md files as rules of a project
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  palyra approve rules\n  palyra approve rules --accept AGENTS.md\n  palyra approve rules --withdraw 41"
)]
pub(super) struct RulesArgs {
    /// Accept a file of this folder for your runs here: its SHA-256, 8 or more characters of its beginning, or its path
    #[arg(long, value_name = "DIGEST|FILE", conflicts_with = "withdraw")]
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

impl RulesArgs {
    /// Returns the folder to look in; `None` where a number is enough.
    pub(super) fn place(&self) -> Option<RunChoice> {
        let choice = RunChoice { workspace: self.workspace.clone(), ..RunChoice::default() };
        self.withdraw.is_none().then_some(choice)
    }
}

/// Runs the verb; `root` is the root of the workspace of [`RulesArgs::place`].
pub(super) async fn run(
    output: &Output,
    client: &Client,
    args: RulesArgs,
    root: Option<String>,
) -> Result<Exit, Failure> {
    if let Some(seq) = args.withdraw {
        let withdrawn = client.call(v1::WithdrawProjectRulesRequest { seq }).await?;
        if args.json {
            output.json(&to_json_with_defaults(&withdrawn))?;
        } else {
            output.note(NoteKind::Good, "withdrawn; runs from now on read the file as data");
        }
        return Ok(Exit::Done);
    }
    let workspace_root = root.unwrap_or_default();
    let working_folder = working_folder(&workspace_root);
    let list = v1::ListProjectRulesRequest {
        workspace_root: workspace_root.clone(),
        working_folder: working_folder.clone(),
    };
    if let Some(named) = args.accept {
        let files = client.call(list).await?.files;
        let sha256 = accepted_digest(&named, &files).map_err(Failure::Usage)?;
        let request =
            v1::AcceptProjectRulesRequest { workspace_root, working_folder, sha256: sha256.clone() };
        let accepted = client.call(request).await?;
        if args.json {
            output.json(&to_json_with_defaults(&accepted))?;
        } else {
            let notice = format!(
                "accepted the file with SHA-256 {sha256}; it is part of the instructions of your runs here until it changes"
            );
            output.note(NoteKind::Good, &notice);
        }
        return Ok(Exit::Done);
    }
    let listed = client.call(list).await?;
    if args.json {
        output.json(&to_json_with_defaults(&listed))?;
        return Ok(Exit::Done);
    }
    for line in
        listed.files.iter().map(project_file_lines).chain(listed.accepted.iter().map(accepted_file_lines))
    {
        output.line(&line)?;
    }
    for refused in &listed.refused {
        output.note(NoteKind::Doubt, &clean_line(refused, PATH_CHARS_MAX));
    }
    if listed.files.is_empty() && listed.accepted.is_empty() {
        output.note(NoteKind::Info, "nothing is accepted, and no AGENTS.md is in this folder");
    }
    Ok(Exit::Done)
}
