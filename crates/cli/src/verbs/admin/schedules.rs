//! `palyra admin schedules`: runs and reminders at planned times.

use clap::{Args, Subcommand};
use palyra_client::Client;
use palyra_run_view::{
    ScheduleWords, occurrence_row, schedule_draft, schedule_lines, schedule_preview_lines, schedule_row,
};
use palyra_terminal::{NoteKind, OutputError, PromptReader, ReadingMode};
use palyra_types::ScheduleId;
use palyra_wire::json::{to_json, to_json_with_defaults};
use palyra_wire::v1;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

const HEAD: [&str; 5] = ["SCHEDULE", "NAME", "WHEN", "NEXT", "STATE"];
const OCCURRENCES: [&str; 4] = ["PLANNED", "STAGE", "WHY", "RUN"];
const NOTHING: &str =
    "no schedules; `palyra admin schedules add \"every weekday at 8\" --prompt TEXT` makes one";

/// Lists schedules.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Example:\n  palyra admin schedules add \"every weekday at 8\" --prompt \"Sum up my mail\""
)]
pub(crate) struct SchedulesArgs {
    #[command(subcommand)]
    verb: Option<SchedulesVerb>,
    /// One line of JSON each
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum SchedulesVerb {
    /// Make a schedule; without --prompt and --remind only show what it would mean
    #[command(
        after_help = "Example:\n  palyra admin schedules add \"every weekday at 8\" --prompt \"Sum up my mail\""
    )]
    Add {
        #[command(flatten)]
        draft: DraftArgs,
        /// Save it without a question
        #[arg(long)]
        yes: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Replace a schedule as a whole, which approves it anew
    #[command(
        after_help = "Example:\n  palyra admin schedules edit 01JGFJJZ00FE6VV7Z4V1SP3JT5 --every 2h --remind tea"
    )]
    Edit {
        /// Its id
        schedule: ScheduleId,
        #[command(flatten)]
        draft: DraftArgs,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// List schedules, the newest first
    #[command(after_help = "Example:\n  palyra admin schedules list --json")]
    List {
        /// One line of JSON each
        #[arg(long)]
        json: bool,
    },
    /// Show a schedule with its next ten times and its latest ten occurrences
    #[command(after_help = "Example:\n  palyra admin schedules show 01JGFJJZ00FE6VV7Z4V1SP3JT5")]
    Show(OneArgs),
    /// Pause a schedule, or all
    #[command(after_help = "Example:\n  palyra admin schedules pause --all")]
    Pause(OneOrAllArgs),
    /// Resume a schedule, or all that were paused with --all
    #[command(after_help = "Example:\n  palyra admin schedules resume --all")]
    Resume(OneOrAllArgs),
    /// Remove a schedule; an occurrence that runs goes on
    #[command(after_help = "Example:\n  palyra admin schedules remove 01JGFJJZ00FE6VV7Z4V1SP3JT5")]
    Remove(OneArgs),
    /// Start an occurrence now, also while the schedule is paused
    #[command(after_help = "Example:\n  palyra admin schedules run-now 01JGFJJZ00FE6VV7Z4V1SP3JT5")]
    RunNow(OneArgs),
}

#[derive(Debug, Args)]
struct DraftArgs {
    /// When, in plain words
    when: Option<String>,
    /// When, as a cron line
    #[arg(long, value_name = "LINE")]
    cron: Option<String>,
    /// When, as an interval: 15m, 2h, 1d
    #[arg(long, value_name = "SPAN")]
    every: Option<String>,
    /// When, once: 2027-03-14T02:30
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// The time zone; yours if left out
    #[arg(long, value_name = "ZONE")]
    zone: Option<String>,
    /// Start a run with this input
    #[arg(long, value_name = "TEXT", conflicts_with = "remind")]
    prompt: Option<String>,
    /// Deliver this text, without a model
    #[arg(long, value_name = "TEXT")]
    remind: Option<String>,
    /// The agent of its runs
    #[arg(long, value_name = "NAME", requires = "prompt")]
    agent: Option<String>,
    /// Its name; the beginning of its text if left out
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Missed ones: skip, run-once, catch-up=N
    #[arg(long, value_name = "RULE", default_value = "run-once")]
    missed: String,
    /// Overlapping ones: forbid, queue, replace
    #[arg(long, value_name = "RULE", default_value = "forbid")]
    overlap: String,
    /// Delay each start by up to so many seconds
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    jitter: u32,
}

