//! `palyra admin schedules`: runs and reminders at planned times.
//!
//! Owns the arguments and answers of these verbs. Knows no way to a daemon: the command line hands in the connection, and shows
//! what failed. Begin at [`run`].

use clap::{Args, Subcommand};
use palyra_client::{Client, ClientError};
use palyra_run_view::{
    ScheduleWords, occurrence_row, schedule_draft, schedule_lines, schedule_preview_lines, schedule_row,
};
use palyra_screen_text::table;
use palyra_terminal::{InterruptListener, NoteKind, Output, OutputError, PromptReader, ReadingMode};
use palyra_types::ScheduleId;
use palyra_wire::json::{to_json, to_json_with_defaults};
use palyra_wire::v1;

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
pub struct SchedulesArgs {
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
    fn draft(self) -> Result<v1::ScheduleDraft, ScheduleVerbError> {
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
        schedule_draft(words).map_err(ScheduleVerbError::Usage)
    }
}

/// How a verb ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerbEnd {
    /// It is done.
    Done,
    /// The person did not want the schedule to be saved.
    NotSaved,
}

/// Why a verb failed.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleVerbError {
    /// The words cannot be read.
    #[error("{0}")]
    Usage(String),
    /// The daemon refused, or was not reached.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The answer could not be printed.
    #[error(transparent)]
    Output(#[from] OutputError),
}

/// Where answers are printed, and questions asked.
#[derive(Clone, Copy)]
pub struct VerbScreen<'a> {
    /// Prints.
    pub output: &'a Output,
    /// Interrupts a question.
    pub interrupts: &'a InterruptListener,
}

/// Runs the verb.
///
/// # Errors
/// [`ScheduleVerbError`].
pub async fn run(
    screen: VerbScreen<'_>,
    client: &Client,
    args: SchedulesArgs,
) -> Result<VerbEnd, ScheduleVerbError> {
    let output = screen.output;
    match args.verb.unwrap_or(SchedulesVerb::List { json: args.json }) {
        SchedulesVerb::Add { draft, yes, json } => {
            add(screen, client, draft.draft()?, AddMode { yes, json }).await
        }
        SchedulesVerb::Edit { schedule, draft, json } => {
            let schedule_id = schedule.to_string();
            let request = v1::EditScheduleRequest { schedule_id, draft: Some(draft.draft()?) };
            say_done(output, json, &client.call(request).await?, "the schedule is changed")
        }
        SchedulesVerb::List { json } => {
            let schedules = client.call(v1::ListSchedulesRequest {}).await?.schedules;
            list(output, schedules, json)
        }
        SchedulesVerb::Show(args) => show(output, client, args).await,
        SchedulesVerb::Pause(args) => {
            let paused = client.call(v1::PauseScheduleRequest { schedule_id: args.schedule_id() }).await?;
            say_done(output, args.json, &paused, "paused; an occurrence that runs goes on")
        }
        SchedulesVerb::Resume(args) => {
            let resumed = client.call(v1::ResumeScheduleRequest { schedule_id: args.schedule_id() }).await?;
            say_done(output, args.json, &resumed, "resumed")
        }
        SchedulesVerb::Remove(args) => {
            let schedule_id = args.schedule.to_string();
            let removed = client.call(v1::RemoveScheduleRequest { schedule_id }).await?;
            say_done(output, args.json, &removed, "the schedule is removed")
        }
        SchedulesVerb::RunNow(args) => {
            let schedule_id = args.schedule.to_string();
            let done = format!("started; `palyra admin schedules show {schedule_id}` shows its end");
            let started = client.call(v1::RunScheduleNowRequest { schedule_id }).await?;
            say_done(output, args.json, &started, &done)
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
    screen: VerbScreen<'_>,
    client: &Client,
    draft: v1::ScheduleDraft,
    mode: AddMode,
) -> Result<VerbEnd, ScheduleVerbError> {
    let output = screen.output;
    let preview = client.call(v1::PreviewScheduleRequest { draft: Some(draft.clone()) }).await?;
    let is_preview = draft.prompt.is_empty() && draft.reminder.is_empty();
    if mode.json && (is_preview || !mode.yes) {
        output.json(&to_json(&preview))?;
        return Ok(VerbEnd::Done);
    }
    if !mode.json {
        let lines = schedule_preview_lines(&preview);
        lines.iter().try_for_each(|line| output.exact_line(line))?;
        if is_preview {
            output.note(NoteKind::Info, "nothing was saved; add --prompt or --remind to save it");
            return Ok(VerbEnd::Done);
        }
        if !mode.yes && !is_agreed(screen).await? {
            output.note(NoteKind::Info, "nothing was saved");
            return Ok(VerbEnd::NotSaved);
        }
    }
    let created = client.call(v1::CreateScheduleRequest { draft: Some(draft) }).await?;
    let done = format!("saved as {}", created.schedule_id);
    say_done(output, mode.json, &created, &done)
}

async fn is_agreed(screen: VerbScreen<'_>) -> Result<bool, ScheduleVerbError> {
    let Some(mut reader) = PromptReader::of_process(screen.output, screen.interrupts) else {
        let message = "no terminal to ask at; add --yes to save the schedule that is shown above";
        return Err(ScheduleVerbError::Usage(message.to_owned()));
    };
    let answer = reader.ask("? save it? [y/N]", ReadingMode::Shown).await.map_err(OutputError::Failed)?;
    Ok(matches!(answer.unwrap_or_default().trim().to_lowercase().as_str(), "y" | "yes"))
}

async fn show(output: &Output, client: &Client, args: OneArgs) -> Result<VerbEnd, ScheduleVerbError> {
    let schedule_id = args.schedule.to_string();
    let details = client.call(v1::GetScheduleRequest { schedule_id }).await?;
    if args.json {
        output.json(&to_json(&details))?;
        return Ok(VerbEnd::Done);
    }
    schedule_lines(&details).iter().try_for_each(|line| output.exact_line(line))?;
    if !details.occurrences.is_empty() {
        output.exact_line("")?;
        let rows = details.occurrences.into_iter().map(occurrence_row).collect();
        print_table(output, OCCURRENCES, rows)?;
    }
    Ok(VerbEnd::Done)
}

fn say_done<M: prost::Message + prost::Name>(
    output: &Output,
    json: bool,
    answer: &M,
    done: &str,
) -> Result<VerbEnd, ScheduleVerbError> {
    if json {
        output.json(&to_json_with_defaults(answer))?;
    } else {
        output.note(NoteKind::Good, done);
    }
    Ok(VerbEnd::Done)
}

fn list(output: &Output, schedules: Vec<v1::Schedule>, json: bool) -> Result<VerbEnd, ScheduleVerbError> {
    if json {
        schedules.iter().try_for_each(|schedule| output.json(&to_json(schedule)))?;
    } else if schedules.is_empty() {
        output.note(NoteKind::Info, NOTHING);
    } else {
        print_table(output, HEAD, schedules.into_iter().map(schedule_row).collect())?;
    }
    Ok(VerbEnd::Done)
}

fn print_table<const N: usize>(
    output: &Output,
    head: [&str; N],
    rows: Vec<[String; N]>,
) -> Result<(), OutputError> {
    table(head, rows, output.columns()).iter().try_for_each(|line| output.exact_line(line))
}
