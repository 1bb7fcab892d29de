//! Help: of a verb, of an error code, or about something that concerns all verbs.

use clap::builder::StyledStr;
use clap::error::ContextKind;
use serde_json::json;

use crate::command_line;
use crate::context::Context;
use crate::drive::Format;
use crate::exit::Exit;
use crate::explain::{Topic, UnknownTopic, page_text, topic_names};
use crate::failure::Failure;
use crate::terminal::Output;

const ENVIRONMENT: [(&str, &str); 9] = [
    ("PALYRA_HOME", "the state directory, else $XDG_STATE_HOME/palyra, else"),
    ("", "~/.local/state/palyra; --state-dir wins"),
    ("XDG_CONFIG_HOME", "where palyra/palyra.toml is looked for; else ~/.config"),
    ("PALYRA_TOKEN", "the token for --connect"),
    ("PALYRA_MODEL", "the model of the server that OPENAI_BASE_URL names"),
    ("OPENAI_BASE_URL", "a server of models, where no configuration names one"),
    ("OPENAI_API_KEY", "its key"),
    ("PALYRA__A__B", "the setting a.b of the configuration"),
    ("NO_COLOR", "anything in it: no colours; TERM=dumb: no escape codes at all"),
];
/// Columns of a page, at most, on every terminal.
const PAGE_COLUMNS_MAX: usize = 80;

/// Shows the help of a verb, or explains what else a word names.
pub(crate) fn run(context: &Context, words: &[String]) -> Result<Exit, Failure> {
    find(&context.output, words, is_verb)
}

/// Explains what the words name: a code, a topic or a document, else a verb.
pub(crate) fn explain(context: &Context, words: &[String]) -> Result<Exit, Failure> {
    if words.is_empty() {
        return topics(&context.output).map(|()| Exit::Done);
    }
    find(&context.output, words, |_| false)
}

fn find(output: &Output, words: &[String], is_verb: impl Fn(&str) -> bool) -> Result<Exit, Failure> {
    if let [word] = words {
        match Topic::read(word, is_verb) {
            Ok(Some(topic)) => return show(output, topic).map(|()| Exit::Done),
            Ok(None) => {}
            Err(unknown) => return Err(Failure::Usage(no_such_code(word, &unknown))),
        }
    }
    let typed = ["palyra"].into_iter().chain(words.iter().map(String::as_str)).chain(["--help"]);
    match command_line::command().try_get_matches_from(typed) {
        Err(error) if words.len() == 1 && error.use_stderr() && names_no_verb(&error) => Err(Failure::Usage(
            format!("nothing is called `{}`; `palyra help topics` lists what is", words[0]),
        )),
        Err(error) => Ok(say(&error, output)),
        Ok(_) => Ok(Exit::Done),
    }
}

/// Returns whether the parser knows no verb that is near.
fn names_no_verb(error: &clap::Error) -> bool {
    error.get(ContextKind::SuggestedSubcommand).is_none()
}

fn is_verb(word: &str) -> bool {
    command_line::definition().find_subcommand(word).is_some()
}

fn no_such_code(word: &str, unknown: &UnknownTopic) -> String {
    let nearest: Vec<String> =
        unknown.nearest.iter().map(|code| format!("`palyra explain {code}` ({})", code.slug())).collect();
    format!("there is no error code `{word}`; the nearest: {}", nearest.join(", "))
}

fn show(output: &Output, topic: Topic) -> Result<(), Failure> {
    match topic {
        Topic::ExitCodes => exit_codes(output),
        Topic::Environment => environment(output),
        Topic::Options => {
            output.line("The options of every verb:")?;
            let options = command_line::shared_options();
            options.iter().try_for_each(|option| output.line(&format!("  {option}")))
        }
        Topic::Topics => topics(output),
        Topic::Page(page) => {
            let columns = output.columns().unwrap_or(PAGE_COLUMNS_MAX).min(PAGE_COLUMNS_MAX);
            output.help(&StyledStr::from(page_text(page, columns)))
        }
    }
}

/// Shows the overview after a command line without a verb, off a terminal: an invalid command line.
pub(crate) fn overview_instead(output: &Output) -> Exit {
    output.refused_arguments(&command_line::command().render_help());
    Exit::Usage
}

/// Prints the version.
pub(crate) fn version(output: &Output, format: Format) -> Result<Exit, Failure> {
    let version = env!("CARGO_PKG_VERSION");
    match format {
        Format::Json => output.json(&json!({ "version": version }))?,
        Format::Text => output.line(&format!("palyra {version}"))?,
    }
    Ok(Exit::Done)
}

/// Says what came of reading the command line: help, the version, or what is wrong with it.
pub(crate) fn say(said: &clap::Error, output: &Output) -> Exit {
    if said.use_stderr() {
        output.refused_arguments(&said.render());
        return Exit::Usage;
    }
    // Whoever asked for help may have stopped reading it.
    output.help(&said.render()).map_or_else(
        |failure| {
            output.failure(&failure);
            failure.exit()
        },
        |()| Exit::Done,
    )
}

fn exit_codes(output: &Output) -> Result<(), Failure> {
    output.sentence("What a verb exits with:")?;
    Exit::ALL
        .iter()
        .try_for_each(|exit| output.sentence(&format!("  {:>3}  {}", exit.number(), exit.meaning())))
}

fn environment(output: &Output) -> Result<(), Failure> {
    output.sentence("What the environment says:")?;
    ENVIRONMENT.iter().try_for_each(|(name, meaning)| output.sentence(&format!("  {name:<16} {meaning}")))
}

fn topics(output: &Output) -> Result<(), Failure> {
    output.line("`palyra explain TOPIC` explains a verb, or one of these:")?;
    topic_names().try_for_each(|(name, what)| output.line(&format!("  {name:<24} {what}")))
}
