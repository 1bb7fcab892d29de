//! Running the verbs: requests, questions and answers.

use palyra_client::Client;
use palyra_run_view::{occurrence_row, schedule_lines, schedule_preview_lines, schedule_row};
use palyra_screen_text::table;
use palyra_terminal::{InterruptListener, NoteKind, Output, OutputError, PromptReader, ReadingMode};
use palyra_wire::json::{to_json, to_json_with_defaults};
use palyra_wire::v1;

use crate::arguments::{OneArgs, SchedulesArgs, SchedulesVerb};
use crate::schedule_name::ScheduleName;
use crate::verb_end::{ScheduleVerbError, VerbEnd};

const HEAD: [&str; 5] = ["SCHEDULE", "NAME", "WHEN", "NEXT", "STATE"];
const OCCURRENCES: [&str; 4] = ["PLANNED", "STAGE", "WHY", "RUN"];
const NOTHING: &str =
    "no schedules; `palyra admin schedules add \"every weekday at 8\" --prompt TEXT` makes one";

const PAUSED_WITH_ALL: &str =
    "all schedules are paused, this one too: `palyra admin schedules resume --all` lets them start again";

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
            let schedule_id = schedule.schedule_id(client).await?;
            let draft = whole(draft.draft()?, &schedule_id)?;
            let request = v1::EditScheduleRequest { schedule_id, draft: Some(draft) };
            say_done(output, json, &client.call(request).await?, "the schedule is changed")
        }
        SchedulesVerb::List { json } => {
            let schedules = client.call(v1::ListSchedulesRequest {}).await?.schedules;
            list(output, schedules, json)
        }
        SchedulesVerb::Show(args) => show(output, client, args).await,
        SchedulesVerb::Pause(args) => {
            let schedule_id = one_or_all(client, args.schedule.as_ref()).await?;
            let paused = client.call(v1::PauseScheduleRequest { schedule_id }).await?;
            say_done(output, args.json, &paused, "paused; an occurrence that runs goes on")
        }
        SchedulesVerb::Resume(args) => {
            let schedule_id = one_or_all(client, args.schedule.as_ref()).await?;
            let resumed = client.call(v1::ResumeScheduleRequest { schedule_id: schedule_id.clone() }).await?;
            let end = say_done(output, args.json, &resumed, "resumed")?;
            say_paused_with_all(output, client, &schedule_id).await?;
            Ok(end)
        }
        SchedulesVerb::Remove(args) => {
            let schedule_id = args.schedule.schedule_id(client).await?;
            let removed = client.call(v1::RemoveScheduleRequest { schedule_id }).await?;
            say_done(output, args.json, &removed, "the schedule is removed")
        }
        SchedulesVerb::RunNow(args) => {
            let schedule_id = args.schedule.schedule_id(client).await?;
            let done = format!("started; `palyra admin schedules show {schedule_id}` shows its end");
            let started = client.call(v1::RunScheduleNowRequest { schedule_id }).await?;
            say_done(output, args.json, &started, &done)
        }
    }
}

/// Returns the id of a schedule; an empty one is that of all.
async fn one_or_all(client: &Client, schedule: Option<&ScheduleName>) -> Result<String, ScheduleVerbError> {
    match schedule {
        Some(schedule) => schedule.schedule_id(client).await,
        None => Ok(String::new()),
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
    let end = say_done(output, mode.json, &created, &done)?;
    say_paused_with_all(output, client, &created.schedule_id).await?;
    Ok(end)
}

/// Says that a schedule starts nothing by itself while all are paused; an empty id is that of all.
async fn say_paused_with_all(
    output: &Output,
    client: &Client,
    schedule_id: &str,
) -> Result<(), ScheduleVerbError> {
    if schedule_id.is_empty() {
        return Ok(());
    }
    let details = client.call(v1::GetScheduleRequest { schedule_id: schedule_id.to_owned() }).await?;
    if details.schedule.is_some_and(|schedule| schedule.paused() == v1::SchedulePauseCause::All) {
        output.note(NoteKind::Doubt, PAUSED_WITH_ALL);
    }
    Ok(())
}

/// Refuses an edit without a text: an edit replaces the whole schedule.
fn whole(draft: v1::ScheduleDraft, schedule_id: &str) -> Result<v1::ScheduleDraft, ScheduleVerbError> {
    if draft.prompt.is_empty() && draft.reminder.is_empty() {
        return Err(ScheduleVerbError::Usage(format!(
            "an edit replaces the whole schedule: give its text too, --prompt TEXT or --remind TEXT; `palyra admin schedules show \
             {schedule_id}` shows the present one"
        )));
    }
    Ok(draft)
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
    let schedule_id = args.schedule.schedule_id(client).await?;
    let details = client.call(v1::GetScheduleRequest { schedule_id }).await?;
    if args.json {
        output.json(&to_json(&details))?;
        return Ok(VerbEnd::Done);
    }
    schedule_lines(&details).iter().try_for_each(|line| output.exact_line(line))?;
    if !details.occurrences.is_empty() {
        output.exact_line("")?;
        let rows = details.occurrences.iter().map(occurrence_row).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_without_a_text_names_the_options_that_give_one() {
        let refused = whole(v1::ScheduleDraft::default(), "S").unwrap_err().to_string();
        assert!(refused.contains("--prompt TEXT or --remind TEXT"), "{refused}");
        let draft = v1::ScheduleDraft { reminder: "tea".to_owned(), ..Default::default() };
        assert!(whole(draft, "S").is_ok());
    }
}
