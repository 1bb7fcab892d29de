//! `palyra run`: one run, from what was typed to its end.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use palyra_client::Client;
use palyra_types::{ErrorCode, RunId};
use palyra_wire::v1;

use super::attachments;
use super::ids::find_or_make_session;
use super::preview_references;
use super::start_run::{
    RunChoice, note_other_model, note_unapplied_images, note_unkinded, start, with_choice, workspace_root,
};
use crate::context::Context;
use crate::drive::{FollowedRun as _, InteractionMode, TerminalSession, drive};
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_explain::{file_after_attach, joined_input, verb_of_runs};
use palyra_run_view::{EchoMode, GrantSession, InputPlace, OfferScope, queued_input};
use palyra_screen_text::shell_word;
use palyra_terminal::{NoteKind, Output, PromptReader, unread_input_note};
use palyra_usage_view::finished_cost;

/// More than the daemon takes, so that its limit is the one that speaks.
const STDIN_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// As much as the daemon takes.
const SCHEMA_BYTES_MAX: u64 = 64 * 1024;

/// Ask once and show the answer: text on standard output, all else on standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  git diff | palyra run \"Review this:\" -")]
pub(crate) struct RunArgs {
    /// The question; `-`, or nothing, reads standard input
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
    /// Every entry of the tape as a line of JSON
    #[arg(long)]
    json: bool,
    /// The session: its id, or a key of your own
    #[arg(long, value_name = "ID|KEY", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    session: Option<String>,
    /// Cancel the run after so long, and exit with 124
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// A file to send along, or several with commas
    #[arg(long, value_name = "FILE")]
    attach: Vec<PathBuf>,
    /// The JSON Schema that the answer has to fit
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Tell the session's active run instead of queueing
    #[arg(long, requires = "session", conflicts_with_all = ["interrupt", "schema"])]
    steer: bool,
    /// Cancel the session's active run and go first
    #[arg(long, requires = "session")]
    interrupt: bool,
    /// `never` denies what would ask; `later` lets it wait
    #[arg(long, value_name = "HOW", default_value = "inbox", value_parser = ["inbox", "later", "never"])]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    approve: String,
    /// Show what @file:PATH and others cost; start nothing
    #[arg(long, hide = true, conflicts_with_all = ["session", "timeout", "attach", "schema", "steer", "interrupt"])]
    preview_references: bool,
    #[command(flatten)]
    choice: RunChoice,
}

fn refuse_file_after_attach(args: &RunArgs) -> Result<(), Failure> {
    let line: Vec<String> = std::env::args().collect();
    let Some(file) = file_after_attach(&line, &args.text, |word| Path::new(word).is_file()) else {
        return Ok(());
    };
    let message = format!("{file} follows a file of --attach, and would be a part of the question");
    let mend = format!("type `--attach` for each file: --attach {}", shell_word(file));
    Err(Failure::Input { code: ErrorCode::InvalidArgument, message, mend })
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, args: RunArgs) -> Result<Exit, Failure> {
    refuse_file_after_attach(&args)?;
    if args.text.is_empty()
        && let Some(question) = args.attach.last().and_then(|file| question_as_file(file))
    {
        return Err(question);
    }
    let input = input(&args.text)?;
    if let Some(command) = verb_of_runs(&args.text, &(context.definition)()) {
        let note = format!("this asks the model; `{command}` is the command about runs");
        context.output.note(NoteKind::Doubt, &note);
    }
    let attachments = attachments::read(&args.attach)?;
    for remark in palyra_run_view::attachment_remarks(&attachments) {
        context.output.note(NoteKind::Doubt, &remark);
    }
    let response_schema = args.schema.as_deref().map(read_schema).transpose()?.unwrap_or_default();
    let model = context.whole_model(args.choice.model.clone());
    let choice = RunChoice { model, ..args.choice.clone() };
    let workspace_root = workspace_root(context, &choice)?;
    note_unkinded(&context.output, &input, &workspace_root, InputPlace::Run);
    let client = context.connect_to_model(choice.model.as_deref()).await?;
    // The key of the prompt is called so.
    let approve = if args.approve == "never" { v1::ApproverChoice::Never } else { v1::ApproverChoice::Inbox };
    if args.preview_references {
        let request = with_choice(
            &choice,
            v1::StartRunRequest { input, workspace_root, approve: approve.into(), ..Default::default() },
        );
        return preview_references::show(context, &client, request, args.json.into()).await;
    }
    let session = match &args.session {
        Some(name) => Some(find_or_make_session(context, &client, name).await?),
        None => None,
    };
    note_unsent(&context.output, &client, session.as_ref(), &args).await?;
    let request = v1::StartRunRequest {
        session,
        input,
        workspace_root,
        delivery: delivery(&args).into(),
        attachments,
        response_schema,
        approve: approve.into(),
        ..Default::default()
    };
    let mut followed = start(&client, &choice, request);
    // Who says `later` is not asked here.
    let asks = args.approve != "later";
    let mut reader = asks.then(|| PromptReader::of_process(&context.output, &context.interrupts)).flatten();
    let person = InteractionMode::at(reader.as_mut());
    // Without a name the run has a session that no other run has.
    let session = if args.session.is_some() { GrantSession::Named } else { GrantSession::OfRun };
    let seat = TerminalSession {
        scope: OfferScope { session, ..Default::default() },
        time_limit: args.timeout.map(Duration::from_secs),
        ..TerminalSession::new(&context.output, &context.interrupts, person, args.json.into(), EchoMode::No)
    };
    let opened = |opened: &v1::Opened| {
        note_other_model(context, &choice, &opened.model);
        note_unapplied_images(context, &opened.notes);
        if args.steer {
            context.output.note(NoteKind::Info, handed_over(opened));
        }
    };
    let ended = drive(&mut followed, seat, opened).await;
    note_cost(&context.output, &client, followed.run().filter(|_| !args.json)).await;
    match &args.session {
        Some(name) => ended.map_err(|failure| failure.naming_session(name)),
        None => ended,
    }
}

