//! An answer as it is typed: what else shall run instead, and what shall be remembered.

use std::path::PathBuf;

use clap::Args;
use palyra_client::{Client, ClientError};
use palyra_types::{ErrorCode, RunId};
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;
use palyra_wire::v1::argument_rule::Shape;
use palyra_wire::v1::tape_entry::Event;

use crate::context::Context;
use crate::drive::{DaemonRun, InteractionMode, OutputFormat, TerminalSession, drive_after};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run_folder::{FOLDER_CHARS_MAX, elsewhere_of};
use crate::verbs::ids::waiting_here;
use palyra_run_view::{EchoMode, GrantSession, OfferScope, changes, outcome, repeated, with_edited};
use palyra_screen_text::clean_line;
use palyra_screen_text::{count, short_id};
use palyra_terminal::{NoteKind, PromptReader};

const ABOUT_CHARS_MAX: usize = 80;
/// Approvals of a run that are looked through for the one before.
const APPROVALS_READ_MAX: u32 = 500;
const ARGUMENTS_BYTES_MAX: u64 = 1024 * 1024;

/// What shall run instead.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(super) struct EditArgs {
    /// One argument with another value (JSON, or plain text)
    #[arg(long, value_name = "ARGUMENT=VALUE", value_parser = assignment)]
    set: Vec<(String, serde_json::Value)>,
    /// A file with all the arguments, as a JSON object
    #[arg(long, value_name = "FILE")]
    arguments: Option<PathBuf>,
}

fn assignment(text: &str) -> Result<(String, serde_json::Value), String> {
    let (name, value) = text.split_once('=').ok_or("ARGUMENT=VALUE is expected, as in path=notes.txt")?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| serde_json::Value::String(value.to_owned()));
    Ok((name.to_owned(), value))
}

impl EditArgs {
    /// Returns the arguments that shall run instead of those proposed; empty for those.
    pub(super) fn arguments(&self, approval: &v1::Approval) -> Result<String, Failure> {
        if let Some(file) = &self.arguments {
            return read_arguments(file);
        }
        if self.set.is_empty() {
            return Ok(String::new());
        }
        let proposed = approval.prompt.as_ref().map_or("", |prompt| prompt.arguments.as_str());
        let mut arguments: serde_json::Map<String, serde_json::Value> = serde_json::from_str(proposed)
            .map_err(|_| {
                refused("the proposed arguments are not an object; give all of them with --arguments")
            })?;
        arguments.extend(self.set.iter().cloned());
        Ok(serde_json::Value::Object(arguments).to_string())
    }
}

fn read_arguments(file: &std::path::Path) -> Result<String, Failure> {
    let message = |what: String| refused(&format!("{}: {what}", file.display()));
    let size = std::fs::metadata(file).map_err(|error| message(error.to_string()))?.len();
    if size > ARGUMENTS_BYTES_MAX {
        return Err(message("is larger than 1 MiB".to_owned()));
    }
    let text = std::fs::read_to_string(file).map_err(|error| message(error.to_string()))?;
    let arguments: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&text).map_err(|error| message(format!("is not a JSON object: {error}")))?;
    Ok(serde_json::Value::Object(arguments).to_string())
}

fn refused(what: &str) -> Failure {
    Failure::local(ErrorCode::InvalidArgument, what.to_owned())
}

/// What shall be remembered beyond the call.
#[derive(Debug, Args)]
pub(super) struct RememberArgs {
    /// In this session only
    #[arg(long)]
    here: bool,
    /// In every folder, not only in the one of this call
    #[arg(long, conflicts_with = "here")]
    any_folder: bool,
    /// For so many hours
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=8760))]
    hours: Option<u32>,
    /// So many times
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    uses: Option<u32>,
    /// With any value of ARG
    #[arg(long, value_name = "ARG")]
    any: Vec<String>,
    /// Where ARG is a path at or below PATH
    #[arg(long, value_name = "ARG=PATH", value_parser = below)]
    below: Vec<(String, String)>,
    /// Where ARG is an address of this server
    #[arg(long, value_name = "ARG=ORIGIN", value_parser = origin)]
    host: Vec<(String, String)>,
}

