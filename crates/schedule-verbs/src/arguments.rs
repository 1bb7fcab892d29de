//! The arguments of the verbs.

use clap::{Args, Subcommand};
use palyra_run_view::{ScheduleWords, schedule_draft};
use palyra_wire::v1;

use crate::schedule_name::ScheduleName;
use crate::verb_end::ScheduleVerbError;

/// Lists schedules.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Example:\n  palyra admin schedules add \"every weekday at 8\" --prompt \"Sum up my mail\""
)]
pub struct SchedulesArgs {
    #[command(subcommand)]
    pub(crate) verb: Option<SchedulesVerb>,
    /// One line of JSON each
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SchedulesVerb {
    /// Make a schedule, WHEN in plain words; without --prompt and --remind only show it
    #[command(
        override_usage = "palyra admin schedules add [OPTIONS] [WHEN]",
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
    /// Replace a schedule as a whole, which approves it again
    #[command(
        override_usage = "palyra admin schedules edit [OPTIONS] <SCHEDULE> [WHEN]",
        after_help = "Example:\n  palyra admin schedules edit 01JGFJJZ00FE6VV7Z4V1SP3JT5 --every 2h --remind tea"
    )]
    Edit {
        /// Its id
        #[arg(hide = true)]
        schedule: ScheduleName,
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
pub(crate) struct DraftArgs {
    /// When, in plain words
    #[arg(hide = true)]
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
    /// Missed ones: run-once (default), skip, catch-up=N
    #[arg(long, value_name = "RULE", default_value = "run-once", hide_default_value = true)]
    missed: String,
    /// Overlapping ones: forbid (default), queue, replace
    #[arg(long, value_name = "RULE", default_value = "forbid", hide_default_value = true)]
    overlap: String,
    /// Delay each start by up to so many seconds
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    jitter: u32,
}

#[derive(Debug, Args)]
pub(crate) struct OneArgs {
    /// Its id, as the list shows it
    pub(crate) schedule: ScheduleName,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OneOrAllArgs {
    /// Its id, as the list shows it
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(crate) schedule: Option<ScheduleName>,
    /// All of yours
    #[arg(long)]
    pub(crate) all: bool,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl DraftArgs {
    pub(crate) fn draft(self) -> Result<v1::ScheduleDraft, ScheduleVerbError> {
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
