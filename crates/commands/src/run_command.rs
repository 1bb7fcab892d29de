//! `run_command`: one program, from its start to its end.

use std::path::Path;
use std::time::Duration;

use palyra_ports::{PreparedCall, ProgramEnd};
use palyra_tool_kit::{ToolInvocation, ToolResult, parse};
use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolSpec,
};
use palyra_types::{Content, ErrorCode};
use serde::Deserialize;
use serde_json::json;

use crate::call::{CommandParts, printed_bytes_max};
use crate::failure::CommandFailure;
use crate::head_tail_buffer::HeadTailBuffer;
use crate::lone_operator::lone_operator;
use crate::output_handle::OutputHandle;
use crate::pipe_end::of_last_program;
use crate::plan::{CommandPlan, CommandRequest, PlannedCommand, plan};
use crate::preview;
use crate::reach::{CREDENTIALS_MAX, HOSTS_MAX, NetworkReach};
use crate::running::{self, OutputHandling, RunningProgram};

pub(crate) const NAME: &str = "run_command";
const VERSION: u32 = 1;
/// How long a command may take, and takes at most when it does not say.
const DEADLINE: Duration = Duration::from_secs(600);
const DEFAULT_SECS: u64 = 120;
const OUTPUT_BYTES_MAX: usize = 32 * 1024;

pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        name: ToolName::new(NAME),
        version: VERSION,
        description: "Runs one program in the workspace and waits for its end. There is no shell between: each word of \
                      `argv` is passed on as it is. The program sees the workspace and the system's programs, and \
                      nothing of it is left afterwards. It has no network, unless `hosts` names whom it may reach: \
                      then HTTP and HTTPS go through the proxy that its environment names, to those hosts only. For a \
                      program that goes on, use start_job."
            .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "argv": argv_schema(),
                "cwd": folder_schema(),
                "hosts": hosts_schema(),
                "credentials": credentials_schema(),
                "timeout_secs": {
                    "type": "integer", "minimum": 1, "maximum": 600,
                    "description": "How long it may take; 120 when left out.",
                },
            },
            "required": ["argv"],
            "additionalProperties": false,
        }),
        contract: EffectContract::Opaque,
        parallelism: Parallelism::Exclusive,
        conduct: ToolConduct::Prepared,
        capabilities: vec![Capability::ReadFiles, Capability::WriteFiles, Capability::Process],
        taints: Taints::WORKSPACE.with(Taints::TOOL),
        risk: ApprovalRiskLevel::High,
        deadline: DEADLINE,
        output_bytes_max: OUTPUT_BYTES_MAX,
    }
}

pub(crate) fn argv_schema() -> serde_json::Value {
    json!({
        "type": "array", "x-palyra-meaning": "argv", "minItems": 1, "maxItems": 256,
        "items": {"type": "string", "maxLength": 16384},
        "description": "The program and its arguments, such as [\"cargo\", \"test\"].",
    })
}

pub(crate) fn folder_schema() -> serde_json::Value {
    json!({
        "type": "string", "x-palyra-meaning": "path", "minLength": 1, "maxLength": 4095,
        "description": "The folder to start in, from the workspace root; the root when left out.",
    })
}

pub(crate) fn hosts_schema() -> serde_json::Value {
    json!({
        "type": "array", "x-palyra-meaning": "host", "maxItems": HOSTS_MAX, "items": {"type": "string", "maxLength": 261},
        "description": "Hosts that the program may reach, such as [\"files.example.org\", \"*.example.com\", \"example.com:8080\"]; \
                        no host when left out.",
    })
}

