//! `palyra journal erase` and `scrub`: content goes for good, after a person has said so.

use clap::Args;
use palyra_client::{Client, JournalStep};
use palyra_types::{ErrorCode, PrincipalId};
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;
use palyra_wire::v1::erase_content_request::Subject;

use super::progress;
use super::typed_lines::{self, TypedInputs};
use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::verbs::ids::{RunName, session_id};
use crate::verbs::runs::erased::is_erased;
use palyra_run_view::{
    ErasureTime, PlanRanges, age, copies_left, emptied_grants, erased_lines, erasure_plan_lines,
    listed_plan_lines, lost_undo, mend_of_erased_session,
};
use palyra_screen_text::clean_line;
use palyra_screen_text::{count, short_id};
use palyra_terminal::{HISTORY_FILE_NAME, NoteKind, Output, OutputError, PromptReader, ReadingMode};

const INPUT_CHARS_MAX: usize = 80;
/// The newest runs, among which one that `last` passed over is looked for.
const RUNS_COMPARED_MAX: u32 = 100;

/// Erase content for good; the entries stay, without what they said
#[derive(Debug, Args)]
#[command(
    override_usage = "palyra journal erase RUN|--session|--principal|--range WHAT [OPTIONS]",
    after_help = "Examples:\n  palyra journal erase last --dry-run\n  palyra journal erase --session notes\n  palyra journal erase --range 100..120"
)]
pub(crate) struct EraseArgs {
    #[command(flatten)]
    subject: SubjectArgs,
    /// Why it goes
    #[arg(long, value_name = "REASON", default_value = "request", value_parser = ["request", "retention", "leaked_secret"])]
    reason: String,
    #[command(flatten)]
    how: HowArgs,
}

/// Whose or which content.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct SubjectArgs {
    /// One run: its id or a part of it, `last`; also as --run
    #[arg(value_name = "RUN")]
    named: Option<RunName>,
    /// The same
    #[arg(long, value_name = "RUN", hide = true)]
    run: Option<RunName>,
    /// One session with its runs: its id or a part of it, its key, `last`
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Everything of one principal: its id, or `me`
    #[arg(long, value_name = "PRINCIPAL", value_parser = principal)]
    principal: Option<String>,
    /// Entries A to B of the journal, both included
    #[arg(long, value_name = "A..B", value_parser = range)]
    range: Option<v1::SeqRange>,
}

/// Search the journal for secrets and erase the entries that hold one
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  palyra journal scrub --dry-run")]
pub(crate) struct ScrubArgs {
    #[command(flatten)]
    how: HowArgs,
}

/// How it is done.
#[derive(Debug, Clone, Copy, Args)]
struct HowArgs {
    /// Only say what would be erased
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// The outcome as JSON
    #[arg(long)]
    json: bool,
}

/// Reads what names a principal; the caller's own is an empty one on the wire.
fn principal(text: &str) -> Result<String, String> {
    match text {
        "me" => Ok(String::new()),
        id => id.parse::<PrincipalId>().map(|id| id.to_string()).map_err(|error| format!("{error}, or `me`")),
    }
}

fn range(text: &str) -> Result<v1::SeqRange, String> {
    let wrong = || "two numbers of entries are expected, as in 100..120".to_owned();
    let (first, last) = text.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
    let (first, last) = (number(first)?, number(last)?);
    if first > last { Err(wrong()) } else { Ok(v1::SeqRange { first, last }) }
}

/// Refuses `last` where it passes over an erased run and no person sees which run it is: said twice, it would erase two.
async fn refuse_passed_over(client: &Client, run: &str) -> Result<(), Failure> {
    let request = v1::ListRunsRequest { page_size: RUNS_COMPARED_MAX, ..Default::default() };
    let runs = client.call(request).await?.runs;
    for newer in runs.iter().take_while(|newer| newer.run_id != run) {
        if newer.input_preview.is_empty() && is_erased(client, &newer.run_id).await? {
            return Err(Failure::Usage(format!(
                "`last` passes over run {}, which was erased, and names {run}; with --yes, name the run by its id",
                newer.run_id
            )));
        }
    }
    Ok(())
}

impl SubjectArgs {
    fn names_last(&self) -> bool {
        let named = self.named.as_ref().or(self.run.as_ref());
        matches!(named, Some(RunName::Part(name)) if name.starts_with("last"))
    }

    async fn resolve(&self, client: &Client) -> Result<Option<Subject>, Failure> {
        if let Some(run) = self.named.as_ref().or(self.run.as_ref()) {
            let found = run.resolve(client).await.map_err(|failure| of_session(run, failure))?;
            return Ok(Some(Subject::RunId(found.to_string())));
        }
        if let Some(session) = &self.session {
            return Ok(Some(Subject::SessionId(session_id(client, session).await?)));
        }
        let principal = self.principal.clone().map(Subject::PrincipalId);
        Ok(principal.or_else(|| self.range.map(Subject::Range)))
    }
}

