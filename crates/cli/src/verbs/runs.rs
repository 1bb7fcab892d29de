//! `palyra runs`: looking at runs, following, answering, steering or stopping one.

pub(crate) mod acting;
mod effects;
mod wait;
pub(crate) mod erased;
mod waiting;
mod kept;
mod queued;
mod undo;

use std::collections::BTreeMap;

use clap::Subcommand;
use palyra_client::{Client, ClientError, InputReach, new_idempotency_key};
use palyra_types::{ErrorCode, RunId};
use palyra_wire::json::{to_json, to_json_with_defaults};
use palyra_wire::v1;
use prost_types::Timestamp;

use super::approve::scope_of;
use super::ids::{RunName, RunPlace, session_id};
use super::open_questions::open_question;
use super::pages::{ItemSelection, read_list};
use crate::context::Context;
use crate::drive::{DaemonRun, InteractionMode, InterruptEffect, OutputFormat, TerminalSession, drive};
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::{
    ERASED_MARK, EchoMode, UndoExtent, age, date, decider, newest_undo, no_runs_note, run_state,
    run_state_name, standing, typed_time, used_by_run, used_so_far,
};
use palyra_screen_text::clean_line;
use palyra_screen_text::short_id;
use palyra_terminal::{NoteKind, PromptReader};
use palyra_usage_view::run_cost_words;

/// Entries of a tape's end among which the last request to a model is looked for.
const LAST_ENTRIES_MAX: u32 = 400;
/// Approvals of a run of which it is shown who decided.
const APPROVALS_READ_MAX: u32 = 500;

