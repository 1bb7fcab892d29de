//! `palyra doctor`: what is well and what is not, here and in the daemon.

mod local;
mod models;
mod state_files;

use std::path::Path;
use std::time::Duration;

use palyra_client::{Client, ClientError, ConnectOptions, build_id_of, read_lock_record};
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;
use palyra_wire::v1::CheckLevel;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_terminal::{NoteKind, Output};

/// A daemon that says nothing for so long is reported; a person who asks what is wrong should not have to wait.
const ANSWERS_WITHIN: Duration = Duration::from_millis(1_500);

/// Check this installation, and say what to do about what is found.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  palyra doctor\n  palyra doctor --json")]
pub(crate) struct DoctorArgs {
    /// One line of JSON for each check
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, args: DoctorArgs) -> Result<Exit, Failure> {
    let (mut checks, mut exit) = (Vec::new(), Exit::Done);
    let mut reachable = true;
    if context.is_local() {
        let state_dir = context.state_dir()?;
        checks.extend(local::checks(context, &state_dir));
        if let Some(taken) = state_files::foreign_lock(&state_dir) {
            // Nobody could start there, and nobody answers.
            checks.push(taken);
            reachable = false;
        }
    }
    if reachable {
        exit = ask_daemon(context, &mut checks).await?;
    }
    for check in &checks {
        if args.json {
            context.output.json(&to_json_with_defaults(check))?;
        } else {
            print(&context.output, check)?;
        }
    }
    if exit == Exit::Done && checks.iter().any(|check| check.level() == CheckLevel::Error) {
        exit = Exit::Failed;
    }
    Ok(exit)
}

/// Adds what the daemon says, or why it cannot be asked.
async fn ask_daemon(context: &Context, checks: &mut Vec<v1::Check>) -> Result<Exit, Failure> {
    let mut options: ConnectOptions = context.connect_options()?;
    options.answers_within = ANSWERS_WITHIN;
    let mut connected = Client::connect(options.clone()).await;
    if let Err(doubt @ (ClientError::RolledBack { .. } | ClientError::Forked { .. })) = &connected {
        checks.push(check("journal_history", ERROR, doubt.to_string(), doubt.code().mend()));
        options.heads = None;
        connected = Client::connect(options).await;
    }
    match connected.map_err(Failure::from) {
        Ok(client) => {
            let (of_daemon, of_models) =
                tokio::join!(daemon_checks(context, &client), models::checks(context, &client));
            checks.extend(of_daemon?);
            checks.extend(of_models);
            Ok(Exit::Done)
        }
        Err(failure) => {
            let lines = failure.lines();
            let mend = lines.iter().skip(1).map(|line| line.trim()).collect::<Vec<_>>().join("\n  ");
            let found = lines.first().cloned().unwrap_or_default();
            checks.push(check("daemon", ERROR, found, &mend));
            Ok(failure.exit())
        }
    }
}

fn print(output: &Output, check: &v1::Check) -> Result<(), Failure> {
    let mark = match check.level() {
        CheckLevel::Ok => NoteKind::Good,
        CheckLevel::Warning => NoteKind::Doubt,
        CheckLevel::Error | CheckLevel::Unspecified => NoteKind::Bad,
    };
    output.line(&format!("{} {:<21} {}", mark.sign(), check.name, check.found))?;
    if check.level() != CheckLevel::Ok && !check.mend.is_empty() {
        output.line(&format!("  {}", check.mend))?;
    }
    Ok(())
}

const OK: CheckLevel = CheckLevel::Ok;
const WARNING: CheckLevel = CheckLevel::Warning;
const ERROR: CheckLevel = CheckLevel::Error;

fn check(name: &str, level: CheckLevel, found: impl Into<String>, mend: &str) -> v1::Check {
    v1::Check { name: name.to_owned(), level: level.into(), found: found.into(), mend: mend.to_owned() }
}

async fn daemon_checks(context: &Context, client: &Client) -> Result<Vec<v1::Check>, Failure> {
    let status = client.status().await?;
    let found = format!("version {}, process {}, model {}", status.version, status.pid, status.default_model);
    let mut checks = vec![check("daemon", OK, found, "")];
    if context.is_local() {
        checks.push(check_build(&context.state_dir()?, &client.options().program, &status));
    }
    checks.push(check("listening", OK, status.listening.join(", "), ""));
    checks.push(check("open_runs", OK, status.open_runs.to_string(), ""));
    checks.extend(status.checks);
    Ok(checks)
}

fn check_build(state_dir: &Path, program: &Path, status: &v1::GetStatusResponse) -> v1::Check {
    let recorded = read_lock_record(state_dir).map(|record| record.build_id);
    if recorded.as_deref() != Some(status.build_id.as_str()) {
        let mend = "`palyra admin stop`, then look for processes called palyrad";
        return check(
            "lock_file",
            ERROR,
            "the lock file speaks of another daemon than the one that answers",
            mend,
        );
    }
    match build_id_of(program) {
        Ok(own) if own == status.build_id => check("build", OK, own, ""),
        _ => {
            let found = format!("the daemon is {}, another build than this program", status.build_id);
            check("build", WARNING, found, "it is replaced when idle; `palyra admin stop` does it now")
        }
    }
}