pub(crate) fn credentials_schema() -> serde_json::Value {
    json!({
        "type": "array", "x-palyra-meaning": "credential", "maxItems": CREDENTIALS_MAX, "items": {"type": "string", "maxLength": 330},
        "description": "Secrets that the person keeps, each as NAME@HOST for one of `hosts`. The program then asks that \
                        host at http:// and the proxy adds the secret and speaks TLS.",
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommandArguments {
    pub(crate) argv: Vec<String>,
    pub(crate) cwd: Option<String>,
    pub(crate) timeout_secs: Option<u64>,
    #[serde(default)]
    pub(crate) hosts: Vec<String>,
    #[serde(default)]
    pub(crate) credentials: Vec<String>,
}

impl CommandArguments {
    fn wanted(&self, read_only: &[String]) -> CommandRequest {
        CommandRequest {
            argv: self.argv.clone(),
            folder: self.cwd.clone(),
            hosts: self.hosts.clone(),
            credentials: self.credentials.clone(),
            read_only: read_only.to_vec(),
        }
    }
}

/// Works out what a call would run, with some folders read-only; blocks on the files that it reads.
pub(crate) fn prepare(
    parts: &CommandParts,
    arguments: &str,
    root: &Path,
    read_only: &[String],
) -> Result<PreparedCall, CommandFailure> {
    let arguments: CommandArguments = parse(arguments)?;
    if parts.guard.is_none() && !arguments.hosts.is_empty() {
        return Err(CommandFailure::Arguments(
            "commands reach no other host here; leave `hosts` out".to_owned(),
        ));
    }
    let planned = plan(&parts.settings, parts.sandbox.offer(), root, &arguments.wanted(read_only))?;
    Ok(PreparedCall {
        body: Content::new(body_of(&planned)),
        summary: Content::new(preview::summary(&planned.plan)),
        preview: Content::new(preview::preview(&planned.plan)),
        unbound: Content::new(preview::unbound(&planned.plan)),
        programs: planned.programs,
        secrets: NetworkReach::read(&planned.plan.hosts, &planned.plan.credentials)?.secrets(None),
        read_only: planned.plan.read_only,
        ..PreparedCall::default()
    })
}

fn body_of(planned: &PlannedCommand) -> String {
    serde_json::to_string(&planned.plan).unwrap_or_default()
}

/// Looks again at what would run, and fails unless it is what was recorded.
pub(crate) async fn planned_again(
    parts: &CommandParts,
    invocation: &ToolInvocation,
) -> Result<(PlannedCommand, CommandArguments), CommandFailure> {
    let arguments: CommandArguments = parse(&invocation.arguments)?;
    let (settings, offer) = (parts.settings.clone(), parts.sandbox.offer().clone());
    let (root, wanted) =
        (invocation.workspace_root.clone(), arguments.wanted(&read_only_in(&invocation.plan)));
    let looked = tokio::task::spawn_blocking(move || plan(&settings, &offer, &root, &wanted)).await;
    let lost = |_| Err(CommandFailure::SandboxFailed("the command could not be looked at".to_owned()));
    let planned = looked.unwrap_or_else(lost)?;
    if body_of(&planned) != invocation.plan {
        return Err(CommandFailure::Drifted(
            "the program, its script, a file that it names or its folder changed after the call was looked at; nothing was run, and the call \
             may be made again"
                .to_owned(),
        ));
    }
    Ok((planned, arguments))
}

/// Returns the folders that are read-only by a recorded plan. One that cannot be read is no plan that is made again.
fn read_only_in(plan: &str) -> Vec<String> {
    serde_json::from_str::<CommandPlan>(plan).map_or_else(|_| Vec::new(), |plan| plan.read_only)
}

/// Runs a command to its end.
pub(crate) async fn run(
    parts: &CommandParts,
    invocation: &ToolInvocation,
) -> Result<ToolResult, CommandFailure> {
    let supervision = &invocation.supervision;
    let (planned, arguments) = planned_again(parts, invocation).await?;
    if supervision.cancel.is_cancelled() {
        return Err(CommandFailure::Cancelled);
    }
    let (tier, argv) = (planned.plan.tier.of_process(), planned.plan.argv.clone());
    let read_only = planned.plan.read_only.clone();
    let has_network = !planned.plan.hosts.is_empty();
    let span = Duration::from_secs(arguments.timeout_secs.unwrap_or(DEFAULT_SECS)).min(DEADLINE);
    let hearing =
        OutputHandling { bytes_max: printed_bytes_max(invocation), watched: supervision.output.clone() };
    let running = running::start(parts.launch_context(invocation), planned, hearing).await?;
    let how_of_line = |ended| match ended {
        ProgramEnd::Exited { .. } => how(ended) + &of_last_program(&argv),
        ended => how(ended),
    };
    let mut ended = to_its_end(parts, running, invocation, how_of_line, span).await;
    if let Some(reason) = read_only_reason(&ended, &read_only) {
        ended.text.push_str(&reason);
        ended.bytes_total += reason.len() as u64;
    }
    let reasons = [network_reason(&ended, &argv, has_network), operator_reason(&ended, &argv)];
    for reason in reasons.into_iter().flatten() {
        ended.text.push_str(&reason);
        ended.bytes_total += reason.len() as u64;
    }
    Ok(ToolResult { site: parts.site(tier), ..ended })
}

/// Programs that fail without the network when a word of their command line names a host.
const NETWORK_PROGRAMS: [&str; 10] =
    ["curl", "wget", "ping", "ssh", "scp", "nc", "dig", "nslookup", "telnet", "http"];
/// What programs print when they have no network.
const NETWORK_ERRORS: [&str; 6] = [
    "Could not resolve host",
    "Temporary failure in name resolution",
    "Name or service not known",
    "Network is unreachable",
    "unable to resolve host",
    "Couldn't connect to server",
];

/// Says that a program which failed has no network, where its command line or its output names another host.
fn network_reason(ended: &ToolResult, argv: &[String], has_network: bool) -> Option<String> {
    if has_network || ended.failure != Some(ErrorCode::CommandFailed) {
        return None;
    }
    let mut words = argv.iter().flat_map(|word| word.split_whitespace());
    let names_host = words.clone().any(|word| word.contains("http://") || word.contains("https://"))
        || words.any(|word| NETWORK_PROGRAMS.contains(&word));
    let says_so = NETWORK_ERRORS.iter().any(|sign| ended.text.contains(sign));
    (names_host || says_so).then(|| {
        "\n\nthis command had no network, which is closed in the sandbox: `hosts` of the call names hosts that it may reach, and \
         the tool http_fetch (`fetch URL`) reads one page"
            .to_owned()
    })
}

/// Says that a program which failed had a sign of a shell among its arguments.
fn operator_reason(ended: &ToolResult, argv: &[String]) -> Option<String> {
    let failed = ended.failure == Some(ErrorCode::CommandFailed);
    lone_operator(argv).filter(|_| failed).map(|note| format!("\n\n{note}"))
}

/// What a program prints when it writes where it may not (`EROFS`).
const READ_ONLY_ERROR: &str = "Read-only file system";

/// Says why a program that failed could not write, where its output suggests a folder that policy made read-only.
fn read_only_reason(ended: &ToolResult, read_only: &[String]) -> Option<String> {
    let failed = ended.failure == Some(ErrorCode::CommandFailed) && ended.text.contains(READ_ONLY_ERROR);
    if !failed || read_only.is_empty() {
        return None;
    }
    let folders = read_only.iter().map(|folder| match folder.as_str() {
        "." => "the whole folder".to_owned(),
        folder => format!("`{}`", folder.escape_debug()),
    });
    let folders = folders.collect::<Vec<_>>().join(" and ");
    Some(format!(
        "\n\na rule of the policy makes {folders} read-only for this command: the question about it names the rule, and \
         `palyra policy explain last` does"
    ))
}

/// Waits for a program's end, and says how it was; ends it when its time is over, or when its run was stopped.
pub(crate) async fn to_its_end(
    parts: &CommandParts,
    mut running: RunningProgram<HeadTailBuffer>,
    invocation: &ToolInvocation,
    how: impl Fn(ProgramEnd) -> String,
    span: Duration,
) -> ToolResult {
    let clock = &parts.clock;
    let (mut code, why) = {
        let mut ended = std::pin::pin!(running.end_of_program());
        tokio::select! {
            biased;
            ended = &mut ended => match ended {
                Some(ended) => (None, how(ended)),
                None => (Some(ErrorCode::CommandFailed), EVADES.to_owned()),
            },
            () = invocation.supervision.cancel.cancelled() => {
                (Some(ErrorCode::ToolCancelled), "ended, because the run was stopped".to_owned())
            }
            () = clock.sleep_until(clock.boot().after(span)) => {
                (Some(ErrorCode::ToolTimedOut), format!("ended, because it took longer than {} s", span.as_secs()))
            }
        }
    };
    running.process.stop();
    if running.wait().await != (ProgramEnd::Exited { code: 0 }) && code.is_none() {
        code = Some(ErrorCode::CommandFailed);
    }
    let output = running.output.get();
    let handle = OutputHandle { run: invocation.used_by.run, effect: invocation.used_by.effect };
    let text =
        output.describe(|from| format!("; read_output goes on: {{\"call\":\"{handle}\",\"from\":{from}}}"));
    let why = running.door.as_ref().map_or_else(|| why.clone(), |door| format!("{why}\n{}", door.describe()));
    let why = running.describe_protection().map_or_else(|| why.clone(), |told| format!("{why}\n{told}"));
    let text = if text.is_empty() { why } else { format!("{why}\n\n{text}") };
    // More than is told whenever anything was left out, be it less than the line that says so.
    let bytes_total = text.len() as u64 + output.left_out();
    ToolResult { text, bytes_total, failure: code, ..ToolResult::default() }
}

/// How a program ended that did not let go.
pub(crate) const EVADES: &str = "ended, because it made again what had been kept aside, and what runs later";

/// Says how a program ended.
pub(crate) fn how(ended: ProgramEnd) -> String {
    match ended {
        ProgramEnd::Exited { code } => format!("exit code {code}"),
        ProgramEnd::Signalled { signal } => format!("ended by signal {signal}"),
        ProgramEnd::OverMemory => "ended, because it used more memory than it may".to_owned(),
        ProgramEnd::OverProcesses => "ended, because it had more processes than it may".to_owned(),
        ProgramEnd::KeptLost => {
            "ended, because a file that it may not change was replaced from outside while it ran; it may be \
                            started again"
                .to_owned()
        }
        ProgramEnd::Stopped => "ended from outside".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_failed_with_a_sign_of_a_shell_says_so() {
        let argv = ["ls", "|", "wc"].map(str::to_owned);
        let ended = |failure| ToolResult { failure, ..ToolResult::default() };
        let said = operator_reason(&ended(Some(ErrorCode::CommandFailed)), &argv);
        assert!(said.is_some_and(|said| said.starts_with("\n\n`|` is an argument here: ")));
        // The controls: it succeeded, and it had no such sign.
        assert_eq!(operator_reason(&ended(None), &argv), None);
        assert_eq!(operator_reason(&ended(Some(ErrorCode::CommandFailed)), &argv[..1]), None);
    }

    #[test]
    fn a_program_that_failed_without_the_network_says_that_it_had_none() {
        let said = |argv: &[&str], text: &str, failure, has_network| {
            let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
            let ended = ToolResult { text: text.to_owned(), failure, ..ToolResult::default() };
            network_reason(&ended, &argv, has_network).is_some()
        };
        let failed = Some(ErrorCode::CommandFailed);
        assert!(said(&["curl", "-s", "example.org"], "exit code 6", failed, false));
        assert!(said(&["sh", "-c", "curl -s https://example.org | head"], "exit code 6", failed, false));
        assert!(said(&["git", "fetch"], "fatal: Could not resolve host: h", failed, false));
        // The controls: it has hosts, it succeeded, it has nothing to do with the network.
        assert!(!said(&["curl", "-s", "example.org"], "exit code 6", failed, true));
        assert!(!said(&["curl", "--version"], "exit code 0", None, false));
        assert!(!said(&["cargo", "test"], "exit code 101", failed, false));
    }
}
