//! `palyra doctor`: what is well and what is not, here and in the daemon.

use std::path::Path;
use std::time::Duration;

use palyra_client::{Client, ClientError, ConnectOptions};
use palyra_doctor::{
    DaemonStart, ERROR, OK, WARNING, check, check_daemon, check_models, check_state_folder, foreign_lock,
    state_dir_itself,
};
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;
use palyra_wire::v1::CheckLevel;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_terminal::{NoteKind, Output};

/// A daemon that says nothing for so long is reported; a person who asks what is wrong should not have to wait.
const ANSWERS_WITHIN: Duration = Duration::from_millis(1_500);
/// On a screen with fewer columns what was found is below the name of its check.
const NARROW_COLUMNS: usize = 60;

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
        checks.extend(local_checks(context, &state_dir));
        if let Some(taken) = foreign_lock(&state_dir) {
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
                tokio::join!(daemon_checks(context, &client), model_checks(context, &client));
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
    if output.columns().is_some_and(|columns| columns < NARROW_COLUMNS) {
        output.line(&format!("{} {}", mark.sign(), check.name))?;
        output.line(&format!("  {}", check.found))?;
    } else {
        output.line(&format!("{} {:<21} {}", mark.sign(), check.name, check.found))?;
    }
    if check.level() != CheckLevel::Ok && !check.mend.is_empty() {
        output.line(&format!("  {}", check.mend))?;
    }
    Ok(())
}

/// Makes every check that needs no daemon.
fn local_checks(context: &Context, state_dir: &Path) -> Vec<v1::Check> {
    let mut checks = vec![state_dir_itself(state_dir), config_file(context)];
    if state_dir.is_dir() {
        let start = if context.global.no_start { DaemonStart::Forbidden } else { DaemonStart::Allowed };
        checks.extend(check_state_folder(state_dir, start));
    }
    checks
}

/// Looks for mistakes that a daemon would refuse that is started from here.
fn config_file(context: &Context) -> v1::Check {
    let name = "config_file";
    let file = match context.config_file() {
        Ok(file) => file,
        Err(failure) => return check(name, WARNING, failure.to_string(), "set HOME"),
    };
    let verdict = (context.daemon.check_config)(context.global.config.as_deref());
    let Some(first) = verdict.mistakes.first() else {
        let found = if file.is_file() {
            file.display().to_string()
        } else {
            format!("{} does not exist; defaults are used", file.display())
        };
        return check(name, OK, found, "");
    };
    let more = match verdict.mistakes.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let is_key =
        first.key.as_deref().is_some_and(|key| key.starts_with("providers.") && key.ends_with(".key"));
    if is_key {
        let mend = "set it here, then `palyra admin stop`; or name a file: key = \"file:PATH\"";
        return check(name, WARNING, format!("{}{more}", first.message), mend);
    }
    let mend = "correct it; `palyra config check` lists each mistake";
    // A daemon that runs goes on with the configuration that it has; one that cannot start says so itself.
    check(name, WARNING, format!("{}{more}", first.message), mend)
}

async fn daemon_checks(context: &Context, client: &Client) -> Result<Vec<v1::Check>, Failure> {
    let state_dir = context.is_local().then(|| context.state_dir()).transpose()?;
    Ok(check_daemon(client, state_dir.as_deref()).await?)
}

/// Asks every provider, and compares the default model with what this environment selects.
async fn model_checks(context: &Context, client: &Client) -> Vec<v1::Check> {
    let mut checks: Vec<v1::Check> = selection(context, client).await.into_iter().collect();
    checks.extend(check_models(client).await);
    checks
}

/// Says so when this environment selects another model than the daemon's.
async fn selection(context: &Context, client: &Client) -> Option<v1::Check> {
    if !context.is_local() {
        return None;
    }
    let origin = client.config().await.ok()?.model_origin?;
    let own = (context.daemon.own_model)(context.global.config.as_deref());
    let same = (own.fingerprint)(&origin.salt).is_ok_and(|fingerprint| fingerprint == origin.fingerprint);
    let name = "model_selection";
    if same || origin.source() == v1::ModelSource::Configuration {
        let place = if origin.place.is_empty() { "built in" } else { &origin.place };
        return Some(check(name, OK, format!("by {place}"), ""));
    }
    let found = format!("this environment selects {}, the daemon uses another model", own.name);
    Some(check(name, WARNING, found, "`palyra admin stop`: the next start takes this environment"))
}
