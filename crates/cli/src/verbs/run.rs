//! `palyra run`: one run, from what was typed to its end.

use std::io::{IsTerminal, Read};
use std::time::Duration;

use palyra_types::ErrorCode;
use palyra_wire::v1;

use super::ids::session_selector;
use super::start_run::{Choice, note_other_model, start, workspace_root};
use crate::context::Context;
use crate::drive::{Seat, drive};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::Echo;
use crate::terminal::TypedLines;

/// More than the daemon takes, so that its limit is the one that speaks.
const STDIN_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Ask once and show the answer: text on standard output, all else on standard error.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  palyra run \"What does this project do?\"\n  git diff | palyra run \"Review this:\" -"
)]
pub(crate) struct RunArgs {
    /// What to ask; `-`, or nothing, stands for standard input
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
    /// Every entry of the tape as a line of JSON
    #[arg(long)]
    json: bool,
    /// The session: its id, or a key of your own [default: a new one]
    #[arg(long, value_name = "ID|KEY")]
    session: Option<String>,
    /// Cancel the run after so long, and exit with 124
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    #[command(flatten)]
    choice: Choice,
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, args: RunArgs) -> Result<Exit, Failure> {
    let input = input(&args.text)?;
    let workspace_root = workspace_root(context)?;
    let client = context.connect().await?;
    let session = args.session.as_deref().map(session_selector);
    let request = v1::StartRunRequest { session, input, workspace_root, ..Default::default() };
    let mut followed = start(&client, &args.choice, request);
    let interactive = std::io::stdin().is_terminal() && context.output.can_ask();
    let mut lines = interactive.then(TypedLines::of_process);
    let seat = Seat {
        output: &context.output,
        interrupts: &context.interrupts,
        answers: lines.as_mut(),
        format: args.json.into(),
        echo: Echo::No,
        time_limit: args.timeout.map(Duration::from_secs),
    };
    drive(&mut followed, seat, |opened| note_other_model(&context.output, &args.choice, &opened.model)).await
}

fn input(words: &[String]) -> Result<String, Failure> {
    let wants_stdin = words.iter().any(|word| word == "-");
    if words.is_empty() && std::io::stdin().is_terminal() {
        return Err(Failure::Usage(
            "say what to ask, such as: palyra run \"What is in this folder?\"".to_owned(),
        ));
    }
    let typed = if wants_stdin || words.is_empty() { Some(read_stdin()?) } else { None };
    let input = join(words, typed.as_deref());
    if input.trim().is_empty() {
        return Err(Failure::Usage("there is nothing to ask".to_owned()));
    }
    Ok(input)
}

fn read_stdin() -> Result<String, Failure> {
    let refused = |what: String| Failure::local(ErrorCode::InvalidArgument, what);
    let mut bytes = Vec::new();
    let read = std::io::stdin().take(STDIN_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| refused(format!("standard input cannot be read: {error}")))?;
    if bytes.len() as u64 > STDIN_BYTES_MAX {
        let message = format!("standard input is larger than {STDIN_BYTES_MAX} bytes");
        return Err(Failure::local(ErrorCode::MessageTooLarge, message));
    }
    String::from_utf8(bytes).map_err(|_| refused("standard input is not valid UTF-8".to_owned()))
}

/// Joins the words with spaces; standard input goes into a paragraph of its own.
fn join(words: &[String], typed: Option<&str>) -> String {
    let said: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "-").collect();
    let said = said.join(" ");
    match typed.map(|typed| typed.trim_end_matches('\n')) {
        Some(typed) if said.is_empty() => typed.to_owned(),
        Some(typed) => format!("{said}\n\n{typed}"),
        None => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_standard_input_are_joined() {
        for (words, typed, expect) in [
            (&["what", "is", "this?"][..], None, "what is this?"),
            (&["-"], Some("piped\n"), "piped"),
            (&[], Some("piped\n"), "piped"),
            (&["review this:", "-"], Some("a diff\n"), "review this:\n\na diff"),
        ] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(join(&words, typed), expect);
        }
    }
}
