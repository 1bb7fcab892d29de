//! `palyra policy`: the rules that decide what may run, why they decided, and what others would have said.

mod call_answer;
mod last_call;
mod posture;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use palyra_client::{Client, ClientError, PolicyDiffStep};
use palyra_types::ErrorCode;
use palyra_wire::json::{to_json, to_json_with_defaults};
use palyra_wire::v1;
use palyra_wire::v1::explain_decision_request::Decision;

use self::call_answer::call_answer;
use self::last_call::{DecidedCall, last_decided};
use self::posture::PostureVerb;
use super::ids::RunName;
use crate::context::Context;
use crate::daemon_hooks::{PolicyReport, PolicyWork};
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::{
    ComparedRules, difference_text, edited_rules_note, explanation_lines, how_in_force, judged_again_text,
    tried_out_text,
};
use palyra_screen_text::clean_line;
use palyra_screen_text::count;
use palyra_terminal::NoteKind;

/// Bytes of one file of rules that is sent to be compared, at most.
const FILE_BYTES_MAX: u64 = 256 * 1024;
const RULES_ENDING: &str = "cedar";

/// The rules that decide what may run
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyVerb {
    /// Show the rules in force
    #[command(after_help = "Example:\n  palyra policy show")]
    Show {
        /// As JSON, with the texts
        #[arg(long)]
        json: bool,
    },
    /// Check files of rules, and say whether they are in force
    #[command(after_help = "Example:\n  palyra policy check ./policies")]
    Check {
        /// The folder [default: the one of the configuration]
        folder: Option<PathBuf>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Run the fixtures (*.test.json) beside files of rules; no daemon is asked
    #[command(after_help = "Example:\n  palyra policy test ./policies")]
    Test {
        /// The folder [default: the one of the configuration]
        folder: Option<PathBuf>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Say why a call was decided as it was, or how one would be
    #[command(
        after_help = "Examples:\n  palyra policy explain last\n  palyra policy explain last 3\n  palyra policy explain --tool run_command --arguments '{\"argv\":[\"make\"]}'"
    )]
    Explain {
        /// The run's id, or `last`
        #[arg(required_unless_present = "tool", conflicts_with = "tool")]
        run: Option<RunName>,
        /// The effect's number [default: the last denied call, else the last call]
        effect: Option<u32>,
        /// A call that was not made: its tool
        #[arg(long, value_name = "TOOL")]
        tool: Option<String>,
        /// Its arguments, a JSON object
        #[arg(long, value_name = "JSON", requires = "tool", default_value = "{}")]
        arguments: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Judge recorded decisions again, by the rules in force or by others
    #[command(after_help = "Example:\n  palyra policy diff --against ./policies --days 30")]
    Diff {
        /// The folder of the other rules, without the shipped ones
        #[arg(long, value_name = "DIR")]
        against: Option<PathBuf>,
        /// Decisions of the last days only
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        days: Option<u32>,
        /// Every difference and the report as lines of JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what the rules that are tried out would have decided
    #[command(
        after_help = "`policy.shadow_dir` in palyra.toml names them.\n\nExample:\n  palyra policy shadow"
    )]
    Shadow {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Standing settings of tools: always_allow, ask, disabled
    #[command(subcommand)]
    Posture(PostureVerb),
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, verb: PolicyVerb) -> Result<Exit, Failure> {
    match verb {
        PolicyVerb::Check { folder, json } => {
            local(context, PolicyWork::Check, folder.as_deref(), json.into()).await
        }
        PolicyVerb::Test { folder, json } => {
            local(context, PolicyWork::Test, folder.as_deref(), json.into()).await
        }
        PolicyVerb::Show { json } => show(context, &context.connect().await?, json.into()).await,
        PolicyVerb::Explain { run, effect, tool, arguments, json } => {
            let client = context.connect().await?;
            let decision = match (run, effect, tool) {
                (Some(run), effect, None) => {
                    let run = run.resolve(&client).await?;
                    let call = match effect {
                        Some(effect) => DecidedCall { run, effect },
                        None => last_decided(&context.output, &client, run, context.folder()).await?,
                    };
                    Decision::Recorded(v1::RecordedDecision {
                        run_id: call.run.to_string(),
                        effect_id: call.effect,
                    })
                }
                (_, _, tool) => {
                    Decision::Proposed(v1::ProposedCall { tool: tool.unwrap_or_default(), arguments })
                }
            };
            explain(context, &client, decision, json.into()).await
        }
        PolicyVerb::Diff { against, days, json } => {
            let candidate = against.as_deref().map(|folder| candidate(context, folder)).transpose()?;
            let now = jiff::Timestamp::now().as_second();
            let since =
                days.map(|days| prost_types::Timestamp { seconds: now - i64::from(days) * 86_400, nanos: 0 });
            let request =
                v1::DiffPolicyRequest { candidate: candidate.unwrap_or_default(), since, details_max: 0 };
            diff(context, &context.connect().await?, request, json.into()).await
        }
        PolicyVerb::Shadow { json } => shadow(context, &context.connect().await?, json.into()).await,
        PolicyVerb::Posture(verb) => posture::run(context, verb).await,
    }
}

async fn shadow(context: &Context, client: &Client, format: OutputFormat) -> Result<Exit, Failure> {
    let shadow = client.call(v1::GetShadowRequest {}).await?;
    if format == OutputFormat::Json {
        context.output.json(&to_json_with_defaults(&shadow))?;
        return Ok(Exit::Done);
    }
    for example in &shadow.examples {
        context.output.line(&difference_text(example))?;
    }
    if shadow.candidate.is_empty() {
        let notice = "no rules are tried out; `policy.shadow_dir` names a folder of them";
        context.output.note(NoteKind::Info, notice);
        return Ok(Exit::Done);
    }
    if !shadow.comparing {
        context.output.note(NoteKind::Doubt, "no rules are tried out now; these were the last ones");
    }
    let mark = if shadow.judged == shadow.same { NoteKind::Good } else { NoteKind::Doubt };
    context.output.note(mark, &tried_out_text(&shadow));
    Ok(Exit::Done)
}

/// Compares the rules in force with the files of a folder.
async fn compared(client: &Client, folder: Option<&Path>) -> Option<ComparedRules> {
    let in_force = client.call(v1::GetPolicyRequest {}).await.ok()?;
    let mut own = BTreeMap::new();
    if let Some(folder) = folder.filter(|folder| folder.is_dir()) {
        for path in rule_files(folder).ok()? {
            let text = std::fs::read_to_string(&path).ok()?;
            own.insert(path.file_name()?.to_string_lossy().into_owned(), text);
        }
    }
    Some(ComparedRules::of(in_force, &own))
}

/// Checks or tests files here.
async fn local(
    context: &Context,
    work: PolicyWork,
    folder: Option<&Path>,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let (config, state) = (context.config_file().ok(), context.state_dir().ok());
    let report = (context.daemon.policies)(work, folder, config.as_deref(), state.as_deref());
    let PolicyReport { folder, in_force, files, passed, mistakes, remarks } = report;
    let is_checked = format == OutputFormat::Text && work == PolicyWork::Check && mistakes.is_empty();
    // No daemon may run here.
    let running = if is_checked { context.connect_running().await.ok() } else { None };
    let mut rules = None;
    let mut other = None;
    if let Some(client) = &running {
        rules = compared(client, folder.as_deref()).await;
        other = context.other_file(client).await;
    }
    if format == OutputFormat::Json {
        let notice = serde_json::json!({
            "folder": folder.as_ref().map(|folder| folder.display().to_string()),
            "in_force": in_force.as_ref().map(|folder| folder.display().to_string()),
            "files": files, "passed": passed, "mistakes": mistakes, "remarks": remarks,
        });
        context.output.json(&notice)?;
    } else {
        for remark in &remarks {
            context.output.note(NoteKind::Doubt, remark);
        }
        for mistake in &mistakes {
            context.output.note(NoteKind::Bad, mistake);
        }
        let place = folder.map_or_else(String::new, |folder| format!(" in {}", folder.display()));
        let wrong = mistakes.len() as u64;
        let notice = match (work, wrong) {
            (PolicyWork::Check, 0) => {
                let rest = match (files, in_force) {
                    (_, None) => match (&other, &rules) {
                        (Some(other), Some(rules)) if rules.is_other() => other.of_rules(),
                        (_, rules) => how_in_force(files, rules.as_ref()),
                    },
                    (0, Some(_)) => String::new(),
                    (_, Some(place)) => format!(
                        "; the rules in force are those in {}: copy the files there, then {}",
                        place.display(),
                        other.map_or_else(|| "`palyra config reload`".to_owned(), |other| other.mend())
                    ),
                };
                format!("{}{place}, beside those that ship: no mistakes{rest}", count(files, "file"))
            }
            (PolicyWork::Check, wrong) => format!("refused: {}{place}", count(wrong, "mistake")),
            (PolicyWork::Test, 0) => format!("{} passed{place}", count(passed, "fixture")),
            (PolicyWork::Test, wrong) => {
                format!("{wrong} of {} failed{place}", count(wrong + passed, "fixture"))
            }
        };
        let mark = match (mistakes.len(), work, passed) {
            (0, PolicyWork::Test, 0) => NoteKind::Info,
            (0, _, _) => NoteKind::Good,
            (_, _, _) => NoteKind::Bad,
        };
        context.output.note(mark, &notice);
    }
    Ok(if mistakes.is_empty() { Exit::Done } else { Exit::Failed })
}

async fn show(context: &Context, client: &Client, format: OutputFormat) -> Result<Exit, Failure> {
    let policy = client.call(v1::GetPolicyRequest {}).await?;
    if format == OutputFormat::Json {
        context.output.json(&to_json(&policy))?;
        return Ok(Exit::Done);
    }
    context.output.note(NoteKind::Info, &format!("snapshot {}", policy.digest));
    for file in &policy.files {
        let origin = if file.shipped { "shipped" } else { "yours" };
        context.output.line(&format!("// {} ({origin})", file.name))?;
        file.text.lines().try_for_each(|line| context.output.exact_line(line))?;
        context.output.line("")?;
    }
    Ok(Exit::Done)
}

async fn explain(
    context: &Context,
    client: &Client,
    decision: Decision,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let recorded = match &decision {
        Decision::Recorded(recorded) => Some(recorded.clone()),
        Decision::Proposed(_) => None,
    };
    let effect = recorded.as_ref().map(|recorded| recorded.effect_id);
    let request = v1::ExplainDecisionRequest { decision: Some(decision) };
    let explained = client.call(request).await.map_err(|error| {
        let run = recorded.as_ref().map_or("last", |recorded| recorded.run_id.as_str());
        without_effect(error, effect, &context.output.id(run))
    })?;
    if format == OutputFormat::Json {
        context.output.json(&to_json_with_defaults(&explained))?;
        return Ok(Exit::Done);
    }
    explanation_lines(&explained).try_for_each(|line| context.output.line(&clean_line(&line, 400)))?;
    if let Some(v1::RecordedDecision { run_id, effect_id }) = recorded
        && let Some(answer) = call_answer(client, &run_id, effect_id).await?
    {
        context.output.line(&answer)?;
    }
    let edited = client.status().await.ok().and_then(|status| edited_rules_note(&status.checks));
    edited.iter().for_each(|note| context.output.note(NoteKind::Doubt, note));
    Ok(Exit::Done)
}

/// Says that it is the effect which does not exist: its run was found before.
fn without_effect(error: ClientError, effect: Option<u32>, run: &str) -> Failure {
    match (error, effect) {
        (ClientError::Refused { code: code @ ErrorCode::RunNotFound, .. }, Some(effect)) => Failure::Input {
            code,
            message: format!("the run has no decision about an effect {effect}"),
            mend: format!("`palyra runs effects {run}` lists its effects with their numbers"),
        },
        (error, _) => error.into(),
    }
}

/// Reads the rules to compare with; those that ship stay, and yours make room.
fn candidate(context: &Context, folder: &Path) -> Result<Vec<v1::PolicyFile>, Failure> {
    let notice =
        |what: String| Failure::local(ErrorCode::InvalidArgument, format!("{}: {what}", folder.display()));
    let mut files = (context.daemon.shipped_policies)();
    let paths = rule_files(folder)
        .map_err(|error| Failure::unreadable_file(ErrorCode::InvalidArgument, folder, &error))?;
    if paths.is_empty() {
        return Err(notice(format!("holds no *.{RULES_ENDING} file")));
    }
    for path in paths {
        let size = std::fs::metadata(&path).map_err(|error| notice(error.to_string()))?.len();
        if size > FILE_BYTES_MAX {
            return Err(notice(format!("{} is larger than 256 KiB", path.display())));
        }
        let text = std::fs::read_to_string(&path).map_err(|error| notice(error.to_string()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.push((name, text));
    }
    let to_wire = |(name, text)| v1::PolicyFile { name, text, shipped: false };
    Ok(files.into_iter().map(to_wire).collect())
}

/// Returns the files with rules in a folder, by name.
fn rule_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ending == RULES_ENDING));
    paths.sort();
    Ok(paths)
}

async fn diff(
    context: &Context,
    client: &Client,
    request: v1::DiffPolicyRequest,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let mut watch = client.diff_policy(request).await?;
    loop {
        match watch.next().await? {
            PolicyDiffStep::Judged(judged) => {
                context.output.progress(&format!("judging, {} so far", count(judged, "decision")));
            }
            PolicyDiffStep::Difference(difference) if format == OutputFormat::Json => {
                context.output.json(&to_json(&*difference))?;
            }
            PolicyDiffStep::Difference(difference) => {
                context.output.line(&difference_text(&difference))?;
            }
            PolicyDiffStep::Done(report) => {
                context.output.end_progress();
                return tell_report(context, &report, format);
            }
        }
    }
}

fn tell_report(
    context: &Context,
    report: &v1::PolicyDiffReport,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    if format == OutputFormat::Json {
        context.output.json(&to_json_with_defaults(report))?;
    } else {
        for mistake in &report.mistakes {
            context.output.note(NoteKind::Bad, mistake);
        }
        let mark = if report.judged == report.same { NoteKind::Good } else { NoteKind::Doubt };
        context.output.note(mark, &judged_again_text(report));
    }
    Ok(if report.mistakes.is_empty() { Exit::Done } else { Exit::Failed })
}
