//! `palyra admin`: people, tokens, secrets, agents, what a shell and a manual want to know, the daemon's end.

mod agents;
mod complete;
mod completions;
mod confirm;
mod man;
mod people;
mod tokens;
mod vault;

use clap::Subcommand;
use palyra_client::ClientError;
use palyra_types::ErrorCode;
use serde_json::json;

use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_background_verbs::{
    BackgroundVerb, BackgroundVerbEnd, BackgroundVerbError, IncidentsArgs, NotifyArgs, TasksArgs,
};
use palyra_explain::runs_of_stopped;
use palyra_schedule_verbs::{ScheduleVerbError, SchedulesArgs, VerbEnd, VerbScreen};
use palyra_terminal::NoteKind;

/// People, tokens, secrets, agents, completions, manuals, the daemon itself.
#[derive(Debug, Subcommand)]
pub(crate) enum AdminVerb {
    /// People and their roles
    #[command(subcommand)]
    People(people::PeopleVerb),
    /// Access tokens for programs
    #[command(subcommand)]
    Tokens(tokens::TokensVerb),
    /// Print a one-time code that confirms one change over the network
    Confirm(confirm::ConfirmArgs),
    /// Secrets for servers, which are never shown
    #[command(subcommand)]
    Vault(vault::VaultVerb),
    /// List agents, and create, change or archive them
    Agents(agents::AgentsArgs),
    /// List what the daemon does by itself, and how each task ended
    Tasks(TasksArgs),
    /// List schedules, and make, change or start them
    Schedules(SchedulesArgs),
    /// List the targets of notifications, and send test messages
    Notify(NotifyArgs),
    /// List what self-healing found, with the remedy of each
    Incidents(IncidentsArgs),
    /// Run the daemon as a systemd user service
    #[command(subcommand)]
    Service(palyra_service_verb::ServiceVerb),
    /// Print completions for a shell
    Completions(completions::CompletionsArgs),
    /// Print what there is of one kind, for a shell that completes
    #[command(hide = true)]
    Complete(complete::CompleteArgs),
    /// Print the man page, or write those of all verbs
    Man(man::ManArgs),
    /// Stop the daemon; open runs go on at its next start
    #[command(after_help = "Example:\n  palyra admin stop")]
    Stop {
        /// The outcome as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, verb: AdminVerb) -> Result<Exit, Failure> {
    match verb {
        AdminVerb::People(verb) => people::run(context, &context.connect().await?, verb).await,
        AdminVerb::Tokens(verb) => tokens::run(context, &context.connect().await?, verb).await,
        AdminVerb::Confirm(args) => confirm::run(context, &args).await,
        AdminVerb::Vault(verb) => vault::run(context, verb).await,
        AdminVerb::Agents(args) => agents::run(context, args).await,
        AdminVerb::Complete(args) => complete::run(context, &args).await,
        AdminVerb::Tasks(args) => run_background(context, BackgroundVerb::Tasks(args)).await,
        AdminVerb::Schedules(args) => {
            let screen = VerbScreen { output: &context.output, interrupts: &context.interrupts };
            match palyra_schedule_verbs::run(screen, &context.connect().await?, args).await {
                Ok(end) => Ok(if end == VerbEnd::Done { Exit::Done } else { Exit::Failed }),
                Err(ScheduleVerbError::Usage(message)) => Err(Failure::Usage(message)),
                Err(ScheduleVerbError::NotFound(message)) => {
                    Err(Failure::local(ErrorCode::ScheduleNotFound, message))
                }
                Err(ScheduleVerbError::Client(error)) => Err(error.into()),
                Err(ScheduleVerbError::Output(error)) => Err(error.into()),
            }
        }
        AdminVerb::Notify(args) => run_background(context, BackgroundVerb::Notify(args)).await,
        AdminVerb::Incidents(args) => run_background(context, BackgroundVerb::Incidents(args)).await,
        AdminVerb::Service(verb) => {
            context.service_command()?.run(verb).await?;
            Ok(Exit::Done)
        }
        AdminVerb::Completions(args) => completions::run(context, &args),
        AdminVerb::Man(args) => man::run(context, &args),
        AdminVerb::Stop { json } => stop(context, json.into()).await,
    }
}

async fn stop(context: &Context, format: OutputFormat) -> Result<Exit, Failure> {
    let client = match context.connect_running().await {
        Ok(client) => Some(client),
        Err(Failure::Client(ClientError::NotRunning { .. })) => None,
        Err(failure) => return Err(failure),
    };
    let was_running = client.is_some();
    let mut open_runs = 0;
    if let Some(client) = client {
        open_runs = client.status().await.map_or(0, |status| status.open_runs);
        context.waiting("waiting for what runs to finish", client.stop_daemon()).await?;
    }
    match (format, was_running) {
        (OutputFormat::Json, _) => context.output.json(&json!({ "was_running": was_running }))?,
        (OutputFormat::Text, true) => {
            context.output.note(NoteKind::Good, "the daemon has stopped");
            let left = runs_of_stopped(open_runs);
            left.iter().for_each(|note| context.output.note(NoteKind::Doubt, note));
        }
        (OutputFormat::Text, false) => context.output.note(NoteKind::Info, "no daemon is running"),
    }
    Ok(Exit::Done)
}

async fn run_background(context: &Context, verb: BackgroundVerb) -> Result<Exit, Failure> {
    let client =
        if verb.is_inspection() { context.connect_to_inspect().await } else { context.connect().await }?;
    match verb.run(&context.output, &client).await {
        Ok(end) => Ok(if end == BackgroundVerbEnd::Done { Exit::Done } else { Exit::Failed }),
        Err(BackgroundVerbError::Client(error)) => Err(error.into()),
        Err(BackgroundVerbError::Output(error)) => Err(error.into()),
    }
}
