//! The command line as it is typed: verbs, options, and what their help says.
//!
//! Owns the definition that parsing, help, completions and man pages are all made of; obeys nothing.
//! Invariant: each verb's help fits a screen of 80 columns and 24 lines, and each takes `--json` unless
//! it is listed with a reason.

use std::ffi::OsString;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::context::GlobalArgs;
use crate::verbs;

/// Help is never wider, whatever the terminal.
const HELP_COLUMNS_MAX: usize = 80;

/// Asks models, runs tools where you allow it, and records every step
#[derive(Debug, Parser)]
#[command(
    name = "palyra",
    version,
    max_term_width = HELP_COLUMNS_MAX,
    disable_help_subcommand = true,
    help_template = "{about}\n{all-args}"
)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Be the daemon, in this terminal
    Serve(ServeVerb),
    /// Write a configuration file to begin with
    Init(verbs::init::InitArgs),
    /// Talk, line by line, in the session of this folder
    Chat(verbs::chat::ChatArgs),
    /// Ask once and show the answer: palyra run "What is in this folder?"
    Run(verbs::run::RunArgs),
    /// Look at runs, follow, answer, steer or stop one
    #[command(subcommand)]
    Runs(verbs::runs::RunsVerb),
    /// Answer what waits for you, and see what may run silently
    Approve(verbs::approve::ApproveArgs),
    /// See, check, test and compare the rules of what may run
    #[command(subcommand)]
    Policy(verbs::policy::PolicyVerb),
    /// List tools, add components, install and switch skills
    #[command(subcommand)]
    Tools(verbs::tools::ToolsVerb),
    /// Look at conversations, name, branch or put one away
    #[command(subcommand)]
    Sessions(verbs::sessions::SessionsVerb),
    /// List, add, test and choose models
    #[command(subcommand)]
    Model(verbs::model::ModelVerb),
    /// Verify, rebuild and look at the journal
    #[command(subcommand)]
    Journal(verbs::journal::JournalVerb),
    /// Check this installation
    Doctor(verbs::doctor::DoctorArgs),
    /// Look at the configuration
    #[command(subcommand)]
    Config(verbs::config::ConfigVerb),
    /// Tokens, secrets, agents, completions, manuals, the daemon itself
    #[command(subcommand)]
    Admin(verbs::admin::AdminVerb),
    /// Explain a verb, `exit-codes` or `environment`
    #[command(hide = true)]
    Help(HelpVerb),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  palyra serve --listen 127.0.0.1:7070")]
pub(crate) struct ServeVerb {
    /// Started by a client: log to a file, stop when idle
    #[arg(long, hide = true)]
    pub(crate) auto_started: bool,
    /// Also serve clients with a token at this loopback address
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  palyra help runs tail\n  palyra help exit-codes")]
pub(crate) struct HelpVerb {
    /// A verb, or one of exit-codes, environment
    pub(crate) words: Vec<String>,
}

/// Returns the whole definition.
pub(crate) fn definition() -> clap::Command {
    CommandLine::command()
}

/// Returns the definition as help shows it: what every verb takes is told once, at the top.
pub(crate) fn command() -> clap::Command {
    let mut command = definition();
    command.build();
    let shared: Vec<clap::Id> = command
        .get_arguments()
        .filter(|argument| argument.is_global_set())
        .map(|argument| argument.get_id().clone())
        .collect();
    hide_below(command, &shared)
}

fn hide_below(command: clap::Command, shared: &[clap::Id]) -> clap::Command {
    command.mut_subcommands(|verb| {
        let example = verb.get_after_help().map(|example| format!("{example}\n")).unwrap_or_default();
        let verb = verb.after_help(format!("{example}`palyra help` tells what every verb takes"));
        let hide = |argument: clap::Arg| {
            let hidden = shared.contains(argument.get_id());
            if hidden { argument.hide(true) } else { argument }
        };
        hide_below(verb.mut_args(hide), shared)
    })
}

/// Reads what was typed; also says whether the verb was asked for JSON.
pub(crate) fn parse(arguments: Vec<OsString>) -> Result<(CommandLine, bool), clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(arguments)?;
    let json = wants_json(&matches);
    let line = CommandLine::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    Ok((line, json))
}

fn wants_json(matches: &ArgMatches) -> bool {
    match matches.subcommand() {
        Some((_, deeper)) => wants_json(deeper),
        None => matches.try_get_one::<bool>("json").ok().flatten().copied().unwrap_or(false),
    }
}

#[cfg(test)]
mod tests;
