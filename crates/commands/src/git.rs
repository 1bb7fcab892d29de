//! `git`: what a repository says of itself. It reads, and nothing else: what the repository would have git run, runs
//! without network in a workspace that cannot be changed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use palyra_ports::{ConfinedCommand, Network, ProcessTier, Supervision, WorkspaceAccess, WorkspaceRoot};
use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolSpec,
};
use serde::Deserialize;
use serde_json::json;

use crate::call::{Granted, Made, Parts};
use crate::failure::CommandFailure;
use crate::program::{Place, locate_program};
use crate::run_command::{parse, to_its_end};
use crate::running::{Hearing, gather};
use crate::settings::CommandSettings;

pub(crate) const NAME: &str = "git";
const VERSION: u32 = 1;
const DEADLINE: Duration = Duration::from_secs(60);
const OUTPUT_BYTES_MAX: usize = 32 * 1024;

/// Settings of a repository with which git would start other programs.
const WITHOUT: [&str; 12] = [
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.pager=cat",
    "-c",
    "diff.external=",
    "-c",
    "core.attributesFile=/dev/null",
    "-c",
    "protocol.allow=never",
];

pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        name: ToolName::new(NAME),
        version: VERSION,
        description:
            "Asks git about the workspace: status, differences, history. It changes nothing; to commit, use \
                      run_command."
                .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "subcommand": {
                    "type": "string",
                    "enum": ["status", "diff", "log", "show", "blame", "branch", "ls-files", "rev-parse", "grep", "describe"],
                    "description": "What to ask.",
                },
                "options": {
                    "type": "array", "maxItems": 64, "items": {"type": "string", "maxLength": 1024},
                    "description": "What follows it, such as [\"--stat\", \"HEAD~3\"].",
                },
            },
            "required": ["subcommand"],
            "additionalProperties": false,
        }),
        contract: EffectContract::Pure,
        parallelism: Parallelism::Parallel,
        conduct: ToolConduct::Direct,
        capabilities: vec![Capability::ReadFiles],
        taints: Taints::WORKSPACE,
        risk: ApprovalRiskLevel::Low,
        deadline: DEADLINE,
        output_bytes_max: OUTPUT_BYTES_MAX,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    subcommand: String,
    #[serde(default)]
    options: Vec<String>,
}

pub(crate) async fn run(
    parts: &Parts,
    granted: &Granted,
    supervision: &Supervision,
) -> Result<Made, CommandFailure> {
    let arguments: Arguments = parse(&granted.arguments)?;
    if let Some(option) =
        arguments.options.iter().find(|option| leads_elsewhere(&arguments.subcommand, option))
    {
        return Err(CommandFailure::Arguments(format!(
            "git is asked for reading only, and `{}` writes or starts another program; leave it out",
            option.escape_debug()
        )));
    }
    let (settings, root) = (parts.settings.clone(), granted.workspace_root.clone());
    let located = tokio::task::spawn_blocking(move || locate(&settings, &root)).await;
    let lost = |_| Err(CommandFailure::SandboxFailed("git could not be looked for".to_owned()));
    let (workspace, program) = located.unwrap_or_else(lost)?;
    let offer = parts.sandbox.offer();
    let tier = if offer.missing_for(ProcessTier::Isolated).is_none() {
        ProcessTier::Isolated
    } else {
        ProcessTier::Confined
    };
    let diffs = matches!(arguments.subcommand.as_str(), "diff" | "log" | "show");
    let plain: &[&str] = if diffs { &["--no-ext-diff", "--no-textconv"] } else { &[] };
    let words = ["git"].iter().chain(&WITHOUT).map(|word| (*word).to_owned());
    let words = words.chain([arguments.subcommand]).chain(plain.iter().map(|word| (*word).to_owned()));
    let quiet = [
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_ATTR_NOSYSTEM", "1"),
    ];
    let shared = parts.settings.environment.iter().map(|(name, value)| (name.into(), value.into()));
    let command = ConfinedCommand {
        tier,
        program,
        arguments: words.chain(arguments.options).map(Into::into).collect(),
        environment: shared.chain(quiet.map(|(name, value)| (name.into(), value.into()))).collect(),
        directory: workspace.path().to_owned(),
        workspace,
        access: WorkspaceAccess::Read,
        kept: Vec::new(),
        readable: parts.settings.readable.clone(),
        sealed: Vec::new(),
        network: Network::None,
        limits: parts.settings.limits,
    };
    let hearing = Hearing { bytes_max: granted.printed_bytes_max(), watched: supervision.output.clone() };
    let running = gather(parts.sandbox.start(command).await?, hearing)?;
    Ok(Made { tier: Some(tier), ..to_its_end(parts, running, supervision, (DEADLINE, granted)).await })
}

/// Finds the workspace and git, without reading it: it is not bound to what anybody looked at.
fn locate(settings: &CommandSettings, root: &Path) -> Result<(WorkspaceRoot, PathBuf), CommandFailure> {
    let workspace = WorkspaceRoot::open(root)?;
    let git = locate_program(settings, &workspace, workspace.path(), "git")?;
    match git.place {
        Place::System => Ok((workspace, git.path)),
        Place::Workspace => Err(CommandFailure::PathRefused("git lies in the workspace".to_owned())),
    }
}

/// Returns whether an option writes a file or starts a program that nobody was asked about. Git takes any unambiguous
/// beginning of a long option, and several letters behind one dash; a value that looks like one is refused with them.
fn leads_elsewhere(subcommand: &str, option: &str) -> bool {
    const LONG: [&str; 4] = ["--output", "--open-files-in-pager", "--ext-diff", "--textconv"];
    const SHORTEST: usize = "--o".len();
    let name = option.split('=').next().unwrap_or_default();
    let is_long =
        name.len() >= SHORTEST && LONG.iter().any(|long| long.starts_with(name) || name.starts_with(long));
    let is_short = !option.starts_with("--") && option.starts_with('-') && option.contains('O');
    is_long || (subcommand == "grep" && is_short)
}

#[cfg(test)]
mod tests {
    use super::leads_elsewhere;

    #[test]
    fn no_spelling_of_an_option_starts_another_program_or_writes() {
        for option in
            ["-Osh", "-nO", "-O", "--open-files-in-pager=sh", "--open-f=sh", "--op", "--o=x", "--output=x"]
        {
            assert!(leads_elsewhere("grep", option), "{option}");
        }
        for option in ["--ext-diff", "--ext-d", "--textconv", "--textc", "--te"] {
            assert!(leads_elsewhere("show", option), "{option}");
        }
        for (subcommand, option) in [
            ("diff", "--stat"),
            ("diff", "-Oorder"),
            ("grep", "-n"),
            ("grep", "needle"),
            ("log", "--oneline"),
        ] {
            assert!(!leads_elsewhere(subcommand, option), "{subcommand} {option}");
        }
    }
}
