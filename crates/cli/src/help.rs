//! Help: of a verb, or about something that concerns all of them.

use crate::command_line;
use crate::context::Context;
use crate::exit::Exit;
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

/// Explains what the words name.
pub(crate) fn run(context: &Context, words: &[String]) -> Result<Exit, Failure> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["exit-codes"] => exit_codes(&context.output)?,
        ["environment"] => environment(&context.output)?,
        verb => {
            let typed = ["palyra"].into_iter().chain(verb.iter().copied()).chain(["--help"]);
            if let Err(error) = command_line::command().try_get_matches_from(typed) {
                return Ok(say(&error, &context.output));
            }
        }
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