/// Says how a session is erased, where its name was typed in the place of a run.
fn of_session(run: &RunName, failure: Failure) -> Failure {
    match (run, failure) {
        // With a mend of its own, the name fits a session.
        (RunName::Part(name), Failure::WithMend { code: code @ ErrorCode::RunNotFound, message, .. }) => {
            Failure::WithMend { code, message, mend: mend_of_erased_session(name) }
        }
        (_, failure) => failure,
    }
}

/// Erases the content of a subject.
pub(super) async fn erase(context: &Context, client: &Client, args: EraseArgs) -> Result<Exit, Failure> {
    let subject = args.subject.resolve(client).await?;
    let about = about(client, subject.as_ref()).await?;
    if let (Some(Subject::RunId(run)), true, false) = (&subject, args.how.yes, args.how.dry_run)
        && args.subject.names_last()
    {
        refuse_passed_over(client, run).await?;
    }
    let time = if args.how.yes && !args.how.dry_run { ErasureTime::Now } else { ErasureTime::Later };
    let lost = match &subject {
        Some(Subject::RunId(run)) => lost_with(client, run, time).await,
        _ => None,
    };
    if let Some(lost) = lost.as_ref().filter(|_| time == ErasureTime::Later) {
        context.output.note(NoteKind::Doubt, lost);
    }
    let reason = v1::ErasureReason::from_short_name(&args.reason).unwrap_or_default().into();
    let request = v1::EraseContentRequest { subject, dry_run: true, reason };
    let run = async |dry_run| {
        let erasure = erased(context, client, v1::EraseContentRequest { dry_run, ..request.clone() }).await;
        erasure.map_err(|failure| match &request.subject {
            Some(Subject::RunId(run)) => failure.naming(&context.output.id(run)),
            _ => failure,
        })
    };
    if args.how.dry_run || !args.how.yes {
        let plan = run(true).await?;
        if args.how.dry_run {
            return tell_plan(&context.output, &about, &plan, args.how.json.into());
        }
        let ranges = if matches!(request.subject, Some(Subject::Range(_))) {
            PlanRanges::Named
        } else {
            PlanRanges::Hidden
        };
        if !agreed(context, &about, &plan, ranges).await? {
            context.output.note(NoteKind::Info, "nothing was erased");
            return Ok(Exit::Cancelled);
        }
    }
    let typed = match &request.subject {
        Some(Subject::RunId(run)) => Some(TypedInputs::of_run(client, run).await?),
        _ => None,
    };
    let grants = stored_grants(client).await;
    let exit = tell(context, &run(false).await?, args.how.json.into())?;
    if let Some(emptied) = emptied_grants(&grants, &stored_grants(client).await) {
        context.output.note(NoteKind::Info, &emptied);
    }
    if let Some(lost) = lost.filter(|_| time == ErasureTime::Now) {
        context.output.note(NoteKind::Doubt, &lost);
    }
    typed_lines::forget(context, typed)?;
    if let Some(Subject::RunId(run)) = &request.subject {
        let run = short_id(run);
        let message =
            format!("from now on `last` names an erased run only where there is no other; its id is {run}");
        context.output.note(NoteKind::Info, &message);
    }
    Ok(exit)
}

/// Says which changes of a run can be taken back as long as its content is there. A run that is open, or whose files cannot be
/// compared, is erased without these words.
async fn lost_with(client: &Client, run: &str, time: ErasureTime) -> Option<String> {
    let files = client.preview_undo(run.parse().ok()?).await.ok()?;
    lost_undo(run, &files, time)
}

/// Returns the grants that can let calls run. An erasure does not depend on them: where they cannot be read, nothing is said.
async fn stored_grants(client: &Client) -> Vec<v1::StoredGrant> {
    client.list_grants(v1::ListGrantsRequest { all: false }).await.unwrap_or_default()
}

/// Returns the line that names the run or session of an erasure; empty for other subjects.
async fn about(client: &Client, subject: Option<&Subject>) -> Result<String, Failure> {
    match subject {
        Some(Subject::RunId(run)) => {
            let Ok(id) = run.parse() else { return Ok(String::new()) };
            let run = client.get_run(id).await?;
            let said = clean_line(&run.input_preview, INPUT_CHARS_MAX);
            let said = if said.is_empty() { "no words of its input are left".to_owned() } else { said };
            Ok(format!("run {}, {} old: {said}", short_id(&run.run_id), age(run.created)))
        }
        Some(Subject::SessionId(session)) => Ok(format!("session {}", short_id(session))),
        _ => Ok(String::new()),
    }
}

