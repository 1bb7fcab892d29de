//! `git`: what a repository says of itself. It reads, and nothing else: options that are not in a table are refused,
//! what the repository would have git run is switched off, and it runs without network in a workspace that cannot be
//! changed. Credentials are left out, unless the call names them.

mod options;
mod revisions;
mod question;
mod hidden;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use palyra_ports::{
    ConfinedCommand, NetworkAccess, OutputSink, ProcessTier, ProgramEnd, Supervision, WorkspaceAccess,
    WorkspaceRoot,
};
use palyra_tool_kit::{ToolInvocation, ToolResult, parse};
use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolSpec,
};
use serde::Deserialize;
use serde_json::json;

use self::options::Subcommand;
use self::question::{GitQuestion, WrittenQuestion};
use crate::call::{CommandParts, printed_bytes_max};
use crate::failure::CommandFailure;
use crate::head_tail_buffer::HeadTailBuffer;
use crate::program::{ProgramPlace, locate_program};
use crate::run_command::{how, to_its_end};
use crate::running::{OutputHandling, RunningProgram, gather};
use crate::settings::CommandSettings;

pub(crate) const NAME: &str = "git";
const VERSION: u32 = 2;
const DEADLINE: Duration = Duration::from_secs(60);
/// How long git may take for each of the questions beside that of the call.
const ASIDE: Duration = Duration::from_secs(20);
const OUTPUT_BYTES_MAX: usize = 32 * 1024;
/// How much git may answer to those, in bytes.
const ASIDE_BYTES_MAX: usize = 256 * 1024;
/// Names of what was left out that are told.
const NAMES_TOLD_MAX: usize = 5;

/// Settings of a repository with which git would start other programs, or read files that nobody asked for.
const WITHOUT: [&str; 19] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "diff.external=",
    "core.attributesFile=/dev/null",
    "protocol.allow=never",
    "log.showSignature=false",
    "gpg.program=false",
    "gpg.openpgp.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "log.follow=false",
    "diff.submodule=short",
    "diff.orderFile=/dev/null",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
    "mailmap.file=/dev/null",
    "blame.ignoreRevsFile=",
    "core.sshCommand=false",
];