/// Look at runs; tail, answer, steer, wait for or cancel one.
#[derive(Debug, Subcommand)]
pub(crate) enum RunsVerb {
    /// List runs, newest first
    #[command(
        after_help = "Examples:\n  palyra runs list --open\n  palyra runs list --search invoice --since 7d"
    )]
    List {
        /// Of this session only
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
        /// Only those that are not over
        #[arg(long)]
        open: bool,
        /// Only those with this in their input
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        search: String,
        /// Only those begun since: today, yesterday, 30m, 12h, 7d, or a date
        #[arg(long, value_name = "TIME", value_parser = time_until_now)]
        since: Option<Timestamp>,
        /// At most so many
        #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        /// One line of JSON each
        #[arg(long)]
        json: bool,
    },
    /// Show the state of a run
    #[command(after_help = "Example:\n  palyra runs show last")]
    Show {
        /// The run: its id, 4 letters of its beginning or end, `last`, `last~2`
        run: RunName,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a run from its beginning, and what comes until it ends
    #[command(
        after_help = "At a terminal it asks what the run waits for; `l` or Ctrl-C leaves that open.\n\nExample:\n  palyra runs tail last"
    )]
    Tail {
        /// The run: its id, 4 letters of its beginning or end, `last`, `last~2`
        run: RunName,
        /// Leave out entries up to this number
        #[arg(long, default_value_t = 0, value_name = "N")]
        after: u32,
        /// Every entry as a line of JSON
        #[arg(long)]
        json: bool,
    },
    /// Wait until a run ends or asks, then print its state; exits as `palyra run` does
    #[command(after_help = "Example:\n  palyra runs wait last")]
    Wait {
        /// The run: its id, 4 letters of its beginning or end, `last`, `last~2`
        run: RunName,
        /// The run as JSON
        #[arg(long)]
        json: bool,
    },
    /// Answer a run that waits
    #[command(after_help = "Example:\n  palyra runs answer last \"go on\"")]
    Answer {
        /// The run: its id, 4 letters of its beginning or end, `last`, `last~2`
        run: RunName,
        /// The answer
        #[arg(required = true)]
        text: Vec<String>,
        /// Start a new run of the session where this one takes no answer
        #[arg(long)]
        new: bool,
        /// The outcome as JSON
        #[arg(long)]
        json: bool,
    },
    /// Tell an active run something that its next step takes into account
    #[command(after_help = "Example:\n  palyra runs steer last \"only the first chapter\"")]
    Steer {
        /// The run: its id, 4 letters of its beginning or end, `last`, `last~2`
        run: RunName,
        /// What to tell it
        #[arg(required = true)]
        text: Vec<String>,
        /// Start a new run of the session where this one takes no input
        #[arg(long)]
        new: bool,
        /// The outcome as JSON
        #[arg(long)]
        json: bool,
    },
    Effects(effects::EffectsArgs),
    Kept(kept::KeptArgs),
    /// Take back what a finished run changed in files
    #[command(after_help = "Examples:\n  palyra runs undo last --dry-run\n  palyra runs undo last")]
    Undo {
        /// The run: its id, 4 letters of its beginning or end, `last`, `last~2`
        run: RunName,
        /// Show what would be done to each file, and do nothing
        #[arg(long)]
        dry_run: bool,
        /// One line of JSON for each file
        #[arg(long)]
        json: bool,
    },
    /// List places in runs that have a name, give one a name, or remove it
    #[command(
        after_help = "Examples:\n  palyra runs bookmarks last@2 draft\n  palyra runs bookmarks --remove draft"
    )]
    Bookmarks {
        /// The run's id or a part of it, `last`; with @SEQ, the place after that entry
        #[arg(value_name = "RUN[@SEQ]", requires = "name")]
        place: Option<RunPlace>,
        /// The name of the place
        name: Option<String>,
        /// Remove the bookmark of this name or number
        #[arg(long, value_name = "NAME", conflicts_with = "place")]
        remove: Option<String>,
        /// One line of JSON each
        #[arg(long)]
        json: bool,
    },
    /// Stop a run
    #[command(after_help = "Example:\n  palyra runs cancel last")]
    Cancel {
        /// The run: its id, 4 letters of its beginning or end, `last`, `last~2`
        run: RunName,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, verb: RunsVerb) -> Result<Exit, Failure> {
    let client = context.connect().await?;
    match verb {
        RunsVerb::List { session, open, search, since, limit, json } => {
            let only = if open { v1::RunFilter::Open } else { v1::RunFilter::Unspecified };
            let request = v1::ListRunsRequest {
                session_id: match session {
                    Some(session) => session_id(&client, &session).await?,
                    None => String::new(),
                },
                only: only.into(),
                ..Default::default()
            };
            list(context, &client, request, RunFilterArgs { limit, search, since }, json.into()).await
        }
        RunsVerb::Show { run, json } => show(context, &client, run, json.into()).await,
        RunsVerb::Tail { run, after, json } => tail(context, &client, run, after, json.into()).await,
        RunsVerb::Wait { run, json } => {
            let run = run.resolve(&client).await?;
            wait::wait(context, &client, run, json.into()).await
        }
        RunsVerb::Answer { run, text, new, json } => {
            let input = input(&text, v1::InputDelivery::Queue);
            answer(context, &client, run, input, reach(new), json.into()).await
        }
        RunsVerb::Steer { run, text, new, json } => {
            let input = input(&text, v1::InputDelivery::Steer);
            answer(context, &client, run, input, reach(new), json.into()).await
        }
        RunsVerb::Effects(args) => effects::run(context, &client, args).await,
        RunsVerb::Kept(args) => kept::run(context, &client, args).await,
        RunsVerb::Undo { run, dry_run, json } => {
            let extent = if dry_run { UndoExtent::DryRun } else { UndoExtent::Files };
            let order = undo::UndoOrder { run, extent, others: palyra_run_view::OtherRuns::OfFolder };
            undo::undo(context, &client, order, json.into()).await
        }
        RunsVerb::Bookmarks { place: Some(place), name: Some(name), .. } => {
            let v1::BranchPoint { run_id, tape_seq, .. } = place.branch_point(&client).await?;
            client.call(v1::PlaceBookmarkRequest { run_id, tape_seq, name }).await?;
            context.output.note(NoteKind::Good, "bookmarked; `palyra runs bookmarks` lists it");
            Ok(Exit::Done)
        }
        RunsVerb::Bookmarks { remove: Some(name), .. } => {
            client.call(v1::RemoveBookmarkRequest { name }).await?;
            context.output.note(NoteKind::Good, "the bookmark is removed");
            Ok(Exit::Done)
        }
        RunsVerb::Bookmarks { json, .. } => bookmarks(context, &client, json.into()).await,
        RunsVerb::Cancel { run, json } => cancel(context, &client, run, json.into()).await,
    }
}

