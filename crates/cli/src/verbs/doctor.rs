//! `palyra doctor`: what is well and what is not, here and in the daemon.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use palyra_client::{Client, ClientError, build_id_of, read_lock_record};
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::terminal::Mark;

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
    let mut checks = Vec::new();
    if context.is_local() {
        checks.push(check_state_dir(&context.state_dir()?));
        checks.push(check_config_file(context));
    }
    let mut exit = Exit::Done;
    let mut options = context.connect_options()?;
    options.answers_within = ANSWERS_WITHIN;
    let mut connected = Client::connect(options.clone()).await;
    if let Err(doubt @ (ClientError::RolledBack { .. } | ClientError::Forked { .. })) = &connected {
        checks.push(check("journal_history", "error", doubt.to_string(), doubt.code().mend()));
        options.heads = None;
        connected = Client::connect(options).await;
    }
    match connected.map_err(Failure::from) {
        Ok(client) => checks.extend(daemon_checks(context, &client).await?),
        Err(failure) => {
            let lines = failure.lines();
            let (found, mend) = (lines.first().cloned().unwrap_or_default(), lines[1..].join("\n"));
            checks.push(check("daemon", "error", found, mend.trim()));
            exit = failure.exit();
        }
    }
    for check in &checks {
        if args.json {
            context.output.json(&to_json_with_defaults(check))?;
        } else {
            print(context, check)?;
        }
    }
    if exit == Exit::Done && checks.iter().any(|check| check.level == "error") {
        exit = Exit::Failed;
    }
    Ok(exit)
}

fn print(context: &Context, check: &v1::Check) -> Result<(), Failure> {
    let mark = match check.level.as_str() {
        "ok" => Mark::Good,
        "warning" => Mark::Doubt,
        _ => Mark::Bad,
    };
    context.output.line(&format!("{} {:<21} {}", mark.sign(), check.name, check.found))?;
    if check.level != "ok" && !check.mend.is_empty() {
        context.output.line(&format!("  {}", check.mend))?;
    }
    Ok(())
}

fn check(name: &str, level: &str, found: impl Into<String>, mend: &str) -> v1::Check {
    v1::Check { name: name.to_owned(), level: level.to_owned(), found: found.into(), mend: mend.to_owned() }
}

fn check_state_dir(dir: &Path) -> v1::Check {
    let shown = dir.display();
    match std::fs::metadata(dir) {
        Ok(meta) if !meta.is_dir() => {
            check("state_dir", "error", format!("{shown} is not a folder"), "choose another with --state-dir")
        }
        Ok(meta) if meta.permissions().mode() & 0o077 != 0 => {
            let found = format!("{shown} can be entered by others");
            check("state_dir", "warning", found, &format!("chmod 700 {shown}"))
        }
        Ok(_) => check("state_dir", "ok", shown.to_string(), ""),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            check("state_dir", "ok", format!("{shown} is made at the first start"), "")
        }
        Err(error) => {
            check("state_dir", "error", format!("{shown}: {error}"), "choose another with --state-dir")
        }
    }
}

fn check_config_file(context: &Context) -> v1::Check {
    match context.config_file() {
        Ok(file) if file.is_file() => check("config_file", "ok", file.display().to_string(), ""),
        Ok(file) => {
            check("config_file", "ok", format!("{} does not exist; defaults are used", file.display()), "")
        }
        Err(failure) => check("config_file", "warning", failure.to_string(), "set HOME"),
    }
}

async fn daemon_checks(context: &Context, client: &Client) -> Result<Vec<v1::Check>, Failure> {
    let status = client.status().await?;
    let found = format!("version {}, process {}, model {}", status.version, status.pid, status.default_model);
    let mut checks = vec![check("daemon", "ok", found, "")];
    if context.is_local() {
        checks.push(check_build(&context.state_dir()?, &client.options().program, &status));
    }
    checks.push(check("listening", "ok", status.listening.join(", "), ""));
    checks.push(check("open_runs", "ok", status.open_runs.to_string(), ""));
    checks.extend(status.checks);
    Ok(checks)
}

fn check_build(state_dir: &Path, program: &Path, status: &v1::GetStatusResponse) -> v1::Check {
    let recorded = read_lock_record(state_dir).map(|record| record.build_id);
    if recorded.as_deref() != Some(status.build_id.as_str()) {
        let mend = "`palyra admin stop`, then look for processes called palyrad";
        return check(
            "lock_file",
            "error",
            "the lock file speaks of another daemon than the one that answers",
            mend,
        );
    }
    match build_id_of(program) {
        Ok(own) if own == status.build_id => check("build", "ok", own, ""),
        _ => {
            let found = format!("the daemon is {}", status.build_id);
            check("build", "warning", found, "it is replaced when idle; `palyra admin stop` does it now")
        }
    }
}