pub(crate) fn spec() -> ToolSpec {
    let subcommands: Vec<&str> = Subcommand::ALL.iter().map(|(_, name)| *name).collect();
    ToolSpec {
        name: ToolName::new(NAME),
        version: VERSION,
        description:
            "Asks git about the workspace: status, differences, history. It changes nothing; to commit, use \
                      run_command. Only options that read are taken, by their whole names. Files that may hold \
                      credentials are left out, unless `paths` names them, which a person is asked about."
                .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "subcommand": {"type": "string", "enum": subcommands, "description": "What to ask."},
                "options": {
                    "type": "array", "x-palyra-meaning": "option", "maxItems": 64,
                    "items": {"type": "string", "maxLength": 1024},
                    "description": "Options, such as [\"--stat\", \"-n\", \"5\"]; for grep, [\"-n\", \"-e\", PATTERN].",
                },
                "revisions": {
                    "type": "array", "x-palyra-meaning": "option", "maxItems": 16,
                    "items": {"type": "string", "maxLength": 1024},
                    "description": "Commits, such as [\"HEAD~3\"] or [\"main..feature\"]; for show also a file in one, \
                                    such as [\"HEAD~3:src/main.rs\"].",
                },
                "paths": {
                    "type": "array", "x-palyra-meaning": "path", "maxItems": 64,
                    "items": {"type": "string", "maxLength": 4095},
                    "description": "Files and folders to look at, from the workspace root; all when left out.",
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
struct GitArguments {
    subcommand: String,
    #[serde(default)]
    options: Vec<String>,
    #[serde(default)]
    revisions: Vec<String>,
    #[serde(default)]
    paths: Vec<String>,
}

pub(crate) async fn run(
    parts: &CommandParts,
    invocation: &ToolInvocation,
) -> Result<ToolResult, CommandFailure> {
    let supervision = &invocation.supervision;
    let GitArguments { subcommand, options, revisions, paths } = parse(&invocation.arguments)?;
    let written = WrittenQuestion { subcommand, options, revisions, paths };
    let question = GitQuestion::read(written, &invocation.workspace_root)?;
    let (settings, root) = (parts.settings.clone(), invocation.workspace_root.clone());
    let located = tokio::task::spawn_blocking(move || locate(&settings, &root)).await;
    let lost = |_| Err(CommandFailure::SandboxFailed("git could not be looked for".to_owned()));
    let (workspace, program) = located.unwrap_or_else(lost)?;
    let offer = parts.sandbox.offer();
    let tier = if offer.missing_for(ProcessTier::Isolated).is_none() {
        ProcessTier::Isolated
    } else {
        ProcessTier::Confined
    };
    let mut git = Git { parts, supervision, tier, workspace, program, filters: Vec::new() };
    git.filters = git.filters().await?;
    let left_out = git.left_out(&question).await?;
    let hearing =
        OutputHandling { bytes_max: printed_bytes_max(invocation), watched: supervision.output.clone() };
    let running = git.start(question.words(hidden::excluded()), hearing).await?;
    let ended = to_its_end(parts, running, invocation, how, DEADLINE).await;
    let text = match left_out {
        Some(told) => format!("{}\n[{told}]", ended.text.trim_end_matches('\n')),
        None => ended.text,
    };
    Ok(ToolResult { site: parts.site(tier), text, ..ended })
}

/// Git, in a workspace.
struct Git<'g> {
    parts: &'g CommandParts,
    supervision: &'g Supervision,
    tier: ProcessTier,
    workspace: WorkspaceRoot,
    program: PathBuf,
    /// Settings that take the repository's filters away.
    filters: Vec<(String, String)>,
}

impl Git<'_> {
    async fn start(
        &self,
        words: Vec<String>,
        hearing: OutputHandling,
    ) -> Result<RunningProgram<HeadTailBuffer>, CommandFailure> {
        let settings = &self.parts.settings;
        let without = WITHOUT.iter().flat_map(|setting| ["-c", *setting]);
        let arguments = ["git"].into_iter().chain(without).map(OsString::from);
        let command = ConfinedCommand {
            tier: self.tier,
            program: self.program.clone(),
            arguments: arguments.chain(words.into_iter().map(OsString::from)).collect(),
            environment: self.environment(),
            directory: self.workspace.path().to_owned(),
            workspace: self.workspace.clone(),
            access: WorkspaceAccess::Read,
            kept: Vec::new(),
            readable: settings.readable.clone(),
            sealed: Vec::new(),
            network: NetworkAccess::None,
            limits: settings.limits,
        };
        gather(self.parts.sandbox.start(command).await?, hearing)
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let quiet = [
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_NO_LAZY_FETCH", "1"),
        ];
        let quiet = quiet.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let count = ("GIT_CONFIG_COUNT".to_owned(), self.filters.len().to_string());
        let filters = self.filters.iter().enumerate().flat_map(|(at, (name, value))| {
            [
                (format!("GIT_CONFIG_KEY_{at}"), name.clone()),
                (format!("GIT_CONFIG_VALUE_{at}"), value.clone()),
            ]
        });
        let all = self.parts.settings.environment.iter().cloned().chain(quiet).chain([count]).chain(filters);
        all.map(|(name, value)| (name.into(), value.into())).collect()
    }

    /// Asks git something beside the call; returns what it printed, with a NUL between its answers.
    async fn aside(&self, words: Vec<String>) -> Result<Vec<String>, CommandFailure> {
        let hearing = OutputHandling { bytes_max: ASIDE_BYTES_MAX, watched: OutputSink::default() };
        let mut running = self.start(words, hearing).await?;
        let clock = &self.parts.clock;
        let late =
            || CommandFailure::SandboxFailed("git took too long to say what the repository has".to_owned());
        let ended = {
            let mut ended = std::pin::pin!(running.process.wait());
            tokio::select! {
                biased;
                ended = &mut ended => Ok(ended),
                () = self.supervision.cancel.cancelled() => Err(CommandFailure::Cancelled),
                () = clock.sleep_until(clock.boot().after(ASIDE)) => Err(late()),
            }
        };
        running.process.stop();
        running.wait().await;
        let ended = ended?;
        let output = running.output.get();
        match ended {
            // It has nothing to say, or the call itself will be told why not.
            ProgramEnd::Exited { code } if code != 0 => Ok(Vec::new()),
            ProgramEnd::Exited { .. } if output.left_out() == 0 => {
                let printed = output.describe(|_| String::new());
                Ok(printed.split_terminator('\0').map(str::to_owned).collect())
            }
            ProgramEnd::Exited { .. }
            | ProgramEnd::Signalled { .. }
            | ProgramEnd::OverMemory
            | ProgramEnd::OverProcesses
            | ProgramEnd::KeptLost
            | ProgramEnd::Stopped => {
                Err(CommandFailure::SandboxFailed("git could not say what the repository has".to_owned()))
            }
        }
    }

    /// Returns settings that take away what the repository would have files of the workspace put through.
    async fn filters(&self) -> Result<Vec<(String, String)>, CommandFailure> {
        let words = [
            "config",
            "--null",
            "--name-only",
            "--get-regexp",
            "^filter\\..*\\.(clean|smudge|process|required)$",
        ];
        let names = self.aside(words.map(str::to_owned).to_vec()).await?;
        // What it says of its own trouble stands on lines before a name.
        let names = names.iter().map(|name| name.rsplit('\n').next().unwrap_or_default());
        let mut filters: Vec<(String, String)> = names
            .filter(|name| name.starts_with("filter."))
            .map(|name| (name.to_owned(), if name.ends_with(".required") { "false" } else { "" }.to_owned()))
            .collect();
        filters.sort();
        filters.dedup();
        Ok(filters)
    }

    /// Says what the answer leaves out, when it leaves anything out.
    async fn left_out(&self, question: &GitQuestion) -> Result<Option<String>, CommandFailure> {
        let Some(words) = question.asks_what_is_left_out() else { return Ok(None) };
        let how = "name one in `paths` to ask the person for it";
        if question.subcommand == Subcommand::Log {
            return Ok(Some(format!("paths that may hold credentials are left out; {how}")));
        }
        let names = self.aside(words.into_iter().chain(hidden::included()).collect()).await?;
        let mut names: Vec<&str> = names.iter().map(|name| question.name_in(name)).collect();
        names.retain(|name| question.is_about(name));
        names.sort_unstable();
        names.dedup();
        let (count, told) =
            (names.len(), names.iter().take(NAMES_TOLD_MAX).copied().collect::<Vec<_>>().join(", "));
        let more = if count > NAMES_TOLD_MAX { ", ..." } else { "" };
        let paths = if count == 1 { "path" } else { "paths" };
        Ok((count > 0).then(|| {
            format!(
                "left out: {count} {paths} that may hold credentials ({}{more}); {how}",
                told.escape_debug()
            )
        }))
    }
}

/// Finds the workspace and git, without reading it: it is not bound to what anybody looked at.
fn locate(settings: &CommandSettings, root: &Path) -> Result<(WorkspaceRoot, PathBuf), CommandFailure> {
    let workspace = WorkspaceRoot::open(root)?;
    let git = locate_program(settings, &workspace, workspace.path(), "git")?;
    match git.place {
        ProgramPlace::System => Ok((workspace, git.path)),
        ProgramPlace::Workspace => Err(CommandFailure::PathRefused("git is in the workspace".to_owned())),
    }
}
