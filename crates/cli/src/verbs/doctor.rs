//! `palyra doctor`: what is well and what is not, here and in the daemon.

use std::path::{Path, PathBuf};
use std::time::Duration;

use palyra_client::{Client, ClientError, ConnectOptions};
use palyra_doctor::{
    ConfigFault, DaemonStart, ERROR, WARNING, check, check_config_file, check_daemon, check_lines,
    check_models, check_other_file, check_selection, check_state_folder, foreign_lock, state_dir_itself,
};
use palyra_support_bundle::{BundleSources, BundleTarget, write_bundle};
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;
use palyra_wire::v1::CheckLevel;

use crate::context::Context;
use crate::daemon_hooks::ConfigMistake;
use crate::exit::Exit;
use crate::failure::Failure;

/// A daemon that says nothing for so long is reported; a person who asks what is wrong should not have to wait.
const ANSWERS_WITHIN: Duration = Duration::from_millis(1_500);

/// Check this installation, and say what to do about what is found.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  palyra doctor\n  palyra doctor --bundle support.tar.gz\n`palyra explain docs/support-bundle.md` says what is in it."
)]
pub(crate) struct DoctorArgs {
    /// Write a bundle for support instead, without conversations and secrets
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "the file after the option may be left out")]
    bundle: Option<Option<PathBuf>>,
    /// One line of JSON for each check
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, args: DoctorArgs) -> Result<Exit, Failure> {
    if let Some(file) = args.bundle {
        return bundle(context, BundleTarget { file, json: args.json }).await;
    }
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
    for check in &mut checks {
        check.found = context.output.completed(&check.found);
        check.mend = context.output.completed(&check.mend);
        if args.json {
            context.output.json(&to_json_with_defaults(check))?;
        } else {
            let lines = check_lines(check, context.output.columns());
            lines.iter().try_for_each(|line| context.output.line(&context.output.completed(line)))?;
        }
    }
    if exit == Exit::Done && checks.iter().any(|check| check.level() == CheckLevel::Error) {
        exit = Exit::Failed;
    }
    Ok(exit)
}

/// Writes a support bundle. It starts no daemon, because that may change what is wrong.
async fn bundle(context: &Context, target: BundleTarget) -> Result<Exit, Failure> {
    context.require_local("palyra doctor --bundle")?;
    let state_dir = context.state_dir()?;
    let options = ConnectOptions { answers_within: ANSWERS_WITHIN, ..context.running_options()? };
    let program = options.program.clone();
    let mut checks = local_checks(context, &state_dir);
    let client = Client::connect(options).await;
    if let Ok(client) = &client {
        checks.extend(check_daemon(client, Some(&state_dir)).await.unwrap_or_default());
        checks.extend(model_checks(context, client).await);
    }
    let daemon = client.as_ref().map_err(ToString::to_string);
    let config_file = context.config_file().ok();
    let sources = BundleSources { state_dir, config_file, program, checks, daemon };
    write_bundle(&context.output, sources, target).await?;
    Ok(Exit::Done)
}

/// Adds what the daemon says, or why it cannot be asked.
async fn ask_daemon(context: &Context, checks: &mut Vec<v1::Check>) -> Result<Exit, Failure> {
    let own_dir = context.is_local().then(|| context.state_dir()).transpose()?;
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
                tokio::join!(check_daemon(&client, own_dir.as_deref()), model_checks(context, &client));
            checks.extend(of_daemon?);
            checks.extend(context.other_file(&client).await.as_ref().map(check_other_file));
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
    let file = match context.config_file() {
        Ok(file) => file,
        Err(failure) => return check("config_file", WARNING, failure.to_string(), "set HOME"),
    };
    let verdict = (context.daemon.check_config)(context.global.config.as_deref());
    check_config_file(&file, &faults(&verdict.mistakes))
}

fn faults(mistakes: &[ConfigMistake]) -> Vec<ConfigFault<'_>> {
    mistakes.iter().map(|one| ConfigFault { message: &one.message, key: one.key.as_deref() }).collect()
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
    Some(check_selection(&own, &origin, &client.status().await.ok()?))
}