fn origin(text: &str) -> Result<(String, String), String> {
    let expected = "ARGUMENT=ORIGIN is expected, as in url=https://api.example";
    let (name, origin) = text.split_once('=').ok_or(expected)?;
    Ok((name.to_owned(), origin.to_owned()))
}

fn below(text: &str) -> Result<(String, String), String> {
    let (name, path) = text.split_once('=').ok_or("ARGUMENT=PATH is expected, as in path=drafts")?;
    Ok((name.to_owned(), path.to_owned()))
}

impl RememberArgs {
    /// Returns what shall be remembered; an argument that is not named has to be equal.
    pub(super) fn grant_request(&self) -> v1::GrantWish {
        let any = self.any.iter().map(|name| (name.clone(), Shape::Any(true)));
        let below = self.below.iter().map(|(name, path)| (name.clone(), Shape::Beneath(path.clone())));
        let hosts = self.host.iter().map(|(name, origin)| (name.clone(), Shape::Origin(origin.clone())));
        let rules = any
            .chain(below)
            .chain(hosts)
            .map(|(argument, shape)| v1::ArgumentRule { argument, shape: Some(shape) });
        let now = jiff::Timestamp::now().as_second();
        let end = |hours: u32| prost_types::Timestamp { seconds: now + i64::from(hours) * 3_600, nanos: 0 };
        v1::GrantWish {
            scope: match (self.here, self.any_folder) {
                (true, _) => v1::GrantScope::Session,
                (false, true) => v1::GrantScope::Everywhere,
                (false, false) => v1::GrantScope::Principal,
            }
            .into(),
            expires: self.hours.map(end),
            uses_max: self.uses.unwrap_or_default(),
            rules: rules.collect(),
        }
    }
}

/// Sends an answer and says where the approval stands.
pub(super) async fn send(
    context: &Context,
    client: &Client,
    request: v1::ResolveApprovalRequest,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let approval = request.approval_id.clone();
    let refused = |error: ClientError| Failure::from(error).naming(&context.output.id(&approval));
    if format == OutputFormat::Json {
        let answer = client.call(request).await.map_err(refused)?;
        context.output.json(&to_json_with_defaults(&answer))?;
        return Ok(exit_of(&answer));
    }
    let id = request.approval_id.parse().map_err(|_| unnamed("the daemon named no approval"))?;
    let before = client.get_approval(id).await?;
    let edited = request.edited_arguments.clone();
    let answer = client.call(request).await.map_err(refused)?;
    if let Some(message) = repeated(&before, &answer) {
        context.output.note(NoteKind::Info, &message);
    } else {
        let run = answer.approval.as_ref().map_or("", |approval| approval.run_id.as_str());
        let shown = with_edited(answer.clone(), &edited);
        let (mark, message) = outcome(&shown, &folder(client, run).await, |id| context.output.id(id));
        context.output.note(mark, &message);
        if let Some(before) = answer.approval.as_ref().filter(|_| !answer.asked_again_as.is_empty()) {
            let again = answer.asked_again_as.parse().map_err(|_| unnamed("the daemon named no approval"))?;
            let now = client.get_approval(again).await?;
            changes(before, &now).iter().try_for_each(|line| context.output.line(line))?;
        }
    }
    Ok(exit_of(&answer))
}

fn exit_of(answer: &v1::ResolveApprovalResponse) -> Exit {
    if answer.counted { Exit::Done } else { Exit::Conflict }
}

/// Says which calls wait in this folder, where an answer names none of them: each with the command that answers it.
pub(super) async fn unnamed_call(client: &Client, verb: &str) -> Result<Failure, Failure> {
    let waiting = waiting_here(client).await?;
    let rows = waiting.matches.iter().map(|found| {
        let (id, about) = (short_id(&found.id), clean_line(&found.about, ABOUT_CHARS_MAX));
        format!("\n  `palyra approve {verb} {id}`   {about}")
    });
    let more = if waiting.more { "\nand more; `palyra approve list` lists them" } else { "" };
    let calls = count(waiting.matches.len() as u64, "call");
    let waits = if waiting.matches.len() == 1 { "waits" } else { "wait" };
    Ok(Failure::Usage(format!(
        "name the call to answer; {calls} {waits} in this folder:{}{more}",
        rows.collect::<String>()
    )))
}