/// Takes back what the last run of a session changed, as `palyra runs undo` does.
pub(crate) async fn undo_run(
    context: &Context,
    client: &Client,
    run: RunId,
    session: String,
) -> Result<(), Failure> {
    let order = undo::UndoOrder {
        run: RunName::Id(run),
        extent: UndoExtent::Files,
        others: palyra_run_view::OtherRuns::OfSession(session),
    };
    undo::undo(context, client, order, OutputFormat::Text).await.map(|_| ())
}

/// Which runs are listed, beside what the daemon is asked for.
struct RunFilterArgs {
    limit: u32,
    /// A text that is in the input, if it is not empty.
    search: String,
    /// When the oldest of them was begun.
    since: Option<Timestamp>,
}

fn time_until_now(text: &str) -> Result<Timestamp, String> {
    typed_time(text, jiff::Timestamp::now().as_second())
}

async fn list(
    context: &Context,
    client: &Client,
    request: v1::ListRunsRequest,
    filter: RunFilterArgs,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let RunFilterArgs { limit, search, since } = filter;
    let searched = search.to_lowercase();
    let fits = |run: &v1::Run| {
        let begun = run.created.map_or(0, |created| created.seconds);
        since.is_none_or(|since| begun >= since.seconds)
            && run.input_preview.to_lowercase().contains(&searched)
    };
    let is_all = searched.is_empty() && since.is_none();
    let taken = if is_all { ItemSelection::All } else { ItemSelection::Fitting(&fits) };
    let listed = read_list(limit, taken, |page_size, page_token| {
        let request = v1::ListRunsRequest { page_size, page_token, ..request.clone() };
        async move { client.call(request).await.map(|page| (page.runs, page.next_page_token)) }
    })
    .await?;
    if format == OutputFormat::Json {
        listed.items.iter().try_for_each(|run| context.output.json(&to_json(run)))?;
        listed.note_further(&context.output);
        return Ok(Exit::Done);
    }
    if listed.items.is_empty() {
        let notice = no_runs_note(&search, since.as_ref(), &request);
        context.output.note(NoteKind::Info, &notice);
        listed.note_further(&context.output);
        return Ok(Exit::Done);
    }
    let mut shown = listed.items.clone();
    for run in shown.iter_mut().filter(|run| run.input_preview.is_empty()) {
        if erased::is_erased(client, &run.run_id).await? {
            run.input_preview = ERASED_MARK.to_owned();
        }
    }
    let row = |run: v1::Run| {
        let standing = standing(&run);
        [short_id(&run.run_id), standing, age(run.created), run.turns.to_string(), run.input_preview]
    };
    let rows = shown.into_iter().map(row).collect();
    context.table(["RUN", "STATE", "AGE", "TURNS", "INPUT"], rows)?;
    listed.note_further(&context.output);
    Ok(Exit::Done)
}

