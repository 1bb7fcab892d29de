//! `git`: what a repository says of itself. It reads, and nothing else: what the repository would have git run, runs
//! without network in a workspace that cannot be changed.

use std::time::Duration;

use palyra_ports::{ConfinedCommand, Network, ProcessTier, Supervision, WorkspaceAccess};
use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolSpec,
};
use serde::Deserialize;
use serde_json::json;

use crate::call::{Granted, Made, Parts};
use crate::failure::CommandFailure;
use crate::program::find_program;
use crate::run_command::{parse, to_its_end};
use crate::running::{Hearing, gather};

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
    // Nothing could be written; the refusal says so before git does.
    if arguments
        .options
        .iter()
        .any(|option| option.starts_with("--output") || option.starts_with("--ext-diff"))
    {
        return Err(CommandFailure::Arguments(
            "git is asked for reading only; leave that option out".to_owned(),
        ));
    }
    let gone =
        |error: std::io::Error| CommandFailure::NotFound(format!("the workspace cannot be used: {error}"));
    let workspace = granted.workspace_root.canonicalize().map_err(gone)?;
    let program = find_program(&parts.settings, &workspace, &workspace, "git")?;
    if program.sealed.is_some() {
        return Err(CommandFailure::PathRefused("git lies in the workspace".to_owned()));
    }
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
        program: program.path,
        arguments: words.chain(arguments.options).map(Into::into).collect(),
        environment: shared.chain(quiet.map(|(name, value)| (name.into(), value.into()))).collect(),
        directory: workspace.clone(),
        workspace,
        access: WorkspaceAccess::Read,
        kept: Vec::new(),
        readable: parts.settings.readable.clone(),
        sealed: Vec::new(),
        network: Network::None,
        limits: parts.settings.limits,
    };
    let hearing = Hearing { bytes_max: granted.output_bytes_max, watched: supervision.output.clone() };
    let running = gather(parts.sandbox.start(command).await?, hearing)?;
    Ok(Made { tier: Some(tier), ..to_its_end(parts, running, supervision, DEADLINE).await })
}