/// Sends a yes and follows the run from there on, as `palyra run` does.
pub(super) async fn send_and_follow(
    context: &Context,
    client: &Client,
    request: v1::ResolveApprovalRequest,
    run_id: &str,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let run: RunId = run_id.parse().map_err(|_| unnamed("the daemon named no run"))?;
    // What is on the tape by now was there before the answer.
    let seen = client.get_run(run).await?.last_tape_seq;
    let answered = send(context, client, request, format).await?;
    if answered != Exit::Done {
        return Ok(answered);
    }
    let mut followed = DaemonRun::attach(client, run, 0);
    let mut reader = PromptReader::of_process(&context.output, &context.interrupts);
    let person = InteractionMode::at(reader.as_mut());
    let scope = OfferScope { session: GrantSession::OfRun, ..Default::default() };
    let seat = TerminalSession {
        scope,
        ..TerminalSession::new(&context.output, &context.interrupts, person, format, EchoMode::No)
    };
    drive_after(&mut followed, seen, seat, |_| {}).await
}

fn unnamed(what: &str) -> Failure {
    Failure::local(ErrorCode::Internal, what.to_owned())
}

/// Returns what differs between a question that asks again and the one before it; nothing where it is the first.
pub(super) async fn changes_since(client: &Client, now: &v1::Approval) -> Result<Vec<String>, Failure> {
    if now.prompt.as_ref().is_none_or(|prompt| prompt.asked_again.is_empty()) {
        return Ok(Vec::new());
    }
    let request = v1::ListApprovalsRequest {
        run_id: now.run_id.clone(),
        only: v1::ApprovalFilter::All.into(),
        page_size: APPROVALS_READ_MAX,
        ..Default::default()
    };
    let earlier = client.call(request).await?.approvals.into_iter();
    let before = earlier
        .filter(|other| other.effect_id == now.effect_id && other.tape_seq < now.tape_seq)
        .max_by_key(|other| other.tape_seq);
    Ok(before.map(|before| changes(&before, now)).unwrap_or_default())
}

/// Returns the folder that a run works in, as a line; empty where that is not known.
pub(super) async fn folder(client: &Client, run: &str) -> String {
    clean_line(&folder_of(client, run).await, FOLDER_CHARS_MAX)
}

/// Returns where grants hold that are given for a run from outside of its session.
pub(crate) async fn scope_of(client: &Client, run: &str) -> OfferScope {
    OfferScope { elsewhere: elsewhere_of(&folder_of(client, run).await), session: GrantSession::OfRun }
}

/// Returns the folder that a run works in; empty where that is not known.
pub(crate) async fn folder_of(client: &Client, run: &str) -> String {
    let Ok(run) = run.parse::<RunId>() else { return String::new() };
    let Ok(page) = client.read_tape(run, 0, 1).await else { return String::new() };
    let started = page.entries.into_iter().find_map(|entry| match entry.event {
        Some(Event::RunStarted(started)) => Some(started.workspace_root),
        _ => None,
    });
    started.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approval(arguments: &str) -> v1::Approval {
        let prompt = v1::ApprovalPrompt { arguments: arguments.to_owned(), ..Default::default() };
        v1::Approval { prompt: Some(prompt), ..Default::default() }
    }

    #[test]
    fn an_edit_changes_what_it_names_and_nothing_else() {
        let set = ["path=a b.txt", "count=3", "flag=true"].map(|text| assignment(text).unwrap());
        let edit = EditArgs { set: set.into(), arguments: None };
        let edited = edit.arguments(&approval(r#"{"path":"x","content":"y"}"#)).unwrap();
        let edited: serde_json::Value = serde_json::from_str(&edited).unwrap();
        let expect = serde_json::json!({"content": "y", "count": 3, "flag": true, "path": "a b.txt"});
        assert_eq!(edited, expect);
        assert!(edit.arguments(&approval("[]")).is_err());
        let nothing = EditArgs { set: Vec::new(), arguments: None };
        assert_eq!(nothing.arguments(&approval("{}")).unwrap(), "");
    }
}