async fn show(
    context: &Context,
    client: &Client,
    run: RunName,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let run = client.get_run(run.resolve(client).await?).await?;
    if format == OutputFormat::Json {
        context.output.json(&to_json_with_defaults(&run))?;
        return Ok(Exit::Done);
    }
    let used = match finished_use(client, &run).await? {
        Some(used) => used,
        None => used_so_far(&run),
    };
    for (name, value) in [
        ("run", run.run_id.clone()),
        ("session", context.output.id(&run.session_id)),
        ("state", standing(&run)),
        ("error", run.error_code.clone()),
        ("input", clean_line(&run.input_preview, 120)),
        ("created", date(run.created)),
        ("updated", date(run.updated)),
        ("used", used),
        ("cost", run.cost.as_ref().and_then(run_cost_words).unwrap_or_default()),
        ("entries", run.last_tape_seq.to_string()),
        ("undone", run.undone.as_ref().map(newest_undo).unwrap_or_default()),
        ("bookmarks", bookmarks_of(client, &run.run_id).await?),
    ] {
        if !value.is_empty() {
            context.output.line(&format!("{name:<8} {value}"))?;
        }
    }
    if let Some(notice) = erased::describe(client, &run).await? {
        context.output.line(&format!("{:<9}{notice}", "content"))?;
    }
    if run.phase() == v1::RunPhase::Waiting {
        waiting::show_question(context, client, &run).await?;
    }
    queued::note_turn(&context.output, client, &run).await?;
    effects::show_unknown(context, client, &run).await?;
    Ok(Exit::Done)
}

async fn bookmarks_of(client: &Client, run: &str) -> Result<String, Failure> {
    let mut all = client.call(v1::ListBookmarksRequest {}).await?.bookmarks;
    all.retain(|bookmark| bookmark.run_id == run && !bookmark.name.is_empty());
    all.sort_by_key(|bookmark| bookmark.tape_seq);
    let shown = all.iter().map(|one| format!("{} (@{})", clean_line(&one.name, 80), one.tape_seq));
    Ok(shown.collect::<Vec<_>>().join(", "))
}

/// Returns what a run that is over used, as its tape tells.
async fn finished_use(client: &Client, run: &v1::Run) -> Result<Option<String>, Failure> {
    let Ok(id) = run.run_id.parse() else { return Ok(None) };
    if run.phase() != v1::RunPhase::Finished {
        return Ok(None);
    }
    let from = run.last_tape_seq.saturating_sub(LAST_ENTRIES_MAX);
    Ok(used_by_run(&client.read_tape(id, from, LAST_ENTRIES_MAX).await?.entries))
}

async fn tail(
    context: &Context,
    client: &Client,
    run: RunName,
    after: u32,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let run = run.resolve(client).await?;
    if format == OutputFormat::Text {
        queued::note_turn(&context.output, client, &client.get_run(run).await?).await?;
    }
    let mut followed = DaemonRun::attach(client, run, after);
    let mut reader = PromptReader::of_process(&context.output, &context.interrupts);
    let person = InteractionMode::at(reader.as_mut());
    let seat = TerminalSession {
        scope: scope_of(client, &run.to_string()).await,
        deciders: deciders_of(client, run).await,
        at_interrupt: InterruptEffect::Leaves,
        ..TerminalSession::new(&context.output, &context.interrupts, person, format, EchoMode::Tape)
    };
    drive(&mut followed, seat, |_| {}).await
}

/// Returns the names of people who decided about calls of a run, by principal; none where they may not be read.
async fn deciders_of(client: &Client, run: RunId) -> BTreeMap<String, String> {
    let request = v1::ListApprovalsRequest {
        run_id: run.to_string(),
        only: v1::ApprovalFilter::All.into(),
        page_size: APPROVALS_READ_MAX,
        ..Default::default()
    };
    // Who may read runs need not read approvals.
    let decided = client.call(request).await.map(|page| page.approvals).unwrap_or_default();
    let deciders = decided.iter().filter(|approval| !approval.decided_by.is_empty());
    deciders.map(|approval| (approval.decided_by.clone(), decider(approval))).collect()
}

fn input(words: &[String], delivery: v1::InputDelivery) -> v1::Input {
    v1::Input {
        text: words.join(" "),
        idempotency_key: new_idempotency_key(),
        delivery: delivery.into(),
        ..Default::default()
    }
}

fn reach(new: bool) -> InputReach {
    if new { InputReach::RunOrNew } else { InputReach::RunOnly }
}