#[derive(Debug, Args)]
struct OneArgs {
    /// Its id, as the list shows it
    schedule: ScheduleId,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct OneOrAllArgs {
    /// Its id, as the list shows it
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    schedule: Option<ScheduleId>,
    /// All of yours
    #[arg(long)]
    all: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl OneOrAllArgs {
    fn schedule_id(&self) -> String {
        self.schedule.map(|schedule| schedule.to_string()).unwrap_or_default()
    }
}

impl DraftArgs {
    fn draft(self) -> Result<v1::ScheduleDraft, Failure> {
        let Self { when, cron, every, at, zone, prompt, remind, agent, name, missed, overlap, jitter } = self;
        let words = ScheduleWords {
            words: when,
            cron,
            every,
            at,
            zone,
            name,
            prompt,
            remind,
            agent,
            missed,
            overlap,
            jitter,
        };
        schedule_draft(words).map_err(Failure::Usage)
    }
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, args: SchedulesArgs) -> Result<Exit, Failure> {
    let client = context.connect().await?;
    match args.verb.unwrap_or(SchedulesVerb::List { json: args.json }) {
        SchedulesVerb::Add { draft, yes, json } => {
            add(context, &client, draft.draft()?, AddMode { yes, json }).await
        }
        SchedulesVerb::Edit { schedule, draft, json } => {
            let schedule_id = schedule.to_string();
            let request = v1::EditScheduleRequest { schedule_id, draft: Some(draft.draft()?) };
            say_done(context, json, &client.call(request).await?, "the schedule is changed")
        }
        SchedulesVerb::List { json } => {
            let schedules = client.call(v1::ListSchedulesRequest {}).await?.schedules;
            context.list(json.into(), schedules, NOTHING, HEAD, schedule_row)
        }
        SchedulesVerb::Show(args) => show(context, &client, args).await,
        SchedulesVerb::Pause(args) => {
            let paused = client.call(v1::PauseScheduleRequest { schedule_id: args.schedule_id() }).await?;
            say_done(context, args.json, &paused, "paused; an occurrence that runs goes on")
        }
        SchedulesVerb::Resume(args) => {
            let resumed = client.call(v1::ResumeScheduleRequest { schedule_id: args.schedule_id() }).await?;
            say_done(context, args.json, &resumed, "resumed")
        }
        SchedulesVerb::Remove(args) => {
            let schedule_id = args.schedule.to_string();
            let removed = client.call(v1::RemoveScheduleRequest { schedule_id }).await?;
            say_done(context, args.json, &removed, "the schedule is removed")
        }
        SchedulesVerb::RunNow(args) => {
            let schedule_id = args.schedule.to_string();
            let done = format!("started; `palyra admin schedules show {schedule_id}` shows its end");
            let started = client.call(v1::RunScheduleNowRequest { schedule_id }).await?;
            say_done(context, args.json, &started, &done)
        }
    }
}

/// How a schedule is added.
#[derive(Debug, Clone, Copy)]
struct AddMode {
    yes: bool,
    json: bool,
}

async fn add(
    context: &Context,
    client: &Client,
    draft: v1::ScheduleDraft,
    mode: AddMode,
) -> Result<Exit, Failure> {
    let preview = client.call(v1::PreviewScheduleRequest { draft: Some(draft.clone()) }).await?;
    let is_preview = draft.prompt.is_empty() && draft.reminder.is_empty();
    if mode.json && (is_preview || !mode.yes) {
        context.output.json(&to_json(&preview))?;
        return Ok(Exit::Done);
    }
    if !mode.json {
        let lines = schedule_preview_lines(&preview);
        lines.iter().try_for_each(|line| context.output.exact_line(line))?;
        if is_preview {
            context.output.note(NoteKind::Info, "nothing was saved; add --prompt or --remind to save it");
            return Ok(Exit::Done);
        }
        if !mode.yes && !is_agreed(context).await? {
            context.output.note(NoteKind::Info, "nothing was saved");
            return Ok(Exit::Failed);
        }
    }
    let created = client.call(v1::CreateScheduleRequest { draft: Some(draft) }).await?;
    let done = format!("saved as {}", created.schedule_id);
    say_done(context, mode.json, &created, &done)
}

async fn is_agreed(context: &Context) -> Result<bool, Failure> {
    let Some(mut reader) = PromptReader::of_process(&context.output, &context.interrupts) else {
        let message = "no terminal to ask at; add --yes to save the schedule that is shown above";
        return Err(Failure::Usage(message.to_owned()));
    };
    let answer = reader.ask("? save it? [y/N]", ReadingMode::Shown).await.map_err(OutputError::Failed)?;
    Ok(matches!(answer.unwrap_or_default().trim().to_lowercase().as_str(), "y" | "yes"))
}

async fn show(context: &Context, client: &Client, args: OneArgs) -> Result<Exit, Failure> {
    let schedule_id = args.schedule.to_string();
    let details = client.call(v1::GetScheduleRequest { schedule_id }).await?;
    if args.json {
        context.output.json(&to_json(&details))?;
        return Ok(Exit::Done);
    }
    schedule_lines(&details).iter().try_for_each(|line| context.output.exact_line(line))?;
    if !details.occurrences.is_empty() {
        context.output.exact_line("")?;
        context.table(OCCURRENCES, details.occurrences.into_iter().map(occurrence_row).collect())?;
    }
    Ok(Exit::Done)
}

fn say_done<M: prost::Message + prost::Name>(
    context: &Context,
    json: bool,
    answer: &M,
    done: &str,
) -> Result<Exit, Failure> {
    if json {
        context.output.json(&to_json_with_defaults(answer))?;
    } else {
        context.output.note(NoteKind::Good, done);
    }
    Ok(Exit::Done)
}
