//! The command line as it is typed: verbs, options, and what their help says.
//!
//! Owns the definition that parsing, help, completions and man pages are all made of; obeys nothing.
//! Invariant: each verb's help fits a screen of 80 columns and 24 lines, and each takes `--json` unless
//! it is listed with a reason.

mod first_word;
mod overview;

use std::ffi::OsString;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use palyra_explain::UnknownWord;

use crate::context::GlobalArgs;
use crate::verbs;

/// Help is never wider, whatever the terminal.
const HELP_COLUMNS_MAX: usize = 80;

/// Below the verbs of `palyra policy`.
const POLICY_HELP: &str = "Your own rules are files *.cedar in the folder `policies` beside palyra.toml
(usually ~/.config/palyra/policies), or in `policy.dir`.
`palyra explain docs/policy.md` shows how to write them,
`palyra explain docs/policy.md#folders` how to protect a folder.";

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
    /// None at all chats at a terminal, and shows the overview elsewhere.
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run the daemon in the foreground
    Serve(ServeVerb),
    /// Write a configuration file to begin with
    Init(verbs::init::InitArgs),
    /// Talk, line by line, in the session of this folder
    Chat(verbs::chat::ChatArgs),
    /// Ask once and show the answer
    Run(verbs::run::RunArgs),
    /// List runs; tail, answer, steer, wait for or cancel one
    #[command(subcommand)]
    Runs(verbs::runs::RunsVerb),
    /// Answer what waits for you, and see what may run silently
    Approve(verbs::approve::ApproveArgs),
    /// See, check, test and compare the rules of what may run
    #[command(subcommand, after_help = POLICY_HELP)]
    Policy(verbs::policy::PolicyVerb),
    /// List tools, add components, install and switch skills
    #[command(subcommand)]
    Tools(verbs::tools::ToolsVerb),
    /// Look at conversations, name, branch or put one away
    #[command(subcommand)]
    Sessions(verbs::sessions::SessionsVerb),
    /// See what models cost and may cost; set, top up
    #[command(hide = true)]
    Budget(verbs::budget::BudgetArgs),
    /// See what is remembered for you, add to it, forget
    #[command(subcommand, hide = true)]
    Memory(verbs::memory::MemoryVerb),
    /// List, add, test and choose models
    #[command(subcommand)]
    Model(verbs::model::ModelVerb),
    /// Verify, rebuild and look at the journal
    #[command(subcommand)]
    Journal(verbs::journal::JournalVerb),
    /// Make, check and restore backups of the state directory
    #[command(subcommand, hide = true)]
    Backup(palyra_backup_verb::BackupVerb),
    /// Show the daemon, its model, what waits for you, the journal
    Status(verbs::status::StatusArgs),
    /// Open the web console, signed in
    #[command(hide = true)]
    Console(verbs::console::ConsoleArgs),
    /// Show what models used and cost, with a bar for each row
    #[command(hide = true)]
    Usage(verbs::usage::UsageArgs),
    /// Show the daemon's log
    Logs(verbs::logs::LogsArgs),
    /// Check this installation
    Doctor(verbs::doctor::DoctorArgs),
    /// Look at the configuration
    #[command(subcommand)]
    Config(verbs::config::ConfigVerb),
    /// Tokens, secrets, agents, completions; stop the daemon
    #[command(subcommand)]
    Admin(verbs::admin::AdminVerb),
    /// Explain an error code, a topic, a document
    Explain(ExplainVerb),
    /// Call an operation of the daemon by name; without a name, list them
    #[command(hide = true)]
    Api(verbs::api::ApiArgs),
    /// Show the verbs, or the help of one
    #[command(hide = true)]
    Help(HelpVerb),
    /// Print the version
    #[command(hide = true)]
    Version(VersionVerb),
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
#[command(after_help = "Examples:\n  palyra help runs tail\n  palyra help options\n  palyra help PLY-4003")]
pub(crate) struct HelpVerb {
    /// A verb, an error code or a topic; `topics` lists what there is
    pub(crate) words: Vec<String>,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  palyra explain PLY-4003\n  palyra explain docs/policy.md --headings\n  palyra explain docs/policy.md#folders"
)]
pub(crate) struct ExplainVerb {
    /// An error code, a topic, a document, a section or a verb [default: list the topics]
    #[arg(value_name = "TOPIC")]
    pub(crate) topic: Vec<String>,
    /// List the headings of a document
    #[arg(long, requires = "topic")]
    pub(crate) headings: bool,
    /// Print all of it at once, also on a terminal
    #[arg(long)]
    pub(crate) no_pager: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  palyra version")]
pub(crate) struct VersionVerb {
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Returns the definition of the whole command line, for what checks or describes it.
#[must_use]
pub fn definition() -> clap::Command {
    CommandLine::command()
}

/// Returns the definition as help shows it: the options of every verb appear once, at the top.
pub(crate) fn command() -> clap::Command {
    let mut command = definition();
    if let Some(columns) = terminal_columns() {
        // The last column stays free, as in every line of our own, so that no row is wrapped again.
        command = command.term_width(columns.saturating_sub(1).clamp(1, HELP_COLUMNS_MAX));
    }
    command.build();
    let shared: Vec<clap::Id> = command
        .get_arguments()
        .filter(|argument| argument.is_global_set())
        .map(|argument| argument.get_id().clone())
        .collect();
    let overview = overview::overview(&command);
    hide_below(command, &shared).override_help(overview)
}

/// Returns the width of the terminal that help or an error goes to; `None` where there is none.
fn terminal_columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout())
        .or_else(|_| rustix::termios::tcgetwinsize(std::io::stderr()));
    size.ok().map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Returns the options that every verb takes, a line each.
pub(crate) fn shared_options() -> Vec<String> {
    overview::shared_options(&definition())
}

fn hide_below(command: clap::Command, shared: &[clap::Id]) -> clap::Command {
    command.mut_subcommands(|verb| {
        let example = verb.get_after_help().map(|example| format!("{example}\n")).unwrap_or_default();
        let verb = verb.after_help(format!("{example}`palyra help options` lists the options of every verb"));
        let hide = |argument: clap::Arg| {
            let hidden = shared.contains(argument.get_id());
            if hidden { argument.hide(true) } else { argument }
        };
        hide_below(verb.mut_args(hide), shared)
    })
}

/// Replaces the suggestions of an error about words that are not a verb.
pub(crate) fn with_tip(error: clap::Error, words: &[String]) -> clap::Error {
    palyra_explain::with_tip(error, words, UnknownWord::Later, &definition())
}

/// Returns what is said of a command line that cannot be read; `None` for one that can. Nothing runs.
#[must_use]
pub fn refusal_of(arguments: Vec<OsString>) -> Option<String> {
    parse(arguments).err().map(|error| error.to_string())
}

/// Reads what was typed; also says whether the verb was asked for JSON.
pub(crate) fn parse(arguments: Vec<OsString>) -> Result<(CommandLine, bool), clap::Error> {
    let mut command = command();
    let arguments = first_word::with_verb(arguments, &command);
    let typed = first_word::own_words(&arguments, &command);
    let is_verb = typed.first().is_none_or(|word| command.find_subcommand(word).is_some());
    let unknown = if is_verb { UnknownWord::Later } else { UnknownWord::First };
    let matches = command
        .try_get_matches_from_mut(arguments)
        .map_err(|error| palyra_explain::with_tip(error, &typed, unknown, &definition()))?;
    let json = wants_json(&matches);
    let line = CommandLine::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    Ok((line, json))
}

fn wants_json(matches: &ArgMatches) -> bool {
    match matches.subcommand() {
        Some((_, deeper)) => wants_json(deeper),
        // Where it takes a value, it is JSON in and JSON out.
        None => match matches.try_get_one::<bool>("json") {
            Ok(json) => json.copied().unwrap_or(false),
            Err(_) => matches.try_contains_id("json").unwrap_or(false),
        },
    }
}

#[cfg(test)]
mod tests;