/// Says how the words become a run of their own, where the run did not take them.
fn with_new(error: ClientError, steers: bool, run: &str) -> Failure {
    let verb = if steers { "steer" } else { "answer" };
    let failure: Failure = match error {
        ClientError::Refused {
            code: code @ (ErrorCode::RunFinished | ErrorCode::RunNotWaiting),
            message,
        } => {
            let message =
                format!("{message}; `palyra runs {verb} {run} --new TEXT` starts a new run of its session");
            ClientError::Refused { code, message }.into()
        }
        error => error.into(),
    };
    failure.naming(run)
}

async fn answer(
    context: &Context,
    client: &Client,
    run: RunName,
    input: v1::Input,
    reach: InputReach,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let run = run.resolve(client).await?;
    let steers = input.delivery() == v1::InputDelivery::Steer;
    let asked = if format == OutputFormat::Json { None } else { question_of(client, run).await? };
    if let Some(question) = asked {
        context.output.note(NoteKind::Ask, &format!("the model asks: {question}"));
    }
    let accepted = match client.send_input(run, input, reach).await {
        Ok(accepted) => accepted,
        Err(error) if error.code() == ErrorCode::SessionArchived => {
            let session = client.get_run(run).await?.session_id;
            return Err(Failure::from(error).naming(&context.output.id(&session)));
        }
        Err(error) => {
            let open = queued::waits_otherwise(client, run)
                .await
                .filter(|_| error.code() == ErrorCode::RunNotWaiting);
            return Err(match open {
                Some(mend) => Failure::WithMend { code: error.code(), message: error.to_string(), mend },
                None => with_new(error, steers, &context.output.id(&run.to_string())),
            });
        }
    };
    if format == OutputFormat::Json {
        context.output.json(&to_json_with_defaults(&accepted))?;
        return Ok(Exit::Done);
    }
    let run = context.output.id(&run.to_string());
    let new = context.output.id(&accepted.run_id);
    let notice = match (accepted.queued, steers) {
        (true, true) => format!("the run is over; the input is run {new} of its session"),
        (true, false) => format!("the run did not wait; the answer is run {new} of its session"),
        (false, true) => format!("the run takes it into account; `palyra runs tail {run}` shows how"),
        (false, false) => format!("answered; `palyra runs tail {run}` shows how it goes on"),
    };
    context.output.note(NoteKind::Good, &notice);
    if !accepted.note.is_empty() {
        context.output.note(NoteKind::Info, &accepted.note);
    }
    Ok(Exit::Done)
}

/// Returns what a run asks; nothing where the run itself says that it takes no answer.
async fn question_of(client: &Client, run: RunId) -> Result<Option<String>, Failure> {
    match client.get_run(run).await {
        Ok(run) => open_question(client, &run).await,
        Err(_) => Ok(None),
    }
}

async fn bookmarks(context: &Context, client: &Client, format: OutputFormat) -> Result<Exit, Failure> {
    let found = client.call(v1::ListBookmarksRequest {}).await?.bookmarks;
    let none = "no bookmarks; `palyra runs bookmarks last NAME` makes one";
    context.list(format, found, none, ["NUMBER", "PLACE", "NAME"], |one| {
        let name = if one.name.is_empty() { ERASED_MARK.to_owned() } else { one.name };
        [one.seq.to_string(), format!("{}@{}", short_id(&one.run_id), one.tape_seq), name]
    })
}

async fn cancel(
    context: &Context,
    client: &Client,
    run: RunName,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let run = run.resolve(client).await?;
    let answer = client.cancel_run(run).await?;
    if format == OutputFormat::Json {
        context.output.json(&to_json_with_defaults(&answer))?;
    } else if answer.already_finished {
        let state = run_state_name(run_state(answer.state));
        context.output.note(NoteKind::Info, &format!("the run had finished already: {state}"));
    } else {
        let id = context.output.id(&run.to_string());
        let notice = format!("cancelling the run; `palyra runs show {id}` says when it has stopped");
        context.output.note(NoteKind::Good, &notice);
    }
    Ok(Exit::Done)
}