/// Adds the cost of a run that was watched to its end, where it is known.
pub(super) async fn note_cost(output: &Output, client: &Client, run: Option<RunId>) {
    let Some(run) = run.filter(|_| output.is_watched()) else { return };
    // The run is over and was shown: a daemon that left since takes only this line away.
    let cost = client.get_run(run).await.ok().and_then(|run| finished_cost(&run));
    cost.iter().for_each(|cost| output.note(NoteKind::Info, &format!("cost {cost}")));
}

/// Says what the input waits for, and which input is not sent at all.
async fn note_unsent(
    output: &Output,
    client: &Client,
    session: Option<&v1::SessionSelector>,
    args: &RunArgs,
) -> Result<(), Failure> {
    if let Some(session) = session.filter(|_| delivery(args) == v1::InputDelivery::Queue)
        && let Some(active) = client.active_run(session).await?
    {
        output.note(NoteKind::Info, &queued_input(&active.run, active.approval.as_deref()));
    }
    let reads_input = args.text.is_empty() || args.text.iter().any(|word| word == "-");
    if let Some(note) = unread_input_note().filter(|_| !reads_input) {
        output.note(NoteKind::Doubt, &note);
    }
    Ok(())
}

/// Returns how the input meets the session's active run.
fn delivery(args: &RunArgs) -> v1::InputDelivery {
    match (args.steer, args.interrupt) {
        (true, _) => v1::InputDelivery::Steer,
        (false, true) => v1::InputDelivery::Interrupt,
        (false, false) => v1::InputDelivery::Queue,
    }
}

/// Refuses a question that was typed where `--attach` takes a file, so that no question is left.
fn question_as_file(file: &Path) -> Option<Failure> {
    let question = file.to_str().filter(|_| !file.exists())?;
    if !std::io::stdin().is_terminal() && !question.trim().contains(char::is_whitespace) {
        return None;
    }
    let question = shell_word(question);
    Some(Failure::Input {
        code: ErrorCode::InvalidArgument,
        message: format!("--attach takes {question} as a file, which does not exist, so no question is left"),
        mend: format!(
            "name a file after --attach, then type the question: palyra run --attach FILE {question}"
        ),
    })
}

/// Says at once what became of an input for an active run: its answer may take long.
fn handed_over(opened: &v1::Opened) -> &'static str {
    if opened.attached {
        "handed to the active run, whose next step takes it into account; its answer follows"
    } else {
        "no run of the session is active: this starts one"
    }
}

/// Reads a schema; that it is one, the daemon judges.
fn read_schema(file: &Path) -> Result<String, Failure> {
    let refused = |what: String| {
        Failure::local(ErrorCode::InvalidArgument, format!("the schema {}: {what}", file.display()))
    };
    let mut text = String::new();
    let unreadable =
        |error: std::io::Error| Failure::unreadable_file(ErrorCode::InvalidArgument, file, &error);
    let opened = std::fs::File::open(file).map_err(unreadable)?;
    opened.take(SCHEMA_BYTES_MAX + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > SCHEMA_BYTES_MAX {
        return Err(refused("is larger than 64 KiB".to_owned()));
    }
    let value = serde_json::from_str::<serde_json::Value>(&text);
    match value {
        Ok(value) if value.is_object() => Ok(text),
        Ok(_) => Err(refused("is not a JSON object".to_owned())),
        Err(error) => Err(refused(format!("is not JSON: {error}"))),
    }
}

fn input(words: &[String]) -> Result<String, Failure> {
    let wants_stdin = words.iter().any(|word| word == "-");
    if words.is_empty() && std::io::stdin().is_terminal() {
        return Err(nothing_to_ask());
    }
    let typed = if wants_stdin || words.is_empty() { Some(read_stdin()?) } else { None };
    let input = joined_input(words, typed.as_deref());
    if input.trim().is_empty() {
        return Err(nothing_to_ask());
    }
    Ok(input)
}

fn nothing_to_ask() -> Failure {
    Failure::Input {
        code: ErrorCode::InvalidArgument,
        message: "the input is empty: there is nothing to ask".to_owned(),
        mend: "say what to ask, for example: palyra run \"What is in this folder?\"".to_owned(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_in_the_place_of_a_file_is_put_behind_one() {
        let refused = question_as_file(Path::new("what is this?")).unwrap().lines().join("\n");
        assert!(refused.contains("--attach takes 'what is this?' as a file"), "{refused}");
        assert!(refused.ends_with(": palyra run --attach FILE 'what is this?'"), "{refused}");
        assert!(question_as_file(Path::new("/dev/null")).is_none());
    }
}