/// Erases what holds a secret.
pub(super) async fn scrub(context: &Context, client: &Client, args: ScrubArgs) -> Result<Exit, Failure> {
    if args.how.dry_run || !args.how.yes {
        let plan = scrubbed(context, client, true).await?;
        if args.how.dry_run {
            return tell_plan(&context.output, "", &plan, args.how.json.into());
        }
        if plan.entries == 0 {
            context.output.note(NoteKind::Good, "no entry holds a secret that is recognised");
            return Ok(Exit::Done);
        }
        if !agreed(context, "", &plan, PlanRanges::Hidden).await? {
            context.output.note(NoteKind::Info, "nothing was erased");
            return Ok(Exit::Cancelled);
        }
    }
    let exit = tell(context, &scrubbed(context, client, false).await?, args.how.json.into())?;
    typed_lines::forget(context, None)?;
    Ok(exit)
}

async fn erased(
    context: &Context,
    client: &Client,
    request: v1::EraseContentRequest,
) -> Result<v1::Erasure, Failure> {
    let mut watch = client.erase_content(request).await?;
    let done = async {
        loop {
            match watch.next().await? {
                JournalStep::Progress(step) => progress(&context.output, "erasing", &step),
                JournalStep::Done(erasure) => return Ok(erasure),
            }
        }
    };
    context.waiting("erasing", done).await
}

async fn scrubbed(context: &Context, client: &Client, dry_run: bool) -> Result<v1::Erasure, Failure> {
    let mut watch = client.scrub_journal(v1::ScrubJournalRequest { dry_run }).await?;
    loop {
        match watch.next().await? {
            JournalStep::Progress(step) => progress(&context.output, "searching", &step),
            JournalStep::Done(erasure) => {
                context.output.end_progress();
                return Ok(erasure);
            }
        }
    }
}

/// Asks the person; where there is none, the words have to be on the command line.
async fn agreed(
    context: &Context,
    about: &str,
    plan: &v1::Erasure,
    ranges: PlanRanges,
) -> Result<bool, Failure> {
    if plan.entries == 0 {
        return Ok(true);
    }
    let Some(mut reader) = PromptReader::of_process(&context.output, &context.interrupts) else {
        let message = "what is erased does not come back; say so with --yes, or look first with --dry-run";
        return Err(Failure::Usage(message.to_owned()));
    };
    for line in erasure_plan_lines(about, plan, ranges) {
        context.output.note(NoteKind::Info, &line);
    }
    let answer = reader.ask("? erase it for good? [y/N]", ReadingMode::Shown).await;
    let answer = answer.map_err(OutputError::Failed)?.unwrap_or_default();
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn tell_plan(
    output: &Output,
    about: &str,
    plan: &v1::Erasure,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    match format {
        OutputFormat::Json => output.json(&to_json_with_defaults(plan))?,
        OutputFormat::Text => {
            listed_plan_lines(about, plan).iter().try_for_each(|line| output.line(line))?;
        }
    }
    Ok(Exit::Done)
}

fn tell(context: &Context, erasure: &v1::Erasure, format: OutputFormat) -> Result<Exit, Failure> {
    match format {
        OutputFormat::Json => context.output.json(&to_json_with_defaults(erasure))?,
        OutputFormat::Text => {
            if !erasure.cancelled_runs.is_empty() {
                let runs = count(erasure.cancelled_runs.len() as u64, "run");
                context.output.note(NoteKind::Info, &format!("{runs} cancelled first"));
            }
            erased_lines(erasure).iter().try_for_each(|line| context.output.line(line))?;
        }
    }
    if let Some(copies) = copies_left(erasure) {
        context.output.note(NoteKind::Info, copies);
    }
    // The lines typed in chats are this program's own file.
    for copy in erasure.unreachable.iter().filter(|copy| *copy != HISTORY_FILE_NAME || !context.is_local()) {
        let message = format!("{copy} may still hold it; an erasure leaves that file alone");
        context.output.note(NoteKind::Doubt, &message);
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_two_ends_in_order() {
        assert_eq!(range("3..7"), Ok(v1::SeqRange { first: 3, last: 7 }));
        assert_eq!(range("5..5"), Ok(v1::SeqRange { first: 5, last: 5 }));
        for bad in ["", "3", "3..", "..7", "7..3", "3...7", "a..b", "-1..2", "3..18446744073709551616"] {
            assert!(range(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn ranges_are_spoken_of_where_a_person_sees_some() {
        let ranges = vec![v1::SeqRange { first: 3, last: 7 }];
        let plan = v1::Erasure { entries: 4, ranges, ..Default::default() };
        let last = |ranges| erasure_plan_lines("run D4GYET", &plan, ranges).pop().unwrap();
        let stay = "every entry stays in the journal, without its content";
        assert_eq!(last(PlanRanges::Hidden), stay);
        assert_eq!(last(PlanRanges::Named), format!("{stay}; the range also has 1 entry without content"));
        assert_eq!(
            last(PlanRanges::Listed),
            format!("{stay}; these ranges also have 1 entry without content")
        );
    }

    #[test]
    fn a_principal_is_named_by_id_or_as_oneself() {
        let id = PrincipalId::from_parts(1, 1).to_string();
        assert_eq!((principal("me"), principal(&id)), (Ok(String::new()), Ok(id)));
        assert!(principal("somebody").is_err());
    }
}
